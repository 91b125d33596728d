/* SPDX-License-Identifier: BSD-3-Clause
 * solver/scaling.c - scales b to sigma b and x to 2^shift x, since squares of
 * norms exceed the range of doubles long before norms do. The factors are
 * powers of two, so that no bit changes, and 1 for all norms of usual size. */
#include "operator/backward.h"
#include "solver/run.h"
#include <math.h>

static const double NORM_LEAST = 0x1p-200, NORM_MOST = 0x1p200;

/* ||v|| as a fraction and an exponent of 2, for any size. */
static double norm_of(tct_run *R, const double *v, int *exponent)
{
    static const double FAR = 0x1p600; /* into the range where squares exist */
    double norm = sqrt(tct_norm2(R, v)), factor = 1.0;
    if (!(norm >= NORM_LEAST && norm <= NORM_MOST)) {
        factor = norm > NORM_MOST ? 1.0 / FAR : FAR;
        q_copy(R->q, R->n, v, R->v[V_T]);
        q_scale(R->q, R->n, factor, R->v[V_T]);
        norm = sqrt(tct_norm2(R, R->v[V_T]));
    }
    const double fraction = frexp(norm, exponent);
    *exponent -= ilogb(factor);
    return fraction;
}

void tct_shift(tacit_queue *q, size_t n, int by, double *x)
{
    for (int step; by != 0; by -= step) {
        step = by > 1000 ? 1000 : by < -1000 ? -1000 : by;
        q_scale(q, n, ldexp(1.0, step), x);
    }
}

bool tct_shift_back(tct_run *R, int *exponent)
{
    const tct_system *S = R->system;
    if (S->shift == 0) return true;
    const double norm = norm_of(R, R->x, exponent);
    *exponent -= S->shift;
    const bool within =
        norm == 0.0 || !isfinite(norm) ||
        (*exponent > -1021 && *exponent <= 1024) ||
        (*exponent > 1024 &&
         tct_is_finite_shifted(S->exact, R->q, R->x, -S->shift));
    tct_shift(R->q, R->n, -S->shift, R->x);
    return within;
}

tacit_status tct_measure_b(tct_run *R)
{
    tct_system *S = R->system;
    int exponent = 0;
    const double fraction = norm_of(R, S->b, &exponent);
    TRY(tct_agree(R->A->world, q_own_status(R->q)));
    if (!isfinite(fraction))
        FAIL(TACIT_INPUT,
             "the right-hand side has entries that are not finite");
    R->result->norm_b = ldexp(fraction, exponent);
    const bool near =
        R->result->norm_b >= NORM_LEAST && R->result->norm_b <= NORM_MOST;
    int by = near || fraction == 0.0 ? 0 : -exponent;
    if (by > 1000) by = 1000; /* 2^by must be a double */
    S->sigma = ldexp(1.0, by);
    S->shift = S->exact->exponent + by;
    S->norm_b = ldexp(fraction, exponent + by);
    return TACIT_OK;
}
