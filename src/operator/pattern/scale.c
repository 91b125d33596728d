/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/scale.c - entries far from 1 are stored times a power of 2,
 * which changes no bit: products of three entries and their squares are then in
 * the range of doubles, and entries in that of floats. */
#include "operator/assembled.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { NEAR = 64 }; /* exponents up to here need no scaling */

/* Largest |a|, and the inverse of the smallest that is not 0. */
static void extent_of(const tct_csr *A, double extent[2])
{
    double high = 0.0, low = INFINITY;
    const int64_t nonzeros = tct_csr_nonzeros(A);
#pragma omp parallel for schedule(static) reduction(max                   \
                                                    : high) reduction(min \
                                                                      : low)
    for (int64_t k = 0; k < nonzeros; k++) {
        const double a = fabs(A->val[k]);
        if (a > high) high = a;
        if (a > 0.0 && a < low) low = a;
    }
    extent[0] = high;
    extent[1] = 1.0 / low;
}

static double norm_of(const tct_csr *A)
{
    double most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            sum += fabs(A->val[k]);
        if (sum > most) most = sum;
    }
    return most;
}

tacit_status tct_scale(tacit_operator *A, tct_csr *rows)
{
    double extent[2];
    int exponent = 0;
    extent_of(rows, extent);
    TRY(tct_reduce_f64(A->world, TCT_MAX, 2, extent));
    if (extent[0] > 0.0) (void)frexp(extent[0], &exponent);
    A->exponent = abs(exponent) > NEAR ? exponent : 0;
    if (A->exponent != 0 && ldexp(1.0 / extent[1], -A->exponent) < DBL_MIN)
        FAIL(TACIT_INPUT,
             "the matrix has entries from %.3g to %.3g: double precision "
             "cannot work with sizes so far apart",
             1.0 / extent[1], extent[0]);
    const int64_t nonzeros = A->exponent ? tct_csr_nonzeros(rows) : 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nonzeros; k++)
        rows->val[k] = ldexp(rows->val[k], -A->exponent);
    A->norm = norm_of(rows);
    return tct_reduce_f64(A->world, TCT_MAX, 1, &A->norm);
}

void tct_unscale(const tacit_operator *A, tacit_queue *q, double *y)
{
    const int half = A->exponent / 2; /* 2^-exponent may not be a double */
    if (A->exponent == 0) return;
    q_scale(q, (size_t)A->n, ldexp(1.0, half), y);
    q_scale(q, (size_t)A->n, ldexp(1.0, A->exponent - half), y);
}
