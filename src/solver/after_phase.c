/* SPDX-License-Identifier: BSD-3-Clause
 * solver/after_phase.c - decides after a phase whose b - A x does not meet the
 * target: the method goes on, its rescue takes over, or the solve ends. */
#include "solver/after_phase.h"
#include "solver/singular.h"
#include <math.h>
#include <string.h>

enum { FUTILE_MOST = 3 };
/* A renewal should last RENEWAL_LEAST iterations, and must last
 * RENEWAL_WORTH. */
enum { RENEWAL_LEAST = 200, RENEWAL_WORTH = 8, EARLY = 64 };

static const double WORSE =
                        10.0, /* of the best residual: a worse x is dropped */
    LIMIT = 4.0,  /* of what rounding allows: no method gets far below it */
    WIDER = 10.0, /* factor by which the bound of the drift grows ... */
    DRIFT_OF_GOAL = 0.01, /* ... up to this part of the target              */
    APART_LAST = 1e-8,    /* of (p, s), after the first iterations            */
    RENEWAL_ABOVE = 1e2;  /* times what rounding allows                     */

bool tct_can_be_rescued(const tct_run *R)
{
    const tct_method *to = R->policy->now->rescue;
    return to && !R->pure &&
           (!R->M || !R->M->varies || to->about.varying_precond);
}

/* The method's rescue takes over, if it accepts the preconditioner. */
static bool rescue(tct_run *R, const char *why)
{
    tct_restart_policy *P = R->policy;
    if (!tct_can_be_rescued(R)) return false;
    const tct_method *to = P->now->rescue;
    tct_log(TCT_NOTE, "iteration %lld: %s in %s, so %s goes on",
            (long long)R->k, why, P->now->about.name, to->about.name);
    P->now = to;
    R->result->rescued_by = to->about.name;
    R->result->rescued_at = R->k;
    P->futile = 0;
    tct_forget_breakdown(R);
    return true;
}

/* Has the phase gained, with a true residual of norm `norm_r`? */
static bool has_gained(tct_run *R, double norm_r)
{
    tct_restart_policy *P = R->policy;
    const bool gained = norm_r <= 0.5 * P->best;
    R->result->restarts++;
    P->futile = gained ? 0 : P->futile + 1;
    if (norm_r < P->best) P->best = norm_r;
    return gained;
}

/* The method itself goes on. After FUTILE_MOST phases without gain its rescue
 * does, if rounding allows a smaller residual. A run of a fixed number of
 * iterations goes on as long as phases make any. */
static bool go_on_by_itself(tct_run *R, double norm_r)
{
    const bool counts = R->system->exactly && R->k > R->policy->from;
    R->policy->why = TACIT_STOP_STAGNATION;
    if (R->policy->futile < FUTILE_MOST || counts) return true;
    return norm_r > LIMIT * tct_allowed(R) &&
           rescue(R, "the residual gets no smaller");
}

/* The recurrence met its goal and b - A x does not meet the target. */
static bool go_on(tct_run *R, double norm_r)
{
    const tct_restart_policy *P = R->policy;
    tct_log(TCT_NOTE,
            "iteration %lld: the recurrence has ||r||/||b|| = %.3e, but "
            "||b - A x||/||b|| = %.3e: going on with that",
            (long long)R->k, sqrt(P->rr) / R->system->norm_b,
            norm_r / R->system->norm_b);
    const bool gained = has_gained(R, norm_r);
    if (P->now->distrusted || (!gained && !P->now->persists))
        rescue(R, "the residual is wrong");
    return go_on_by_itself(R, norm_r);
}

/* After a breakdown of another method cg goes on: it forms all quantities. A
 * breakdown of cg ends the solve unless it is of the size of rounding: the
 * matrix or the preconditioner is not positive definite. */
static bool after_breakdown(tct_run *R, double norm_r)
{
    if (rescue(R, "a quantity is not positive")) {
        while (rescue(R, "quantities are inferred")) continue;
        return true;
    }
    if (!tct_is_by_rounding(R, norm_r)) return false;
    tct_forget_breakdown(R);
    has_gained(R, norm_r);
    return go_on_by_itself(R, norm_r);
}

/* No method can go on: A is singular, b outside its range, or worse. */
static bool after_growth(tct_run *R, double norm_r)
{
    if (rescue(R, "the residual has grown without end")) return true;
    if (tct_begins_again(R)) {
        has_gained(R, norm_r);
        return go_on_by_itself(R, norm_r);
    }
    tct_broke_down(R, "||r||", sqrt(R->policy->rr));
    return false;
}

/* x is no least squares solution, or not yet. */
static bool after_least(tct_run *R, double norm_r)
{
    const bool narrowed = R->policy->narrowed;
    R->policy->narrowed = false;
    if (narrowed) return true;
    if (R->k >= R->system->limit) return false;
    has_gained(R, norm_r);
    return go_on_by_itself(R, norm_r);
}

/* The true residual, of norm `norm_r`, does not meet the target. */
bool tct_unsettled(tct_run *R, double norm_r)
{
    if (R->policy->why == TACIT_STOP_INTERRUPTED) return false;
    switch ((int)R->policy->end) {
    case PHASE_STALE:
    case PHASE_DRIFTED:
        return rescue(R, "rounding errors have grown too large") ||
               (R->system->exactly && go_on_by_itself(R, norm_r));
    case PHASE_GREW: return after_growth(R, norm_r);
    case PHASE_BROKEN: return after_breakdown(R, norm_r);
    case PHASE_MET: return go_on(R, norm_r);
    case PHASE_LEAST: return after_least(R, norm_r);
    case PHASE_MARK: return R->policy->size > 0.0 && after_least(R, norm_r);
    default: return false;
    }
}

/* Is x so much worse than the best one that the solve goes back to it? */
bool tct_has_lost(const tct_run *R, double norm_r)
{
    const double most = R->result->restarts > 0 ? WORSE : TCT_GREW;
    return isfinite(R->policy->kept) && !(norm_r <= most * R->policy->kept);
}

/* The drift has reached its bound. The bound is pessimistic: if a renewal lasts
 * for few iterations, the bound is widened, up to a part of the target. */
static bool is_worth_renewing(tct_run *R, double norm_r)
{
    tct_restart_policy *P = R->policy;
    const double last =
        fmax(TCT_DRIFT_MOST, DRIFT_OF_GOAL * R->system->target / norm_r);
    const int64_t lasted = R->k - P->renewed;
    if (lasted < RENEWAL_LEAST) P->drift_most *= WIDER;
    if (P->drift_most > last) P->drift_most = last;
    return lasted >= RENEWAL_WORTH || P->drift_most < last;
}

/* Directions are no longer conjugate. In the first iterations another method
 * loses little; later a change costs more than to go on with them. */
static bool is_late(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const bool late = R->k - P->begun > EARLY && P->apart_most < APART_LAST;
    if (late) P->apart_most = APART_LAST;
    return late;
}

bool tct_renew_vectors(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const double norm_r = sqrt(P->rr);
    const bool stale = P->end == PHASE_STALE, drifted = P->end == PHASE_DRIFTED;
    if (!P->now->renews || !(stale || drifted)) return false;
    if (norm_r <= RENEWAL_ABOVE * tct_allowed(R) || R->q->peers_know)
        return false;
    P->rr = norm_r * norm_r;
    if (stale ? !is_worth_renewing(R, norm_r) : !is_late(R)) return false;
    P->renewed = R->k;
    R->resumed = true;
    R->result->replacements++;
    return R->k < R->system->limit;
}
