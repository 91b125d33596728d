/* SPDX-License-Identifier: BSD-3-Clause
 * solver/look.c - what is looked at while a method iterates: the scalars that
 * decide, the monitor, the true residual. */
#include "solver/solver.h"
#include <math.h>

void tct_residual(tacit_solver *S, double *r)
{
    apply(S->A, S->q, S->x, r);              /* r = A x */
    q_aypx(S->q, S->n, -1.0, NULL, S->b, r); /* r = b - r */
}

double tct_norm2(tacit_solver *S, const double *v)
{
    double value = NAN;
    q_norm(S->q, S->n, v, &S->c[C_RR]);
    q_sum(S->q, 1, &S->c[C_RR]);
    q_get(S->q, 1, &S->c[C_RR], &value);
    return value;
}

void tct_broke_down(tacit_solver *S, const char *quantity, double value)
{
    S->why = TACIT_STOP_BREAKDOWN;
    S->result->breakdown_iteration = S->k;
    S->result->breakdown_quantity = quantity;
    S->result->breakdown_value = value;
}

void tct_tell_monitor(tacit_solver *S)
{
    if (S->seen == S->k) return;
    S->seen = S->k;
    if (S->stop.monitor &&
        S->stop.monitor(S->stop.monitor_ctx, S->k, sqrt(S->rr) / S->norm_b))
        S->q->stop_wanted = true; /* the next sum tells the others */
}

bool tct_done(tacit_solver *S)
{
    double c[TCT_SCALARS] = {0};
    q_get(S->q, TCT_SCALARS, S->c, c);
    if (S->q->peers_know) return true; /* a rank has failed */
    S->rr = c[C_RR];
    S->met = S->rr <= S->target * S->target;
    if (c[C_BAD] == BAD_CURVATURE) {
        tct_broke_down(S, "p'Ap", c[C_BAD_VALUE]);
        return true;
    }
    if (!isfinite(S->rr)) {
        tct_broke_down(S, "||r||", sqrt(S->rr));
        return true;
    }
    tct_tell_monitor(S);
    if (S->met) return true;
    S->why = TACIT_STOP_MAX_ITERATIONS;
    if (S->q->stop_agreed) S->why = TACIT_STOP_INTERRUPTED;
    return S->q->stop_agreed || S->k >= S->most;
}
