/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/row_accumulation.c - row by row: entries of an
 * aggregate's rows are looked up by column, remote columns in a small hash
 * table, and added up.
 *
 * The length of the result is known only afterwards, and counting first would
 * take as long again. So the upper bound is allocated; each thread fills its
 * piece from the front, which touches only what is needed, and then moves it
 * into place. */
#include "precond/amg/galerkin/row_accumulation.h"
#include "device/parallel.h"
#include "precond/amg/aggregation/coarsen.h"
#include <string.h>

static const char *const what = "a matrix of aggregates";

static int pieces_for(int64_t rows)
{
    return rows > TCT_SHORT ? tct_parallel_most() : 1;
}

typedef struct {
    int64_t rows, coarse;
    const int32_t *of;
    int64_t *next; /* [coarse + 1] */
    int32_t *member;
    int pieces;
} listing;

/* A piece has aggregates [from, end) and scans all rows: next[n + 1] counts
 * those of n. */
static void count_members(void *work, int64_t t)
{
    const listing *l = work;
    const int64_t from = l->coarse * t / l->pieces,
                  end = l->coarse * (t + 1) / l->pieces;
    int64_t *const next = l->next;
    for (int64_t n = from; n < end; n++) next[n + 1] = 0;
    for (int64_t i = 0; i < l->rows; i++)
        if (l->of[i] >= from && l->of[i] < end) next[l->of[i] + 1]++;
}

static void fill_members(void *work, int64_t t)
{
    const listing *l = work;
    const int32_t *const of = l->of;
    const int64_t from = l->coarse * t / l->pieces,
                  end = l->coarse * (t + 1) / l->pieces;
    for (int64_t i = 0; i < l->rows; i++)
        if (of[i] >= from && of[i] < end)
            l->member[l->next[of[i]]++] = (int32_t)i;
}

tacit_status tct_list_members(int64_t rows, const int32_t *of, int64_t coarse,
                              tct_members *m)
{
    TRY(TCT_ALLOC(coarse + 2, what, &m->begin));
    TRY(TCT_ALLOC(rows, what, &m->member));
    /* shifted by one, so that filling moves each entry to its final place */
    int64_t *next = m->begin + 1;
    next[-1] = next[0] = 0;
    listing l = {rows, coarse, of, next, m->member, pieces_for(rows)};
    tct_parallel_each(l.pieces, count_members, &l);
    for (int64_t n = 0; n < coarse; n++) next[n + 1] += next[n];
    tct_parallel_each(l.pieces, fill_members, &l);
    return TACIT_OK;
}

void tct_members_clear(tct_members *m)
{
    TCT_FREE(m->begin, m->member);
    *m = (tct_members){.begin = NULL};
}

/* --- a row ---------------------------------------------------------------- */

typedef struct {
    int64_t col;
    int64_t at;   /* entry in the result                                */
    uint32_t row; /* owner row + 1; another row: free slot */
} slot;

/* Workspace of a thread. */
typedef struct {
    int64_t *entry; /* [coarse] last entry in this column */
    slot *table;    /* remote columns */
    int bits;
} lookup;

/* Rows [first, last), written to entries [from, end) before they move; `widest`
 * bounds a row. */
typedef struct {
    int64_t first, last;
    int64_t from, end;
    int64_t room, widest;
    bool starved; /* no memory for its workspace */
} piece;

typedef struct {
    const tct_contraction *c;
    tct_members m;
    tct_csr *out, *tight; /* result before and after the move */
    int64_t room;         /* total of the pieces            */
    int pieces;
    piece *piece;
    bool whole; /* all columns are own */
} contraction;

static int64_t most_entries(const contraction *k, int64_t n)
{
    const int64_t *ptr = k->c->A->ptr;
    int64_t sum = 0;
    for (int64_t at = k->m.begin[n]; at < k->m.begin[n + 1]; at++)
        sum += ptr[k->m.member[at] + 1] - ptr[k->m.member[at]];
    if (k->c->more) sum += k->c->more->ptr[n + 1] - k->c->more->ptr[n];
    return sum;
}

/* Log2 of the slots for `entries`: twice as many. */
static int bits_for(int64_t entries)
{
    int bits = 2;
    while ((INT64_C(1) << bits) < 2 * entries) bits++;
    return bits;
}

/* The slot of `col` in row `n`; a free one if it is new. */
static inline slot *find_slot(slot *table, int bits, int64_t n, int64_t col)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t h =
        (size_t)((uint64_t)col * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
    while (table[h].row == (uint32_t)(n + 1) && table[h].col != col)
        h = (h + 1) & mask;
    return &table[h];
}

/* Add to entry `*at` if it lies in [from, *end), the current row; else append
 * an entry of column `col`. */
static inline void add(tct_csr *out, int64_t from, int64_t *end, int64_t *at,
                       int64_t col, double value)
{
    if (*at >= from) {
        out->val[*at] += value;
        return;
    }
    *at = (*end)++;
    tct_csr_set_col(out, *at, col);
    out->val[*at] = value;
}

/* Add to local or remote column `of`; -1: none. */
static void add_column(const contraction *k, lookup *l, int64_t n, int64_t from,
                       int64_t *end, int64_t col, double value)
{
    const tct_contraction *c = k->c;
    const int64_t own = col - c->first;
    if (col < 0) return;
    if (own >= 0 && own < c->coarse) {
        add(k->out, from, end, &l->entry[own], col, value);
        return;
    }
    slot *s = find_slot(l->table, l->bits, n, col);
    if (s->row != (uint32_t)(n + 1)) *s = (slot){col, -1, (uint32_t)(n + 1)};
    add(k->out, from, end, &s->at, col, value);
}

int64_t tct_contracted(const tct_contraction *c, int64_t j, double *weight)
{
    const bool own = j >= 0 && j < c->A->rows;
    const int64_t g = own ? j : tct_ghost_place(c->ghosts, j + c->A->first);
    const double *weights = own ? c->weight : c->ghost_weight;
    *weight = weights ? weights[g] : 1.0;
    if (!own) return c->ghost_of[g];
    if (c->of[j] < 0) return -1;
    return c->of[j] < c->coarse ? c->first + c->of[j]
                                : c->others->id[c->of[j] - c->coarse];
}

/* `x` where `mask` is all ones; -0.0, which changes no sum, where it is 0. */
static inline double only(double x, uint64_t mask)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & mask) | (~mask & UINT64_C(1) << 63);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* The entry for column `col`: *at if it lies in [from, *end), else a new one, of
 * -0.0. There is no branch, since nothing foretells which. */
static inline double *entry_of(const tct_csr *out, int64_t from, int64_t *end,
                               int64_t *at, int32_t col)
{
    const int64_t is_known = *at >= from;
    const int64_t e = *end ^ ((*end ^ *at) & -is_known);
    *at = e;
    *end += 1 - is_known;
    out->col32[e] = col;
    out->val[e] = only(out->val[e], (uint64_t)-is_known);
    return &out->val[e];
}

/* Squares of entries [e, last), whose neighbours mostly belong together. */
static int64_t add_squares(const contraction *k, int64_t from, int64_t end,
                           int64_t e, int64_t last, const lookup *l)
{
    const int32_t *const of = k->c->of, *const col = k->c->A->col32;
    const double *const val = k->c->A->val;
    while (e < last) {
        const int32_t to = of[col[e]];
        double *const at =
            to < 0 ? NULL : entry_of(k->out, from, &end, &l->entry[to], to);
        double sum = at ? *at : 0.0;
        do sum += val[e] * val[e];
        while (++e < last && of[col[e]] == to);
        if (at) *at = sum;
    }
    return end;
}

static inline int64_t add_entries(const contraction *k, int64_t from,
                                  int64_t end, int64_t i, const lookup *l)
{
    const tct_contraction *c = k->c;
    const tct_csr *A = c->A, out = *k->out;
    const double *const weight = c->weight, *const val = A->val;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int32_t j = A->col32[e], to = c->of[j];
        const double v = weight ? weight[i] * val[e] * weight[j] : val[e];
        if (to >= 0) *entry_of(&out, from, &end, &l->entry[to], to) += v;
    }
    return end;
}

/* add_up where all columns are own: tct_has_all_columns. */
static int64_t add_up_own(const contraction *k, int64_t n, int64_t from,
                          const lookup *l)
{
    const int64_t *const ptr = k->c->A->ptr;
    int64_t end = from;
    for (int64_t at = k->m.begin[n]; at < k->m.begin[n + 1]; at++) {
        const int64_t i = k->m.member[at];
        end = k->c->squared ? add_squares(k, from, end, ptr[i], ptr[i + 1], l)
                            : add_entries(k, from, end, i, l);
    }
    return end;
}

/* Compute row `n` from entry `from` on; returns its end. */
static int64_t add_up(const contraction *k, int64_t n, int64_t from, lookup *l)
{
    const tct_contraction *c = k->c;
    const tct_csr *A = c->A, *more = c->more;
    const double *weight = c->weight;
    int64_t end = from;
    l->bits = bits_for(most_entries(k, n));
    for (int64_t at = k->m.begin[n]; at < k->m.begin[n + 1]; at++) {
        const int64_t i = k->m.member[at];
        const double own = weight ? weight[i] : 1.0;
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int64_t j = tct_csr_col(A, e) - A->first;
            const double value = own * tct_contracted_value(c, e);
            if (j >= 0 && j < A->rows && (uint32_t)c->of[j] < c->coarse) {
                add(k->out, from, &end, &l->entry[c->of[j]],
                    c->first + c->of[j], weight ? value * weight[j] : value);
            } else {
                double w;
                const int64_t col = tct_contracted(c, j, &w);
                add_column(k, l, n, from, &end, col, value * w);
            }
        }
    }
    for (int64_t e = more ? more->ptr[n] : 0; more && e < more->ptr[n + 1]; e++)
        add_column(k, l, n, from, &end, tct_csr_col(more, e), more->val[e]);
    return end;
}

/* --- pieces --------------------------------------------------------------- */

static void measure_piece(void *work, int64_t t)
{
    const contraction *k = work;
    piece p = {.first = k->out->rows * t / k->pieces,
               .last = k->out->rows * (t + 1) / k->pieces};
    for (int64_t n = p.first; n < p.last; n++) {
        const int64_t entries = most_entries(k, n);
        p.room += entries;
        if (entries > p.widest) p.widest = entries;
    }
    k->piece[t] = p;
}

static void divide(contraction *k)
{
    tct_parallel_each(k->pieces, measure_piece, k);
    for (int t = 0; t < k->pieces; t++) {
        k->piece[t].from = k->room;
        k->room += k->piece[t].room;
    }
}

static void fill_piece(void *work, int64_t t)
{
    const contraction *k = work;
    piece *p = &k->piece[t];
    const int64_t coarse = k->c->coarse;
    lookup l = {.entry = tct_alloc((size_t)coarse * sizeof *l.entry),
                .table = tct_calloc(sizeof *l.table << bits_for(p->widest))};
    const bool starved = !l.entry || !l.table;
    for (int64_t n = 0; !starved && n < coarse; n++) l.entry[n] = -1;
    p->end = p->from;
    for (int64_t n = p->first; !starved && n < p->last; n++) {
        const int64_t from = p->end;
        p->end = k->whole ? add_up_own(k, n, from, &l) : add_up(k, n, from, &l);
        k->out->ptr[n + 1] = p->end - from;
    }
    TCT_FREE(l.entry, l.table);
    p->starved = starved;
}

static void copy_piece(void *work, int64_t t)
{
    const contraction *k = work;
    const piece *p = &k->piece[t];
    const tct_csr *from = k->out;
    tct_csr *to = k->tight;
    const int64_t at = from->ptr[p->first];
    for (int64_t e = 0; e < p->end - p->from; e++) {
        tct_csr_set_col(to, at + e, tct_csr_col(from, p->from + e));
        to->val[at + e] = from->val[p->from + e];
    }
}

/* Move the pieces into memory of the right size, unless one piece nearly fills
 * the allocation. */
static tacit_status move_together(contraction *k)
{
    tct_csr *out = k->out, tight;
    for (int64_t n = 0; n < out->rows; n++) out->ptr[n + 1] += out->ptr[n];
    const int64_t entries = out->ptr[out->rows];
    if (k->pieces == 1 && entries > k->room / 3) return TACIT_OK;
    tight = *out;
    tight.val = NULL;
    tight.col32 = NULL;
    tight.col64 = NULL;
    const tacit_status status = tct_csr_entries(&tight, entries);
    if (status < 0) TCT_FREE(tight.col32, tight.col64, tight.val);
    TRY(status);
    k->tight = &tight;
    tct_parallel_each(k->pieces, copy_piece, k);
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
    tct_parallel_each(k->pieces, fill_piece, k);
    for (int t = 0; t < k->pieces; t++) starved |= k->piece[t].starved;
    if (starved) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return move_together(k);
}

tacit_status tct_accumulate_rows(const tct_contraction *c, tct_csr *out)
{
    tct_csr B = {0};
    contraction k = {.c = c,
                     .out = &B,
                     .pieces = pieces_for(c->A->rows),
                     .whole = tct_has_all_columns(c->A) && !c->more &&
                              c->first == 0 && c->all == c->coarse};
    const tacit_status status = contract(&k);
    tct_members_clear(&k.m);
    tct_free(k.piece);
    if (status < 0) tct_csr_clear(&B);
    else *out = B;
    return status;
}
