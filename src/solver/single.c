/* SPDX-License-Identifier: BSD-3-Clause
 * solver/single.c - conjugate gradients with a single reduction.
 *
 * [CG89] Chronopoulos and Gear, "s-step iterative methods for symmetric linear
 *        systems", J. Comput. Appl. Math. 25 (1989), with s = 1.
 *
 * (p, A p) is not formed but follows from delta = (A r, r), so both scalars of
 * an iteration share one sum. As accurate as cg. */
#include "solver/solver.h"

static void single_iterate(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    const size_t n = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[V_S];

    /* clang-format off */
    if (!S->resumed) {
        q_fill(q, n, 0.0, p);
        q_fill(q, n, 0.0, s);
    }
    q_norm(q, n, r, &c[C_RR]);
    for (;;) {
        apply_dot(A, q, r, w, &c[C_DELTA]);   /* w = A r, delta = (w, r)    */
        q_sum(q, 2, &c[C_RR]);                /* with rr = (r, r)           */
        if (tct_done(S)) return;
        q_step(q, STEP_SINGLE, c);            /* beta  = rr / rr'
                                                 alpha = rr / (delta
                                                     - beta rr / alpha')    */
        q_single_update(q, n, alpha, beta, w, s, p, x, r,
                        &c[C_RR]);            /* p = r + beta p
                                                 s = w + beta s
                                                 x = x + alpha p
                                                 r = r - alpha s            */
        S->k++;
    }
    /* clang-format on */
}

const tct_method tct_method_single = {
    .about = {.name = "single",
              .summary = "one reduction (Chronopoulos and Gear 1989)",
              .products = 1,
              .reductions = 1,
              .scalars = 2,
              .vectors = 4},
    .inferred = true,
    .iterate = single_iterate,
};
