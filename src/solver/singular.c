/* SPDX-License-Identifier: BSD-3-Clause
 * solver/singular.c - a system whose matrix has a known null space: b and x are
 * projected, and the end says whether b was in the range. */
#include "solver/singular.h"
#include "operator/null/ends.h"
#include "solver/after_phase.h"
#include <math.h>

tacit_status tct_singular_open(tct_run *R)
{
    tct_system *S = R->system;
    if ((!S->exact->null && !S->exact->order) || S->own_b) return TACIT_OK;
    TRY(tacit_queue_alloc(R->q, R->n, &S->own_b));
    return tacit_queue_alloc(R->q, R->n, &S->permuted_x);
}

tacit_status tct_singular_enter(tct_run *R)
{
    tct_system *S = R->system;
    tct_null_part of_x;
    S->along = (tct_null_part){0.0, 0.0};
    if (!S->exact->null) return TACIT_OK;
    TRY(tct_null_project(S->exact, R->q, R->x, &of_x));
    return tct_null_project(S->exact, R->q, S->own_b, &S->along);
}

/* The target in the Euclidean norm. */
static double target_of(const tct_run *R)
{
    const tct_system *S = R->system;
    return fmax(S->stop.rtol * S->norm_b, S->stop.atol * S->sigma);
}

double tct_singular_target(const tct_run *R, double wanted)
{
    const tct_system *S = R->system;
    return tct_null_target(S->exact->null, S->along.part * S->sigma, wanted);
}

/* Has b a part along a null space that the caller did not declare? */
static bool is_outside(tct_run *R)
{
    const tct_system *S = R->system;
    const double rounding =
        tct_allowed(R) + 0x1p-52 * S->along.whole * S->sigma;
    const tct_null_part of_b = {S->along.whole * S->sigma,
                                S->along.part * S->sigma};
    return tct_null_is_outside(S->exact->null, of_b, target_of(R), rounding);
}

tacit_status tct_singular_leave(tct_run *R)
{
    tct_system *S = R->system;
    tct_null_part of_x;
    S->outside = false;
    if (!S->exact->null || R->q->peers_know) return TACIT_OK;
    S->outside = is_outside(R);
    return tct_null_project(S->exact, R->q, R->x, &of_x);
}

void tct_singular_judge(tct_run *R)
{
    const tct_system *S = R->system;
    if (S->exact->null)
        tct_null_conclude(S->exact->null, S->along, S->outside, R->result);
}
