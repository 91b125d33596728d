/* SPDX-License-Identifier: BSD-3-Clause
 * solver/cg.c - conjugate gradients.
 *
 * [HS52] Hestenes and Stiefel, "Methods of conjugate gradients for solving
 *        linear systems", J. Res. NBS 49 (1952). t = A p as in the aCG paper.
 *
 * Two sums per iteration, each waited for. The update of x waits for beta, so
 * that x and p are updated in one pass. */
#include "solver/solver.h"

static void cg_iterate(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    const size_t n = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *t = S->v[V_T];

    /* clang-format off */
    if (!S->resumed) q_copy(q, n, r, p);          /* p = r                  */
    for (;;) {
        apply_dot(A, q, p, t, &c[C_PT]);          /* t = A p, pt = (p, t)   */
        q_sum(q, 1, &c[C_PT]);
        q_step(q, STEP_CG_ALPHA, c);              /* alpha = rr / pt        */
        q_axpy_norm(q, n, -1, alpha, t, r,
                    &c[C_RR]);                    /* r = r - alpha t        */
        q_sum(q, 1, &c[C_RR]);                    /* rr' = (r, r)           */
        q_step(q, STEP_CG_BETA, c);               /* beta = rr' / rr        */
        q_pass(q, cg_update, n, (alpha, beta), (r, x, p),
               NULL);                             /* x = x + alpha p
                                                     p = r + beta p         */
        S->k++;
        if (tct_done(S)) return;
    }
    /* clang-format on */
}

const tct_method tct_method_cg = {
    .about = {.name = "cg",
              .summary = "conjugate gradients (Hestenes and Stiefel 1952)",
              .products = 1,
              .reductions = 2,
              .scalars = 2,
              .vectors = 3},
    .iterate = cg_iterate,
};
