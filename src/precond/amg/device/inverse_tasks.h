/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/inverse_tasks.h - the inverse of the coarsest matrix in
 * tasks of setup_tasks.h: block Gauss-Jordan as in coarsest_solve.c, and with
 * its bits where the host fuses multiplication and addition. */
#ifndef TCT_PRECOND_AMG_DEVICE_INVERSE_TASKS_H
#define TCT_PRECOND_AMG_DEVICE_INVERSE_TASKS_H
#include "precond/amg/cycle/pivot_block.h"
#include "precond/amg/device/setup_tasks.h"

TCT_BOTH void tct_amg_task_dense_diagonal(const tct_amg_work *g, int64_t i)
{
    g->dense.d[i] = g->dense.a[i * g->dense.n + i];
}

/* --- the block of pivots, inverted by PIVOT_LANES threads that share `own`; a
 * barrier separates the steps ---------------------------------------------- */

enum { TCT_AMG_PIVOT_LANES = TCT_ELIMINATED * TCT_ELIMINATED };

TCT_BOTH void tct_amg_pivots_open(const tct_amg_work *g, int lane, double *own)
{
    const tct_amg_dense *D = &g->dense;
    const int32_t b = D->block;
    if (lane < b * b)
        own[lane] =
            *tct_lower_at(D->a, D->n, D->from + lane / b, D->from + lane % b);
}

/* Pivot `k`: all lanes end unless it is positive. */
TCT_BOTH double tct_amg_pivots_next(const tct_amg_work *g, int32_t k,
                                    const double *own)
{
    const tct_amg_dense *D = &g->dense;
    return tct_pivot_of(D->block, k, D->d + D->from, own);
}

/* The lane's element after the elimination of row `k`. */
TCT_BOTH double tct_amg_pivots_step(const tct_amg_work *g, int32_t k,
                                    double pivot, int lane, double *own)
{
    const int32_t b = g->dense.block, i = lane / b, j = lane % b;
    if (lane >= b * b || j > i) return 0.0; /* not used */
    return tct_pivot_element(own[lane], i, j, k, pivot,
                             *tct_lower_at(own, b, k, i),
                             *tct_lower_at(own, b, k, j));
}

TCT_BOTH void tct_amg_pivots_close(const tct_amg_work *g, int lane,
                                   const double *own)
{
    if (lane < g->dense.block * g->dense.block) g->dense.own[lane] = own[lane];
}

/* --- the other rows ------------------------------------------------------- */

/* Column `j` of the block's rows V, and of W = own V. */
TCT_BOTH void tct_amg_task_dense_rows(const tct_amg_work *g, int64_t j)
{
    const tct_amg_dense *D = &g->dense;
    const int64_t b = D->block, n = D->n;
    for (int64_t p = 0; p < TCT_ELIMINATED; p++)
        D->V[p * n + j] = p < b ? *tct_lower_at(D->a, n, D->from + p, j) : 0.0;
    for (int64_t p = 0; p < TCT_ELIMINATED; p++) {
        double sum = 0.0;
        for (int64_t r = 0; r < b && p < b; r++)
            sum -= *tct_lower_at(D->own, b, p, r) * D->V[r * n + j];
        D->W[p * n + j] = sum;
    }
}

/* Element `e` of a - V' W; rows and columns of the block become W and `own`. */
TCT_BOTH void tct_amg_task_dense_subtract(const tct_amg_work *g, int64_t e)
{
    const tct_amg_dense *D = &g->dense;
    const int64_t n = D->n, i = e / n, j = e % n;
    const int64_t p = i - D->from, r = j - D->from;
    const bool row = p >= 0 && p < D->block, col = r >= 0 && r < D->block;
    double sum = D->a[e];
    if (j > i) return;
    if (row && col) sum = D->own[p * D->block + r];
    else if (row) sum = D->W[p * n + j];
    else if (col) sum = D->W[r * n + i];
    for (int k = 0; k < TCT_ELIMINATED && !row && !col; k++)
        sum = fma(-D->V[k * n + i], D->W[k * n + j], sum);
    D->a[e] = sum;
}

/* Negate the lower triangle and mirror it. */
TCT_BOTH void tct_amg_task_dense_mirror(const tct_amg_work *g, int64_t e)
{
    const tct_amg_dense *D = &g->dense;
    const int64_t n = D->n, i = e / n, j = e % n;
    if (j > i) return;
    const double minus = -D->a[e];
    D->a[e] = minus;
    D->a[j * n + i] = minus;
}

#endif
