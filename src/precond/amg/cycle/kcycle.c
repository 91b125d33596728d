/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/kcycle.c - two steps of flexible conjugate gradients in
 * place of a visit to a level.
 *
 * [NV08] Notay and Vassilevski, "Recursive Krylov-based multigrid cycles",
 *        Numer. Linear Algebra Appl. 15 (2008).
 *
 * The paper skips the second step if the first one reduces the residual to a
 * quarter. Here both are always done, so that the host waits for no scalar and
 * a graph can record them. The paper does this on all levels, which doubles the
 * visits from each to the next; with K on two of four or more levels the
 * iteration counts differed by one at most. */
#include "precond/amg/amg.h"

void tct_amg_kcycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L)
{
    const tacit_operator *A = L->A;
    const size_t n = (size_t)L->n;
    double *c = L->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *b = L->b, *x = L->x, *r = L->b2, *y = L->x2, *w = L->smoother.t;

    /* clang-format off */
    tct_amg_cycle(M, q, L, b, x, &c[C_BX]);  /* x = M b                      */
    apply_dot(A, q, x, r, &c[C_XV]);         /* v = A x                      */
    q_sum(q, 2, &c[C_BX]);                   /* (b, x), (x, v)               */
    q_step(q, STEP_K_FIRST, c);              /* alpha = (b, x) / (x, v)      */
    q_aypx(q, n, -1, alpha, b, r);           /* r = b - alpha v              */
    tct_amg_cycle(M, q, L, r, y, &c[C_RY]);  /* y = M r                      */
    apply_dot(A, q, y, w, &c[C_YW]);         /* w = A y                      */
    q_dot(q, n, b, y, &c[C_BY]);
    q_sum(q, 3, &c[C_BY]);                   /* (b, y), (r, y), (y, w)       */
    q_step(q, STEP_K_SECOND, c);             /* (y, v) = ((b, y) - (r, y)) / alpha
                                                rho   = (y, w) - (y, v)^2 / (x, v)
                                                beta  = (r, y) / rho
                                                alpha = alpha - beta (y, v) / (x, v) */
    q_pass(q, scale, n, (alpha, NULL), (x), NULL);
    q_axpy(q, n, +1, beta, y, x);            /* x = alpha x + beta y         */
    /* clang-format on */
}

/* Measured. The length of the steps is optimal for the next level's matrix,
 * whose energies are too large; on irregular graphs less is gained than in a
 * V-cycle. */
double tct_amg_kfactor(const tct_amg *M)
{
    return M->smoothing.degree > 1 ? 1.4 : 1.0;
}
