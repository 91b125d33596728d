/* SPDX-License-Identifier: BSD-3-Clause
 * solver/restart_step.c - one iteration along a direction that need not belong
 * to the residual: a solve keeps its last direction when the residual, the
 * method or the precision changes. */
#include "solver/run.h"
#include <math.h>

/* s = A p, (p, s), (M r, s), (M s, s); z holds M r until M s replaces it. */
static void form_sums(tct_run *R)
{
    tacit_queue *q = R->q;
    double *c = R->c, *r = R->v[V_R], *p = R->v[V_P], *s = R->v[V_T];
    if (!R->M) {
        apply_dots(R->A, q, p, r, s, &c[C_MU]);
        return;
    }
    apply_dot(R->A, q, p, s, &c[C_MU]);
    apply_dot(R->M, q, s, R->z, &c[C_SS]);
    apply(R->M, q, r, R->z);
    q_dot(q, R->n, R->z, s, &c[C_RS]);
}

void tct_restart_step(tct_run *R, double norm_r)
{
    tct_restart_policy *P = R->policy;
    tacit_queue *q = R->q;
    double *c = R->c, *r = R->v[V_R], *p = R->v[V_P], *s = R->v[V_T];
    double host[TCT_SCALARS] = {0};
    P->rr = norm_r * norm_r;
    R->resumed = false;
    if (R->system->limit - R->k < 2 || P->now->about.indefinite) return;
    form_sums(R); /* s = A p, its sums */
    q_norm(q, R->n, r, &c[C_RR]);
    q_dot(q, R->n, r, p, &c[C_RP]);
    q_sum(q, 5, &c[C_RR]);
    q_get(q, TCT_SCALARS, c, host);
    if (q->peers_know || !(host[C_MU] > 0.0) || !isfinite(host[C_MU])) return;
    q_step(q, STEP_RESTART, c);
    q_axpy(q, R->n, +1, &c[C_ALPHA], p, R->x);             /* x = x + alpha p */
    q_axpy_norm(q, R->n, -1, &c[C_ALPHA], s, r, &c[C_RR]); /* r = r - alpha s */
    if (R->M) apply(R->M, q, r, R->z);
    q_aypx(q, R->n, +1, &c[C_BETA], R->M ? R->z : r, p); /* p = M r + beta p */
    q_sum(q, 1, &c[C_RR]);
    q_get(q, 1, &c[C_RR], &P->rr);
    R->k++;
    if (q->failed == TACIT_OK && isfinite(P->rr)) tct_tell_monitor(R);
    R->resumed = true;
}
