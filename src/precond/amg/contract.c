/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/contract.c - row by row: what the rows of an aggregate have is
 * looked up by column in a small table, and added up.
 *
 * How many entries that gives is known afterwards, and to count them first takes
 * as long again. So there is room for all that could be; each thread fills its
 * own piece of it from the front, so that no more memory is touched than is
 * needed, and then the pieces move together. */
#include "precond/amg/contract.h"
#include "matrix/parallel.h"
#include <string.h>

static const char *const what = "a matrix of aggregates";
enum { SHORT = 2000 }; /* rows that are not worth waking threads for */

tacit_status tct_list_members(int64_t rows, const int32_t *of, int64_t coarse,
                              tct_members *m)
{
    TRY(TCT_ALLOC(coarse + 2, what, &m->begin));
    TRY(TCT_ALLOC(rows, what, &m->member));
    /* one place ahead, so that filling in moves each to where it belongs */
    int64_t *next = m->begin + 1;
    for (int64_t n = -1; n <= coarse; n++) next[n] = 0;
    for (int64_t i = 0; i < rows; i++)
        if (of[i] >= 0) next[of[i] + 1]++;
    for (int64_t n = 0; n < coarse; n++) next[n + 1] += next[n];
    for (int64_t i = 0; i < rows; i++)
        if (of[i] >= 0) m->member[next[of[i]]++] = (int32_t)i;
    return TACIT_OK;
}

void tct_members_clear(tct_members *m)
{
    TCT_FREE(m->begin, m->member);
    *m = (tct_members){.begin = NULL};
}

/* --- a row ------------------------------------------------------------------ */

typedef struct {
    int64_t col;
    int64_t at;   /* its entry in the result                            */
    uint32_t row; /* whose entry it is, counted from 1; of another: free */
} slot;

/* Rows [first, last), in entries [from, end) of the result before they move. */
typedef struct {
    int64_t first, last;
    int64_t from, end;
} piece;

typedef struct {
    const tct_contraction *c;
    tct_members m;
    tct_csr *out;
    int64_t room, widest; /* entries that there could be, in all and in a row */
    int pieces;
    piece *piece;
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
static inline int64_t find_column(const tct_contraction *c, int64_t col,
                                  double *weight)
{
    const int64_t j = col - c->A->first;
    if (j >= 0 && j < c->A->rows) {
        if (c->weight) *weight *= c->weight[j];
        return c->of[j] < 0 ? -1 : c->first + c->of[j];
    }
    const int64_t g =
        c->ghosts ? tct_ghost_place(c->ghosts, col) : j - c->A->rows;
    if (c->ghost_weight) *weight *= c->ghost_weight[g];
    return c->ghost_of[g];
}

/* The slot of `col` in row `n`; a free one if there is none yet. */
static inline slot *find_slot(slot *table, int bits, int64_t n, int64_t col)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t h =
        (size_t)((uint64_t)col * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
    while (table[h].row == (uint32_t)(n + 1) && table[h].col != col)
        h = (h + 1) & mask;
    return &table[h];
}

/* Row `n` from entry `from` of the result on; returns where it ends. */
static int64_t add_up(const contraction *k, int64_t n, int64_t from,
                      slot *table)
{
    const tct_contraction *c = k->c;
    const int bits = bits_for(most_entries(k, n));
    int64_t end = from;
    for (int64_t at = k->m.begin[n]; at < k->m.begin[n + 1]; at++) {
        const int64_t i = k->m.member[at];
        for (int64_t e = c->A->ptr[i]; e < c->A->ptr[i + 1]; e++) {
            double weight = c->weight ? c->weight[i] : 1.0;
            const int64_t col = find_column(c, tct_csr_col(c->A, e), &weight);
            if (col < 0) continue;
            slot *s = find_slot(table, bits, n, col);
            if (s->row == (uint32_t)(n + 1)) {
                k->out->val[s->at] += weight * c->A->val[e];
                continue;
            }
            *s = (slot){col, end, (uint32_t)(n + 1)};
            tct_csr_set_col(k->out, end, col);
            k->out->val[end++] = weight * c->A->val[e];
        }
    }
    return end;
}

/* --- pieces ----------------------------------------------------------------- */

static void divide(contraction *k)
{
    int64_t n = 0;
    for (int t = 0; t < k->pieces; t++) {
        k->piece[t] = (piece){.first = n, .from = k->room};
        for (; n < k->out->rows * (t + 1) / k->pieces; n++) {
            const int64_t entries = most_entries(k, n);
            k->room += entries;
            if (entries > k->widest) k->widest = entries;
        }
        k->piece[t].last = n;
    }
}

/* Returns whether there is no memory. */
static bool fill(const contraction *k, piece *p)
{
    slot *table = tct_calloc(sizeof *table << bits_for(k->widest));
    p->end = p->from;
    for (int64_t n = p->first; table && n < p->last; n++) {
        const int64_t from = p->end;
        p->end = add_up(k, n, from, table);
        k->out->ptr[n + 1] = p->end - from;
    }
    tct_free(table);
    return table == NULL;
}

static void move_together(const contraction *k)
{
    tct_csr *out = k->out;
    const size_t width = out->col32 ? sizeof *out->col32 : sizeof *out->col64;
    char *col = out->col32 ? (char *)out->col32 : (char *)out->col64;
    for (int64_t n = 0; n < out->rows; n++) out->ptr[n + 1] += out->ptr[n];
    for (int t = 1; t < k->pieces; t++) {
        const piece *p = &k->piece[t];
        const size_t to = (size_t)out->ptr[p->first], from = (size_t)p->from;
        const size_t entries = (size_t)(p->end - p->from);
        memmove(out->val + to, out->val + from, entries * sizeof *out->val);
        memmove(col + to * width, col + from * width, entries * width);
    }
}

/* Copies into memory of the right size, if there is much too much. */
static tacit_status tighten(const contraction *k)
{
    tct_csr *out = k->out, tight = *out;
    const int64_t entries = out->ptr[out->rows];
    if (entries > k->room / 3) return TACIT_OK;
    tight.val = NULL;
    tight.col32 = NULL;
    tight.col64 = NULL;
    const tacit_status status = tct_csr_entries(&tight, entries);
    if (status < 0) TCT_FREE(tight.col32, tight.col64, tight.val);
    TRY(status);
    TCT_OMP(omp parallel for schedule(static) if (k->pieces > 1))
    for (int64_t e = 0; e < entries; e++) {
        tct_csr_set_col(&tight, e, tct_csr_col(out, e));
        tight.val[e] = out->val[e];
    }
    TCT_FREE(out->col32, out->col64, out->val);
    *out = tight;
    return TACIT_OK;
}

static tacit_status contract(contraction *k)
{
    const tct_contraction *c = k->c;
    bool starved = false;
    TRY(tct_csr_rows(k->out, c->all, c->all, c->first, c->coarse));
    TRY(tct_list_members(c->A->rows, c->of, c->coarse, &k->m));
    TRY(TCT_ALLOC(k->pieces, what, &k->piece));
    divide(k);
    TRY(tct_csr_entries(k->out, k->room));
    TCT_OMP(omp parallel for schedule(static) reduction(|| : starved) if (k->pieces > 1))
    for (int t = 0; t < k->pieces; t++)
        starved = fill(k, &k->piece[t]) || starved;
    if (starved) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    move_together(k);
    return tighten(k);
}

tacit_status tct_contract(const tct_contraction *c, tct_csr *out)
{
    tct_csr B = {0};
    contraction k = {.c = c,
                     .out = &B,
                     .pieces = c->A->rows > SHORT ? tct_threads_most() : 1};
    const tacit_status status = contract(&k);
    tct_members_clear(&k.m);
    tct_free(k.piece);
    if (status < 0) tct_csr_clear(&B);
    else *out = B;
    return status;
}
