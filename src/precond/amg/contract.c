/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/contract.c - row by row: what the rows of an aggregate have is
 * looked up by column in a small table, and added up there. Rows are gone
 * through twice, to count and to fill in, so that nothing is stored loosely. */
#include "precond/amg/contract.h"
#include "matrix/parallel.h"

static const char *const what = "a matrix of aggregates";

/* The rows of each aggregate, one after the other. */
typedef struct {
    int64_t *begin;  /* [coarse + 1]   */
    int32_t *member; /* [begin[coarse]] */
} membership;

static tacit_status list_members(const tct_contraction *c, membership *m)
{
    const int64_t rows = c->A->rows;
    TRY(TCT_ALLOC(c->coarse + 2, what, &m->begin));
    TRY(TCT_ALLOC(rows, what, &m->member));
    /* one place ahead, so that filling in moves each to where it belongs */
    int64_t *next = m->begin + 1;
    for (int64_t n = -1; n <= c->coarse; n++) next[n] = 0;
    for (int64_t i = 0; i < rows; i++)
        if (c->of[i] >= 0) next[c->of[i] + 1]++;
    for (int64_t n = 0; n < c->coarse; n++) next[n + 1] += next[n];
    for (int64_t i = 0; i < rows; i++)
        if (c->of[i] >= 0) m->member[next[c->of[i]]++] = (int32_t)i;
    return TACIT_OK;
}

/* --- a row ------------------------------------------------------------------ */

typedef struct {
    int64_t col;
    uint32_t row; /* whose entry it is, counted from 1; of another: free */
    int32_t at;   /* place in that row */
} slot;

typedef struct {
    const tct_contraction *c;
    membership m;
    tct_csr *out;
} contraction;

static int64_t most_entries(const contraction *k, int64_t n)
{
    const int64_t *ptr = k->c->A->ptr;
    int64_t sum = 0;
    for (int64_t at = k->m.begin[n]; at < k->m.begin[n + 1]; at++)
        sum += ptr[k->m.member[at] + 1] - ptr[k->m.member[at]];
    return sum;
}

/* The slots for so many entries are two to the power of this: twice as many. */
static int bits_for(int64_t entries)
{
    int bits = 2;
    while ((INT64_C(1) << bits) < 2 * entries) bits++;
    return bits;
}

/* The aggregate of column `col`, -1: none; `*weight` times what Q has there. */
static int64_t find_column(const tct_contraction *c, int64_t col,
                           double *weight)
{
    const int64_t j = col - c->A->first;
    if (j >= 0 && j < c->A->rows) {
        if (c->weight) *weight *= c->weight[j];
        return c->of[j] < 0 ? -1 : c->first + c->of[j];
    }
    if (!c->ghosts) return -1;
    const int64_t g = tct_ghost_place(c->ghosts, col);
    *weight *= c->ghost_weight[g];
    return c->ghost_of[g];
}

/* The slot of `col` in row `n`; a free one if there is none yet. */
static slot *find_slot(slot *table, int bits, int64_t n, int64_t col)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t h =
        (size_t)((uint64_t)col * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
    while (table[h].row == (uint32_t)(n + 1) && table[h].col != col)
        h = (h + 1) & mask;
    return &table[h];
}

/* Add up row `n`, into its place if there are entries yet; their number. */
static int64_t add_up(const contraction *k, int64_t n, slot *table)
{
    const tct_contraction *c = k->c;
    tct_csr *out = k->out;
    const int bits = bits_for(most_entries(k, n));
    int64_t count = 0;
    for (int64_t at = k->m.begin[n]; at < k->m.begin[n + 1]; at++) {
        const int64_t i = k->m.member[at];
        for (int64_t e = c->A->ptr[i]; e < c->A->ptr[i + 1]; e++) {
            double weight = c->weight ? c->weight[i] : 1.0;
            const int64_t col = find_column(c, tct_csr_col(c->A, e), &weight);
            if (col < 0) continue;
            slot *s = find_slot(table, bits, n, col);
            if (s->row != (uint32_t)(n + 1)) {
                *s = (slot){col, (uint32_t)(n + 1), (int32_t)count++};
                if (out->val) {
                    tct_csr_set_col(out, out->ptr[n] + s->at, col);
                    out->val[out->ptr[n] + s->at] = 0.0;
                }
            }
            if (out->val)
                out->val[out->ptr[n] + s->at] += weight * c->A->val[e];
        }
    }
    return count;
}

/* --- all rows --------------------------------------------------------------- */

/* Count the entries of each row or, once there are any, fill them in. */
static tacit_status go_through(const contraction *k)
{
    tct_csr *out = k->out;
    int64_t most = 0;
    bool starved = false;
    for (int64_t n = 0; n < out->rows; n++) {
        const int64_t entries = most_entries(k, n);
        if (entries > most) most = entries;
    }
    TCT_OMP(omp parallel reduction(|| : starved))
    {
        slot *table = tct_calloc(sizeof *table << bits_for(most));
        starved = table == NULL;
        TCT_OMP(omp for schedule(static))
        for (int64_t n = 0; n < out->rows; n++) {
            const int64_t count = table ? add_up(k, n, table) : 0;
            if (!out->val) out->ptr[n + 1] = count;
        }
        tct_free(table);
    }
    if (starved) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

static tacit_status contract(contraction *k)
{
    const tct_contraction *c = k->c;
    tct_csr *out = k->out;
    TRY(tct_csr_rows(out, c->all, c->all, c->first, c->coarse));
    TRY(list_members(c, &k->m));
    TRY(go_through(k));
    for (int64_t n = 0; n < out->rows; n++) out->ptr[n + 1] += out->ptr[n];
    TRY(tct_csr_entries(out, out->ptr[out->rows]));
    TRY(go_through(k));
    return tct_csr_sort(out, false, what);
}

tacit_status tct_contract(const tct_contraction *c, tct_csr *out)
{
    tct_csr B = {0};
    contraction k = {.c = c, .out = &B};
    const tacit_status status = contract(&k);
    TCT_FREE(k.m.begin, k.m.member);
    if (status < 0) tct_csr_clear(&B);
    else *out = B;
    return status;
}
