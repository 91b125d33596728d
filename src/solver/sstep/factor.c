/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/factor.c - Cholesky of a small matrix that is nearly singular as a
 * rule: scaled, and no further than it is sound. */
#include "solver/sstep/sstep.h"
#include <math.h>

/* Row i of L; false if it would not be sound. */
static bool make_row(tct_factor *F, int i, tct_small W, double least)
{
    const double diagonal = W[i][i];
    double pivot = 1.0;
    if (!(diagonal > 0.0) || !isfinite(diagonal)) return false;
    F->scale[i] = sqrt(diagonal);
    for (int j = 0; j < i; j++) {
        double sum = W[i][j] / F->scale[i] / F->scale[j];
        for (int k = 0; k < j; k++) sum -= F->l[i][k] * F->l[j][k];
        F->l[i][j] = sum / F->l[j][j];
        pivot -= F->l[i][j] * F->l[i][j];
    }
    if (!(pivot > least)) return false;
    F->l[i][i] = sqrt(pivot);
    F->least = fmin(F->least, pivot);
    return true;
}

int tct_factor_make(tct_factor *F, int n, tct_small W, double least)
{
    F->least = 1.0;
    for (F->n = 0; F->n < n; F->n++)
        if (!make_row(F, F->n, W, least)) break;
    F->block = F->n;
    return F->n;
}

/* t = S^-1 L'^-1 t */
static void solve_upper(const tct_factor *F, double *t)
{
    for (int i = F->n - 1; i >= 0; i--) {
        for (int k = i + 1; k < F->n; k++) t[i] -= F->l[k][i] * t[k];
        t[i] /= F->l[i][i];
    }
    for (int i = 0; i < F->n; i++) t[i] /= F->scale[i];
}

void tct_factor_lower(const tct_factor *F, double *b)
{
    for (int i = 0; i < F->n; i++) {
        b[i] /= F->scale[i];
        for (int k = 0; k < i; k++) b[i] -= F->l[i][k] * b[k];
        b[i] /= F->l[i][i];
    }
}

void tct_factor_solve(const tct_factor *F, double *b)
{
    tct_factor_lower(F, b);
    solve_upper(F, b);
}

int tct_factor_before_last(const tct_factor *F, int i)
{
    return i < F->block ? F->block - 1 - i : i;
}

void tct_factor_direction(const tct_factor *F, int i, double *t)
{
    const int at = tct_factor_before_last(F, i);
    for (int k = 0; k < F->n; k++) t[k] = k == at ? 1.0 : 0.0;
    solve_upper(F, t);
}
