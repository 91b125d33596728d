/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/flexible.c - conjugate gradients whose preconditioner may
 * change from step to step.
 *
 * [No00] Notay, "Flexible conjugate gradients", SIAM J. Sci. Comput. 22 (2000),
 *        truncated to one direction; as in the s-step paper's algorithm 2, with
 *        one sum: s = A p comes from w = A z, and (p, s) from (z, w), (z, s).
 *
 * Without a preconditioner z is r. */
#include "solver/run.h"

static void flexible_iterate(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A, *M = R->M;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4];

    /* clang-format off */
    q_fill(q, n, 0.0, p);                         /* rho = 0: no direction  */
    q_fill(q, n, 0.0, s);                         /* before the first
                                                   * iteration */
    q_norm(q, n, r, &c[C_RR]);                    /* rr = (r, r)            */
    for (;;) {
        if (M) apply_dot(M, q, r, z, &c[C_RZ]);   /* z = M r, rz = (r, z)   */
        else q_copy(q, n, r, z);
        if (!M) q_dot(q, n, r, z, &c[C_RZ]);
        apply_dot(A, q, z, w, &c[C_ZW]);          /* w = A z, zw = (z, w)   */
        q_dot(q, n, z, s, &c[C_ZS]);
        q_sum(q, 4, &c[C_RR]);                    /* rr, rz, zw, zs         */
        if (tct_done(R)) return;
        q_step(q, STEP_FLEXIBLE, c);              /* beta  = -zs / rho
                                                     rho   = zw - zs^2 / rho
                                                     alpha = rz / rho       */
        q_pass(q, flexible_update, n, (alpha, beta), (z, w, r, x, p, s),
               &c[C_RR]);                         /* p = z + beta p
                                                     s = w + beta s
                                                     x = x + alpha p
                                                     r = r - alpha s        */
        R->k++;
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
              .precond_vectors = 1,
              .varying_precond = true},
    .leaves_last = true,
    .rescue = &tct_method_cg,
    .inferred = true,
    .distrusted = true,
    .iterate = flexible_iterate,
};
