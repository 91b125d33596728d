/* SPDX-License-Identifier: BSD-3-Clause
 * solver/flexible.c - conjugate gradients whose preconditioner may change from
 * step to step.
 *
 * [No00] Notay, "Flexible conjugate gradients", SIAM J. Sci. Comput. 22 (2000),
 *        truncated to one direction; as in the s-step paper's algorithm 2, with
 *        one sum: s = A p comes from w = A z, and (p, s) from (z, w), (z, s).
 *
 * Without a preconditioner z is r. */
#include "solver/solver.h"

static void flexible_iterate(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A, *M = S->M;
    const size_t n = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4];

    /* clang-format off */
    q_fill(q, n, 0.0, p);                         /* rho = 0: no direction  */
    q_fill(q, n, 0.0, s);                         /* before the first       */
    q_norm(q, n, r, &c[C_RR]);                    /* rr = (r, r)            */
    for (;;) {
        if (M) apply_dot(M, q, r, z, &c[C_RZ]);   /* z = M r, rz = (r, z)   */
        else q_copy(q, n, r, z);
        if (!M) q_dot(q, n, r, z, &c[C_RZ]);
        apply_dot(A, q, z, w, &c[C_ZW]);          /* w = A z, zw = (z, w)   */
        q_dot(q, n, z, s, &c[C_ZS]);
        q_sum(q, 4, &c[C_RR]);                    /* rr, rz, zw, zs         */
        if (tct_done(S)) return;
        q_step(q, STEP_FLEXIBLE, c);              /* beta  = -zs / rho
                                                     rho   = zw - zs^2 / rho
                                                     alpha = rz / rho       */
        q_pass(q, flexible_update, n, (alpha, beta), (z, w, r, x, p, s),
               &c[C_RR]);                         /* p = z + beta p
                                                     s = w + beta s
                                                     x = x + alpha p
                                                     r = r - alpha s        */
        S->k++;
    }
    /* clang-format on */
}

const tct_method tct_method_flexible = {
    .about = {.name = "flexible",
              .summary = "one reduction; the preconditioner may change (Notay "
                         "2000)",
              .products = 1,
              .reductions = 1,
              .scalars = 4,
              .vectors = 5,
              .precond_vectors = 1},
    .leaves_last = true,
    .rescue = &tct_method_cg,
    .inferred = true,
    .iterate = flexible_iterate,
};
