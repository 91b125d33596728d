/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/cg.c - conjugate gradients.
 *
 * [HS52] Hestenes and Stiefel, "Methods of conjugate gradients for solving
 *        linear systems", J. Res. NBS 49 (1952). t = A p as in the aCG paper.
 *
 * Two sums per iteration, each waited for. x is updated after beta is known, in
 * one pass with p. With a preconditioner M, z = M r takes the place of r in
 * directions, and (r, z) that of (r, r); both are in one sum, since the check
 * needs (r, r). */
#include "solver/run.h"

static void cg_iterate(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *t = R->v[V_T];
    const tacit_operator *M = R->M;
    const tct_step step_alpha = M ? STEP_CG_ALPHA_M : STEP_CG_ALPHA;
    const tct_step step_beta = M ? STEP_CG_BETA_M : STEP_CG_BETA;
    double *z = M ? R->z : r;

    /* clang-format off */
    if (M) apply_dot(M, q, r, z, &c[C_RZ]);       /* z = M r, rz = (r, z)   */
    if (M) q_sum(q, 1, &c[C_RZ]);
    if (!R->resumed) q_copy(q, n, z, p);          /* p = z                  */
    for (;;) {
        apply_dot(A, q, p, t, &c[C_PT]);          /* t = A p, pt = (p, t)   */
        q_sum(q, 1, &c[C_PT]);
        q_step(q, step_alpha, c);                 /* alpha = rz / pt        */
        q_axpy_norm(q, n, -1, alpha, t, r,
                    &c[C_RR]);                    /* r = r - alpha t        */
        if (M) apply_dot(M, q, r, z, &c[C_RZ]);   /* z = M r, rz' = (r, z)  */
        q_sum(q, M ? 2 : 1, &c[C_RR]);            /* rr = (r, r)            */
        q_step(q, step_beta, c);                  /* beta = rz' / rz        */
        q_pass(q, cg_update, n, (alpha, beta), (z, x, p),
               NULL);                             /* x = x + alpha p
                                                     p = z + beta p         */
        R->k++;
        if (tct_done(R)) return;
    }
    /* clang-format on */
}

const tct_method tct_method_cg = {
    .about = {.name = "cg",
              .summary = "conjugate gradients (Hestenes and Stiefel 1952)",
              .products = 1,
              .reductions = 2,
              .scalars = 2,
              .vectors = 3,
              .precond_vectors = 1},
    .lanczos = BETA_OF_IT,
    .iterate = cg_iterate,
};
