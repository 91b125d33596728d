/* SPDX-License-Identifier: BSD-3-Clause
 * solver/mixed_precision.c - mixed precision: a matrix of low precision in the
 * recurrence, the exact one in the residual.
 *
 * [SV96] Sleijpen and van der Vorst, "Reliable updated residuals in hybrid
 *        Bi-CG methods", Computing 56 (1996).
 *
 * The recurrence runs in legs. A leg ends when it has made the residual smaller
 * by R->low.leg; where r has drifted away from b - A x by then, b - A x takes
 * its place and the next leg goes on along the direction that there was.
 *
 * What has drifted has to be solved for once more, from the beginning: so low
 * precision costs iterations, and much more of them than it saves time where
 * the drift is many times the target, or where cg lives on what it knows of
 * the matrix (residuals are no longer orthogonal). Both show within the first
 * iterations. At marks that stand ever farther apart the drift is measured; if
 * low precision does not hold, the solve starts over, or goes on, with more
 * bits. */
#include "solver/run.h"
#include <math.h>

enum {
    FIRST_MARK = 16,
    OVER_MOST = 128,    /* until here it is better to start over from x_0 */
    EARLY = 64,         /* what shows by then is cheap to mend            */
    ROUNDED_32_48 = -12 /* a float has 24 bits, half a 48-bit value 36  */
};
static const double TRIAL_FIRST = 0.1, TRIAL_LEAST = 1e-4,
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

static void begin(tct_run *R, double norm_r)
{
    R->low = (tct_reduced){.since = R->k,
                           .mark = R->k + FIRST_MARK,
                           .start = norm_r,
                           .leg = TRIAL_FIRST};
    R->result->bits = R->A->bits;
}

void tct_mixed_begin(tct_run *R)
{
    R->A = R->exact->low ? R->exact->low : R->exact;
    if (R->v[V_GUESS]) q_copy(R->q, R->n, R->x, R->v[V_GUESS]);
    begin(R, sqrt(R->rr));
}

double tct_mixed_goal(const tct_run *R)
{
    return R->low.leg * R->low.start;
}

static bool is_early(const tct_run *R)
{
    return R->k - R->low.since <= EARLY;
}

/* Is r no longer orthogonal to r_0, so early and with so little gained? */
static bool is_delicate(tct_run *R)
{
    const double rr = R->rr;
    if (!is_early(R) || rr < 0.01 * R->ref_rr) return false;
    return fabs(tct_dot(R, R->v[V_R], R->v[V_REF])) >
           LOST * sqrt(rr) * sqrt(R->ref_rr);
}

static bool holds(tct_run *R, double norm_r, double drift)
{
    const double most = R->A->bits == 32 ? DRIFT_32
                        : is_early(R)    ? DRIFT_48
                                         : DRIFT_48_LATE;
    if (!(drift <= most * R->target)) return false;
    if (R->end == PHASE_MET && !(norm_r < PROGRESS * R->low.start))
        return false;
    return drift <= DRIFT_LEAST * R->target || !is_delicate(R);
}

/* The next precision that will not drift as far as to do harm. */
static const tacit_operator *next_of(const tct_run *R, double drift)
{
    const tacit_operator *A = R->A->low;
    if (!A) return R->exact;
    const double there = ldexp(drift, R->A->bits == 32 ? ROUNDED_32_48 : 0);
    return there <= DRIFT_LEAST * R->target ? A : R->exact;
}

/* b - A x - r is in v[V_T]. */
static void take_more_bits(tct_run *R, double norm_r, double drift)
{
    const int bits = R->A->bits;
    const bool over = R->k - R->low.since <= OVER_MOST || !isfinite(norm_r);
    double *r = R->v[V_R];
    R->A = next_of(R, drift);
    R->result->fell_back = true;
    R->result->fell_back_at = R->k;
    tct_forget_breakdown(R);
    tct_log(TCT_NOTE,
            "iteration %lld: values of %d bits are too coarse (the residual "
            "has drifted by %.1e ||b||), %s with %d",
            (long long)R->k, bits, drift / R->norm_b,
            over ? "starting over" : "going on", R->A->bits);
    if (over) {
        R->begun = R->k;
        q_copy(R->q, R->n, R->v[V_GUESS], R->x);
        tct_residual(R, r);
        R->rr = tct_norm2(R, r);
        R->resumed = false;
    } else {
        q_axpy(R->q, R->n, +1, NULL, R->v[V_T], r);
        tct_restart_step(R, norm_r);
    }
    begin(R, sqrt(R->rr));
}

/* Go on in this precision; at the end of a leg from the true residual, if r has
 * drifted away from it. */
static void go_on(tct_run *R, double norm_r, double drift)
{
    const bool met = R->end == PHASE_MET;
    const bool update = met && drift > DRIFT_LEAST * R->target;
    R->low.leg = fmin(TRIAL_FIRST,
                      fmax(TRIAL_LEAST, ABOVE_DRIFT * drift / R->low.start));
    if (update) {
        R->result->reliable_updates++;
        q_axpy(R->q, R->n, +1, NULL, R->v[V_T], R->v[V_R]);
    }
    R->resumed = true;
    if (update || R->now->leaves_last)
        tct_restart_step(R, update ? norm_r : sqrt(R->rr));
    if (met) R->low.start = sqrt(R->rr);
}

void tct_mixed_phase(tct_run *R)
{
    const double rr = R->rr;
    double *t = R->v[V_T];
    tct_residual(R, t);
    const double norm_r = sqrt(tct_norm2(R, t));
    if (R->q->peers_know || tct_decided(R, norm_r)) return;
    q_axpy(R->q, R->n, -1, NULL, R->v[V_R], t); /* t = b - A x - r */
    const double drift = sqrt(tct_norm2(R, t));
    R->rr = rr;
    if (R->end == PHASE_BROKEN || !holds(R, norm_r, drift))
        take_more_bits(R, norm_r, drift);
    else go_on(R, norm_r, drift);
    while (R->low.mark <= R->k) R->low.mark += R->low.mark - R->low.since;
}
