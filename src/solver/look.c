/* SPDX-License-Identifier: BSD-3-Clause
 * solver/look.c - what is looked at while a method iterates: the scalars that
 * decide, the monitor, the true residual.
 *
 * On a device that runs behind the CPU the look is one iteration late: the
 * next one is enqueued already, and harmless, since the scalar steps hold
 * still once the target is met. */
#include "solver/solver.h"
#include <math.h>

void tct_residual(tacit_solver *S, double *r)
{
    apply(S->exact, S->q, S->x, r); /* r = A x */
    if (S->sigma == 1.0) {
        q_aypx(S->q, S->n, -1.0, NULL, S->b, r); /* r = b - r */
    } else {
        q_scale(S->q, S->n, -1.0, r);
        q_axpy(S->q, S->n, +1.0, &S->c[C_SIGMA], S->b, r);
    }
    S->result->extra_products++;
}

double tct_dot(tacit_solver *S, const double *v, const double *w)
{
    double value = NAN;
    if (v == w) q_norm(S->q, S->n, v, &S->c[C_RR]);
    else q_dot(S->q, S->n, v, w, &S->c[C_RR]);
    q_sum(S->q, 1, &S->c[C_RR]);
    q_get(S->q, 1, &S->c[C_RR], &value);
    return value;
}

double tct_norm2(tacit_solver *S, const double *v)
{
    return tct_dot(S, v, v);
}

void tct_broke_down(tacit_solver *S, const char *quantity, double value)
{
    S->why = TACIT_STOP_BREAKDOWN;
    S->result->breakdown_iteration = S->k;
    S->result->breakdown_quantity = quantity;
    S->result->breakdown_value = value;
}

void tct_forget_breakdown(tacit_solver *S)
{
    S->why = TACIT_STOP_MAX_ITERATIONS;
    S->result->breakdown_iteration = -1;
    S->result->breakdown_quantity = NULL;
    S->result->breakdown_value = 0.0;
}

void tct_tell_monitor(tacit_solver *S)
{
    if (S->seen == S->k) return;
    S->seen = S->k;
    if (S->stop.monitor &&
        S->stop.monitor(S->stop.monitor_ctx, S->k, sqrt(S->rr) / S->norm_b))
        S->q->stop_wanted = true; /* the next sum tells the others */
}

bool tct_judge(tacit_solver *S, const tct_seen *c)
{
    S->rr = c->rr;
    S->met = S->rr <= S->goal * S->goal;
    S->drifted = false;
    if (c->bad == BAD_CURVATURE) {
        tct_broke_down(S, "p'Ap", c->bad_value);
        return true;
    }
    if (c->bad == BAD_PRECOND) {
        tct_broke_down(S, "r'Mr", c->bad_value);
        return true;
    }
    if (!isfinite(S->rr)) {
        tct_broke_down(S, "||r||", sqrt(S->rr));
        return true;
    }
    tct_tell_monitor(S);
    S->drifted = !S->met && c->bad == BAD_DRIFT;
    if (S->met || S->drifted) return true;
    S->why = TACIT_STOP_MAX_ITERATIONS;
    if (S->q->stop_agreed) S->why = TACIT_STOP_INTERRUPTED;
    return S->q->stop_agreed || S->k >= S->most;
}

bool tct_take_looks(tacit_solver *S, int leave)
{
    tct_seen c;
    const int64_t k = S->k;
    while (S->ahead > leave) {
        if (!q_seen(S->q, &c)) /* the queue has failed: do all know? */
            return S->q->peers_know || S->q->ranks == 1;
        S->k = k - --S->ahead;
        const bool done = tct_judge(S, &c);
        /* an update that was enqueued already is part of an x that did not
         * meet the target */
        if (done && tct_is_held(S)) return true;
        S->k = k;
        if (done && S->ahead == 0) return true;
        if (done) leave = 0;
    }
    return false;
}

bool tct_done(tacit_solver *S)
{
    if (S->q->dry) return tct_done_dry(S);
    if (S->q->device->seen) return tct_done_behind(S);
    double c[TCT_SCALARS] = {0};
    q_get(S->q, TCT_SCALARS, S->c, c);
    if (S->q->peers_know) return true; /* a rank has failed */
    return tct_judge(S, &(tct_seen){c[C_RR], c[C_BAD], c[C_BAD_VALUE]});
}
