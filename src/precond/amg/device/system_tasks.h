/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/system_tasks.h - tasks of setup_tasks.h for several
 * near-null vectors: the graph of nodes, QR factors, the product in blocks.
 * Results have the bits of nodes.c, orthonormal.c and block_galerkin.c. */
#ifndef TCT_PRECOND_AMG_DEVICE_SYSTEM_TASKS_H
#define TCT_PRECOND_AMG_DEVICE_SYSTEM_TASKS_H
#include "precond/amg/device/setup_tasks.h"
#include "precond/amg/systems/graph_weight.h"
#include "precond/amg/systems/qr.h"

/* --- the graph of nodes: nodes.c ------------------------------------------ */

TCT_BOTH int32_t tct_amg_node_of(const tct_amg_work *g, int64_t i)
{
    return g->node ? g->node[i] : (int32_t)(i / g->k);
}

/* The row of entry `e` of a matrix. */
TCT_BOTH int64_t tct_amg_row_of(const tct_amg_csr *A, int64_t e)
{
    int64_t low = 0, high = A->rows;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (A->ptr[middle] <= e) low = middle;
        else high = middle;
    }
    return low;
}

/* The sum of squares of block `e` of A, whose nodes have k rows. */
TCT_BOTH void tct_amg_task_square(const tct_amg_work *g, int64_t e)
{
    const int64_t n = tct_amg_row_of(&g->blocks, e), k = g->k;
    const int64_t at = (e - g->blocks.ptr[n]) * k;
    double sum = 0.0;
    for (int64_t c = 0; c < k; c++) {
        const double *a = g->A.val + g->A.ptr[n * k + c] + at;
        for (int64_t d = 0; d < k; d++) sum += a[d] * a[d];
    }
    g->blocks.val[e] = sum;
}

/* Turn the squares of node `n` into edge weights, and set its diagonal. */
TCT_BOTH void tct_amg_task_edges(const tct_amg_work *g, int64_t n)
{
    const tct_amg_csr *N = &g->blocks;
    double sum = g->beyond ? g->beyond[n] : 0.0; /* edges to other ranks */
    int64_t own = N->ptr[n];
    for (int64_t e = N->ptr[n]; e < N->ptr[n + 1]; e++) {
        N->val[e] = -tct_node_norm(N->val[e]);
        if (N->col[e] == n) own = e;
        else sum -= N->val[e];
    }
    N->val[own] = tct_node_diagonal(-N->val[own], sum);
}

/* --- P: orthonormal.c ----------------------------------------------------- */

/* Rows get the aggregates of their nodes, from `up` to `of`. */
TCT_BOTH void tct_amg_task_map(const tct_amg_work *g, int64_t i)
{
    g->of[i] = g->up[tct_amg_node_of(g, i)];
}

/* The QR factors of an aggregate's rows: Q by `list` and by row, R. */
TCT_BOTH void tct_amg_task_factor(const tct_amg_work *g, int64_t n)
{
    const int k = g->k;
    const int32_t *list = g->list + g->ptr[n];
    const int32_t members = g->ptr[n + 1] - g->ptr[n];
    double *Q = g->listed + (int64_t)g->ptr[n] * k;
    for (int32_t r = 0; r < members; r++)
        for (int v = 0; v < k; v++)
            Q[r * k + v] = g->near[(int64_t)list[r] * k + v];
    tct_qr(members, k, Q, g->smooth + n * k * k);
    for (int32_t r = 0; r < members; r++)
        for (int v = 0; v < k; v++)
            g->scaled[(int64_t)list[r] * k + v] = Q[r * k + v];
}

/* Rows without an aggregate. */
TCT_BOTH void tct_amg_task_factor_none(const tct_amg_work *g, int64_t i)
{
    for (int v = 0; v < g->k && g->of[i] < 0; v++)
        g->scaled[i * g->k + v] = 0.0;
}

/* --- the product: block_galerkin.c ---------------------------------------- */

/* Row `n` of `out`, whose blocks are those of the graph. */
TCT_BOTH void tct_amg_task_block_starts(const tct_amg_work *g, int64_t n)
{
    const int64_t k = g->k, a = n / k, c = n % k;
    const int64_t *ptr = g->blocks.ptr;
    const int64_t length = a < g->coarse ? (ptr[a + 1] - ptr[a]) * k : 0;
    g->out.ptr[n] = ptr[a] * k * k + c * length;
}

TCT_BOTH void tct_amg_task_block_columns(const tct_amg_work *g, int64_t e)
{
    const int64_t a = tct_amg_row_of(&g->blocks, e), k = g->k;
    const int64_t at = (e - g->blocks.ptr[a]) * k;
    for (int64_t c = 0; c < k; c++)
        for (int64_t d = 0; d < k; d++)
            g->out.col[g->out.ptr[a * k + c] + at + d] =
                (int32_t)(g->blocks.col[e] * k + d);
}

/* Piece of a row of A that the threads of a block share. */
enum { TCT_AMG_STAGE = 512 /* entries */ };
typedef struct tct_amg_stage {
    double *val;
    int32_t *col;
    int32_t *place; /* block of the aggregate's row, -1: none */
} tct_amg_stage;

/* Thread's state: one column of one block, entry by entry of A. */
typedef struct tct_amg_column {
    int32_t block, column;       /* block -1: none */
    bool touched;                /* by the current row of A */
    double sum;                  /* row of A P */
    double acc[TCT_AMG_VECTORS]; /* of P' A P */
} tct_amg_column;

/* Column `at` of the rows of aggregate `n`. */
TCT_BOTH tct_amg_column tct_amg_column_open(const tct_amg_work *g, int64_t n,
                                            int64_t at)
{
    const int64_t count = g->blocks.ptr[n + 1] - g->blocks.ptr[n];
    tct_amg_column s;
    s.block = at < count * g->k ? (int32_t)(at / g->k) : -1;
    s.column = (int32_t)(at % g->k);
    s.touched = false;
    s.sum = 0.0;
    for (int c = 0; c < TCT_AMG_VECTORS; c++) s.acc[c] = 0.0;
    return s;
}

/* The place of aggregate `of` among the blocks of `n`, which ascend. */
TCT_BOTH int32_t tct_amg_place_of(const tct_amg_work *g, int64_t n, int32_t of)
{
    const int32_t *col = g->blocks.col + g->blocks.ptr[n];
    int32_t low = 0, high = (int32_t)(g->blocks.ptr[n + 1] - g->blocks.ptr[n]);
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (col[middle] <= of) low = middle;
        else high = middle;
    }
    return low;
}

/* Entries [from, from + count) of A, in the row of aggregate `n`: the share of
 * thread `lane`; barriers separate it from the next function. */
TCT_BOTH void tct_amg_stage_entries(const tct_amg_work *g, int64_t n,
                                    int64_t from, int32_t count, int lane,
                                    int lanes, const tct_amg_stage *to)
{
    for (int32_t e = lane; e < count; e += lanes) {
        const int32_t j = g->A.col[from + e], of = g->group[j];
        to->val[e] = g->A.val[from + e];
        to->col[e] = j;
        to->place[e] = of < 0 ? -1 : tct_amg_place_of(g, n, of);
    }
}

/* The product of staged entry `k`, -1: none, with the column's weight; *has: its
 * block is the column's. */
TCT_BOTH double tct_amg_column_part(const tct_amg_work *g, int32_t k,
                                    const tct_amg_stage *e,
                                    const tct_amg_column *s, bool *has)
{
    *has = k >= 0 && s->block >= 0 && e->place[k] == s->block;
    if (!*has) return 0.0;
    return e->val[k] * g->weight[(int64_t)e->col[k] * g->k + s->column];
}

/* Add it to the row of A P; entries ascend. */
TCT_BOTH void tct_amg_column_add(double part, bool has, tct_amg_column *s)
{
    if (!has) return;
    s->sum += part;
    s->touched = true;
}

/* Row `i` of A ends: add its products. */
TCT_BOTH void tct_amg_column_row(const tct_amg_work *g, int64_t i,
                                 tct_amg_column *s)
{
    if (!s->touched) return;
    for (int c = 0; c < TCT_AMG_VECTORS; c++)
        if (c < g->k) s->acc[c] += g->weight[i * g->k + c] * s->sum;
    s->sum = 0.0;
    s->touched = false;
}

TCT_BOTH void tct_amg_column_close(const tct_amg_work *g, int64_t n,
                                   const tct_amg_column *s)
{
    const int64_t k = g->k;
    if (s->block < 0) return;
    for (int c = 0; c < TCT_AMG_VECTORS; c++)
        if (c < k)
            g->out.val[g->out.ptr[n * k + c] + s->block * k + s->column] =
                s->acc[c];
}

TCT_BOTH double tct_amg_most_diagonal(const tct_amg_work *g, int64_t n)
{
    double most = 0.0;
    for (int32_t m = g->ptr[n]; m < g->ptr[n + 1]; m++)
        most = fmax(most, tct_amg_sum_row(&g->A, NULL, g->list[m]).diagonal);
    return most;
}

/* Has a row of aggregate `n` columns of other ranks? */
TCT_BOTH bool tct_amg_is_beyond(const tct_amg_work *g, int64_t n)
{
    for (int32_t m = g->ptr[n]; g->beyond && m < g->ptr[n + 1]; m++)
        if (g->beyond[g->list[m]] != 0.0) return true;
    return false;
}

/* Replace rounding errors in an aggregate without couplings. */
TCT_BOTH void tct_amg_replace_rounding(const tct_amg_work *g, int64_t n,
                                       double *val)
{
    const int64_t k = g->k;
    const double d = tct_amg_most_diagonal(g, n);
    for (int64_t c = 0; c < k; c++) {
        double sum = 0.0;
        for (int64_t e = 0; e < k; e++) sum += fabs(val[c * k + e]);
        if (tct_is_rounding(sum, d)) val[c * k + c] = d;
    }
}

/* block_galerkin.c: replace_rounding and complete, for aggregate `n`. */
TCT_BOTH void tct_amg_task_complete_blocks(const tct_amg_work *g, int64_t n)
{
    const int64_t k = g->k,
                  length = k * (g->blocks.ptr[n + 1] - g->blocks.ptr[n]);
    const int64_t own = k * tct_amg_place_of(g, n, (int32_t)n);
    double *val = g->out.val + g->out.ptr[n * k];
    const double *R = g->smooth + n * k * k;
    double most = 0.0;
    if (length == k && !tct_amg_is_beyond(g, n))
        tct_amg_replace_rounding(g, n, val);
    for (int64_t c = 0; c < k; c++) {
        const double d = val[c * length + own + c];
        if (d > most) most = d;
    }
    for (int64_t c = 0; c < k; c++)
        if (R[c * k + c] == 0.0)
            val[c * length + own + c] = most > 0.0 ? most : 1.0;
}

/* --- precision.c ---------------------------------------------------------- */

/* The terms of w'A w and |w|'|A| |w| of row `i` for all vectors w, into
 * [k][rows] of `vector` and `sums`. */
TCT_BOTH void tct_amg_task_energies(const tct_amg_work *g, int64_t i)
{
    const tct_amg_csr *A = &g->A;
    const double *own = g->near + i * g->k;
    double energy[TCT_AMG_VECTORS], size[TCT_AMG_VECTORS];
    for (int v = 0; v < TCT_AMG_VECTORS; v++) energy[v] = size[v] = 0.0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const double *other = g->near + (int64_t)A->col[e] * g->k;
        for (int v = 0; v < TCT_AMG_VECTORS; v++) {
            if (v >= g->k) continue;
            const double part = A->val[e] * other[v];
            energy[v] += part;
            size[v] += fabs(part);
        }
    }
    for (int v = 0; v < TCT_AMG_VECTORS; v++) {
        if (v >= g->k) continue;
        g->vector[v * A->rows + i] = own[v] * energy[v];
        g->sums[v * A->rows + i] = fabs(own[v]) * size[v];
    }
}

#endif
