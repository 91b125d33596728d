/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/sstep.c - s-step conjugate gradients: one reduction for s
 * iterations.
 *
 * [CG89] Chronopoulos and Gear, "s-step iterative methods for symmetric linear
 *        systems", J. Comput. Appl. Math. 25 (1989); P, Q, W, alpha, beta as in the
 *        s-step paper's algorithm 3.
 *
 * A block makes s vectors Z of the Krylov space of r and A Z, sums their products
 * with r, A Z and the last directions P, and takes s steps from that. The CPU of
 * each rank does the small arithmetic (sstep/decide.c) on what was summed; it is
 * the same on all. Other than in [CG89] the basis is of Chebyshev polynomials, W
 * comes from Gram matrices, P' r, which is zero but for rounding, is not left out,
 * and r is formed anew now and then. Basis monomial is [CG89] as it is.
 *
 * Q = A P comes from a recurrence, and where r does not stay orthogonal even to the
 * last direction, blocks having become as short as they can, single goes on. */
#include "solver/sstep/sstep.h"
#include <math.h>

enum {
    REPLACE_EVERY = 40, /* iterations */
    AGAIN_MOST = 2,     /* blocks that are conjugate to nothing, ...  */
    ALONE_MOST = 4      /* ... or have come down to one, all the same */
};
static const double NEAR =
    2.0; /* times the goal: look before a block is made */
static const double DRIFT_MOST = 0.1; /* of r, when it is formed anew */

/* What an iteration has made of (r, r) since the look before. */
static bool look(tct_run *R)
{
    tct_sstep *S = R->own;
    S->ended = tct_done(R);
    if (S->rr > 0.0 && R->k > S->at)
        S->rate = pow(R->rr / S->rr, 1.0 / (double)(R->k - S->at));
    S->rr = R->rr;
    S->at = R->k;
    return S->ended;
}

/* Z' (r, A Z), P' (r, A Z) and (r, r), in one sum; false if that ends the turn. */
static bool sum_products(tct_run *R, int s)
{
    tacit_queue *q = R->q;
    tct_sstep *S = R->own;
    const int w = S->W.n, count = TCT_SSTEP_SUMS_OF(s, w);
    const tct_panel Z = tct_columns(&S->Z, 0, s), P = tct_columns(&S->P, 0, w);
    const tct_panel Y = tct_columns(&S->Y, 0, s + 1);
    double *G = &S->sums[SUM_GRAM];
    q_norm(q, R->n, R->v[V_R], &S->sums[SUM_RR]);
    q_gram(q, R->n, Z, Y, G);
    if (w > 0) q_gram(q, R->n, P, Y, G + s * (s + 1));
    q_sum(q, count, S->sums);
    q_copy(q, 1, &S->sums[SUM_RR], &R->c[C_RR]);
    if (look(R)) {
        R->result->extra_products += s; /* the block was made in vain */
        return false;
    }
    q_get(q, (size_t)count, S->sums, S->host);
    return true;
}

static void decide(tct_sstep *S, int w, int s)
{
    if (S->basis == BASIS_MONOMIAL)
        tct_sstep_moments(&S->W, s, S->edge, &S->host[SUM_GRAM], &S->B);
    else tct_sstep_decide(&S->W, w, s, &S->host[SUM_GRAM], &S->B);
}

/* Is there a step that rounding leaves sound? If not, start from r alone, but not
 * again and again. */
static bool is_sound(tct_sstep *S, int s)
{
    const int w = S->W.n;
    S->alone = S->B.sound == 0 && w > 0 && s == 1 ? S->alone + 1 : 0;
    if (S->B.taken > 0 || S->basis == BASIS_MONOMIAL)
        return S->B.taken > 0 && S->alone <= ALONE_MOST;
    S->W.n = 0;
    decide(S, w, s);
    return S->B.taken > 0 && ++S->again <= AGAIN_MOST;
}

/* What r changed by when it was formed anew. */
static void note_drift(tct_sstep *S)
{
    const double most = DRIFT_MOST * DRIFT_MOST * S->host[SUM_RR];
    if (S->host[SUM_DRIFT] > most) S->drifted = true;
}

/* Sum, decide, and conjugate once more where too little is left of Z. True: there
 * are steps to be taken. */
static bool settle(tct_run *R, int s)
{
    tct_sstep *S = R->own;
    for (int pass = 0; pass < 2; pass++) {
        if (!sum_products(R, s)) return false;
        if (R->q->failed != TACIT_OK) { /* the next sum tells the others */
            R->k += s;
            return false;
        }
        decide(S, S->W.n, s);
        if (S->since == 0) note_drift(S);
        if (pass > 0 || !S->B.cancelled) break;
        tct_sstep_conjugate(R, s);
    }
    S->ended = !is_sound(S, s);
    if (S->ended) R->end = TURN_DRIFTED;
    return !S->ended;
}

static void take_steps(tct_run *R, int s)
{
    tct_sstep *S = R->own;
    tacit_queue *q = R->q;
    const int j = S->B.taken, w = S->W.n;
    const double *alpha = S->small + j * w;
    const tct_panel P = tct_columns(&S->Z, 0, j), Q = tct_columns(&S->Y, 1, j);
    const tct_panel x = tct_single(R->x), r = tct_single(R->v[V_R]);
    tct_sstep_conjugate(R, j);           /* P = Z + P_old beta, Q = A P */
    q_combine(q, R->n, +1, P, alpha, x); /* x = x + P alpha             */
    q_combine(q, R->n, -1, Q, alpha, r); /* r = r - Q alpha             */
    if (S->basis != BASIS_MONOMIAL) S->s = tct_sstep_next(&S->B, s, w, S->most);
    tct_sstep_shift(R, S->basis == BASIS_MONOMIAL ? j : S->s);
    R->k += j;
    S->since += j;
}

/* r = b - A x now and then, which makes x more accurate, until what that changes is
 * not small beside r: then it is rounding itself. The next sum tells. */
static void replace(tct_run *R)
{
    tct_sstep *S = R->own;
    double *r = R->v[V_R], *t = R->v[V_T], *drift = &S->sums[SUM_DRIFT];
    if (S->since < REPLACE_EVERY || S->drifted) return;
    tct_form_residual(R, t);
    q_axpy(R->q, R->n, -1, NULL, r, t); /* t = b - A x - r */
    q_norm(R->q, R->n, t, drift);
    q_axpy(R->q, R->n, +1, NULL, t, r);
    R->result->replacements++;
    S->since = 0;
}

/* Will the next look be the last? Then r is looked at before a block is made. */
static bool ends_here(tct_run *R)
{
    const tct_sstep *S = R->own;
    const double next = R->rr * pow(S->rate, (double)(R->k - S->at));
    if (R->k < R->most && next > NEAR * R->goal * R->goal) return false;
    q_norm(R->q, R->n, R->v[V_R], &R->c[C_RR]);
    q_sum(R->q, 1, &R->c[C_RR]);
    return look(R);
}

/* In low precision cg iterates: its legs are hardly longer than what comes before
 * the first block. */
static void sstep_iterate(tct_run *R)
{
    tct_sstep *S = R->own;
    const int lag = R->lag;
    if (R->k == 0) q_copy(R->q, R->n, R->x, R->v[TCT_SSTEP_FIRST]);
    if (tct_is_low(R)) {
        tct_method_cg.iterate(R);
        return;
    }
    R->lag = 0; /* what is looked at decides how to go on */
    tct_sstep_begin(R);
    while (!S->ended && !ends_here(R)) {
        const int64_t left = R->most - R->k;
        const int s = left < S->s ? (int)left : S->s;
        tct_sstep_form(R, s);
        if (settle(R, s)) take_steps(R, s);
        if (!S->ended) replace(R);
    }
    tct_sstep_end(R);
    R->lag = lag;
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
              .panel_vectors = 4 * TCT_SSTEP_AUTO + 2,
              .precond_vectors = 3,
              .replace_every = REPLACE_EVERY,
              .replace_products = 1,
              .first_by = "cg",
              .first = TCT_SSTEP_OPENING},
    .leaves_last = true,
    .rescue = &tct_method_single,
    .iterate = sstep_iterate,
    .open = tct_sstep_open,
    .close = tct_sstep_close,
    .decides = true,
};
