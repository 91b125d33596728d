/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/single.c - conjugate gradients with one reduction: predict and
 * recompute.
 *
 * [CC20] Chen and Carson, "Predict-and-recompute conjugate gradient variants",
 *        SIAM J. Sci. Comput. 42 (2020), PR-CG; nu is rr here, and without a
 *        preconditioner the tilde vectors vanish.
 *
 * beta needs the next (r, r): it is predicted from (r, r), (r, s), (s, s), and
 * recomputed by the next sum, which all scalars share. s = A p is formed, not
 * inferred, so that the iterates are as good as those of cg. */
#include "solver/run.h"

/* With a preconditioner: z = M r and st = M s; z, like r, comes from a
 * recurrence. */
static void single_with_precond(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A, *M = R->M;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *s = R->v[V_T];
    double *z = R->z, *st = R->y[0];

    /* clang-format off */
    apply_dot(M, q, r, z, &c[C_RZ]);          /* z = M r, rz = (r, z)       */
    if (!R->resumed) q_copy(q, n, z, p);      /* p = z                      */
    q_norm(q, n, r, &c[C_RR]);                /* rr = (r, r)                */
    for (;;) {
        apply_dot(A, q, p, s, &c[C_MU + 1]);  /* s = A p, mu = (p, s)       */
        apply_dot(M, q, s, st, &c[C_SS + 1]); /* st = M s, (s, st)          */
        q_dot(q, n, z, s, &c[C_RS + 1]);
        q_sum(q, 5, &c[C_RR]);                /* rr, rz, mu, (z, s), (s, st)*/
        if (tct_done(R)) return;
        q_step(q, STEP_PR_M, c);              /* alpha = rz / mu
                                                 beta  = (rz - 2 alpha (z, s)
                                                     + alpha^2 (s, st)) / rz */
        q_pass(q, single_m_update, n, (alpha, beta), (z, st, s, r, x, p),
               &c[C_RR]);                     /* x = x + alpha p
                                                 r = r - alpha s
                                                 z = z - alpha st
                                                 p = z + beta p             */
        R->k++;
    }
    /* clang-format on */
}

static void single_iterate(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *s = R->v[V_T];

    /* clang-format off */
    if (!R->resumed) q_copy(q, n, r, p);      /* p = r                      */
    q_norm(q, n, r, &c[C_RR]);                /* rr = (r, r)                */
    for (;;) {
        apply_dots(A, q, p, r, s, &c[C_MU]);  /* s = A p, mu = (p, s)       */
        q_sum(q, 4, &c[C_RR]);                /* rr, mu, (r, s), (s, s)     */
        if (tct_done(R)) return;
        q_step(q, STEP_PR, c);                /* alpha = rr / mu
                                                 beta  = (rr - 2 alpha (r, s)
                                                     + alpha^2 (s, s)) / rr */
        q_pass(q, single_update, n, (alpha, beta), (r, s, x, p),
               &c[C_RR]);                     /* x = x + alpha p
                                                 r = r - alpha s
                                                 p = r + beta p             */
        R->k++;
    }
    /* clang-format on */
}

const tct_method tct_method_single = {
    .about = {.name = "single",
              .summary = "one reduction, predict and recompute (Chen and "
                         "Carson 2020)",
              .products = 1,
              .reductions = 1,
              .scalars = 4,
              .vectors = 3,
              .precond_vectors = 2},
    .rescue = &tct_method_cg,
    .persists = true,
    .lanczos = BETA_OF_IT,
    .iterate = single_iterate,
    .with_precond = single_with_precond,
};
