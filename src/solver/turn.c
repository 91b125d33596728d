/* SPDX-License-Identifier: BSD-3-Clause
 * solver/turn.c - between two turns of a method's text: is the system solved,
 * who goes on, and how far?
 *
 * A recurrence decides only when to look. Whether the system is solved is
 * decided by b - A x, recomputed. If the recurrence was wrong, the solve goes
 * on with the true residual, along the direction that it had, until three turns
 * in a row have not halved it. If a method's recurrences are too inaccurate for
 * the matrix, its rescue takes over in the same way; the last rescue is cg,
 * which infers nothing. A pure run has none of this: it is one turn.
 *
 * [Pa80] Paige, "Accuracy and effectiveness of the Lanczos algorithm for the
 *        symmetric eigenproblem", Linear Algebra Appl. 34 (1980): orthogonality
 *        is lost towards what has converged, and not before. */
#include "solver/run.h"
#include <math.h>
#include <string.h>

enum { FUTILE_MOST = 3 };

static const double
    ROUNDING = 0x1p-52, /* a recurrence that has made this of 1 knows nothing */
    ANOTHER = 0.1, /* what a turn tries that goes on where one was wrong  */
    FIRST_LOST = 1e-12, /* orthogonality with which a method may take over    */
    GREW = 1e12, /* what a residual that diverges has of where it began, ...  */
    GREW_LAST = 1e30, /* ... where nobody else can go on                     */
    WORSE = 10.0, /* of the best residual: better to go on from there       */
    LIMIT = 4.0,  /* of what rounding allows: nobody gets much further      */
    DRIFT_MOST = 3e-13, /* of ||s||, at first; ...                           */
    WIDER = 10.0, /* ... by so much wider, until what r drifts from b - A x ...  */
    DRIFT_OF_GOAL = 0.01, /* ... is so much of the target                     */
    RENEWAL_ABOVE = 1e2; /* times what rounding allows                       */
/* Iterations that vectors formed anew should last, and must. */
enum { RENEWAL_LEAST = 20, RENEWAL_WORTH = 8 };

/* --- a turn begins ------------------------------------------------------------ */

void tct_first_turn(tct_run *R)
{
    const tct_method *first = R->pure ? NULL : R->method->first;
    R->now = first ? first : R->method;
    R->resumed = false;
    R->futile = 0;
    R->begun = 0;
    R->renewed = 0;
    R->drift_most = DRIFT_MOST;
    R->ref_rr = R->rr;
    if (R->v[V_REF]) q_copy(R->q, R->n, R->v[V_R], R->v[V_REF]);
    if (R->v[V_REF] && R->M) { /* r stays orthogonal to M r_0 */
        apply(R->M, R->q, R->v[V_R], R->v[V_REF]);
        R->ref_rr = tct_norm2(R, R->v[V_REF]);
    }
    tct_low_begin(R);
}

static bool can_be_rescued(const tct_run *R)
{
    const tct_method *to = R->now->rescue;
    return to && !R->pure &&
           (!R->M || !R->M->varies || to->about.varying_precond);
}

/* The last iteration of the one who comes first, if it is his turn; else 0. */
static int64_t first_until(const tct_run *R)
{
    const bool first = R->now == R->method->first && !R->result->rescued_by;
    return first ? R->begun + R->method->about.first : 0;
}

void tct_begin_turn(tct_run *R)
{
    const double norm_r = sqrt(R->rr);
    const double most = (can_be_rescued(R) ? GREW : GREW_LAST) * R->best;
    R->block = R->cycle = 0;
    R->goal = R->pure ? R->target : fmax(R->target, ROUNDING * norm_r);
    if (R->result->restarts > 0) R->goal = fmax(R->target, ANOTHER * norm_r);
    R->most = R->limit;
    if (first_until(R)) R->most = first_until(R);
    if (tct_is_low(R)) {
        R->goal = fmax(R->goal, tct_low_goal(R));
        if (R->low.mark < R->most) R->most = R->low.mark;
    }
    if (R->most > R->limit) R->most = R->limit;
    double c[TCT_SCALARS] = {[C_RR] = R->rr,
                             [C_ALPHA] = 1.0,
                             [C_TARGET2] = R->goal * R->goal,
                             [C_NORM] = R->M ? 0.0 : R->exact->norm,
                             [C_DRIFT_MOST] = R->pure ? 0.0 : R->drift_most,
                             [C_REF_RR] = R->ref_rr,
                             [C_SIGMA] = R->sigma,
                             [C_RR_MOST] = R->pure ? 0.0 : most * most};
    q_put(R->q, TCT_SCALARS, c, R->c);
    R->end = TURN_ON;
    R->why = TACIT_STOP_MAX_ITERATIONS;
}

/* --- a turn has ended ------------------------------------------------------------ */

bool tct_decided(tct_run *R, double norm_r)
{
    R->result->true_relative_residual = norm_r / R->norm_b;
    if (!(norm_r <= R->target)) return false;
    R->result->converged = true;
    tct_forget_breakdown(R);
    R->why = R->target > R->stop.rtol * R->norm_b ? TACIT_STOP_ATOL
                                                  : TACIT_STOP_RTOL;
    return true;
}

/* The first iterations are over: may the method itself take over? */
static void hand_over(tct_run *R)
{
    const double rr = R->rr;
    const double lost = tct_dot(R, R->v[V_R], R->v[V_REF]);
    if (fabs(lost) <= FIRST_LOST * sqrt(rr) * sqrt(R->ref_rr)) {
        R->now = R->method;
        return;
    }
    R->result->rescued_by = R->now->about.name;
    R->result->rescued_at = R->k;
    tct_log(TCT_NOTE,
            "iteration %lld: residuals are no longer orthogonal (%.1e), so %s "
            "goes on in place of %s",
            (long long)R->k, fabs(lost) / sqrt(rr) / sqrt(R->ref_rr),
            R->now->about.name, R->method->about.name);
}

/* Hand over to the method's rescue, if it has one that bears the preconditioner. */
static bool rescue(tct_run *R, const char *why)
{
    if (!can_be_rescued(R)) return false;
    const tct_method *to = R->now->rescue;
    tct_log(TCT_NOTE, "iteration %lld: %s in %s, so %s goes on",
            (long long)R->k, why, R->now->about.name, to->about.name);
    R->now = to;
    R->result->rescued_by = to->about.name;
    R->result->rescued_at = R->k;
    R->futile = 0;
    tct_forget_breakdown(R);
    return true;
}

/* From the true residual, which `norm_r` is the norm of: has the turn gained? */
static bool has_gained(tct_run *R, double norm_r)
{
    const bool gained = norm_r <= 0.5 * R->best;
    R->result->restarts++;
    R->futile = gained ? 0 : R->futile + 1;
    if (norm_r < R->best) R->best = norm_r;
    return gained;
}

/* The method itself goes on, unless turns in a row have gained nothing; then
 * its rescue does, where rounding allows more. */
static bool go_on_by_itself(tct_run *R, double norm_r)
{
    R->why = TACIT_STOP_STAGNATION;
    if (R->futile < FUTILE_MOST) return true;
    return norm_r > LIMIT * tct_allowed(R) &&
           rescue(R, "the residual gets no smaller");
}

/* The recurrence met its goal and b - A x does not meet the target. */
static bool go_on(tct_run *R, double norm_r)
{
    tct_log(TCT_NOTE,
            "iteration %lld: the recurrence has ||r||/||b|| = %.3e, but "
            "||b - A x||/||b|| = %.3e: going on with that",
            (long long)R->k, sqrt(R->rr) / R->norm_b, norm_r / R->norm_b);
    const bool gained = has_gained(R, norm_r);
    if (R->now->distrusted || (!gained && !R->now->persists))
        rescue(R, "the residual is wrong");
    return go_on_by_itself(R, norm_r);
}

/* Is the quantity that broke down one that the method infers, or not finite? */
static bool is_inferred(const tct_run *R)
{
    const tacit_result *r = R->result;
    if (!isfinite(r->breakdown_value)) return can_be_rescued(R);
    return strcmp(r->breakdown_quantity, "r'Mr") == 0 ? R->now->inferred_precond
                                                      : R->now->inferred;
}

/* A breakdown is the matrix's, or the preconditioner's, where the quantity was
 * formed and is more than rounding. */
static bool after_breakdown(tct_run *R, double norm_r)
{
    const bool of_M = strcmp(R->result->breakdown_quantity, "r'Mr") == 0;
    if (!is_inferred(R) && !tct_is_rounding(R, norm_r)) return false;
    if (rescue(R, "a quantity is not positive")) {
        while (of_M && R->now->inferred_precond && can_be_rescued(R))
            rescue(R, "M r is inferred");
        return true;
    }
    tct_forget_breakdown(R);
    has_gained(R, norm_r);
    return go_on_by_itself(R, norm_r);
}

/* Nobody else can go on: A is singular, b outside its range, or worse. */
static bool after_growth(tct_run *R)
{
    if (rescue(R, "the residual has grown without end")) return true;
    tct_broke_down(R, "||r||", sqrt(R->rr));
    return false;
}

/* What the true residual, of norm `norm_r`, does not settle. */
static bool unsettled(tct_run *R, double norm_r)
{
    if (R->why == TACIT_STOP_INTERRUPTED) return false;
    switch ((int)R->end) {
    case TURN_DRIFTED: return rescue(R, "rounding errors have grown too large");
    case TURN_GREW: return after_growth(R);
    case TURN_BROKEN: return after_breakdown(R, norm_r);
    case TURN_MET: return go_on(R, norm_r);
    default: return false;
    }
}

/* Is x so much worse than the best one that going on from there is better? */
static bool has_lost(const tct_run *R, double norm_r)
{
    const double most = R->result->restarts > 0 ? WORSE : GREW;
    return isfinite(R->kept) && !(norm_r <= most * R->kept);
}

static bool at_mark(const tct_run *R)
{
    return R->end == TURN_MARK && R->most < R->limit;
}

/* What is done at marks and in low precision. */
static void half_time(tct_run *R, bool mark, bool low)
{
    R->resumed = mark;
    if (mark && first_until(R) && R->k >= first_until(R)) hand_over(R);
    if (low) tct_low_turn(R);
    if (R->q->stop_agreed) R->why = TACIT_STOP_INTERRUPTED;
}

/* What has drifted is formed anew, where r is far from what rounding allows: there
 * another method gets further. The bound of the drift is a pessimist's: where it
 * lets a renewal last for a few iterations only it is made wider. */
static bool renew(tct_run *R)
{
    const double norm_r = sqrt(R->rr);
    if (R->end != TURN_DRIFTED || !R->now->renews) return false;
    if (norm_r <= RENEWAL_ABOVE * tct_allowed(R)) return false;
    R->rr = norm_r * norm_r;
    const double last = fmax(DRIFT_MOST, DRIFT_OF_GOAL * R->target / norm_r);
    const int64_t lasted = R->k - R->renewed;
    if (lasted < RENEWAL_LEAST) R->drift_most *= WIDER;
    if (R->drift_most > last) R->drift_most = last;
    if (lasted < RENEWAL_WORTH && R->drift_most == last) return false;
    R->renewed = R->k;
    R->resumed = true;
    R->result->replacements++;
    return R->k < R->limit;
}

/* The recurrence alone has ended. */
static void end_pure(tct_run *R)
{
    if (R->end == TURN_MET || R->end == TURN_DRIFTED)
        R->why = TACIT_STOP_STAGNATION;
}

bool tct_next_turn(tct_run *R)
{
    const bool mark = at_mark(R);
    const bool broken = R->end == TURN_BROKEN && !R->now->inferred;
    const bool low = tct_is_low(R) && (mark || R->end == TURN_MET || broken);
    tct_made(R, R->now);
    if (!R->pure && renew(R)) return true;
    if (mark || low) {
        half_time(R, mark, low);
        if (R->q->peers_know || R->result->converged) return false;
        if (!R->q->stop_agreed && R->k < R->limit) return true;
    }
    tct_residual(R, R->v[V_R]);
    double norm_r = sqrt(tct_norm2(R, R->v[V_R]));
    if (R->q->peers_know || tct_decided(R, norm_r)) return false;
    if (R->pure) {
        end_pure(R);
        return false;
    }
    tct_keep(R, norm_r);
    if (!unsettled(R, norm_r) || R->q->peers_know) return false;
    if (R->k >= R->limit) {
        R->why = TACIT_STOP_MAX_ITERATIONS;
        return false;
    }
    if (has_lost(R, norm_r)) {
        norm_r = tct_go_back(R);
        R->futile += R->futile == 0;
    }
    if (R->q->peers_know) return false;
    if (!isfinite(norm_r)) {
        tct_broke_down(R, "||b - A x||", norm_r);
        return false;
    }
    R->low.start = norm_r;
    R->rr = norm_r * norm_r;
    R->resumed = false; /* what led nowhere is not kept */
    if (R->futile == 0) tct_along(R, norm_r);
    return !R->q->peers_know;
}
