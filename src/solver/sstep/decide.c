/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/decide.c - a block from its Gram matrices. W = Z' A Z - C' W_old^-1 C,
 * C = P' A Z, is formed by a difference, and may be nearly singular; what rounding
 * leaves of it is taken, and no more.
 *
 * Z is conjugated to the directions of P alone. It is conjugate to those before as
 * long as r is orthogonal to them, which in the end it is not [Pa80]. P' r tells, and
 * the longer a block the sooner: so blocks get shorter where it is no longer small.
 * Of bcsstk13 with jacobi that halves the iterations of blocks of 8. */
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

/* What directions V with V' A V = W can make of the energy of the error, from
 * V' r: its square root. */
static double energy(const tct_factor *W, const double *v)
{
    double y[TCT_SSTEP_MOST];
    memcpy(y, v, (size_t)W->n * sizeof *y);
    tct_factor_solve(W, y);
    return sqrt(dot(W->n, y, v));
}

/* The small system of what is taken: none of it if it is not finite. */
static void solve(tct_sstep_block *B)
{
    B->taken = B->W.n;
    tct_factor_solve(&B->W, B->alpha);
    for (int i = 0; i < B->taken; i++)
        if (!isfinite(B->alpha[i])) B->taken = 0;
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
    B->lost = energy(old, mo) > LOST * energy(&B->W, B->alpha);
    solve(B);
}

int tct_sstep_next(const tct_sstep_block *B, int s, int most)
{
    if (B->lost) s /= 2;
    else if (B->taken < s) s = B->taken;
    else if (B->W.least < SHORTER) s -= 2;
    else if (B->W.least > LONGER) s += 1;
    return s < 1 ? 1 : s > most ? most : s;
}
