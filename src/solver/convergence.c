/* SPDX-License-Identifier: BSD-3-Clause
 * solver/convergence.c - the convergence check: the sampled scalars, the
 * monitor, the true residual. */
#include "solver/run.h"
#include <math.h>

void tct_form_residual(tct_run *R, double *r)
{
    apply(R->exact, R->q, R->x, r); /* r = A x */
    if (R->sigma == 1.0) {
        q_aypx(R->q, R->n, -1.0, NULL, R->b, r); /* r = b - r */
    } else {
        q_scale(R->q, R->n, -1.0, r);
        q_axpy(R->q, R->n, +1.0, &R->c[C_SIGMA], R->b, r);
    }
}

void tct_residual(tct_run *R, double *r)
{
    tct_form_residual(R, r);
    R->result->extra_products++;
}

double tct_dot(tct_run *R, const double *v, const double *w)
{
    double value = NAN;
    if (v == w) q_norm(R->q, R->n, v, &R->c[C_RR]);
    else q_dot(R->q, R->n, v, w, &R->c[C_RR]);
    q_sum(R->q, 1, &R->c[C_RR]);
    q_get(R->q, 1, &R->c[C_RR], &value);
    return value;
}

double tct_norm2(tct_run *R, const double *v)
{
    return tct_dot(R, v, v);
}

void tct_broke_down(tct_run *R, const char *quantity, double value)
{
    R->why = TACIT_STOP_BREAKDOWN;
    R->end = PHASE_BROKEN;
    R->result->breakdown_iteration = R->k;
    R->result->breakdown_quantity = quantity;
    R->result->breakdown_value = value;
}

void tct_forget_breakdown(tct_run *R)
{
    R->why = TACIT_STOP_MAX_ITERATIONS;
    if (R->end == PHASE_BROKEN) R->end = PHASE_MARK;
    R->result->breakdown_iteration = -1;
    R->result->breakdown_quantity = NULL;
    R->result->breakdown_value = 0.0;
}

void tct_tell_monitor(tct_run *R)
{
    if (R->checked == R->k) return;
    R->checked = R->k;
    if (!R->stop.monitor) return;
    if (R->stop.monitor(R->stop.monitor_ctx, R->k, sqrt(R->rr) / R->norm_b))
        R->q->stop_wanted = true; /* the next sum informs all ranks */
    q_enter(R->q);
}

static const char *broken(const tct_sample *c)
{
    if (c->bad == BAD_CURVATURE) return "p'Ap";
    return c->bad == BAD_PRECOND ? "r'Mr" : NULL;
}

bool tct_judge(tct_run *R, const tct_sample *c)
{
    R->rr = c->rr;
    if (R->block) R->k = R->since + (int64_t)c->updates;
    if (broken(c) || !isfinite(R->rr)) {
        if (broken(c)) tct_broke_down(R, broken(c), c->bad_value);
        else tct_broke_down(R, "||r||", sqrt(R->rr));
        return true;
    }
    if (c->bad == BAD_LEAST) R->k--; /* the step that noted it made no x */
    tct_tell_monitor(R);
    R->why =
        R->q->stop_agreed ? TACIT_STOP_INTERRUPTED : TACIT_STOP_MAX_ITERATIONS;
    R->end = PHASE_ON;
    /* below TCT_RR_LEAST the scalar steps have stopped (step_sound) */
    if (R->rr <= R->goal * R->goal || R->rr < TCT_RR_LEAST) R->end = PHASE_MET;
    else if (c->bad == BAD_DRIFT) R->end = PHASE_DRIFTED;
    else if (c->bad == BAD_STALE) R->end = PHASE_STALE;
    else if (c->bad == BAD_GROWTH) R->end = PHASE_GREW;
    else if (c->bad == BAD_LEAST) R->end = PHASE_LEAST;
    else if (R->q->stop_agreed) R->end = PHASE_STOPPED;
    else if (R->k >= R->most) R->end = PHASE_MARK;
    else if (c->bad == BAD_PAUSE) R->end = PHASE_PAUSED;
    return R->end != PHASE_ON;
}
