/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/ends.c - how blocks begin, and what they leave.
 *
 * The first iterations are those of cg: besides their progress they give Ritz
 * values, which bound the eigenvalues for the basis.
 *
 * An interval that is 1.2 times too long doubles the iterations of blocks of
 * 12; one of 0.9 times the right length costs a tenth. The largest Ritz value
 * of some steps is 0.98 to 1.00 times the largest eigenvalue; bounds from row
 * sums are 24 times too large for some matrices. */
#include "solver/after_phase.h"
#include "solver/sstep/sstep.h"
#include <math.h>

/* Directions of fewer iterations are dropped, unless (r, r) has become much
 * smaller. */
enum { EARLY = 128 };
static const double ABOVE_RITZ = 1.02;

/* The check of cg, which also notes directions: t = A p is of this step, p of
 * the next. The last direction comes first in P; after it all samples must have
 * arrived. */
static bool look_and_note(tct_run *R)
{
    tct_sstep *S = R->own;
    const int at = TCT_SSTEP_OPENING - 1 - S->opening;
    q_copy(R->q, TCT_SSTEP_NOTED, &R->c[C_PT],
           S->noted + TCT_SSTEP_NOTED * S->opening++);
    if (at < S->most) q_copy(R->q, R->n, R->v[V_T], tct_column(&S->QY, at));
    if (at > 0 && at <= S->most)
        q_copy(R->q, R->n, R->v[V_P], tct_column(&S->PZ, at - 1));
    if (at == 0) R->loop->lag = 0;
    S->ended = S->look(R);
    return S->ended || at == 0;
}

/* Read the notes of the steps: p' A p, the last one first; the interval of the
 * eigenvalues; and the last reduction of the energy of the error. */
static double take_notes(tct_run *R, double *curvature)
{
    tct_sstep *S = R->own;
    double noted[TCT_SSTEP_OPENING][TCT_SSTEP_NOTED] = {{0}};
    double alpha[TCT_SSTEP_OPENING], beta[TCT_SSTEP_OPENING];
    q_get(R->q, TCT_SSTEP_OPENING * TCT_SSTEP_NOTED, S->noted, noted[0]);
    for (int i = 0; i < TCT_SSTEP_OPENING; i++) {
        alpha[i] = noted[i][C_ALPHA - C_PT];
        beta[i] = noted[i][C_BETA - C_PT];
        curvature[TCT_SSTEP_OPENING - 1 - i] = noted[i][0];
    }
    S->edge = fmax(
        S->edge, ABOVE_RITZ * tct_ritz_largest(TCT_SSTEP_OPENING, alpha, beta));
    S->rr = R->policy->rr;
    S->at = R->k;
    const double *last = noted[TCT_SSTEP_OPENING - 1];
    return last[C_ALPHA - C_PT] * last[C_RR_OLD - C_PT];
}

/* Scale to P' A P = I. The number of directions worth keeping is the most steps
 * of the first block. */
static void keep_directions(tct_run *R)
{
    tct_sstep *S = R->own;
    tct_blocks *B = &S->host;
    const int w = S->most;
    const tct_panel P = tct_columns(&S->PZ, 0, w),
                    Q = tct_columns(&S->QY, 0, w);
    double *sums = &S->sums[SUM_GRAM], curvature[TCT_SSTEP_OPENING];
    double mo[TCT_SSTEP_MOST] = {0};
    const double energy = take_notes(R, curvature);
    q_gram(R->q, R->n, P, tct_single(R->v[V_R]), sums);
    q_sum(R->q, w, sums);
    q_get(R->q, (size_t)w, sums, mo);
    for (int i = 0; i < w; i++) mo[i] /= sqrt(curvature[i]);
    const int sound = tct_blocks_sound(w, mo, energy);
    B->s = B->n = sound < 1 ? 1 : sound;
    for (int i = 0; i < B->n; i++) B->mix[i * w + i] = 1.0 / sqrt(curvature[i]);
    tct_sstep_write(R);
    q_mix(R->q, R->n, +1, P, w, S->B->mix, R->v[V_T], &R->c[C_HELD]);
    q_mix(R->q, R->n, +1, Q, w, S->B->mix, R->v[V_T], &R->c[C_HELD]);
}

static void write_terms(tct_sstep *S)
{
    tct_term term[TCT_SSTEP_MOST];
    tct_basis_terms(S->basis, S->most, S->edge, term);
    for (int j = 0; j + 1 < S->most; j++) {
        S->host.term[j][0] = 1.0 / term[j].sigma;
        S->host.term[j][1] = -term[j].theta / term[j].sigma;
    }
}

void tct_sstep_length(tct_run *R, bool twice)
{
    tct_sstep *S = R->own;
    const int every = (TCT_SSTEP_RENEW + S->s - 1) / S->s;
    S->twice = twice;
    R->loop->block = S->s;
    R->loop->period = S->prompt || twice       ? -1
                      : tct_is_expensive(R->M) ? 1
                                               : every;
}

/* From now on a check stands for a block. */
static void begin_blocks(tct_run *R)
{
    tct_sstep *S = R->own;
    tct_blocks *B = &S->host;
    B->limit = (double)(R->policy->most - R->k);
    B->early = (double)(R->policy->begun + EARLY - R->k);
    B->bound = !S->prompt && !R->loop->stay;
    B->plain = !R->M && !R->loop->stay && !B->moments;
    B->sigma = S->edge;
    for (S->s = S->most; B->bound && 2 * B->s <= S->s;) S->s /= 2;
    write_terms(S);
    tct_sstep_write(R);
    R->loop->since = R->k;
    S->since = 0;
    tct_sstep_length(R, false);
}

void tct_sstep_begin(tct_run *R)
{
    tct_sstep *S = R->own;
    if (R->k == 0) S->edge = 0.0;
    S->host = (tct_blocks){.most = S->most, .s = S->most};
    S->host.moments = S->basis == BASIS_MONOMIAL;
    S->prompt = !R->q->device->seen;
    S->opening = 0;
    S->ended = false;
    S->rr = 0.0;
    S->rate = 1.0;
    q_fill(R->q, SUM_GRAM, 0.0, S->sums);
    if (S->basis == BASIS_MONOMIAL) {
        S->edge = R->M ? 1.0 : R->system->exact->norm;
        q_fill(R->q, R->n * (size_t)S->most, 0.0, S->PZ.at);
        q_fill(R->q, R->n * (size_t)S->most, 0.0, S->QY.at);
        begin_blocks(R);
        return;
    }
    S->look = R->look;
    R->look = look_and_note;
    R->loop->period = -1;
    tct_method_cg.iterate(R);
    R->look = S->look;
    tct_made(R, &tct_method_cg);
    if (S->ended) return;
    keep_directions(R);
    begin_blocks(R);
}

void tct_sstep_go_on(tct_run *R)
{
    static const double none[] = {0.0, 0.0, 0.0};
    tct_sstep *S = R->own;
    tct_blocks *B = &S->host;
    double reason = 0.0;
    _Static_assert(C_BAD_VALUE == C_BAD + 1 && C_HELD == C_BAD + 2,
                   "they are put together");
    q_get(R->q, 1, &R->c[C_BAD_VALUE], &reason);
    tct_sstep_read(R);
    S->ended = false;
    if (reason == PAUSE_SHAPE && B->grown > 0) {
        S->s = 2 * S->s < S->most ? 2 * S->s : S->most;
        if (2 * B->s <= S->s) B->s = S->s / 2 + 1;
    }
    while (B->bound && 2 * B->s <= S->s) S->s /= 2;
    B->grown = B->shrunk = 0;
    if (!S->prompt) S->since = B->since; /* more were enqueued */
    tct_sstep_write(R);
    q_put(R->q, 3, none, &R->c[C_BAD]);
    tct_sstep_length(R, reason == PAUSE_TWICE);
}

void tct_sstep_end(tct_run *R)
{
    const tct_sstep *S = R->own;
    double *p = R->v[V_P];
    if (R->policy->end == PHASE_DRIFTED || S->host.moments)
        q_fill(R->q, R->n, 0.0, p);
    if (R->policy->end == PHASE_DRIFTED) {
        if (R->k - R->policy->begun <= EARLY &&
            R->policy->rr > TCT_BLOCKS_GAINED * R->policy->ref_rr)
            q_copy(R->q, R->n, R->v[TCT_SSTEP_FIRST], R->x);
    } else if (R->loop->block > 0 && !S->host.moments) {
        q_copy(R->q, R->n, tct_column(&S->PZ, 0), p);
    }
}
