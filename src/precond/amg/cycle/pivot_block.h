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

/* Pivot `k` of a block with the former diagonal `d`. For a singular matrix, such
 * as a graph's Laplacian, the last row of each part is left with rounding
 * errors: a small share of `d` is added, so small that a non-singular remainder
 * would make the next pivot negative. */
TCT_BOTH double tct_pivot_of(int64_t b, int64_t k, const double *d,
                             const double *a)
{
    const double left = a[k * b + k];
    return tct_is_rounding(left, d[k]) ? 1e-3 * d[k] : left;
}

/* Element (i, j), j <= i, after the elimination of row `k`, which had `vi` and
 * `vj` in columns i and j. */
TCT_BOTH double tct_pivot_element(double a, int64_t i, int64_t j, int64_t k,
                                  double pivot, double vi, double vj)
{
    if (i == k) return (j == k ? -1.0 : vj) / pivot;
    return j == k ? vi / pivot : a - vi / pivot * vj;
}

/* Inverts a block row by row. False: a pivot is not positive. */
TCT_BOTH bool tct_invert_block(int64_t b, const double *d, double *a)
{
    for (int64_t k = 0; k < b; k++) {
        const double pivot = tct_pivot_of(b, k, d, a);
        double v[TCT_ELIMINATED];
        if (!(pivot > 0.0)) return false;
        for (int64_t j = 0; j < b; j++) v[j] = *tct_lower_at(a, b, k, j);
        for (int64_t i = 0; i < b; i++)
            for (int64_t j = 0; j <= i; j++)
                a[i * b + j] =
                    tct_pivot_element(a[i * b + j], i, j, k, pivot, v[i], v[j]);
    }
    return true;
}

#endif
