/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/wcycle.c - a polynomial of degree 2 in place of a visit to
 * a level.
 *
 * [AV90] Axelsson and Vassilevski, "Algebraic multilevel preconditioning
 *        methods, II", SIAM J. Numer. Anal. 27 (1990).
 *
 * Eigenvalues of M A are at most MOST = 1.3 on every level: if those of M' A'
 * are at most t, a correction times w makes those of M A at most max(1, w t).
 * The level takes w (M' - s M' A' M') with s = 1 / (MOST + 0.1): it has
 * eigenvalues w t (1 - s t), which are positive for t <= MOST and greatest, w /
 * (4 s), in the middle. w = 4 s MOST makes that MOST again, and small
 * eigenvalues, those of vectors that P makes too stiff, 3.7 times as large. So
 * M is positive definite for any matrix and number of levels; it is linear, and
 * there is no sum and no trial. */
#include "precond/amg/amg.h"

void tct_amg_wcycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L)
{
    tct_amg_cycle(M, q, L, L->b, L->x, NULL);
    apply(L->A, q, L->x, L->b2);
    tct_amg_cycle(M, q, L, L->b2, L->x2, NULL);
    q_axpy(q, (size_t)L->n, -TCT_AMG_WSTEP, NULL, L->x2, L->x);
}
