/* SPDX-License-Identifier: BSD-3-Clause
 * factor/pairs.c - rows in pairs, by the cycles of a matching: all entries of a
 * cycle are 1 when scaled, so that every second one makes a good pivot of 2 x
 * 2. Both rows of a pair get the pattern of either, and so come to lie in the
 * same front. */
#include "factor/pairs.h"
#include <math.h>
#include <stdlib.h>

static const char *const what = "the pairs of rows of a factor";

/* A smaller scaled diagonal entry is no pivot by itself. */
#define DIAGONAL_LEAST 0.01

void tct_pairs_clear(tct_pairs *p)
{
    TCT_FREE(p->row, p->node, p->ptr, p->next);
    *p = (tct_pairs){.row = NULL};
}

/* --- groups --------------------------------------------------------------- */

/* |a_ii| s_i^2 */
static double diagonal_of(const tct_csr *A, const tct_matching *m, int32_t i)
{
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (A->col32[k] == i)
            return fabs(A->val[k] * m->row_scale[i] * m->col_scale[i]);
    return 0.0;
}

/* The rows of the cycle of `i` get the other row of their pair in `mate`. In a
 * cycle of odd length the row of the largest diagonal entry stays single; if
 * that is small, it gets ~ a row of the next pair. */
static void pair_cycle(const tct_csr *A, const tct_matching *m, int32_t i,
                       int32_t *mate)
{
    int64_t length = 0;
    int32_t single = i;
    double most = -1.0;
    for (int32_t j = i; length == 0 || j != i; j = m->row[j], length++) {
        const double d = diagonal_of(A, m, j);
        if (d > most) single = j;
        most = fmax(most, d);
    }
    int32_t j = length % 2 ? m->row[single] : i;
    if (length % 2)
        mate[single] = length > 1 && most < DIAGONAL_LEAST ? ~j : single;
    for (int64_t k = 0; k < length / 2; k++) {
        const int32_t other = m->row[j];
        mate[j] = other;
        mate[other] = j;
        j = m->row[other];
    }
}

static void list_nodes(int64_t rows, const int32_t *mate, tct_pairs *p)
{
    for (int32_t i = 0; i < rows; i++) {
        if (mate[i] < i) continue;
        int32_t *row = p->row + 3 * p->nodes;
        p->node[i] = p->node[mate[i]] = (int32_t)p->nodes++;
        row[0] = i;
        row[1] = mate[i] > i ? mate[i] : -1;
        row[2] = -1;
    }
    for (int32_t i = 0; i < rows; i++) {
        if (mate[i] >= 0) continue;
        p->node[i] = p->node[~mate[i]];
        p->row[3 * p->node[i] + 2] = i;
    }
}

static tacit_status find_nodes(const tct_csr *A, const tct_matching *match,
                               tct_pairs *p)
{
    int32_t *mate = NULL;
    TRY(TCT_ALLOC(A->rows, what, &mate));
    for (int64_t i = 0; i < A->rows; i++) mate[i] = INT32_MAX;
    for (int32_t i = 0; i < A->rows; i++)
        if (mate[i] == INT32_MAX) pair_cycle(A, match, i, mate);
    list_nodes(A->rows, mate, p);
    tct_free(mate);
    return TACIT_OK;
}

/* Row `s` of node `c`; -1: none. */
static int32_t row_of(const tct_pairs *p, int64_t c, int s)
{
    return p->row[3 * c + s];
}

static int64_t rows_in(const tct_pairs *p, int64_t c)
{
    return row_of(p, c, 1) < 0 ? 1 : row_of(p, c, 2) < 0 ? 2 : 3;
}

/* Rows keep their places; 2^exponent is half of either scale's. */
static void make_symmetric(int64_t rows, int exponent, tct_matching *m)
{
    const double odd = exponent % 2 ? sqrt(2.0) : 1.0;
    for (int64_t i = 0; i < rows; i++) {
        m->row[i] = (int32_t)i;
        m->row_scale[i] =
            ldexp(sqrt(m->row_scale[i]) * sqrt(m->col_scale[i]) * odd,
                  (exponent - exponent % 2) / 2);
        if (exponent % 2 < 0) m->row_scale[i] /= 2.0;
        m->col_scale[i] = m->row_scale[i];
    }
}

/* --- graph ---------------------------------------------------------------- */

typedef struct {
    const tct_csr *A;
    tct_pairs *p;
    int32_t *mark; /* [nodes] the last node that has this neighbour */
} joiner;

/* The neighbours of node `c` at `to`, or NULL; returns how many. */
static int64_t join(const joiner *j, int32_t c, int32_t *to)
{
    const tct_pairs *p = j->p;
    int64_t count = 0;
    for (int s = 0; s < rows_in(p, c); s++) {
        const int32_t i = row_of(p, c, s);
        for (int64_t k = j->A->ptr[i]; k < j->A->ptr[i + 1]; k++) {
            const int32_t d = p->node[j->A->col32[k]];
            if (j->mark[d] == c) continue;
            j->mark[d] = c;
            if (to) to[count] = d;
            count++;
        }
    }
    return count;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void unmark(joiner *j)
{
    for (int64_t c = 0; c < j->p->nodes; c++) j->mark[c] = -1;
}

static tacit_status make_graph(joiner *j)
{
    tct_pairs *p = j->p;
    TRY(TCT_ALLOC(p->nodes, what, &j->mark));
    TRY(TCT_ALLOC(p->nodes + 1, what, &p->ptr));
    p->ptr[0] = 0;
    unmark(j);
    for (int32_t c = 0; c < p->nodes; c++)
        p->ptr[c + 1] = p->ptr[c] + join(j, c, NULL);
    TRY(TCT_ALLOC(p->ptr[p->nodes], what, &p->next));
    unmark(j);
    for (int32_t c = 0; c < p->nodes; c++)
        qsort(p->next + p->ptr[c], (size_t)join(j, c, p->next + p->ptr[c]),
              sizeof *p->next, ascending);
    return TACIT_OK;
}

tacit_status tct_pairs_create(const tct_csr *A, int exponent,
                              tct_matching *match, tct_pairs *out)
{
    joiner j = {.A = A, .p = out};
    *out = (tct_pairs){.nodes = 0};
    TRY(TCT_ALLOC(3 * A->rows, what, &out->row));
    TRY(TCT_ALLOC(A->rows, what, &out->node));
    TRY(find_nodes(A, match, out));
    make_symmetric(A->rows, exponent, match);
    const tacit_status status = make_graph(&j);
    tct_free(j.mark);
    return status;
}

/* --- entries -------------------------------------------------------------- */

/* Row `i`, of node `c`, from `at` on; `place` [rows] is scratch. Returns the
 * end. */
static int64_t put_row(const tct_csr *A, int exponent, const tct_matching *m,
                       const tct_pairs *p, int32_t i, int64_t at,
                       int64_t *place, int32_t *col, double *val)
{
    const int32_t c = p->node[i];
    for (int64_t k = p->ptr[c]; k < p->ptr[c + 1]; k++)
        for (int s = 0; s < rows_in(p, p->next[k]); s++) {
            place[col[at] = row_of(p, p->next[k], s)] = at;
            val[at++] = 0.0;
        }
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int32_t j = A->col32[k];
        val[place[j]] =
            ldexp(A->val[k], -exponent) * m->row_scale[i] * m->col_scale[j];
    }
    return at;
}

/* The products of scales are commutative, so that the matrix stays
 * symmetric. */
static void put_rows(const tct_csr *A, int exponent, const tct_matching *m,
                     const tct_pairs *p, int64_t *place, int64_t *ptr,
                     int32_t *col, double *val)
{
    ptr[0] = 0;
    for (int32_t i = 0; i < A->rows; i++)
        ptr[i + 1] = put_row(A, exponent, m, p, i, ptr[i], place, col, val);
}

static int64_t entries_of(const tct_pairs *p)
{
    int64_t count = 0;
    for (int32_t c = 0; c < p->nodes; c++)
        for (int64_t k = p->ptr[c]; k < p->ptr[c + 1]; k++)
            count += rows_in(p, c) * rows_in(p, p->next[k]);
    return count;
}

tacit_status tct_entries_paired(const tct_csr *A, int exponent,
                                const tct_matching *match, const tct_pairs *p,
                                tct_entries *out)
{
    const int64_t entries = entries_of(p);
    int64_t *place = NULL, *ptr = NULL;
    int32_t *col = NULL;
    double *val = NULL;
    *out = (tct_entries){.rows = A->rows, .added = entries - A->ptr[A->rows]};
    TRY(TCT_ALLOC(A->rows + 1, what, &ptr));
    out->ptr = out->own[0] = ptr;
    TRY(TCT_ALLOC(entries, what, &col));
    out->col = out->own[1] = col;
    TRY(TCT_ALLOC(entries, what, &val));
    out->value = out->mirror = out->own[2] = val;
    TRY(TCT_ALLOC(A->rows, what, &place));
    put_rows(A, exponent, match, p, place, ptr, col, val);
    tct_free(place);
    return TACIT_OK;
}

/* --- order ---------------------------------------------------------------- */

/* The rows of the nodes of `x`, in its order. */
static void expand(const tct_pairs *p, const tct_nesting *x, tct_nesting *out)
{
    int32_t at = 0, k = 0;
    out->start[0] = 0;
    for (int64_t c = 0; c < p->nodes; c++) {
        while (x->start[k + 1] <= c) out->start[++k] = at;
        for (int s = 0; s < rows_in(p, x->old[c]); s++)
            out->old[at++] = row_of(p, x->old[c], s);
    }
    while (k < 2 * x->leaves - 1) out->start[++k] = at;
    memcpy(out->node, x->node, (size_t)(2 * x->leaves - 1) * sizeof *out->node);
    for (int32_t i = 0; i < at; i++) out->now[out->old[i]] = i;
}

static int64_t rows_of(const tct_pairs *p)
{
    int64_t rows = 0;
    for (int32_t c = 0; c < p->nodes; c++) rows += rows_in(p, c);
    return rows;
}

tacit_status tct_pairs_order(const tct_pairs *p, tct_rows_order order,
                             int leaves, tct_nesting *out)
{
    const tct_graph g = {p->nodes, p->ptr, p->next};
    tct_nesting x = {.leaves = 0};
    const int64_t rows = rows_of(p);
    *out = (tct_nesting){.leaves = 0};
    tacit_status status = tct_nesting_by(&g, order, leaves, &x);
    out->leaves = x.leaves;
    if (status >= 0) status = TCT_ALLOC(rows, what, &out->old);
    if (status >= 0) status = TCT_ALLOC(rows, what, &out->now);
    if (status >= 0) status = TCT_ALLOC(2 * x.leaves, what, &out->start);
    if (status >= 0) status = TCT_ALLOC(2 * x.leaves, what, &out->node);
    if (status >= 0) expand(p, &x, out);
    tct_nesting_clear(&x);
    if (status < 0) tct_nesting_clear(out);
    return status;
}

/* Is row `i` in no pair? */
static bool is_single(const tct_pairs *p, int32_t i)
{
    const int32_t c = p->node[i];
    return row_of(p, c, 1) < 0 || row_of(p, c, 2) == i;
}

/* The new places of front f's columns into `old` [rows], which has the original
 * rows: pairs, which are neighbours, then the others. */
static void arrange_front(const tct_pairs *p, const tct_nesting *x,
                          const tct_fronts *F, int32_t f, int32_t *old)
{
    int64_t at = F->first[f];
    for (int single = 0; single < 2; single++)
        for (int64_t k = F->first[f]; k < F->first[f + 1]; k++) {
            const int32_t i = x->old[k];
            if (is_single(p, i) == single) old[at++] = i;
        }
}

tacit_status tct_pairs_arrange(const tct_pairs *p, tct_nesting *x,
                               tct_fronts *F)
{
    int32_t *old = NULL;
    TRY(TCT_ALLOC(F->rows, what, &old));
    for (int32_t f = 0; f < F->count; f++) arrange_front(p, x, F, f, old);
    for (int64_t k = 0; k < F->start[F->count]; k++)
        F->below[k] = x->old[F->below[k]];
    memcpy(x->old, old, (size_t)F->rows * sizeof *old);
    tct_free(old);
    for (int64_t k = 0; k < F->rows; k++) x->now[x->old[k]] = (int32_t)k;
    for (int64_t k = 0; k < F->start[F->count]; k++)
        F->below[k] = x->now[F->below[k]];
    return tct_fronts_sort(F);
}
