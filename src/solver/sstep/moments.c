/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/moments.c - a block from 2 s moments of the residual.
 *
 * [CG89] Chronopoulos and Gear, "s-step iterative methods for symmetric linear
 *        systems", J. Comput. Appl. Math. 25 (1989), as in the s-step paper's
 *        algorithms 3 and 6, whose letters these are.
 *
 * Powers of a matrix soon lie almost in one line, and W has the square of their
 * condition: from s = 5 on that is felt, and from s = 8 on W is no longer
 * positive definite. */
#include "solver/sstep/sstep.h"
#include <math.h>

/* vm_k = (z_0, A (M A / sigma)^(k-1) z_0): 0 to 2 s - 1, the first with r. */
static void read_moments(int s, double sigma, const double *sums, double *vm)
{
    const double *m = sums, *G = sums + s;
    vm[0] = m[0];
    for (int i = 0; i < s; i++) {
        vm[2 * i + 1] = G[i * s + i] / sigma;
        if (i > 0) vm[2 * i] = G[(i - 1) * s + i] / sigma;
    }
}

/* C = -t_(i+j-s-1), zero before t_0, from the moments and alpha of before. */
static void form_c(int w, int s, const double *alpha, const double *vm,
                   double (*C)[TCT_SSTEP_MOST])
{
    double t[TCT_SSTEP_MOST] = {0};
    for (int i = 0; i < s; i++) {
        t[i] = vm[i];
        for (int j = 0; j < i && i - j < w; j++)
            t[i] += t[j] * alpha[w - 1 - (i - j)];
        t[i] /= -alpha[w - 1];
    }
    for (int j = 0; j < s; j++)
        for (int i = 0; i < w; i++)
            C[j][i] = i + j + 1 >= w ? -t[i + j + 1 - w] : 0.0;
}

void tct_sstep_moments(const tct_factor *old, int s, double sigma,
                       const double *sums, tct_sstep_block *B)
{
    double vm[2 * TCT_SSTEP_MOST], last[TCT_SSTEP_MOST];
    tct_small C = {{0}}, W;
    const int w = old->n;
    read_moments(s, sigma, sums, vm);
    for (int i = 0; i < w; i++) last[i] = B->alpha[i] * sigma;
    if (w > 0) form_c(w, s, last, vm, C);
    for (int j = 0; j < s; j++) {
        for (int i = 0; i < w; i++) B->beta[j][i] = sigma * C[j][i];
        tct_factor_solve(old, B->beta[j]); /* the minus is in C */
        B->alpha[j] = vm[j];
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            W[i][j] = vm[i + j + 1] * sigma;
            for (int k = 0; k < w; k++)
                W[i][j] -= sigma * C[i][k] * B->beta[j][k];
        }
    const bool whole = tct_factor_make(&B->W, s, W, 0.0) == s;
    tct_factor_solve(&B->W, B->alpha);
    B->taken = whole ? s : 0;
    B->cancelled = false;
    B->sound = w;
    for (int i = 0; i < B->taken; i++)
        if (!isfinite(B->alpha[i])) B->taken = 0;
}
