/* SPDX-License-Identifier: BSD-3-Clause
 * solver/least_squares.c - does x minimize the residual of a system that has no
 * solution? */
#include "solver/after_phase.h"
#include <math.h>

/* |A M r| of the recomputed r may be this many times what the recurrence ends
 * at. */
static const double MORE = 16.0;

/* *least = (A z, M A z) and *rr = (r, z), z = M r. */
static void form_sums(tct_run *R, double *least, double *rr)
{
    const double *r = R->v[V_R];
    double *t = R->v[V_T], *z = R->M ? R->z : R->v[V_R];
    if (R->M) apply(R->M, R->q, r, z);
    *rr = tct_dot(R, r, z);
    apply(R->system->exact, R->q, z, t);
    R->result->extra_products++;
    if (R->M) apply(R->M, R->q, t, z);
    *least = tct_dot(R, t, R->M ? z : t);
}

bool tct_is_least(tct_run *R)
{
    double size = 0.0, least = NAN, rr = NAN;
    q_get(R->q, 1, &R->c[C_SIZE], &size);
    form_sums(R, &least, &rr);
    const double most = MORE * TCT_LEAST * size;
    if (R->q->peers_know || !(least <= most * most * rr)) return false;
    R->policy->why = TACIT_STOP_LEAST_SQUARES;
    return true;
}
