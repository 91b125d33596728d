/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/minres.c - minimal residuals, for a symmetric A that may be
 * indefinite.
 *
 * [PS75] Paige and Saunders, "Solution of sparse indefinite systems of linear
 *        equations", SIAM J. Numer. Anal. 12 (1975), section 6; alfa, beta,
 *        gamma, c, s and phi as in its program, gamma p for its w.
 *
 * The Lanczos process makes orthogonal vectors u and with them a tridiagonal
 * matrix T; rotations, one per iteration, make T triangular, so that x has the
 * smallest |b - A x| of its Krylov space. With a preconditioner M, which must
 * be positive definite, z = M u, and the smallest residual is that in the norm
 * of M. A needs no sign: no quantity of the iteration is a (p, A p).
 *
 * r = b - A x comes from u by the same rotations, since the convergence check
 * needs its Euclidean norm. v is the last u, of length 1, s the direction before
 * p. */
#include "solver/run.h"

static void minres_iterate(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A, *M = R->M;
    const size_t n = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *t = R->v[V_T];
    double *u = R->v[3], *v = R->v[4], *s = R->v[5], *z = M ? R->z : u;

    /* clang-format off */
    q_copy(q, n, r, u);                          /* u = r                    */
    q_fill(q, n, 0.0, v);
    q_fill(q, n, 0.0, p);
    q_fill(q, n, 0.0, s);
    q_norm(q, n, r, &c[C_RR]);                   /* rr = (r, r)              */
    if (M) apply_dot(M, q, u, z, &c[C_UZ]);      /* z = M u, uz = (u, z)     */
    else q_norm(q, n, u, &c[C_UZ]);
    q_sum(q, 1, &c[C_UZ]);
    q_step(q, STEP_MINRES_START, c);             /* |u| = sqrt(uz)           */
    for (;;) {
        apply_dot(A, q, z, t, &c[C_ZT]);         /* t = A z, zt = (z, t)     */
        q_sum(q, 2, &c[C_RR]);                   /* rr, zt                   */
        if (tct_done(R)) return;
        q_step(q, STEP_MINRES_ALFA, c);          /* alfa = zt / uz           */
        q_pass(q, minres_lanczos, n, (&c[C_ALFA], &c[C_LENGTH]), (t, u, v),
               &c[C_UZ]);                        /* v = u / |u|
                                                    u = (t - alfa u) / |u|
                                                      - |u| v_old            */
        if (M) q_pass(q, scale, n, (&c[C_UNIT], NULL), (z), NULL);
        q_pass(q, minres_direction, n, (&c[C_BACK], &c[C_BACK_OLD]),
               (M ? z : v, p, s), NULL);         /* p = z / |u| - back p
                                                      - back_old s, s = p_old */
        if (M) apply_dot(M, q, u, z, &c[C_UZ]);  /* z = M u, uz = (u, z)     */
        q_sum(q, 1, &c[C_UZ]);
        q_step(q, STEP_MINRES, c);               /* the rotation             */
        q_pass(q, minres_update, n, (alpha, beta), (u, p, x, r),
               &c[C_RR]);                        /* x = x + alpha p
                                                    r = beta r - alpha u     */
        R->k++;
    }
    /* clang-format on */
}

const tct_method tct_method_minres = {
    .about = {.name = "minres",
              .summary = "smallest residual, A may be indefinite (Paige and "
                         "Saunders 1975)",
              .products = 1,
              .reductions = 2,
              .scalars = 3,
              .vectors = 6,
              .precond_vectors = 1,
              .indefinite = true},
    .iterate = minres_iterate,
};
