/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/ends.c - how blocks begin, and what they leave.
 *
 * The first iterations are those of cg: they are not lost, and tell where the
 * eigenvalues are, which the vectors of a block have to know.
 *
 * An interval that is 1.2 times too long doubles the iterations of blocks of 12,
 * one that is 0.9 times as long as it should be costs a tenth. The largest Ritz
 * value of some steps is 0.98 to 1.00 times the largest eigenvalue; bounds from row
 * sums are 24 times too large for some matrices. */
#include "solver/sstep/sstep.h"
#include <math.h>

enum { EARLY = 128 }; /* iterations that are better forgotten, if ... */
static const double GAINED = 1e-4; /* ... (r, r) is no smaller by then */
static const double ABOVE_RITZ = 1.02;

/* At a look of cg's text: t = A p of this step, p is of the next. The last
 * direction of all comes first in P. */
static bool look_and_note(tct_run *R)
{
    tct_sstep *S = R->own;
    const int at = TCT_SSTEP_OPENING - 1 - S->opening;
    q_copy(R->q, TCT_SSTEP_NOTED, &R->c[C_PT],
           S->noted + TCT_SSTEP_NOTED * S->opening++);
    if (at < S->most) q_copy(R->q, R->n, R->v[V_T], tct_column(&S->Q, at));
    if (at > 0 && at <= S->most)
        q_copy(R->q, R->n, R->v[V_P], tct_column(&S->P, at - 1));
    S->ended = S->look(R);
    return S->ended || at == 0;
}

/* What the steps have told: W = P' A P, where eigenvalues are, and what the last one
 * has made of the energy of the error. */
static double take_notes(tct_run *R)
{
    tct_sstep *S = R->own;
    double noted[TCT_SSTEP_OPENING][TCT_SSTEP_NOTED] = {{0}};
    double alpha[TCT_SSTEP_OPENING], beta[TCT_SSTEP_OPENING];
    tct_small W = {{0}};
    q_get(R->q, TCT_SSTEP_OPENING * TCT_SSTEP_NOTED, S->noted, noted[0]);
    for (int i = 0; i < TCT_SSTEP_OPENING; i++) {
        const int at = TCT_SSTEP_OPENING - 1 - i;
        alpha[i] = noted[i][C_ALPHA - C_PT];
        beta[i] = noted[i][C_BETA - C_PT];
        if (at < S->most) W[at][at] = noted[i][0];
    }
    tct_factor_make(&S->W, S->most, W, 0.0);
    S->W.block = 0;
    S->edge = fmax(
        S->edge, ABOVE_RITZ * tct_ritz_largest(TCT_SSTEP_OPENING, alpha, beta));
    S->rr = R->rr;
    S->at = R->k;
    const double *last = noted[TCT_SSTEP_OPENING - 1];
    return last[C_ALPHA - C_PT] * last[C_RR_OLD - C_PT];
}

/* How many of the directions are worth to be kept is how many steps the first block
 * may have. */
static void size_first(tct_run *R, double energy)
{
    tct_sstep *S = R->own;
    const int w = S->W.n;
    double *sums = &S->sums[SUM_GRAM];
    q_gram(R->q, R->n, tct_columns(&S->P, 0, w), tct_single(R->v[V_R]), sums);
    q_sum(R->q, w, sums);
    q_get(R->q, (size_t)w, sums, S->host);
    const int sound = tct_sstep_sound(&S->W, S->host, energy);
    S->s = S->W.n = sound < 1 ? 1 : sound;
}

void tct_sstep_begin(tct_run *R)
{
    tct_sstep *S = R->own;
    if (R->k == 0) S->edge = 0.0;
    S->s = S->most;
    S->since = S->again = S->opening = S->W.n = 0;
    S->alone = 0;
    S->ended = S->drifted = false;
    S->rr = 0.0;
    S->rate = 1.0;
    q_fill(R->q, SUM_GRAM, 0.0, S->sums);
    if (S->basis == BASIS_MONOMIAL) {
        S->edge = R->M ? 1.0 : R->exact->norm;
        q_fill(R->q, R->n, 0.0, R->v[V_P]);
        return;
    }
    S->look = R->look;
    R->look = look_and_note;
    tct_method_cg.iterate(R);
    R->look = S->look;
    if (!S->ended) size_first(R, take_notes(R));
}

void tct_sstep_end(tct_run *R)
{
    const tct_sstep *S = R->own;
    const tct_panel p = tct_single(R->v[V_P]);
    if (R->end == TURN_DRIFTED) {
        q_fill(R->q, R->n, 0.0, p.at);
        if (R->k - R->begun <= EARLY && R->rr > GAINED * R->ref_rr)
            q_copy(R->q, R->n, R->v[TCT_SSTEP_FIRST], R->x);
    } else if (S->W.n > 0) {
        tct_sstep_last(R, &S->W, 1, S->P, p);
    }
}
