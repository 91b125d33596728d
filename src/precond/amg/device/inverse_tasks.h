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

/* Invert the block of pivots; one that is not positive sets `bad`. */
TCT_BOTH void tct_amg_task_dense_pivots(const tct_amg_work *g, int64_t i)
{
    const tct_amg_dense *D = &g->dense;
    const int64_t b = D->block;
    double own[TCT_ELIMINATED * TCT_ELIMINATED];
    (void)i;
    if (g->state->bad) return;
    for (int64_t p = 0; p < b; p++)
        for (int64_t r = 0; r < b; r++)
            own[p * b + r] =
                *tct_lower_at(D->a, D->n, D->from + p, D->from + r);
    if (!tct_invert_block(b, D->d + D->from, own)) g->state->bad = 1;
    for (int64_t e = 0; e < b * b; e++) D->own[e] = own[e];
}

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
