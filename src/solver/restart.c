/* SPDX-License-Identifier: BSD-3-Clause
 * solver/restart.c - between two phases of a method: is the system solved,
 * which method goes on, and how far?
 *
 * A recurrence decides only when to check; b - A x, recomputed, decides whether
 * the system is solved. If not, the solve goes on from the true residual, along
 * the same direction, until three phases in a row have not halved it. If a
 * method's recurrences are too inaccurate for the matrix, its rescue takes over
 * in the same way; the last rescue is cg, which infers nothing. A pure run is
 * one phase, without any of this.
 *
 * [Pa80] Paige, "Accuracy and effectiveness of the Lanczos algorithm for the
 *        symmetric eigenproblem", Linear Algebra Appl. 34 (1980): orthogonality
 *        is lost towards what has converged, and not before. */
#include "solver/after_phase.h"
#include "solver/norms.h"
#include "solver/singular.h"
#include <math.h>

static const double
    ROUNDING = 0x1p-52, /* a recurrence reduced by more than this is void */
    ANOTHER = 0.1, /* goal of a phase after a wrong one, times ||r||      */
    FIRST_LOST = 1e-12, /* orthogonality at which a method may take over      */
    GREW_LAST = 1e30,   /* as TCT_GREW, if no method can take over            */
    AGAIN = 0x1p-44;    /* goal of each phase of tct_begins_again, as ANOTHER */

/* --- a phase begins ------------------------------------------------------- */

void tct_first_phase(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const tct_method *first = R->pure ? NULL : R->system->method->first;
    P->now = first ? first : R->system->method;
    R->resumed = false;
    P->futile = 0;
    P->begun = 0;
    P->renewed = 0;
    P->drift_most = TCT_DRIFT_MOST;
    P->apart_most = TCT_APART_MOST;
    P->ref_rr = P->rr;
    if (R->v[V_REF]) q_copy(R->q, R->n, R->v[V_R], R->v[V_REF]);
    if (R->v[V_REF] && R->M) { /* r stays orthogonal to M r_0 */
        apply(R->M, R->q, R->v[V_R], R->v[V_REF]);
        P->ref_rr = tct_norm2(R, R->v[V_REF]);
    }
    tct_mixed_begin(R);
}

/* The last iteration of the method's first one while that is current; else
 * 0. */
static int64_t first_until(const tct_run *R)
{
    const bool first =
        R->policy->now == R->system->method->first && !R->result->rescued_by;
    return first ? R->policy->begun + R->system->method->about.first : 0;
}

void tct_begin_phase(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const tct_system *S = R->system;
    const double norm_r = sqrt(P->rr);
    const bool again = tct_begins_again(R);
    const double most =
        (again || tct_can_be_rescued(R) ? TCT_GREW : GREW_LAST) * P->best;
    R->loop->block = R->loop->period = 0;
    P->goal = R->pure ? S->target
                      : fmax(S->target, (again ? AGAIN : ROUNDING) * norm_r);
    if (R->result->restarts > 0 && P->size == 0.0)
        P->goal = fmax(S->target, ANOTHER * norm_r);
    if (S->exactly) P->goal = again ? AGAIN * norm_r : 0.0;
    P->from = R->k;
    P->most = S->limit;
    if (first_until(R)) P->most = first_until(R);
    if (tct_is_reduced(R)) {
        P->goal = fmax(P->goal, tct_mixed_goal(R));
        if (R->low->mark < P->most) P->most = R->low->mark;
    }
    if (P->size > 0.0) P->most = tct_least_until(R);
    if (P->most > S->limit) P->most = S->limit;
    double c[TCT_SCALARS] = {[C_RR] = P->rr,
                             [C_ALPHA] = 1.0,
                             [C_TARGET2] = P->goal * P->goal,
                             [C_NORM] = tct_least_norm(R),
                             [C_DRIFT_MOST] = R->pure ? 0.0 : P->drift_most,
                             [C_APART_MOST] = P->apart_most,
                             [C_REF_RR] = P->ref_rr,
                             [C_SIGMA] = S->sigma,
                             [C_RR_MOST] = R->pure ? 0.0 : most * most};
    q_put(R->q, TCT_SCALARS, c, R->c);
    P->end = PHASE_ON;
    P->why = TACIT_STOP_MAX_ITERATIONS;
}

/* --- a phase has ended ---------------------------------------------------- */

bool tct_decided(tct_run *R, const double *r, double norm_r)
{
    const tct_system *S = R->system;
    R->result->true_relative_residual = norm_r / S->norm_b;
    if (!tct_norm_reached(R, r, norm_r)) return false;
    R->result->converged = true;
    tct_forget_breakdown(R);
    R->policy->why = S->wanted > S->stop.rtol * S->reference ? TACIT_STOP_ATOL
                                                             : TACIT_STOP_RTOL;
    return true;
}

/* The first iterations are over: may the method itself take over? */
static void hand_over(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const double rr = P->rr;
    const double lost = tct_dot(R, R->v[V_R], R->v[V_REF]);
    if (fabs(lost) <= FIRST_LOST * sqrt(rr) * sqrt(P->ref_rr)) {
        P->now = R->system->method;
        return;
    }
    R->result->rescued_by = P->now->about.name;
    R->result->rescued_at = R->k;
    tct_log(TCT_NOTE,
            "iteration %lld: residuals are no longer orthogonal (%.1e), so %s "
            "goes on in place of %s",
            (long long)R->k, fabs(lost) / sqrt(rr) / sqrt(P->ref_rr),
            P->now->about.name, R->system->method->about.name);
}

static bool at_mark(const tct_run *R)
{
    return R->policy->end == PHASE_MARK && R->policy->size == 0.0 &&
           R->policy->most < R->system->limit;
}

/* The decisions at marks and in reduced precision. */
static void restart_policy(tct_run *R, bool mark, bool low)
{
    R->resumed = mark;
    if (mark && first_until(R) && R->k >= first_until(R)) hand_over(R);
    if (low) tct_mixed_phase(R);
    if (R->q->stop_agreed) R->policy->why = TACIT_STOP_INTERRUPTED;
}

/* The only phase of a pure run has ended. */
static void end_pure(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    if (P->end == PHASE_MET || P->end == PHASE_DRIFTED || P->end == PHASE_LEAST)
        P->why = TACIT_STOP_STAGNATION;
}

bool tct_next_phase(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const tct_system *S = R->system;
    const bool mark = at_mark(R);
    const bool broken = P->end == PHASE_BROKEN && !P->now->inferred;
    const bool low =
        tct_is_reduced(R) && (mark || P->end == PHASE_MET || broken);
    tct_made(R, P->now);
    if (!R->pure && tct_renew_vectors(R)) return true;
    if (mark || low) {
        restart_policy(R, mark, low);
        if (R->q->peers_know || R->result->converged) return false;
        if (!R->q->stop_agreed && R->k < S->limit && !S->outgrown) return true;
    }
    tct_residual(R, R->v[V_R]);
    double norm_r = sqrt(tct_norm2(R, R->v[V_R]));
    const double told = sqrt(P->rr);
    if (R->q->peers_know || tct_decided(R, R->v[V_R], norm_r)) return false;
    if (R->policy->end == PHASE_LEAST && tct_is_least(R)) return false;
    if (R->pure && !(S->exactly && P->end == PHASE_MET)) {
        end_pure(R);
        return false;
    }
    tct_keep_best(R, norm_r);
    if (S->outgrown) P->why = TACIT_STOP_STAGNATION;
    if (S->outgrown) return false;
    if (tct_norm_asks(R, told, norm_r)) return tct_norm_go_on(R, norm_r);
    if (!tct_unsettled(R, norm_r) || R->q->peers_know) return false;
    if (R->k >= S->limit) {
        P->why = TACIT_STOP_MAX_ITERATIONS;
        return false;
    }
    if (tct_has_lost(R, norm_r)) {
        norm_r = tct_go_back_to_best(R);
        P->futile += P->futile == 0;
    }
    if (R->q->peers_know) return false;
    if (!isfinite(norm_r)) {
        tct_broke_down(R, "||b - A x||", norm_r);
        return false;
    }
    R->low->start = norm_r;
    P->rr = norm_r * norm_r;
    R->resumed = false; /* the last direction led nowhere */
    if (P->futile == 0) tct_restart_step(R, norm_r);
    return !R->q->peers_know;
}
