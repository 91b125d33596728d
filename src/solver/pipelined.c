/* SPDX-License-Identifier: BSD-3-Clause
 * solver/pipelined.c - pipelined conjugate gradients.
 *
 * [GV14] Ghysels and Vanroose, "Hiding global synchronization latency in the
 *        preconditioned conjugate gradient algorithm", Parallel Computing 40
 *        (2014), algorithm 3; names as in the paper.
 *
 * The one sum of an iteration is under way while n = A w is formed. All
 * vectors come from recurrences, whose rounding errors grow; so every
 * REPLACE_EVERY iterations they are formed anew from x and p (residual
 * replacement, Cools et al. 2018). */
#include "solver/solver.h"

enum { REPLACE_EVERY = 50, REPLACE_PRODUCTS = 4 };

static void replace(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    double *c = S->c;
    double *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[V_S], *z = S->v[4];
    tct_residual(S, r);                 /* r = b - A x             */
    apply_dot(A, q, r, w, &c[C_DELTA]); /* w = A r, delta = (w, r) */
    q_norm(q, S->n, r, &c[C_RR]);
    apply(A, q, p, s); /* s = A p                 */
    apply(A, q, s, z); /* z = A s                 */
    S->result->replacements++;
}

static void pipelined_iterate(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    const size_t N = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[V_S], *z = S->v[4], *n = S->v[5];

    /* clang-format off */
    if (!S->resumed) {
        q_fill(q, N, 0.0, p);
        q_fill(q, N, 0.0, s);
        q_fill(q, N, 0.0, z);
    } else {
        apply(A, q, s, z);                    /* z = A s                    */
    }
    apply_dot(A, q, r, w, &c[C_DELTA]);       /* w = A r, delta = (w, r)    */
    q_norm(q, N, r, &c[C_RR]);
    for (int64_t i = 1;; i++) {
        q_sum_begin(q, 2, &c[C_RR]);          /* rr, delta: sum ...         */
        apply(A, q, w, n);                    /* n = A w                    */
        q_sum_end(q, 2, &c[C_RR]);            /*   ... done                 */
        if (tct_done(S)) return;
        q_step(q, STEP_SINGLE, c);            /* beta  = rr / rr'
                                                 alpha = rr / (delta
                                                     - beta rr / alpha')    */
        q_pipelined_update(q, N, alpha, beta, n, z, s, w, p, r, x,
                           &c[C_RR]);         /* z = n + beta z
                                                 s = w + beta s
                                                 p = r + beta p
                                                 x = x + alpha p
                                                 r = r - alpha s
                                                 w = w - alpha z            */
        S->k++;
        if (i % REPLACE_EVERY == 0) replace(S);
    }
    /* clang-format on */
}

const tct_method tct_method_pipelined = {
    .about = {.name = "pipelined",
              .summary = "one hidden reduction (Ghysels and Vanroose 2014), "
                         "residual replaced every 50 iterations",
              .products = 1,
              .reductions = 1,
              .scalars = 2,
              .hidden = true,
              .vectors = 6,
              .replace_every = REPLACE_EVERY,
              .replace_products = REPLACE_PRODUCTS},
    .inferred = true,
    .rescue = &tct_method_pipe_pr,
    .iterate = pipelined_iterate,
};
