/* SPDX-License-Identifier: BSD-3-Clause
 * solver/low.c - mixed precision: a matrix of low precision in the recurrence,
 * the exact one in the residual.
 *
 * [SV96] Sleijpen and van der Vorst, "Reliable updated residuals in hybrid
 *        Bi-CG methods", Computing 56 (1996).
 *
 * The recurrence runs in legs. A leg ends when it has made the residual smaller
 * by S->low.leg; where r has drifted away from b - A x by then, b - A x takes
 * its place and the next leg goes on along the direction that there was.
 *
 * What has drifted has to be solved for once more, from the beginning: so low
 * precision costs iterations, and much more of them than it saves time where
 * the drift is many times the target, or where cg lives on what it knows of
 * the matrix (residuals are no longer orthogonal). Both show within the first
 * iterations. At marks that stand ever farther apart the drift is measured; if
 * low precision does not hold, the solve starts over, or goes on, with more
 * bits. */
#include "solver/solver.h"
#include <math.h>

enum {
    FIRST_MARK = 16,
    OVER_MOST = 128,    /* until here it is better to start over from x_0 */
    EARLY = 64,         /* what shows by then is cheap to mend            */
    ROUNDED_32_48 = -12 /* a float has 24 bits, half a 48-bit value 36  */
};
static const double LEG_FIRST = 0.1, LEG_LEAST = 1e-4,
                    ABOVE_DRIFT =
                        30.0, /* a leg ends so far above the drift          */
    PROGRESS = 0.5,           /* what a leg must at least make of 1         */
    DRIFT_LEAST = 0.1,        /* of the target: smaller ones do no harm     */
    DRIFT_32 = 1000.0,        /* of the target: what 32 bits, which save much,
                            may drift, and 48, which save little: at
                            first, and when more has been invested     */
    DRIFT_48 = 1.0, DRIFT_48_LATE = 10.0,
                    LOST =
                        1e-3; /* orthogonality                              */

static void begin(tacit_solver *S, double norm_r)
{
    S->low = (tct_low){.since = S->k,
                       .mark = S->k + FIRST_MARK,
                       .start = norm_r,
                       .leg = LEG_FIRST};
    S->result->bits = S->A->bits;
}

void tct_low_begin(tacit_solver *S)
{
    S->A = S->exact->low ? S->exact->low : S->exact;
    if (S->v[V_GUESS]) q_copy(S->q, S->n, S->x, S->v[V_GUESS]);
    begin(S, sqrt(S->rr));
}

double tct_low_goal(const tacit_solver *S)
{
    return S->low.leg * S->low.start;
}

static bool is_early(const tacit_solver *S)
{
    return S->k - S->low.since <= EARLY;
}

/* Is r no longer orthogonal to r_0, so early and with so little gained? */
static bool is_delicate(tacit_solver *S)
{
    const double rr = S->rr;
    if (!is_early(S) || rr < 0.01 * S->ref_rr) return false;
    return fabs(tct_dot(S, S->v[V_R], S->v[V_REF])) >
           LOST * sqrt(rr) * sqrt(S->ref_rr);
}

static bool holds(tacit_solver *S, double norm_r, double drift)
{
    const double most = S->A->bits == 32 ? DRIFT_32
                        : is_early(S)    ? DRIFT_48
                                         : DRIFT_48_LATE;
    if (!(drift <= most * S->target)) return false;
    if (S->met && !(norm_r < PROGRESS * S->low.start)) return false;
    return drift <= DRIFT_LEAST * S->target || !is_delicate(S);
}

/* The next precision that will not drift as far as to do harm. */
static const tacit_operator *next_of(const tacit_solver *S, double drift)
{
    const tacit_operator *A = S->A->low;
    if (!A) return S->exact;
    const double there = ldexp(drift, S->A->bits == 32 ? ROUNDED_32_48 : 0);
    return there <= DRIFT_LEAST * S->target ? A : S->exact;
}

/* b - A x - r is in v[V_T]. */
static void take_more_bits(tacit_solver *S, double norm_r, double drift)
{
    const int bits = S->A->bits;
    const bool over = S->k - S->low.since <= OVER_MOST || !isfinite(norm_r);
    double *r = S->v[V_R];
    S->A = next_of(S, drift);
    S->result->fell_back = true;
    S->result->fell_back_at = S->k;
    tct_forget_breakdown(S);
    tct_log(TCT_NOTE,
            "iteration %lld: values of %d bits are too coarse (the residual "
            "has drifted by %.1e ||b||), %s with %d",
            (long long)S->k, bits, drift / S->norm_b,
            over ? "starting over" : "going on", S->A->bits);
    if (over) {
        S->begun = S->k;
        q_copy(S->q, S->n, S->v[V_GUESS], S->x);
        tct_residual(S, r);
        S->rr = tct_norm2(S, r);
        S->resumed = false;
    } else {
        q_axpy(S->q, S->n, +1, NULL, S->v[V_T], r);
        tct_along(S, norm_r);
    }
    begin(S, sqrt(S->rr));
}

/* Go on in this precision; at the end of a leg from the true residual, if r has
 * drifted away from it. */
static void go_on(tacit_solver *S, double norm_r, double drift)
{
    const bool update = S->met && drift > DRIFT_LEAST * S->target;
    S->low.leg =
        fmin(LEG_FIRST, fmax(LEG_LEAST, ABOVE_DRIFT * drift / S->low.start));
    if (update) {
        S->result->reliable_updates++;
        q_axpy(S->q, S->n, +1, NULL, S->v[V_T], S->v[V_R]);
    }
    S->resumed = true;
    if (update || S->now->leaves_last)
        tct_along(S, update ? norm_r : sqrt(S->rr));
    if (S->met) S->low.start = sqrt(S->rr);
}

void tct_low_turn(tacit_solver *S)
{
    const double rr = S->rr;
    double *t = S->v[V_T];
    tct_residual(S, t);
    const double norm_r = sqrt(tct_norm2(S, t));
    if (S->q->peers_know || tct_decided(S, norm_r)) return;
    q_axpy(S->q, S->n, -1, NULL, S->v[V_R], t); /* t = b - A x - r */
    const double drift = sqrt(tct_norm2(S, t));
    S->rr = rr;
    if (S->why == TACIT_STOP_BREAKDOWN || !holds(S, norm_r, drift))
        take_more_bits(S, norm_r, drift);
    else go_on(S, norm_r, drift);
    while (S->low.mark <= S->k) S->low.mark += S->low.mark - S->low.since;
}
