/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/krylov.c - the vectors of a block: of the Krylov space of M A
 * and M r, in a basis. The coefficients are on the device, so that a recording
 * stays valid when they change. */
#include "solver/sstep/sstep.h"

/* y_(j+1) from t = A M y_j */
static void next_vector(tct_run *R, int j, const double *t, const double *y,
                        const double *y_old, double *y_new)
{
    tacit_queue *q = R->q;
    const tct_sstep *S = R->own;
    const double *one_over_sigma = &S->B->term[j][0];
    const double *shift = &S->B->term[j][1]; /* -theta / sigma */
    if (S->basis == BASIS_CHEBYSHEV && j > 0) {
        q_run_pass(q, PASS_chebyshev, R->n, 1.0, one_over_sigma, NULL,
                   (const double *const[]){t, y, y_old, y_new}, NULL);
        return;
    }
    q_pass(q, axpby, R->n, (one_over_sigma, shift), (t, y, y_new), NULL);
}

void tct_sstep_form(tct_run *R, int s)
{
    const tct_sstep *S = R->own;
    const tct_panel Z = tct_columns(&S->PZ, S->most, s);
    const tct_panel Y = tct_columns(&S->QY, S->most, s + 1);
    double *const vectors[] = {R->z, R->y[0], R->y[1]};
    double *y_old = NULL, *y = R->v[V_R];
    if (R->M) q_copy(R->q, R->n, y, tct_column(&Y, s));
    else
        q_pass(R->q, copies, R->n, (NULL, NULL),
               (y, tct_column(&Z, 0), tct_column(&Y, s)), NULL);
    for (int j = 0;; j++) {
        double *z = tct_column(&Z, j), *t = tct_column(&Y, j);
        if (R->M) apply(R->M, R->q, y, z);
        apply(R->A, R->q, z, t);
        if (j + 1 == s) return;
        double *y_new = R->M ? vectors[j % 3] : tct_column(&Z, j + 1);
        next_vector(R, j, t, y, y_old, y_new);
        y_old = y;
        y = y_new;
    }
}
