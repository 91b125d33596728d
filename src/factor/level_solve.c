/* SPDX-License-Identifier: BSD-3-Clause
 * factor/level_solve.c - slices of independent rows of an incomplete factor. */
#include "factor/level_solve.h"
#include "device/isa.h"
#include "graph/levels.h"

static const char *const what = "levels of a factor";
enum { EIGHT = TCT_LEVEL_LANES };

/* The slices of a triangle while they are made. */
typedef struct {
    const tacit_factor *L;
    tct_level_half *h;
    bool up;
    int32_t levels;
    int32_t *length; /* [rows] entries beside the diagonal             */
    int32_t *sorted; /* [rows] by level, then by length                */
    int64_t *first;  /* [levels + 1] of each level in `sorted`         */
    int32_t *at;     /* [rows] level, then place                       */
} making;

/* --- order ---------------------------------------------------------------- */

static void find_lengths(making *m)
{
    const tacit_factor *L = m->L;
    const int64_t n = L->info.rows;
    for (int64_t j = 0; j < n; j++)
        m->length[j] =
            m->up ? (int32_t)(L->row_start[j + 1] - L->row_start[j] - 1) : 0;
    for (int64_t e = 0; !m->up && e < L->row_start[n]; e++)
        m->length[L->row[e]]++;
    for (int64_t j = 0; !m->up && j < n; j++) m->length[j]--; /* diagonal */
}

/* Sort the rows of a level by length, those as long as others stay in order;
 * `scratch` has room for them, counts for each length up to COUNTED. */
enum { COUNTED = 64 };
static int length_class(const making *m, int32_t k)
{
    return m->length[k] < COUNTED ? m->length[k] : COUNTED - 1;
}

static void sort_level(const making *m, int64_t from, int64_t end,
                       int32_t *scratch)
{
    int64_t at[COUNTED + 1] = {0};
    for (int64_t i = from; i < end; i++)
        at[length_class(m, m->sorted[i]) + 1]++;
    for (int l = 0; l < COUNTED; l++) at[l + 1] += at[l];
    for (int64_t i = from; i < end; i++)
        scratch[at[length_class(m, m->sorted[i])]++] = m->sorted[i];
    memcpy(m->sorted + from, scratch, (size_t)(end - from) * sizeof *scratch);
}

static tacit_status sort_rows(making *m)
{
    const tacit_factor *L = m->L;
    const int64_t n = L->info.rows;
    TRY(TCT_ALLOC(n, what, &m->at));
    TRY(TCT_ALLOC(n, what, &m->sorted));
    TRY(TCT_ALLOC(n, what, &m->length));
    memset(m->at, 0, (size_t)n * sizeof *m->at);
    m->levels = tct_levels_find(n, L->row_start, L->row, 1, m->up, m->at);
    TRY(TCT_ALLOC(m->levels + 1, what, &m->first));
    TRY(tct_levels_sort(n, m->at, m->levels, m->sorted, m->first));
    find_lengths(m);
    for (int32_t l = 0; l < m->levels; l++) /* places come later */
        if (m->first[l + 1] - m->first[l] > EIGHT)
            sort_level(m, m->first[l], m->first[l + 1], m->at);
    return TACIT_OK;
}

/* --- slices --------------------------------------------------------------- */

static int64_t count_slices(const making *m)
{
    int64_t slices = 0;
    for (int32_t l = 0; l < m->levels; l++)
        slices += (m->first[l + 1] - m->first[l] + EIGHT - 1) / EIGHT;
    return slices;
}

static tacit_status open_slices(making *m)
{
    tct_level_half *h = m->h;
    const int64_t places = EIGHT * (h->slices = count_slices(m));
    TRY(TCT_ALLOC(h->slices + 1, what, &h->start));
    TRY(TCT_ALLOC(h->slices, what, &h->filled));
    TRY(TCT_ALLOC(places, what, &h->from));
    TRY(TCT_ALLOC(places, what, &h->inverse));
    TRY(TCT_ALLOC(places + 1, what, &h->v));
    h->v[places] = 0.0;
    return TACIT_OK;
}

/* Lanes without a row read what the first one reads, times 0. */
static int32_t fill_slice(const making *m, int64_t s, int64_t from, int64_t end)
{
    tct_level_half *h = m->h;
    int32_t most = 0;
    h->filled[s] = (uint8_t)(end - from);
    for (int64_t i = 0; i < EIGHT; i++) {
        const bool is_row = from + i < end;
        const int32_t k = m->sorted[is_row ? from + i : from];
        h->from[EIGHT * s + i] = k;
        h->inverse[EIGHT * s + i] = is_row ? m->L->inverse[k] : 0.0;
        if (is_row) m->at[k] = (int32_t)(EIGHT * s + i);
        if (m->length[k] > most) most = m->length[k];
    }
    return most;
}

static void fill_slices(const making *m)
{
    int64_t s = 0;
    m->h->start[0] = 0;
    for (int32_t l = 0; l < m->levels; l++)
        for (int64_t i = m->first[l]; i < m->first[l + 1]; i += EIGHT, s++) {
            const int64_t end =
                i + EIGHT < m->first[l + 1] ? i + EIGHT : m->first[l + 1];
            m->h->start[s + 1] = m->h->start[s] + fill_slice(m, s, i, end);
        }
}

/* --- entries -------------------------------------------------------------- */

static void put(const making *m, int32_t row, int64_t nth, int32_t col,
                double value)
{
    const int64_t slice = m->at[row] / EIGHT, lane = m->at[row] % EIGHT;
    const int64_t to = EIGHT * (m->h->start[slice] + nth) + lane;
    m->h->col[to] = m->at[col];
    m->h->value[to] = value;
}

/* Rows of L' are the columns of L; those of L take entries from its columns in
 * order, and `length` counts them again. */
static void fill_cells(const making *m)
{
    const tacit_factor *L = m->L;
    const int32_t n = (int32_t)L->info.rows;
    if (!m->up) memset(m->length, 0, (size_t)n * sizeof *m->length);
    for (int32_t j = 0; j < n; j++)
        for (int64_t e = L->row_start[j] + 1; e < L->row_start[j + 1]; e++) {
            const int32_t i = L->row[e];
            if (m->up) put(m, j, e - L->row_start[j] - 1, i, L->value[e]);
            else put(m, i, m->length[i]++, j, L->value[e]);
        }
}

static tacit_status fill(const making *m)
{
    tct_level_half *h = m->h;
    const int64_t cells = EIGHT * h->start[h->slices];
    TRY(TCT_ALLOC(cells, what, &h->col));
    TRY(TCT_ALLOC(cells, what, &h->value));
    for (int64_t i = 0; i < cells; i++)
        h->col[i] = (int32_t)(EIGHT * h->slices);
    memset(h->value, 0, (size_t)cells * sizeof *h->value);
    fill_cells(m);
    return TACIT_OK;
}

/* The right-hand side of L' is where L has left it. */
static tacit_status connect(tct_level_solve *S, const making *down,
                            const int32_t *place)
{
    TRY(TCT_ALLOC(EIGHT * S->up.slices, what, &S->to));
    for (int64_t i = 0; i < EIGHT * S->up.slices; i++) {
        S->to[i] = place[S->up.from[i]];
        S->up.from[i] = down->at[S->up.from[i]];
    }
    for (int64_t i = 0; i < EIGHT * S->down.slices; i++)
        S->down.from[i] = place[S->down.from[i]];
    return TACIT_OK;
}

/* --- creation ------------------------------------------------------------- */

/* Levels of few rows are chains, whose latency the loops over rows wait for;
 * between MANY rows the processor finds enough to do. Slices cost set-up for each
 * entry, and rows of LONG have little latency. Neither is worth it beyond WIDE
 * cells times lanes an entry. */
static const double FEW = 4.0, MANY = 256.0, LONG = 8.0, WIDE = 1.55;

static bool are_chains(const tacit_factor_info *info)
{
    const double rows = (double)info->rows, levels = (double)info->depth;
    return rows >= FEW * levels && rows <= MANY * levels &&
           (double)info->nonzeros - rows <= LONG * rows;
}

static bool are_filled(const making *m)
{
    const tacit_factor_info *info = &m->L->info;
    return EIGHT * (double)m->h->start[m->h->slices] <=
           WIDE * (double)(info->nonzeros - info->rows);
}

static tacit_status outline(making *m)
{
    TRY(sort_rows(m));
    TRY(open_slices(m));
    fill_slices(m);
    return TACIT_OK;
}

static double bytes_of(const tct_level_half *h)
{
    return EIGHT *
           (12.0 * (double)h->start[h->slices] + 22.0 * (double)h->slices);
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

static tacit_status build(tct_level_solve *S, making *down, making *up,
                          const int32_t *place, bool *worth)
{
    TRY(outline(down));
    if (!are_filled(down)) return TACIT_OK;
    TRY(outline(up));
    if (!are_filled(up)) return TACIT_OK;
    TRY(fill(down));
    TRY(fill(up));
    TRY(connect(S, down, place));
    S->bytes = bytes_of(&S->down) + bytes_of(&S->up);
    S->kernels = best();
    *worth = true;
    return TACIT_OK;
}

tacit_status tct_level_solve_create(const tacit_factor *L, const int32_t *place,
                                    tct_level_solve **out)
{
    *out = NULL;
    if (!are_chains(&L->info) || L->info.rows > INT32_MAX / (2 * EIGHT))
        return TACIT_OK;
    tct_level_solve *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    making down = {.L = L, .h = &S->down},
           up = {.L = L, .h = &S->up, .up = true};
    bool worth = false;
    const tacit_status status = build(S, &down, &up, place, &worth);
    TCT_FREE(down.length, down.sorted, down.first, down.at, up.length,
             up.sorted, up.first, up.at);
    if (status < 0 || !worth) tct_level_solve_destroy(&S);
    *out = S;
    return status;
}

static void free_half(tct_level_half *h)
{
    TCT_FREE(h->start, h->col, h->value, h->from, h->filled, h->inverse, h->v);
}

void tct_level_solve_destroy(tct_level_solve **S)
{
    tct_level_solve *s = *S;
    if (!s) return;
    free_half(&s->down);
    free_half(&s->up);
    TCT_FREE(s->to, s);
    *S = NULL;
}

void tct_level_solve_run(tct_level_solve *S, const double *b, double *x)
{
    S->kernels->down(&S->down, b);
    S->kernels->up(&S->up, S->down.v, S->to, x);
}
