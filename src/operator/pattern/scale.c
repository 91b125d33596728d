/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/scale.c - entries far from 1 are stored times a power of 2,
 * which changes no bit: products of three entries and their squares are then in
 * the range of doubles, and entries in that of floats. */
#include "device/parallel.h"
#include "operator/assembled.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { NEAR = 64 }; /* exponents up to here need no scaling */

typedef struct {
    const tct_csr *A;
    _Atomic double high, inverse; /* of ranges, the largest */
    int exponent;
} sizes;

static void measure_entries(void *work, int64_t from, int64_t to)
{
    sizes *s = work;
    double high = 0.0, low = INFINITY;
    for (int64_t k = from; k < to; k++) {
        const double a = fabs(s->A->val[k]);
        if (a > high) high = a;
        if (a > 0.0 && a < low) low = a;
    }
    tct_atomic_max_f64(&s->high, high);
    tct_atomic_max_f64(&s->inverse, 1.0 / low);
}

/* Largest |a|, and the inverse of the smallest that is not 0. */
static void extent_of(const tct_csr *A, double extent[2])
{
    sizes s = {.A = A};
    tct_parallel(tct_csr_nonzeros(A), TCT_SHORT, measure_entries, &s);
    extent[0] = atomic_load(&s.high);
    extent[1] = atomic_load(&s.inverse);
}

static void measure_rows(void *work, int64_t from, int64_t to)
{
    sizes *s = work;
    const tct_csr *A = s->A;
    double most = 0.0;
    for (int64_t i = from; i < to; i++) {
        double sum = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            sum += fabs(A->val[k]);
        if (sum > most) most = sum;
    }
    tct_atomic_max_f64(&s->high, most);
}

static double norm_of(const tct_csr *A)
{
    sizes s = {.A = A};
    tct_parallel(A->rows, TCT_SHORT, measure_rows, &s);
    return atomic_load(&s.high);
}

static void scale_entries(void *work, int64_t from, int64_t to)
{
    const sizes *s = work;
    for (int64_t k = from; k < to; k++)
        s->A->val[k] = ldexp(s->A->val[k], -s->exponent);
}

tacit_status tct_scale_exponent(const double extent[2], int *out)
{
    int exponent = 0;
    if (extent[0] > 0.0) (void)frexp(extent[0], &exponent);
    *out = abs(exponent) > NEAR ? exponent : 0;
    if (*out != 0 && ldexp(1.0 / extent[1], -*out) < DBL_MIN)
        FAIL(TACIT_INPUT,
             "the matrix has entries from %.3g to %.3g: double precision "
             "cannot work with sizes so far apart",
             1.0 / extent[1], extent[0]);
    return TACIT_OK;
}

tacit_status tct_scale(tacit_operator *A, tct_csr *rows)
{
    double extent[2];
    extent_of(rows, extent);
    TRY(tct_reduce_f64(A->world, TCT_MAX, 2, extent));
    TRY(tct_scale_exponent(extent, &A->exponent));
    const int64_t nonzeros = A->exponent ? tct_csr_nonzeros(rows) : 0;
    tct_parallel(nonzeros, TCT_SHORT, scale_entries,
                 &(sizes){.A = rows, .exponent = A->exponent});
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
