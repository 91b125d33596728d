/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/sstep.c - s-step conjugate gradients: one reduction for s
 * iterations.
 *
 * [CG89] Chronopoulos and Gear, "s-step iterative methods for symmetric linear
 *        systems", J. Comput. Appl. Math. 25 (1989); P, Q, W, alpha as in the
 *        s-step paper's algorithm 3.
 *
 * A block makes s vectors Z of the Krylov space of r and A Z, sums their
 * products with r, A Z and the last directions P, and takes s steps from these.
 * The small arithmetic between is on the device (device/blocks.h), equal on all
 * ranks. The basis is, other than in the paper, of Chebyshev polynomials, W
 * comes from Gram matrices, P' r is kept, and r is formed anew now and then.
 * Basis monomial has none of these changes.
 *
 * Q = A P comes from a recurrence. If r loses its orthogonality even to the
 * last direction, with blocks as short as possible, single goes on.
 *
 * On the CPU a block has as many vectors as it will use. On a GPU the enqueued
 * length is fixed and the first vectors are used; for another length the device
 * pauses (BAD_PAUSE). In loop resident a kernel makes the blocks, except those
 * that are conjugated twice. */
#include "solver/sstep/sstep.h"
#include "solver/after_phase.h"
#include <math.h>

static const double NEAR = 2.0; /* times the goal: then check before a block */

/* The convergence check; notes the rate of (r, r) since the last one. */
static bool look(tct_run *R)
{
    tct_sstep *S = R->own;
    S->ended = tct_done(R);
    if (S->rr > 0.0 && R->k > S->at)
        S->rate = pow(R->policy->rr / S->rr, 1.0 / (double)(R->k - S->at));
    S->rr = R->policy->rr;
    S->at = R->k;
    return S->ended;
}

/* Conjugate Z once more, after cancellation. */
static void conjugate(tct_run *R, int s)
{
    const tct_sstep *S = R->own;
    const int w = S->most;
    const double *B = S->B->mix;
    tct_sstep_sum(R, s);
    q_blocks(R->q, BLOCKS_CONJUGATE, S->B, s, S->sums, R->c);
    q_combine(R->q, R->n, +1, tct_columns(&S->PZ, 0, w), B,
              tct_columns(&S->PZ, w, s)); /* Z = Z + P beta     */
    q_combine(R->q, R->n, +1, tct_columns(&S->QY, 0, w), B,
              tct_columns(&S->QY, w, s)); /* A Z = A Z + Q beta */
}

/* Form r anew now and then: it makes x more accurate, until the change is no
 * longer small against r and so is rounding itself. The next sum measures
 * it. */
static void replace(tct_run *R)
{
    tct_sstep *S = R->own;
    const bool due = S->since >= TCT_SSTEP_RENEW || R->loop->period == 1;
    if (S->host.moments || !due || (S->prompt && S->host.drifted)) return;
    tct_sstep_renew(R);
    R->result->replacements++;
    S->since = 0;
}

static void block(tct_run *R)
{
    tct_sstep *S = R->own;
    const int64_t left = R->policy->most - R->k - S->host.taken;
    int s = S->s;
    if (S->prompt) s = left < S->host.s ? (int)left : S->host.s;
    const tct_blocks_step step = S->twice ? BLOCKS_DECIDE_AGAIN : BLOCKS_DECIDE;
    tct_sstep_form(R, s);
    if (S->twice) conjugate(R, s);
    tct_sstep_sum(R, s);
    q_blocks(R->q, step, S->B, s, S->sums, R->c);
    if (look(R)) {
        R->result->extra_products += s; /* the block was not used */
        return;
    }
    if (S->prompt) tct_sstep_read(R);
    if (S->twice) tct_sstep_length(R, false);
    tct_sstep_update(R, s);
    S->since += S->prompt ? S->host.taken : s;
    replace(R);
}

/* The next blocks in a kernel, until the phase ends or pauses. */
static void take_blocks(tct_run *R)
{
    tct_sstep *S = R->own;
    S->ended = true;
    R->loop->stay(R);
}

/* Will the next check be the last? Then r is checked before a block is made. */
static bool ends_here(tct_run *R)
{
    tct_sstep *S = R->own;
    const int64_t k = R->k + S->host.taken;
    const double next = R->policy->rr * pow(S->rate, (double)(k - S->at));
    if (!S->prompt || (k < R->policy->most &&
                       next > NEAR * R->policy->goal * R->policy->goal))
        return false;
    q_norm(R->q, R->n, R->v[V_R], &S->sums[SUM_RR]);
    q_sum(R->q, 2, &S->sums[SUM_RR]); /* with the change of r */
    q_blocks(R->q, BLOCKS_LOOK, S->B, 0, S->sums, R->c);
    S->host.taken = 0;
    return look(R);
}

/* In reduced precision cg iterates: a segment is hardly longer than the
 * iterations before the first block. */
static void sstep_iterate(tct_run *R)
{
    tct_sstep *S = R->own;
    const int lag = R->loop->lag;
    if (R->k == 0) q_copy(R->q, R->n, R->x, R->v[TCT_SSTEP_FIRST]);
    if (tct_is_reduced(R)) {
        tct_method_cg.iterate(R);
        tct_made(R, &tct_method_cg);
        return;
    }
    if (R->loop->block > 0) tct_sstep_go_on(R);
    else tct_sstep_begin(R);
    R->loop->lag = tct_is_expensive(R->M) ? 0 : lag;
    while (!S->ended && !ends_here(R)) {
        if (R->loop->stay && !S->twice) take_blocks(R);
        else block(R);
    }
    if (R->policy->end != PHASE_PAUSED) tct_sstep_end(R);
    R->loop->lag = lag;
}

const tct_method tct_method_sstep = {
    .about = {.name = "sstep",
              .summary = "one reduction for s iterations, in a Chebyshev basis "
                         "(after Chronopoulos and Gear 1989)",
              .products = 1,
              .reductions = 1,
              .scalars = TCT_SSTEP_SUMS_OF(TCT_SSTEP_AUTO, TCT_SSTEP_AUTO),
              .steps = TCT_SSTEP_AUTO,
              .vectors = 4,
              .panel_vectors = 4 * TCT_SSTEP_AUTO + 1,
              .precond_vectors = 3,
              .replace_every = TCT_SSTEP_RENEW,
              .replace_products = 1,
              .first_by = "cg",
              .first = TCT_SSTEP_OPENING},
    .leaves_last = true,
    .rescue = &tct_method_single,
    .iterate = sstep_iterate,
    .open = tct_sstep_open,
    .close = tct_sstep_close,
    .blocks = true,
};
