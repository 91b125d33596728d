/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/pivot_block.h - pivots of the coarsest inverse, one text for
 * host (coarsest_solve.c) and device (inverse_tasks.h). */
#ifndef TCT_PRECOND_AMG_CYCLE_PIVOT_BLOCK_H
#define TCT_PRECOND_AMG_CYCLE_PIVOT_BLOCK_H
#include "precond/amg/aggregation/edges.h"
#include "precond/amg/eliminate.h"

/* Element (i, j) of a symmetric matrix stored in its lower triangle. */
TCT_BOTH double *tct_lower_at(double *a, int64_t n, int64_t i, int64_t j)
{
    return j <= i ? a + i * n + j : a + j * n + i;
}

/* Inverts a block row by row. For a singular matrix, such as a graph's
 * Laplacian, the last row of each part is left with rounding errors: a small
 * share of its former diagonal `d` is added, so small that a non-singular
 * remainder would make the next pivot negative. False: a pivot is not
 * positive. */
TCT_BOTH bool tct_invert_block(int64_t b, const double *d, double *a)
{
    for (int64_t k = 0; k < b; k++) {
        const double left = *tct_lower_at(a, b, k, k);
        const double pivot = tct_is_rounding(left, d[k]) ? 1e-3 * d[k] : left;
        double v[TCT_ELIMINATED];
        if (!(pivot > 0.0)) return false;
        for (int64_t j = 0; j < b; j++) v[j] = *tct_lower_at(a, b, k, j);
        for (int64_t i = 0; i < b; i++)
            for (int64_t j = 0; j <= i; j++)
                a[i * b + j] -= v[i] / pivot * v[j];
        for (int64_t j = 0; j < b; j++)
            *tct_lower_at(a, b, k, j) = v[j] / pivot;
        a[k * b + k] = -1.0 / pivot;
    }
    return true;
}

#endif
