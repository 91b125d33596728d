/* SPDX-License-Identifier: BSD-3-Clause
 * solver/convergence.c - the convergence check: the sampled scalars, the
 * monitor, the true residual. */
#include "precond/history.h"
#include "solver/norms.h"
#include "solver/run.h"
#include "solver/singular.h"
#include <math.h>

void tct_form_residual(tct_run *R, double *r)
{
    const tct_system *S = R->system;
    apply(S->exact, R->q, R->x, r); /* r = A x */
    if (S->sigma == 1.0) {
        q_aypx(R->q, R->n, -1.0, NULL, S->b, r); /* r = b - r */
    } else {
        q_scale(R->q, R->n, -1.0, r);
        q_axpy(R->q, R->n, +1.0, &R->c[C_SIGMA], S->b, r);
    }
}

void tct_residual(tct_run *R, double *r)
{
    tct_null_part part;
    tct_form_residual(R, r);
    R->result->extra_products++;
    if (tct_begins_again(R)) /* a failure shows in the next sum */
        (void)tct_null_project(R->system->exact, R->q, r, &part);
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
    R->policy->why = TACIT_STOP_BREAKDOWN;
    R->policy->end = PHASE_BROKEN;
    R->result->breakdown_iteration = R->k;
    R->result->breakdown_quantity = quantity;
    R->result->breakdown_value =
        isnan(value) ? (double)NAN : value; /* no -nan */
}

void tct_forget_breakdown(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    P->why = TACIT_STOP_MAX_ITERATIONS;
    if (P->end == PHASE_BROKEN) P->end = PHASE_MARK;
    R->result->breakdown_iteration = -1;
    R->result->breakdown_quantity = NULL;
    R->result->breakdown_value = 0.0;
}

void tct_tell_monitor(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    tct_system *S = R->system;
    const double residual = sqrt(P->rr) / S->norm_b;
    if (P->checked == R->k) return;
    P->checked = R->k;
    tct_history_note(&S->stop, 0, R->k, residual, &R->result->history);
    if (!S->stop.monitor) return;
    const int wish = S->stop.monitor(S->stop.monitor_ctx, R->k, residual);
    if (wish != 0) {
        const bool accepts = S->stop.monitor_decides && wish > 0;
        S->accepted = S->accepted || accepts;
        S->refused = S->refused || !accepts;
        R->q->stop_wanted = true; /* the next sum informs all ranks */
    }
    q_enter(R->q);
}

static const char *broken(const tct_sample *c)
{
    if (c->bad == BAD_CURVATURE) return "p'Ap";
    return c->bad == BAD_PRECOND ? "r'Mr" : NULL;
}

bool tct_judge(tct_run *R, const tct_sample *c)
{
    tct_restart_policy *P = R->policy;
    P->rr = c->rr;
    if (R->ritz && P->now->lanczos != NO_LANCZOS) {
        tct_note_ritz(R, c);
        if (tct_has_outgrown(R)) P->most = R->k;
    }
    if (broken(c) || !isfinite(P->rr)) {
        if (broken(c)) tct_broke_down(R, broken(c), c->bad_value);
        else tct_broke_down(R, "||r||", sqrt(P->rr));
        return true;
    }
    if (c->bad == BAD_LEAST) R->k--; /* the step that noted it made no x */
    tct_tell_monitor(R);
    P->why =
        R->q->stop_agreed ? TACIT_STOP_INTERRUPTED : TACIT_STOP_MAX_ITERATIONS;
    P->end = PHASE_ON;
    /* below TCT_RR_LEAST the scalar steps have stopped (step_sound) */
    if (P->rr <= P->goal * P->goal || P->rr < TCT_RR_LEAST) P->end = PHASE_MET;
    else if (c->bad == BAD_DRIFT) P->end = PHASE_DRIFTED;
    else if (c->bad == BAD_STALE) P->end = PHASE_STALE;
    else if (c->bad == BAD_GROWTH) P->end = PHASE_GREW;
    else if (c->bad == BAD_LEAST) P->end = PHASE_LEAST;
    else if (R->q->stop_agreed) P->end = PHASE_STOPPED;
    else if (R->k >= P->most) P->end = PHASE_MARK;
    else if (c->bad == BAD_PAUSE) P->end = PHASE_PAUSED;
    return P->end != PHASE_ON;
}
