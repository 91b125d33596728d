/* SPDX-License-Identifier: BSD-3-Clause
 * factor/level_solve.c - slices of independent rows of an incomplete factor. */
#include "factor/level_solve.h"
#include "device/isa.h"
#include "graph/levels.h"

static const char *const what = "levels of a factor";
enum { LANES = TCT_LEVEL_LANES };

/* What is known while slices are made. */
typedef struct {
    const tacit_factor *L;
    tct_level_solve *S;
    int32_t levels;
    int32_t *sorted; /* [rows] by level                                */
    int64_t *first;  /* [levels + 1] of each level in `sorted`         */
    int32_t *at;     /* [rows] place; first the level                  */
    int32_t *before; /* [rows] entries of L before the diagonal        */
} making;

/* --- places --------------------------------------------------------------- */

static tacit_status sort_rows(making *m)
{
    const tacit_factor *L = m->L;
    const int64_t n = L->info.rows;
    TRY(TCT_ALLOC(n, what, &m->at));
    TRY(TCT_ALLOC(n, what, &m->sorted));
    TRY(TCT_ALLOC(n, what, &m->before));
    memset(m->at, 0, (size_t)n * sizeof *m->at);
    memset(m->before, 0, (size_t)n * sizeof *m->before);
    m->levels = tct_levels_find(n, L->row_start, L->row, 1, false, m->at);
    TRY(TCT_ALLOC(m->levels + 1, what, &m->first));
    TRY(tct_levels_sort(n, m->at, m->levels, m->sorted, m->first));
    for (int64_t j = 0; j < n; j++)
        for (int64_t e = L->row_start[j] + 1; e < L->row_start[j + 1]; e++)
            m->before[L->row[e]]++;
    return TACIT_OK;
}

static int64_t count_slices(const making *m)
{
    int64_t slices = 0;
    for (int32_t l = 0; l < m->levels; l++)
        slices += (m->first[l + 1] - m->first[l] + LANES - 1) / LANES;
    return slices;
}

/* Lanes without a row have an element of b that is there, and inverse 0. */
static void place_slice(const making *m, const int32_t *place, int64_t s,
                        int64_t from, int64_t end)
{
    tct_level_solve *S = m->S;
    S->filled[s] = (uint8_t)(end - from);
    for (int64_t i = 0; i < LANES; i++) {
        const bool is_row = from + i < end;
        const int32_t k = m->sorted[is_row ? from + i : from];
        S->from[LANES * s + i] = place[k];
        S->inverse[LANES * s + i] = is_row ? m->L->inverse[k] : 0.0;
        if (is_row) m->at[k] = (int32_t)(LANES * s + i);
    }
}

/* Entries of row k of L before the diagonal, or of L' after it. */
static int64_t length_of(const making *m, bool up, int32_t k)
{
    const int64_t *start = m->L->row_start;
    return up ? start[k + 1] - start[k] - 1 : m->before[k];
}

static int64_t longest(const making *m, bool up, int64_t from, int64_t end)
{
    int64_t most = 0;
    for (int64_t i = from; i < end; i++) {
        const int64_t length = length_of(m, up, m->sorted[i]);
        if (length > most) most = length;
    }
    return most;
}

static void place_rows(making *m, const int32_t *place)
{
    tct_level_solve *S = m->S;
    int64_t s = 0;
    for (int32_t l = 0; l < m->levels; l++)
        for (int64_t i = m->first[l]; i < m->first[l + 1]; i += LANES, s++) {
            const int64_t end =
                i + LANES < m->first[l + 1] ? i + LANES : m->first[l + 1];
            place_slice(m, place, s, i, end);
            S->down.start[s + 1] = S->down.start[s] + longest(m, false, i, end);
            S->up.start[s + 1] = S->up.start[s] + longest(m, true, i, end);
        }
}

/* --- entries -------------------------------------------------------------- */

static void put(const making *m, tct_level_half *h, int64_t cell, int32_t row,
                int32_t col, double value)
{
    const int64_t to = LANES * cell + m->at[row] % LANES;
    h->col[to] = m->at[col];
    h->value[to] = value;
}

/* Each entry of L, columns ascending; `before` counts down and up again. */
static void fill(const making *m)
{
    const tacit_factor *L = m->L;
    tct_level_solve *S = m->S;
    memset(m->before, 0, (size_t)S->rows * sizeof *m->before);
    for (int32_t j = 0; j < S->rows; j++) {
        int64_t above = S->up.start[m->at[j] / LANES];
        for (int64_t e = L->row_start[j] + 1; e < L->row_start[j + 1]; e++) {
            const int32_t i = L->row[e];
            const int64_t cell =
                S->down.start[m->at[i] / LANES] + m->before[i]++;
            put(m, &S->down, cell, i, j, L->value[e]);
            put(m, &S->up, above++, j, i, L->value[e]);
        }
    }
}

static tacit_status open_half(tct_level_half *h, int64_t slices)
{
    const int64_t cells = LANES * h->start[slices];
    TRY(TCT_ALLOC(cells, what, &h->col));
    TRY(TCT_ALLOC(cells, what, &h->value));
    for (int64_t i = 0; i < cells; i++) h->col[i] = (int32_t)(LANES * slices);
    memset(h->value, 0, (size_t)cells * sizeof *h->value);
    return TACIT_OK;
}

static tacit_status open_places(tct_level_solve *S)
{
    const int64_t places = LANES * S->slices;
    TRY(TCT_ALLOC(S->slices + 1, what, &S->down.start));
    TRY(TCT_ALLOC(S->slices + 1, what, &S->up.start));
    TRY(TCT_ALLOC(S->slices, what, &S->filled));
    TRY(TCT_ALLOC(places, what, &S->from));
    TRY(TCT_ALLOC(places, what, &S->inverse));
    TRY(TCT_ALLOC(places + 1, what, &S->v));
    S->v[places] = 0.0;
    S->down.start[0] = S->up.start[0] = 0;
    return TACIT_OK;
}

/* --- creation ------------------------------------------------------------- */

/* Are slices faster? A cell of eight lanes takes as long as CELL entries of the
 * loops, a slice as SLICE, a row of the loops as ROW. */
static bool pays(const tct_level_solve *S, int64_t entries)
{
    static const double CELL = 5.0, SLICE = 10.0, ROW = 6.0;
    const double cells =
        (double)(S->down.start[S->slices] + S->up.start[S->slices]);
    return CELL * cells + 2.0 * SLICE * (double)S->slices <
           2.0 * ((double)entries + ROW * (double)S->rows);
}

static const tct_level_kernels *best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return &tct_level_kernels_avx512;
    if (isa == TCT_ISA_AVX2) return &tct_level_kernels_avx2;
#endif
    return &tct_level_kernels_base;
}

static tacit_status build(making *m, const int32_t *place, bool *out)
{
    tct_level_solve *S = m->S;
    TRY(sort_rows(m));
    S->slices = count_slices(m);
    TRY(open_places(S));
    place_rows(m, place);
    *out = pays(S, m->L->row_start[S->rows] - S->rows);
    if (!*out) return TACIT_OK;
    TRY(open_half(&S->down, S->slices));
    TRY(open_half(&S->up, S->slices));
    fill(m);
    S->kernels = best();
    const int64_t cells = S->down.start[S->slices] + S->up.start[S->slices];
    S->bytes =
        (double)LANES * (12.0 * (double)cells + 22.0 * (double)S->slices);
    return TACIT_OK;
}

tacit_status tct_level_solve_create(const tacit_factor *L, const int32_t *place,
                                    tct_level_solve **out)
{
    /* fewer rows a level than this fill no slice */
    enum { FEW = 3 };
    *out = NULL;
    if (L->info.rows < FEW * (int64_t)L->info.depth ||
        L->info.rows > INT32_MAX / (2 * LANES))
        return TACIT_OK;
    tct_level_solve *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    making m = {.L = L, .S = S};
    bool worth = false;
    S->rows = L->info.rows;
    const tacit_status status = build(&m, place, &worth);
    TCT_FREE(m.sorted, m.first, m.at, m.before);
    if (status < 0 || !worth) tct_level_solve_destroy(&S);
    *out = S;
    return status;
}

void tct_level_solve_destroy(tct_level_solve **S)
{
    tct_level_solve *s = *S;
    if (!s) return;
    TCT_FREE(s->down.start, s->down.col, s->down.value, s->up.start, s->up.col,
             s->up.value, s->from, s->filled, s->inverse, s->v, s);
    *S = NULL;
}

void tct_level_solve_run(tct_level_solve *S, const double *b, double *x)
{
    S->kernels->down(S, b);
    S->kernels->up(S, x);
}
