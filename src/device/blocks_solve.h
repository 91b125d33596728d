/* SPDX-License-Identifier: BSD-3-Clause
 * device/blocks_solve.h - C, W and alpha of a block of iterations from its sums,
 * and the factor of W (blocks.h). */
#ifndef TCT_DEVICE_BLOCKS_SOLVE_H
#define TCT_DEVICE_BLOCKS_SOLVE_H
#include "device/blocks_state.h"

/* --- from the sums -------------------------------------------------------- */

#define TCT_BLOCKS_CANCELLED 1e-8 /* relative size of a cancelled direction */

/* C, W and g = Z' r - C' P' r from Gram matrices of `formed` vectors. */
TCT_BOTH void blocks_of_gram(const tct_blocks *B, int formed,
                             const double *sums, tct_blocks_desk *D)
{
    const int most = B->most, rows = most + formed, s = D->s, n = D->n;
    const double *G = sums + SUM_GRAM, *r = G + formed * rows;
    TCT_EACH(t, s * most)
    {
        const int j = t / most, i = t % most;
        D->C[j][i] = i < n ? G[j * rows + i] : 0.0;
    }
    TCT_BARRIER();
    TCT_EACH(t, s * s)
    {
        const int i = t / s, j = t % s;
        double w = 0.5 * (G[j * rows + most + i] + G[i * rows + most + j]);
        for (int k = 0; k < n; k++) w -= D->C[i][k] * D->C[j][k];
        D->W[i][j] = w;
        if (i == j && !(w > TCT_BLOCKS_CANCELLED * G[i * rows + most + i]))
            D->cancelled = 1;
    }
    TCT_EACH(j, s)
    {
        double g = r[most + j];
        for (int k = 0; k < n; k++) g -= D->C[j][k] * r[k];
        D->g[j] = g;
    }
    TCT_BARRIER();
}

/* [CG89]: moment k is (z_0, A (M A / sigma)^(k-1) z_0), the first with r; by
 * algorithm 5 of the s-step paper from Z' r and Z' A z_(formed-1), the only
 * sums. Powers of a matrix become nearly parallel, and W squares their
 * condition: accuracy suffers from s = 5 on, and from s = 7 on W soon stops
 * being positive definite. */
TCT_BOTH double blocks_moment(const tct_blocks *B, int formed,
                              const double *sums, int k)
{
    const double *G = sums + SUM_GRAM; /* Z' (A z, r), z the last vector */
    return k < formed ? G[formed + k] : G[k - formed] / B->sigma;
}

/* beta = -W^-1 P' A Z with the previous W, in [CG89]. */
TCT_BOTH double blocks_beta(const tct_blocks *B, const tct_blocks_desk *D,
                            int i, int j)
{
    double sum = 0.0;
    for (int k = i; k < D->n; k++) sum -= B->inverse[k][i] * D->C[j][k];
    return sum;
}

/* The same from the moments, for directions that are not normalized: C = T' c
 * with the previous T and alpha, c = t_(i+j-s-1), zero before t_0. */
TCT_BOTH void blocks_of_moments(const tct_blocks *B, int formed,
                                const double *sums, tct_blocks_desk *D)
{
    const int s = D->s, n = D->n;
    TCT_ONE for (int i = 0; i < s && n > 0; i++)
    {
        double t = blocks_moment(B, formed, sums, i);
        for (int j = 0; j < i && i - j < n; j++)
            t += D->t[j] * B->alpha[n - 1 - (i - j)] * B->sigma;
        D->t[i] = -t / (B->alpha[n - 1] * B->sigma);
    }
    TCT_BARRIER();
    TCT_EACH(t, s * B->most)
    {
        const int j = t / B->most, i = t % B->most;
        double c = 0.0;
        for (int k = 0; i < n && k <= i; k++)
            if (k + j + 1 >= n) c += B->inverse[i][k] * D->t[k + j + 1 - n];
        D->C[j][i] = B->sigma * c;
    }
    TCT_BARRIER();
    TCT_EACH(t, s * s)
    {
        const int i = t / s, j = t % s;
        double w = B->sigma * blocks_moment(B, formed, sums, i + j + 1);
        for (int k = 0; k < n; k++)
            if (k + i + 1 >= n)
                w += B->sigma * D->t[k + i + 1 - n] * blocks_beta(B, D, k, j);
        D->W[i][j] = w;
        if (i == 0) D->g[j] = blocks_moment(B, formed, sums, j);
    }
    TCT_BARRIER();
}

/* --- W = S L L' S --------------------------------------------------------- */

/* Scale W, and the unit matrix in D->X; returns how many columns can be
 * scaled. */
TCT_BOTH int blocks_scale(int s, tct_blocks_desk *D)
{
    int usable = 0;
    while (usable < s && D->W[usable][usable] > 0.0 &&
           step_finite(D->W[usable][usable]))
        usable++;
    TCT_EACH(i, usable) D->scale[i] = sqrt(D->W[i][i]);
    TCT_BARRIER();
    TCT_EACH(t, usable * usable)
    {
        const int i = t / usable, j = t % usable;
        D->X[i][j] = i == j ? 1.0 / D->scale[i] : 0.0;
        if (i != j) D->W[i][j] /= D->scale[i] * D->scale[j];
    }
    TCT_BARRIER();
    TCT_EACH(i, usable) D->W[i][i] = 1.0;
    TCT_BARRIER();
    return usable;
}

/* Factor the longest prefix of W [s] with squared diagonal elements of L above
 * `least`, and solve for the unit matrix, which becomes T' = L^-1 S^-1 in D->X;
 * returns its length. */
TCT_BOTH int blocks_factor(int s, double least, tct_blocks_desk *D)
{
    const int usable = blocks_scale(s, D);
    double lowest = 1.0;
    int k = 0;
    for (; k < usable; k++) {
        const double pivot = D->W[k][k];
        const double one_over = 1.0 / sqrt(pivot);
        TCT_BARRIER();
        if (!(pivot > least)) break;
        if (pivot < lowest) lowest = pivot;
        TCT_EACH(i, usable)
        {
            if (i > k) D->W[i][k] *= one_over; /* column k of L */
            else D->X[k][i] *= one_over;
        }
        TCT_BARRIER();
        TCT_EACH(t, (usable - 1 - k) * usable)
        {
            const int i = k + 1 + t / usable, j = t % usable;
            if (j <= k) D->X[i][j] -= D->W[i][k] * D->X[k][j];
            else if (j <= i) D->W[i][j] -= D->W[i][k] * D->W[j][k];
        }
        TCT_BARRIER();
    }
    TCT_ONE D->least = lowest;
    return k;
}

/* --- a block -------------------------------------------------------------- */

#define TCT_BLOCKS_PIVOT 1e-9  /* least accepted pivot */
#define TCT_BLOCKS_LOST  1e-11 /* r's part along old directions */

/* To how many directions of P, from the last one on, is r still orthogonal,
 * given P' r in `mo` and the error's energy `energy`? */
TCT_BOTH int tct_blocks_sound(int n, const double *mo, double energy)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += mo[i] * mo[i];
        if (!(sum <= TCT_BLOCKS_LOST * TCT_BLOCKS_LOST * energy)) return i;
    }
    return n;
}

/* Compute alpha and D->taken, which is 0 if alpha is not finite. */
TCT_BOTH void blocks_solve(const tct_blocks *B, int formed, const double *sums,
                           tct_blocks_desk *D)
{
    if (B->moments) blocks_of_moments(B, formed, sums, D);
    else blocks_of_gram(B, formed, sums, D);
    const int k = blocks_factor(D->s, B->moments ? 0.0 : TCT_BLOCKS_PIVOT, D);
    const int taken = B->moments && k < D->s ? 0 : k;
    TCT_EACH(i, taken) /* h = T' g */
    {
        D->h[i] = 0.0;
        for (int j = 0; j <= i; j++) D->h[i] += D->X[i][j] * D->g[j];
    }
    TCT_BARRIER();
    TCT_EACH(i, taken) /* alpha = T h */
    {
        D->alpha[i] = 0.0;
        for (int j = i; j < taken; j++) D->alpha[i] += D->X[j][i] * D->h[j];
    }
    TCT_BARRIER();
    TCT_ONE
    {
        const double *mo =
            sums + SUM_GRAM + formed * (B->most + formed); /* P' r */
        double energy = 0.0; /* removed from the error by the steps */
        D->taken = taken;
        for (int i = 0; i < taken; i++) {
            energy += D->h[i] * D->h[i];
            if (!step_finite(D->alpha[i])) D->taken = 0;
        }
        D->sound = B->moments ? D->n : tct_blocks_sound(D->n, mo, energy);
    }
    TCT_BARRIER();
}

#endif
