/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/scale.c - entries far from 1 are stored times a power of 2,
 * which changes no bit: products of three entries and their squares are then in
 * the range of doubles, and entries in that of floats. */
#include "device/parallel.h"
#include "operator/assembled.h"
#include "operator/null/null_space.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { NEAR = 64 }; /* exponents up to here need no scaling */

typedef struct {
    const tct_csr *A;
    _Atomic double high, inverse, norm; /* the largest */
    _Atomic double fewest, most;        /* entries of a row, the first < 0 */
    int exponent;
    unsigned char *state; /* [rows] a tct_row_state; NULL: not asked for */
} measuring;

/* Of a range of rows. */
typedef struct {
    double high, low, norm;
    int64_t fewest, most;
} range_sizes;

static tct_row_state measure_row(const tct_csr *A, int64_t i, range_sizes *s)
{
    const int64_t from = A->ptr[i], to = A->ptr[i + 1];
    double sum = 0.0, high = s->high, low = s->low, signed_sum = 0.0;
    for (int64_t k = from; k < to; k++) {
        const double a = fabs(A->val[k]);
        signed_sum += A->val[k];
        sum += a;
        if (a > high) high = a;
        if (a > 0.0 && a < low) low = a;
    }
    s->high = high;
    s->low = low;
    if (sum > s->norm) s->norm = sum;
    if (to - from < s->fewest) s->fewest = to - from;
    if (to - from > s->most) s->most = to - from;
    return tct_row_state_of(signed_sum, sum);
}

static void measure_rows(void *work, int64_t from, int64_t to)
{
    measuring *s = work;
    range_sizes of = {.low = INFINITY, .fewest = INT64_MAX};
    for (int64_t i = from; i < to; i++) {
        const tct_row_state state = measure_row(s->A, i, &of);
        if (s->state) s->state[i] = (unsigned char)state;
    }
    tct_atomic_max_f64(&s->high, of.high);
    tct_atomic_max_f64(&s->inverse, 1.0 / of.low);
    tct_atomic_max_f64(&s->norm, of.norm);
    tct_atomic_max_f64(&s->fewest, -(double)of.fewest);
    tct_atomic_max_f64(&s->most, (double)of.most);
}

static void scale_entries(void *work, int64_t from, int64_t to)
{
    const measuring *s = work;
    for (int64_t k = from; k < to; k++)
        s->A->val[k] = ldexp(s->A->val[k], -s->exponent);
}

tacit_status tct_scale_exponent(const double extent[2], int *out)
{
    int exponent = 0;
    if (extent[0] > 0.0) (void)frexp(extent[0], &exponent);
    *out = abs(exponent) > NEAR ? exponent : 0;
    if (*out != 0 && isinf(extent[1]))
        FAIL(TACIT_INPUT,
             "the matrix has entries below %.3g, where doubles lose their "
             "digits: scale the matrix",
             1.0 / DBL_MAX);
    if (*out != 0 && ldexp(1.0 / extent[1], -*out) < DBL_MIN)
        FAIL(TACIT_INPUT,
             "the matrix has entries from %.3g to %.3g: double precision "
             "cannot work with sizes so far apart",
             1.0 / extent[1], extent[0]);
    return TACIT_OK;
}

/* Rows that others read, too, are copied before they are scaled. */
static tacit_status scale_rows(tct_csr *rows, int exponent)
{
    if (exponent == 0) return TACIT_OK;
    TRY(tct_csr_own(rows));
    tct_parallel(tct_csr_nonzeros(rows), TCT_SHORT, scale_entries,
                 &(measuring){.A = rows, .exponent = exponent});
    return TACIT_OK;
}

void tct_measure_rows(const tct_csr *rows, unsigned char *state,
                      tct_row_sizes *out)
{
    measuring s = {.A = rows, .fewest = -(double)INT64_MAX, .state = state};
    tct_parallel(rows->rows, TCT_SHORT, measure_rows, &s);
    *out = (tct_row_sizes){.high = s.high,
                           .inverse = s.inverse,
                           .norm = s.norm,
                           .fewest = (int64_t)fmin(-s.fewest, 0x1p62),
                           .most = (int64_t)s.most};
}

/* Over all ranks: as members of tct_row_sizes, in that order. */
enum { HIGH, INVERSE, NORM, FEWEST, MOST, EXTENTS };

static tacit_status reduce(tacit_world *w, const tct_row_sizes *s,
                           double extent[EXTENTS])
{
    const double mine[EXTENTS] = {s->high, s->inverse, s->norm,
                                  -(double)s->fewest, (double)s->most};
    for (int i = 0; i < EXTENTS; i++) extent[i] = mine[i];
    return tct_reduce_f64(w, TCT_MAX, EXTENTS, extent);
}

tacit_status tct_scale(tacit_operator *A, tct_csr *rows,
                       const tct_row_sizes *of)
{
    double extent[EXTENTS];
    tct_row_sizes scaled;
    TRY(reduce(A->world, of, extent));
    TRY(tct_scale_exponent(extent, &A->exponent));
    TRY(tct_agree(A->world, scale_rows(rows, A->exponent)));
    if (A->exponent) {
        tct_measure_rows(rows, NULL, &scaled);
        TRY(reduce(A->world, &scaled, extent));
    }
    A->norm = extent[NORM];
    A->info.row_min = (int64_t)fmin(-extent[FEWEST], 0x1p62);
    A->info.row_max = (int64_t)extent[MOST];
    return TACIT_OK;
}

void tct_unscale(const tacit_operator *A, tacit_queue *q, double *y)
{
    const int half = A->exponent / 2; /* 2^-exponent may not be a double */
    if (A->exponent == 0) return;
    q_scale(q, (size_t)A->n, ldexp(1.0, half), y);
    q_scale(q, (size_t)A->n, ldexp(1.0, A->exponent - half), y);
}
