/* SPDX-License-Identifier: BSD-3-Clause
 * solver/along.c - one iteration along a direction that need not fit to the
 * residual: how a solve goes on after the residual, the method or the precision
 * has changed without forgetting what it knew. */
#include "solver/solver.h"
#include <math.h>

/* s = A p, (p, s), (M r, s), (M s, s); M r is in z for a while only. */
static void form_sums(tacit_solver *S)
{
    tacit_queue *q = S->q;
    double *c = S->c, *r = S->v[V_R], *p = S->v[V_P], *s = S->v[V_T];
    if (!S->M) {
        apply_dots(S->A, q, p, r, s, &c[C_MU]);
        return;
    }
    apply_dot(S->A, q, p, s, &c[C_MU]);
    apply_dot(S->M, q, s, S->z, &c[C_SS]);
    apply(S->M, q, r, S->z);
    q_dot(q, S->n, S->z, s, &c[C_RS]);
}

void tct_along(tacit_solver *S, double norm_r)
{
    tacit_queue *q = S->q;
    double *c = S->c, *r = S->v[V_R], *p = S->v[V_P], *s = S->v[V_T];
    double host[TCT_SCALARS] = {0};
    S->rr = norm_r * norm_r;
    S->resumed = false;
    if (S->limit - S->k < 2) return;
    form_sums(S); /* s = A p, its sums */
    q_norm(q, S->n, r, &c[C_RR]);
    q_dot(q, S->n, r, p, &c[C_RP]);
    q_sum(q, 5, &c[C_RR]);
    q_get(q, TCT_SCALARS, c, host);
    if (q->peers_know || !(host[C_MU] > 0.0) || !isfinite(host[C_MU])) return;
    q_step(q, STEP_ALONG, c);
    q_axpy(q, S->n, +1, &c[C_ALPHA], p, S->x);             /* x = x + alpha p */
    q_axpy_norm(q, S->n, -1, &c[C_ALPHA], s, r, &c[C_RR]); /* r = r - alpha s */
    if (S->M) apply(S->M, q, r, S->z);
    q_aypx(q, S->n, +1, &c[C_BETA], S->M ? S->z : r, p); /* p = M r + beta p */
    q_sum(q, 1, &c[C_RR]);
    q_get(q, 1, &c[C_RR], &S->rr);
    S->k++;
    S->resumed = true;
}
