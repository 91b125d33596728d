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
#include "device/blocks_solve.h"

/* --- the next block ------------------------------------------------------- */

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
