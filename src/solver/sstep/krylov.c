/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/krylov.c - the vectors of a block: of the Krylov space of M A and
 * M r, in a basis. */
#include "solver/sstep/sstep.h"

/* y_(j+1) from t = A M y_j */
static void next_vector(tct_run *R, const tct_term *by, const double *t,
                        const double *y, const double *y_old, double *y_new)
{
    tacit_queue *q = R->q;
    if (by->three) {
        q_run_pass(q, PASS_chebyshev, R->n, 1.0 / by->sigma, NULL, NULL,
                   (const double *const[]){t, y, y_old, y_new}, NULL);
        return;
    }
    q_copy(q, R->n, t, y_new);
    q_scale(q, R->n, 1.0 / by->sigma, y_new);
    if (by->theta != 0.0)
        q_axpy(q, R->n, -by->theta / by->sigma, NULL, y, y_new);
}

void tct_sstep_form(tct_run *R, int s)
{
    const tct_sstep *S = R->own;
    tct_term term[TCT_SSTEP_MOST];
    double *const vectors[] = {R->z, R->y[0], R->y[1]};
    double *y_old = NULL, *y = R->v[V_R];
    tct_basis_terms(S->basis, s, S->edge, term);
    q_copy(R->q, R->n, y, tct_column(&S->Y, 0));
    if (!R->M) q_copy(R->q, R->n, y, tct_column(&S->Z, 0));
    for (int j = 0;; j++) {
        double *z = tct_column(&S->Z, j), *t = tct_column(&S->Y, j + 1);
        if (R->M) apply(R->M, R->q, y, z);
        apply(R->A, R->q, z, t);
        if (j + 1 == s) return;
        double *y_new = R->M ? vectors[j % 3] : tct_column(&S->Z, j + 1);
        next_vector(R, &term[j], t, y, y_old, y_new);
        y_old = y;
        y = y_new;
    }
}
