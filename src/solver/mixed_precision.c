/* SPDX-License-Identifier: BSD-3-Clause
 * solver/mixed_precision.c - mixed precision: the recurrence multiplies by a
 * matrix of reduced precision, the residual by the exact one.
 *
 * [SV96] Sleijpen and van der Vorst, "Reliable updated residuals in hybrid
 *        Bi-CG methods", Computing 56 (1996).
 *
 * The recurrence runs in segments. A segment ends when it has reduced the
 * residual by the factor R->low->reduction. If r has drifted away from b - A x
 * by then, b - A x replaces it, and the next segment goes on along the same
 * direction.
 *
 * The drift must be solved for again. That does not pay if it is many times the
 * target, or if residuals lose their orthogonality; both show early. The drift
 * is measured at marks, at growing distances; if the precision is too low, the
 * solve goes on, or starts again, with more bits. */
#include "solver/run.h"
#include <math.h>

enum {
    FIRST_MARK = 16,
    OVER_MOST = 128,    /* until here a new start is better */
    EARLY = 64,         /* until here a change is cheap                   */
    ROUNDED_32_48 = -12 /* a float has 24 bits, half of a 48-bit value 36 */
};
static const double REDUCTION_FIRST = 0.1, REDUCTION_LEAST = 1e-4,
                    ABOVE_DRIFT =
                        30.0, /* a segment ends this far above the drift    */
    PROGRESS = 0.5,           /* the least that a segment reduces 1 to      */
    DRIFT_LEAST = 0.1,        /* of the target: a smaller drift does no harm */
    DRIFT_32 = 1000.0,        /* of the target: the drift allowed, for 32
                               * bits, which save much, and 48: early, and
                               * late */
    DRIFT_48 = 1.0, DRIFT_48_LATE = 10.0,
                    LOST =
                        1e-3; /* orthogonality                              */

static void begin(tct_run *R, double norm_r)
{
    *R->low = (tct_reduced){.since = R->k,
                            .mark = R->k + FIRST_MARK,
                            .start = norm_r,
                            .reduction = REDUCTION_FIRST};
    R->result->bits = R->A->bits;
}

void tct_mixed_begin(tct_run *R)
{
    const tct_system *S = R->system;
    R->A = S->exact->low ? S->exact->low : S->exact;
    if (R->v[V_GUESS]) q_copy(R->q, R->n, R->x, R->v[V_GUESS]);
    begin(R, sqrt(R->policy->rr));
}

double tct_mixed_goal(const tct_run *R)
{
    return R->low->reduction * R->low->start;
}

static bool is_early(const tct_run *R)
{
    return R->k - R->low->since <= EARLY;
}

/* Has r lost its orthogonality to r_0, early and with little gained? */
static bool is_delicate(tct_run *R)
{
    const tct_restart_policy *P = R->policy;
    const double rr = P->rr;
    if (!is_early(R) || rr < 0.01 * P->ref_rr) return false;
    return fabs(tct_dot(R, R->v[V_R], R->v[V_REF])) >
           LOST * sqrt(rr) * sqrt(P->ref_rr);
}

static bool holds(tct_run *R, double norm_r, double drift)
{
    const double most = R->A->bits == 32 ? DRIFT_32
                        : is_early(R)    ? DRIFT_48
                                         : DRIFT_48_LATE;
    if (!(drift <= most * R->system->target)) return false;
    if (R->policy->end == PHASE_MET && !(norm_r < PROGRESS * R->low->start))
        return false;
    return drift <= DRIFT_LEAST * R->system->target || !is_delicate(R);
}

/* The next precision whose drift does no harm. */
static const tacit_operator *next_of(const tct_run *R, double drift)
{
    const tct_system *S = R->system;
    const tacit_operator *A = R->A->low;
    if (!A) return S->exact;
    const double next_drift =
        ldexp(drift, R->A->bits == 32 ? ROUNDED_32_48 : 0);
    return next_drift <= DRIFT_LEAST * S->target ? A : S->exact;
}

/* b - A x - r is in v[V_T]. */
static void take_more_bits(tct_run *R, double norm_r, double drift)
{
    tct_restart_policy *P = R->policy;
    const int bits = R->A->bits;
    const bool over = R->k - R->low->since <= OVER_MOST || !isfinite(norm_r);
    double *r = R->v[V_R];
    R->A = next_of(R, drift);
    R->result->fell_back = true;
    R->result->fell_back_at = R->k;
    tct_forget_breakdown(R);
    tct_log(TCT_NOTE,
            "iteration %lld: values of %d bits are too coarse (the residual "
            "has drifted by %.1e ||b||), %s with %d",
            (long long)R->k, bits, drift / R->system->norm_b,
            over ? "starting over" : "going on", R->A->bits);
    if (over) {
        P->begun = R->k;
        q_copy(R->q, R->n, R->v[V_GUESS], R->x);
        tct_residual(R, r);
        P->rr = tct_norm2(R, r);
        R->resumed = false;
    } else {
        q_axpy(R->q, R->n, +1, NULL, R->v[V_T], r);
        tct_restart_step(R, norm_r);
    }
    begin(R, sqrt(P->rr));
}

/* Go on in this precision; at the end of a segment from the true residual, if r
 * has drifted away from it. */
static void go_on(tct_run *R, double norm_r, double drift)
{
    const tct_restart_policy *P = R->policy;
    const bool reached = P->end == PHASE_MET;
    const bool update = reached && drift > DRIFT_LEAST * R->system->target;
    R->low->reduction =
        fmin(REDUCTION_FIRST,
             fmax(REDUCTION_LEAST, ABOVE_DRIFT * drift / R->low->start));
    if (update) {
        R->result->reliable_updates++;
        q_axpy(R->q, R->n, +1, NULL, R->v[V_T], R->v[V_R]);
    }
    R->resumed = true;
    if (update || P->now->leaves_last)
        tct_restart_step(R, update ? norm_r : sqrt(P->rr));
    if (reached) R->low->start = sqrt(P->rr);
}

void tct_mixed_phase(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const double rr = P->rr;
    double *t = R->v[V_T];
    tct_residual(R, t);
    const double norm_r = sqrt(tct_norm2(R, t));
    if (R->q->peers_know || tct_decided(R, t, norm_r)) return;
    q_axpy(R->q, R->n, -1, NULL, R->v[V_R], t); /* t = b - A x - r */
    const double drift = sqrt(tct_norm2(R, t));
    P->rr = rr;
    if (P->end == PHASE_BROKEN || !holds(R, norm_r, drift))
        take_more_bits(R, norm_r, drift);
    else go_on(R, norm_r, drift);
    while (R->low->mark <= R->k) R->low->mark += R->low->mark - R->low->since;
}
