/* SPDX-License-Identifier: BSD-3-Clause
 * device/blocks.h - the small arithmetic of blocks of iterations (method
 * sstep), between the sum of a block and its updates: one text for the host and
 * for a GPU, where the threads of one block share it.
 *
 * [CG89] Chronopoulos and Gear, "s-step iterative methods for symmetric linear
 *        systems", J. Comput. Appl. Math. 25 (1989), as in algorithms 3 and 6
 *        of the s-step paper, whose messages these are.
 *
 * The kept directions P are conjugate and of length 1, P' A P = I, the last one
 * first. With C = P' A Z, W = Z' A Z - C' C = S L L' S and T = S^-1 L^-T the
 * new directions are (Z - P C) T, those of Gram-Schmidt, and
 *
 *     x = x + (Z - P C) alpha,  alpha = T T' (Z' r - C' P' r).
 *
 * W is formed by a difference and may be nearly singular; only the part that is
 * above rounding is used. One small matrix has all coefficients of the updates:
 * (P, Z) times it is P of the next block and the change of x; (Q, A Z)
 * likewise.
 *
 * Z is conjugated only to the directions of P. It is conjugate to earlier ones
 * as long as r is orthogonal to them; towards the end r is orthogonal only to a
 * few [Pa80]. P' r shows to how many, and limits the length of blocks and of P.
 * Without this limit blocks of 8 took 4,300 iterations for bcsstk13 with
 * jacobi, to 1e-6, and cg takes 1,451. */
#ifndef TCT_DEVICE_BLOCKS_H
#define TCT_DEVICE_BLOCKS_H
#include "device/steps.h"

enum { TCT_SSTEP_MOST = 16 }; /* vectors of a block; kept directions */

/* The sums for s vectors: (r, r), the change of r when it is recomputed, and
 * (P, Z)' (A Z, r), column by column; P has `most` columns. Moments need fewer:
 * see blocks_moment. */
enum { SUM_RR, SUM_DRIFT, SUM_GRAM };
#define TCT_SSTEP_SUMS_OF(s, most) (SUM_GRAM + ((s) + (most)) * ((s) + 1))
enum { TCT_SSTEP_SUMS = TCT_SSTEP_SUMS_OF(TCT_SSTEP_MOST, TCT_SSTEP_MOST) };

typedef double tct_small[TCT_SSTEP_MOST][TCT_SSTEP_MOST];

/* The state of blocks, in device memory. */
typedef struct tct_blocks {
    /* set by the CPU */
    int most;     /* the most vectors of a block */
    int moments;  /* as in [CG89]: from the moments of r */
    int plain;    /* no M: (r, r) is in the Gram matrix */
    int bound;    /* fixed length: stop if another is better */
    int s;        /* the most vectors of the next block */
    double limit; /* of iterations                                          */
    double early; /* ... after which a restart costs too much */
    double sigma; /* of moments: powers of A M / sigma */
    double term[TCT_SSTEP_MOST]
               [2]; /* 1 / sigma and -theta / sigma of a basis */
    /* the last block */
    int taken;   /* iterations                                                */
    int n;       /* columns of P in use; the others are 0 */
    int again;   /* blocks so far without conjugation */
    int alone;   /* blocks of one in a row, with r lost */
    int grown;   /* blocks in a row that could be longer, */
    int shrunk;  /* ... or at most half as long */
    int since;   /* iterations since r was recomputed */
    int drifted; /* r is not recomputed any more: its change is large */
    double renew; /* 1: recompute r, or 0 */
    double alpha[TCT_SSTEP_MOST];
    tct_small inverse; /* T', a row for each direction */
    double mix[2 * TCT_SSTEP_MOST * (TCT_SSTEP_MOST + 1)];
} tct_blocks;

/* The reason for a pause, with BAD_PAUSE in C_BAD. */
enum {
    PAUSE_LIMIT, /* no iteration left */
    PAUSE_SHAPE, /* another length would be better */
    PAUSE_TWICE  /* Z cancelled: conjugate it once more */
};

typedef enum tct_blocks_step {
    BLOCKS_LOOK,      /* check (r, r) only */
    BLOCKS_CONJUGATE, /* Z = Z + P B, B into mix, of `most` rows */
    BLOCKS_DECIDE,
    BLOCKS_DECIDE_AGAIN /* after BLOCKS_CONJUGATE */
} tct_blocks_step;

/* Workspace that all threads reach. */
typedef struct tct_blocks_desk {
    tct_small W, C, X; /* a column of C in each row */
    double g[TCT_SSTEP_MOST], h[TCT_SSTEP_MOST], alpha[TCT_SSTEP_MOST];
    double scale[TCT_SSTEP_MOST]; /* S                                       */
    double t[TCT_SSTEP_MOST];
    double least;  /* square of the smallest diagonal element of L           */
    int s, n;      /* vectors used, directions kept */
    int cancelled; /* Z has lost its digits */
    int taken, sound, next, goes;
} tct_blocks_desk;

/* --- threads -------------------------------------------------------------- */

/* Loop over n elements, shared by threads; barrier; by one thread. */
#if TCT_ON_GPU
#define TCT_EACH(i, n) \
    for (int i = (int)threadIdx.x; i < (n); i += (int)blockDim.x)
#define TCT_BARRIER() __syncthreads()
#define TCT_ONE       if (threadIdx.x == 0)
#else
#define TCT_EACH(i, n) for (int i = 0; i < (n); i++)
#define TCT_BARRIER()  ((void)0)
#define TCT_ONE        if (1)
#endif

TCT_BOTH int blocks_least(int a, int b)
{
    return a < b ? a : b;
}

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

#define TCT_BLOCKS_SHORTER 1e-6 /* pivots that change the length */
#define TCT_BLOCKS_LONGER  1e-3

/* The length of the next block, up to `most`, after one of D->s vectors, of
 * which D->taken were sound, with D->n directions. */
TCT_BOTH int tct_blocks_next(const tct_blocks_desk *D, int most)
{
    int s = D->s;
    if (D->sound < D->n)
        s = D->sound < s / 2 ? s / 2 : blocks_least(D->sound, s);
    else if (D->taken < s) s = D->taken;
    else if (D->least < TCT_BLOCKS_SHORTER) s -= 2;
    else if (D->least > TCT_BLOCKS_LONGER) s += 1;
    return s < 1 ? 1 : s > most ? most : s;
}

/* As blocks_mixed, for P = Z + P beta and x + P alpha. */
TCT_BOTH double blocks_mixed_plainly(const tct_blocks *B,
                                     const tct_blocks_desk *D, int col, int row)
{
    const int taken = D->taken, old = row < B->most, z = row - B->most;
    double sum = 0.0;
    if (old && row >= D->n) return 0.0;
    if (col < B->most && col >= taken) return 0.0;
    if (col < B->most) return old ? blocks_beta(B, D, row, col) : z == col;
    if (!old) return z < taken ? D->alpha[z] : 0.0;
    for (int j = 0; j < taken; j++)
        sum += blocks_beta(B, D, row, j) * D->alpha[j];
    return sum;
}

/* Element (row, col) of the small matrix: rows of P, then of Z; columns of P of
 * the next block, with `kept` directions, and last the change of x. */
TCT_BOTH double blocks_mixed(const tct_blocks *B, const tct_blocks_desk *D,
                             int kept, int col, int row)
{
    const int taken = D->taken, old = row < B->most, last = col == B->most;
    double sum = 0.0;
    if (B->moments) return blocks_mixed_plainly(B, D, col, row);
    if (!last && col >= kept) return 0.0;
    if (!last && col >= taken) return row == col - taken ? 1.0 : 0.0;
    const double *t = last ? D->alpha : D->X[taken - 1 - col];
    const int length = last ? taken : taken - col;
    if (!old) return row - B->most < length ? t[row - B->most] : 0.0;
    if (row >= D->n) return 0.0;
    for (int k = 0; k < length; k++) sum -= D->C[k][row] * t[k];
    return sum;
}

/* Store the coefficients of the updates, and the state for the next block. */
TCT_BOTH void blocks_conclude(tct_blocks *B, int formed, tct_blocks_desk *D)
{
    const int rows = B->most + formed, taken = D->taken;
    const int keep = B->moments ? taken : D->next;
    const int kept = blocks_least(keep, taken + D->n);
    TCT_EACH(t, rows * (B->most + 1))
    B->mix[t] = blocks_mixed(B, D, kept, t / rows, t % rows);
    TCT_BARRIER(); /* mixing reads the old `inverse` */
    TCT_EACH(t, taken * taken)
    B->inverse[t / taken][t % taken] = D->X[t / taken][t % taken];
    TCT_EACH(i, taken) B->alpha[i] = D->alpha[i];
    TCT_ONE
    {
        B->taken = taken;
        B->n = kept;
        B->grown = D->next > formed ? B->grown + 1 : 0;
        B->shrunk = !B->moments && 2 * D->next <= formed ? B->shrunk + 1 : 0;
        if (!B->moments) B->s = D->next;
    }
}

/* --- when to go on -------------------------------------------------------- */

#define TCT_BLOCKS_DRIFT  0.1  /* change of r when it is recomputed */
#define TCT_BLOCKS_GAINED 1e-4 /* (r, r) / (r_0, r_0) below it: no restart */
enum {
    TCT_BLOCKS_AGAIN = 2,       /* blocks without conjugation, ... */
    TCT_BLOCKS_ALONE = 4,       /* ... or down to one vector, ... */
    TCT_BLOCKS_ALONE_LATE = 24, /* ... if a restart costs more, */
    TCT_BLOCKS_GROWN = 2,       /* ... that could be longer, ... */
    TCT_BLOCKS_SHRUNK = 2       /* ... or half as long */
};

TCT_BOTH int blocks_stop(double *c, tct_bad bad, double value)
{
    c[C_BAD] = bad;
    c[C_BAD_VALUE] = value;
    c[C_HELD] = 1.0;
    return 0;
}

/* Would another length be better? Only after repeated signs: a block after a
 * recomputed r is short. */
TCT_BOTH int blocks_are_unfit(const tct_blocks *B, int formed)
{
    if (!B->bound) return 0;
    return B->shrunk >= TCT_BLOCKS_SHRUNK ||
           (B->grown >= TCT_BLOCKS_GROWN && formed < B->most);
}

/* The convergence check, which counts the last block; returns the number of
 * vectors, up to `formed`, that may be used, 0: stop. By one thread. */
TCT_BOTH int blocks_enter(tct_blocks *B, int formed, int again, double *sums,
                          double *c)
{
    if (B->plain && formed > 0 && !again) /* z_0 is r */
        sums[SUM_RR] = sums[SUM_GRAM + formed * (B->most + formed) + B->most];
    const double rr = sums[SUM_RR], drift = sums[SUM_DRIFT];
    B->renew = 0.0;
    sums[SUM_DRIFT] = 0.0; /* also if r was not recomputed */
    if (c[C_BAD] != 0.0 || c[C_HELD] != 0.0) {
        c[C_HELD] = 1.0;
        return 0;
    }
    c[C_UPDATES] += B->taken;
    B->since = drift > 0.0 ? 0 : B->since + B->taken;
    B->taken = 0;
    c[C_RR] = rr;
    if (drift > TCT_BLOCKS_DRIFT * TCT_BLOCKS_DRIFT * rr) B->drifted = 1;
    if (!step_finite(rr)) return blocks_stop(c, BAD_RESIDUAL, rr);
    if (rr <= c[C_TARGET2] || rr < TCT_RR_LEAST) {
        c[C_HELD] = 1.0;
        return 0;
    }
    if (c[C_RR_MOST] > 0.0 && rr > c[C_RR_MOST])
        return blocks_stop(c, BAD_GROWTH, rr);
    if (formed == 0) return 0;
    const double left = B->limit - c[C_UPDATES];
    if (left < 1.0) return blocks_stop(c, BAD_PAUSE, PAUSE_LIMIT);
    if (blocks_are_unfit(B, formed))
        return blocks_stop(c, BAD_PAUSE, PAUSE_SHAPE);
    B->renew = B->drifted ? 0.0 : 1.0;
    const int s = blocks_least(B->s, formed);
    return left < s ? (int)left : s;
}

/* The most blocks of one in a row before another method takes over: a restart
 * loses what has been gained. */
TCT_BOTH int blocks_alone_most(const tct_blocks *B, const double *c)
{
    const int late =
        c[C_UPDATES] > B->early || c[C_RR] < TCT_BLOCKS_GAINED * c[C_REF_RR];
    return late ? TCT_BLOCKS_ALONE_LATE : TCT_BLOCKS_ALONE;
}

/* Is a step sound in spite of rounding? By one thread. */
TCT_BOTH void blocks_settle(tct_blocks *B, int again, double *c,
                            tct_blocks_desk *D)
{
    D->goes = D->taken > 0;
    if (D->cancelled && !again)
        D->goes = blocks_stop(c, BAD_PAUSE, PAUSE_TWICE);
    else if (!D->goes || B->alone > blocks_alone_most(B, c) ||
             B->again > TCT_BLOCKS_AGAIN)
        D->goes = blocks_stop(c, BAD_DRIFT, D->taken);
    else D->next = tct_blocks_next(D, B->most);
}

/* If no step is sound, restart from r alone, a limited number of times. */
TCT_BOTH void blocks_decide(tct_blocks *B, int formed, int again, double *sums,
                            double *c, tct_blocks_desk *D)
{
    TCT_ONE
    {
        D->s = blocks_enter(B, formed, again, sums, c);
        D->n = B->n;
        D->cancelled = 0;
    }
    TCT_BARRIER();
    if (D->s == 0) return;
    blocks_solve(B, formed, sums, D);
    const int alone =
        D->taken == 0 && D->n > 0 && !B->moments && (again || !D->cancelled);
    TCT_BARRIER();
    TCT_ONE if (again || !D->cancelled)
    {
        const int lost = D->sound == 0 && D->n > 0 && D->s == 1;
        B->alone = lost ? B->alone + 1 : 0;
        if (alone) {
            D->n = 0;
            B->again++;
        }
    }
    TCT_BARRIER();
    if (alone) blocks_solve(B, formed, sums, D);
    TCT_ONE blocks_settle(B, again, c, D);
    TCT_BARRIER();
    if (D->goes) blocks_conclude(B, formed, D);
}

/* Z = Z + P B makes Z conjugate to P, with B = -C of `formed` columns. */
TCT_BOTH void blocks_conjugate(tct_blocks *B, int formed, const double *sums,
                               const double *c)
{
    const int most = B->most, rows = most + formed;
    const int held = c[C_BAD] != 0.0 || c[C_HELD] != 0.0;
    TCT_EACH(t, formed * most)
    {
        const int j = t / most, i = t % most;
        B->mix[t] = i < B->n && !held ? -sums[SUM_GRAM + j * rows + i] : 0.0;
    }
}

/* By all threads of a block. `sums` are of `formed` vectors. */
TCT_BOTH void tct_blocks_run(tct_blocks_step step, tct_blocks *B, int formed,
                             double *sums, double *c, tct_blocks_desk *D)
{
    switch ((int)step) {
    case BLOCKS_LOOK: TCT_ONE(void) blocks_enter(B, 0, 0, sums, c); break;
    case BLOCKS_CONJUGATE: blocks_conjugate(B, formed, sums, c); break;
    default: blocks_decide(B, formed, step == BLOCKS_DECIDE_AGAIN, sums, c, D);
    }
}

#endif
