/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/pipe_pr.c - pipelined predict-and-recompute conjugate
 * gradients.
 *
 * [CC20] Chen and Carson, "Predict-and-recompute conjugate gradient variants",
 *        SIAM J. Sci. Comput. 42 (2020); nu, mu and the vector names follow it
 *        (nu is rr here; without a preconditioner the tilde vectors vanish).
 *
 * One sum of four scalars, under way while u = A s and w = A r are formed in
 * one pass over the matrix. w = A r is first predicted by its recurrence and
 * then recomputed, which keeps the accuracy of cg on most matrices. If s drifts
 * too far from A p, step_pipe_pr ends the phase, and `single`, which forms s,
 * goes on. */
#include "solver/run.h"

/* With a preconditioner: z = M r, st = M s, wt = M w, ut = M u. */
static void pipe_pr_with_precond(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A, *M = R->M;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *u = R->v[4];
    double *z = R->z, *st = R->y[0], *wt = R->y[1], *ut = R->y[2];

    /* clang-format off */
    apply_dot(M, q, r, z, &c[C_RZ]);          /* z = M r, rz = (r, z)       */
    if (!R->resumed) q_copy(q, n, z, p);      /* p = z                      */
    apply_dot(A, q, p, s, &c[C_MU + 1]);      /* s = A p, mu = (p, s)       */
    apply_dot(M, q, s, st, &c[C_SS + 1]);     /* st = M s, (s, st)          */
    R->result->extra_products++;
    q_norm(q, n, r, &c[C_RR]);                /* rr = (r, r)                */
    q_dot(q, n, z, s, &c[C_RS + 1]);
    for (;;) {
        q_sum_begin(q, 5, &c[C_RR]);          /* rr, rz, mu, zs, sst: sum   */
        apply_pair(A, q, st, u, z, w);        /* u = A st, w = A z          */
        apply(M, q, u, ut);                   /* ut = M u                   */
        apply(M, q, w, wt);                   /* wt = M w                   */
        q_sum_end(q, 5, &c[C_RR]);            /*   ... done                 */
        if (tct_done(R)) return;
        q_step(q, STEP_PIPE_PR_M, c);         /* alpha = rz / mu
                                                 beta  = (rz - 2 alpha zs
                                                     + alpha^2 sst) / rz    */
        q_pass(q, pipe_pr_m_update, n, (alpha, beta),
               (w, u, wt, ut, p, x, r, s, z, st),
               &c[C_RR]);                     /* x  = x + alpha p
                                                 r  = r - alpha s
                                                 z  = z - alpha st
                                                 p  = z + beta p
                                                 s  = w - alpha u + beta s
                                                 st = wt - alpha ut
                                                    + beta st               */
        R->k++;
    }
    /* clang-format on */
}

static void pipe_pr_iterate(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *u = R->v[4];

    /* clang-format off */
    if (!R->resumed) q_copy(q, n, r, p);      /* p = r                      */
    apply(A, q, p, s);                        /* s = A p                    */
    R->result->extra_products++;
    q_norm(q, n, r, &c[C_RR]);                /* rr = (r, r)                */
    q_dot(q, n, p, s, &c[C_MU]);              /* mu = (p, s)                */
    q_dot(q, n, r, s, &c[C_RS]);
    q_norm(q, n, s, &c[C_SS]);
    for (;;) {
        q_sum_begin(q, 4, &c[C_RR]);          /* rr, mu, rs, ss: sum ...    */
        apply_pair(A, q, s, u, r, w);         /* u = A s, w = A r           */
        q_sum_end(q, 4, &c[C_RR]);            /*   ... done                 */
        if (tct_done(R)) return;
        q_step(q, STEP_PIPE_PR, c);           /* alpha = rr / mu
                                                 beta  = (rr - 2 alpha rs
                                                     + alpha^2 ss) / rr     */
        q_pass(q, pipe_pr_update, n, (alpha, beta), (w, p, x, u, r, s),
               &c[C_RR]);                     /* x = x + alpha p
                                                 r = r - alpha s
                                                 p = r + beta p
                                                 s = w - alpha u + beta s   */
        R->k++;
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
              .vectors = 5,
              .precond_vectors = 4},
    .renews = true,
    .rescue = &tct_method_single,
    .lanczos = BETA_OF_IT,
    .iterate = pipe_pr_iterate,
    .with_precond = pipe_pr_with_precond,
};
