/* SPDX-License-Identifier: BSD-3-Clause
 * solver/pipe_pr.c - pipelined predict-and-recompute conjugate gradients.
 *
 * [CC20] Chen and Carson, "Predict-and-recompute conjugate gradient variants",
 *        SIAM J. Sci. Comput. 42 (2020); nu, mu and the vector names follow it
 *        (nu is rr here; without a preconditioner the tilde vectors vanish).
 *
 * One sum of four scalars, under way while u = A s and w = A r are formed in
 * one pass over the matrix. w = A r is first predicted by its recurrence and
 * then recomputed, which keeps the accuracy of cg on most matrices. Where
 * s = A p, which comes from a recurrence, drifts away too far, step_pipe_pr
 * says so and `single`, which forms it, goes on. */
#include "solver/solver.h"

static void pipe_pr_iterate(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    const size_t n = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *u = S->v[4];

    /* clang-format off */
    if (!S->resumed) q_copy(q, n, r, p);      /* p = r                      */
    apply(A, q, p, s);                        /* s = A p                    */
    S->result->extra_products++;
    q_norm(q, n, r, &c[C_RR]);                /* rr = (r, r)                */
    q_dot(q, n, p, s, &c[C_MU]);              /* mu = (p, s)                */
    q_dot(q, n, r, s, &c[C_RS]);
    q_norm(q, n, s, &c[C_SS]);
    for (;;) {
        q_sum_begin(q, 4, &c[C_RR]);          /* rr, mu, rs, ss: sum ...    */
        apply_pair(A, q, s, u, r, w);         /* u = A s, w = A r           */
        q_sum_end(q, 4, &c[C_RR]);            /*   ... done                 */
        if (tct_done(S)) return;
        q_step(q, STEP_PIPE_PR, c);           /* alpha = rr / mu
                                                 beta  = (rr - 2 alpha rs
                                                     + alpha^2 ss) / rr     */
        q_pass(q, pipe_pr_update, n, (alpha, beta), (w, p, x, u, r, s),
               &c[C_RR]);                     /* x = x + alpha p
                                                 r = r - alpha s
                                                 p = r + beta p
                                                 s = w - alpha u + beta s   */
        S->k++;
    }
    /* clang-format on */
}

const tct_method tct_method_pipe_pr = {
    .about = {.name = "pipe-pr",
              .summary = "one hidden reduction, predict and recompute (Chen "
                         "and Carson 2020)",
              .products = 2,
              .reductions = 1,
              .scalars = 4,
              .hidden = true,
              .vectors = 5},
    .rescue = &tct_method_single,
    .iterate = pipe_pr_iterate,
};
