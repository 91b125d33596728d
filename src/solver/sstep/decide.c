/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/decide.c - a block from its Gram matrices. W = Z' A Z - C' W_old^-1 C,
 * C = P' A Z, is formed by a difference, and may be nearly singular; what rounding
 * leaves of it is taken, and no more.
 *
 * Z is conjugated to the directions of P alone. It is conjugate to those before as
 * long as r is orthogonal to them, which in the end it is only to few [Pa80]: P' r
 * says to how many, and blocks become no longer than that. P must not be longer,
 * either. Without that blocks of 8 took 4,300 iterations for bcsstk13 with jacobi, to
 * 1e-6, and cg takes 1,451. */
#include "solver/sstep/sstep.h"
#include <math.h>
#include <string.h>

static const double
    PIVOT_LEAST = 1e-9, /* of what is taken                                  */
    CANCELLED = 1e-8,   /* so little of a vector has no sound direction      */
    SHORTER = 1e-6, LONGER = 1e-3, /* pivots that say how many come next     */
    LOST = 1e-11; /* r has so much of the directions before                */

/* Column `j` of beta, from column j of C. */
static void conjugate(const tct_factor *old, int w, const double *C,
                      double *beta)
{
    for (int i = 0; i < w; i++) beta[i] = i < old->n ? -C[i] : 0.0;
    tct_factor_solve(old, beta);
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

int tct_sstep_sound(const tct_factor *W, const double *mo, double energy)
{
    double y[TCT_SSTEP_MOST], sum = 0.0;
    memcpy(y, mo, (size_t)W->n * sizeof *y);
    tct_factor_lower(W, y);
    for (int i = 0; i < W->n; i++) {
        const double has = y[tct_factor_before_last(W, i)];
        sum += has * has;
        if (sum > LOST * LOST * energy) return i;
    }
    return W->n;
}

/* The small system of what is taken: none of it if it is not finite. What its steps
 * make of the energy of the error. */
static double solve(tct_sstep_block *B)
{
    double g[TCT_SSTEP_MOST];
    B->taken = B->W.n;
    memcpy(g, B->alpha, sizeof g);
    tct_factor_solve(&B->W, B->alpha);
    for (int i = 0; i < B->taken; i++)
        if (!isfinite(B->alpha[i])) B->taken = 0;
    return dot(B->taken, g, B->alpha);
}

void tct_sstep_decide(const tct_factor *old, int w, int s, const double *sums,
                      tct_sstep_block *B)
{
    const double *m = sums, *G = sums + s;
    const double *mo = sums + s * (s + 1), *C = mo + w;
    tct_small W;
    B->cancelled = false;
    for (int j = 0; j < s; j++) {
        conjugate(old, w, C + j * w, B->beta[j]);
        B->alpha[j] = m[j] + dot(old->n, B->beta[j], mo);
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j <= i; j++)
            W[i][j] = W[j][i] = 0.5 * (G[j * s + i] + G[i * s + j] +
                                       dot(old->n, B->beta[i], C + j * w) +
                                       dot(old->n, B->beta[j], C + i * w));
    for (int i = 0; i < s; i++)
        if (!(W[i][i] > CANCELLED * G[i * s + i])) B->cancelled = true;
    tct_factor_make(&B->W, s, W, PIVOT_LEAST);
    B->sound = tct_sstep_sound(old, mo, solve(B));
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int tct_sstep_next(const tct_sstep_block *B, int s, int w, int most)
{
    if (B->sound < w) s = B->sound < s / 2 ? s / 2 : least(B->sound, s);
    else if (B->taken < s) s = B->taken;
    else if (B->W.least < SHORTER) s -= 2;
    else if (B->W.least > LONGER) s += 1;
    return s < 1 ? 1 : s > most ? most : s;
}
