/* SPDX-License-Identifier: BSD-3-Clause
 * solver/turn.c - between two turns of a method's text: is the system solved,
 * who goes on, and how far?
 *
 * A recurrence decides only when to look. Whether the system is solved is
 * decided by b - A x, recomputed. If the recurrence was wrong, the solve goes
 * on with the true residual, along the direction that it had, until three turns
 * in a row have not halved it. If a method's recurrences are too inaccurate for
 * the matrix, its rescue takes over in the same way.
 *
 * [Pa80] Paige, "Accuracy and effectiveness of the Lanczos algorithm for the
 *        symmetric eigenproblem", Linear Algebra Appl. 34 (1980): orthogonality
 *        is lost towards what has converged, and not before. */
#include "solver/solver.h"
#include <math.h>

enum { FUTILE_MOST = 3 };

static const double
    ROUNDING = 0x1p-52, /* a recurrence that has made this of 1 knows nothing */
    ANOTHER = 0.1, /* what a turn tries that goes on where one was wrong  */
    FIRST_LOST = 1e-12; /* orthogonality with which a method may take over    */

/* --- a turn begins ------------------------------------------------------------ */

void tct_first_turn(tacit_solver *S)
{
    const tct_method *first = S->method->first;
    S->now = first ? first : S->method;
    S->resumed = S->drifted = S->met = false;
    S->futile = 0;
    S->begun = 0;
    S->ref_rr = S->rr;
    if (S->v[V_REF]) q_copy(S->q, S->n, S->v[V_R], S->v[V_REF]);
    if (S->v[V_REF] && S->M) { /* r stays orthogonal to M r_0 */
        apply(S->M, S->q, S->v[V_R], S->v[V_REF]);
        S->ref_rr = tct_norm2(S, S->v[V_REF]);
    }
    tct_low_begin(S);
}

/* The last iteration of the one who comes first, if it is his turn; else 0. */
static int64_t first_until(const tacit_solver *S)
{
    const bool first = S->now == S->method->first && !S->result->rescued_by;
    return first ? S->begun + S->method->about.first : 0;
}

void tct_begin_turn(tacit_solver *S)
{
    const double norm_r = sqrt(S->rr);
    S->goal = fmax(S->target, ROUNDING * norm_r);
    if (S->result->restarts > 0) S->goal = fmax(S->target, ANOTHER * norm_r);
    S->most = S->limit;
    if (first_until(S)) S->most = first_until(S);
    if (tct_is_low(S)) {
        S->goal = fmax(S->goal, tct_low_goal(S));
        if (S->low.mark < S->most) S->most = S->low.mark;
    }
    if (S->most > S->limit) S->most = S->limit;
    double c[TCT_SCALARS] = {[C_RR] = S->rr,
                             [C_ALPHA] = 1.0,
                             [C_TARGET2] = S->goal * S->goal,
                             [C_NORM] = S->A->norm,
                             [C_REF_RR] = S->ref_rr,
                             [C_SIGMA] = S->sigma};
    q_put(S->q, TCT_SCALARS, c, S->c);
    S->met = S->drifted = false;
    S->why = TACIT_STOP_MAX_ITERATIONS;
}

/* --- a turn has ended ------------------------------------------------------------ */

bool tct_decided(tacit_solver *S, double norm_r)
{
    S->result->true_relative_residual = norm_r / S->norm_b;
    if (!(norm_r <= S->target)) return false;
    S->result->converged = true;
    tct_forget_breakdown(S);
    S->why = S->target > S->stop.rtol * S->norm_b ? TACIT_STOP_ATOL
                                                  : TACIT_STOP_RTOL;
    return true;
}

/* The first iterations are over: may the method itself take over? */
static void hand_over(tacit_solver *S)
{
    const double rr = S->rr;
    const double lost = tct_dot(S, S->v[V_R], S->v[V_REF]);
    if (fabs(lost) <= FIRST_LOST * sqrt(rr) * sqrt(S->ref_rr)) {
        S->now = S->method;
        return;
    }
    S->result->rescued_by = S->now->about.name;
    S->result->rescued_at = S->k;
    tct_log(TCT_NOTE,
            "iteration %lld: residuals are no longer orthogonal (%.1e), so %s "
            "goes on in place of %s",
            (long long)S->k, fabs(lost) / sqrt(rr) / sqrt(S->ref_rr),
            S->now->about.name, S->method->about.name);
}

/* Hand over to the method's rescue, if it has one. */
static bool rescue(tacit_solver *S, const char *why)
{
    const tct_method *to = S->now->rescue;
    if (!to) return false;
    tct_log(TCT_NOTE, "iteration %lld: %s in %s, so %s goes on",
            (long long)S->k, why, S->now->about.name, to->about.name);
    S->now = to;
    S->result->rescued_by = to->about.name;
    S->result->rescued_at = S->k;
    tct_forget_breakdown(S);
    return true;
}

/* The recurrence met its goal and b - A x does not meet the target. */
static bool go_on(tacit_solver *S, double norm_r)
{
    S->result->restarts++;
    tct_log(TCT_NOTE,
            "iteration %lld: the recurrence has ||r||/||b|| = %.3e, but "
            "||b - A x||/||b|| = %.3e: going on with that",
            (long long)S->k, sqrt(S->rr) / S->norm_b, norm_r / S->norm_b);
    const bool gained = norm_r <= 0.5 * S->best;
    S->futile = gained ? 0 : S->futile + 1;
    if (norm_r < S->best) S->best = norm_r;
    if ((!gained || S->now->inferred) && rescue(S, "the residual is wrong"))
        S->futile = 0;
    S->why = TACIT_STOP_STAGNATION;
    return S->futile < FUTILE_MOST;
}

/* What the true residual, of norm `norm_r`, does not settle. */
static bool unsettled(tacit_solver *S, double norm_r)
{
    if (S->why == TACIT_STOP_INTERRUPTED) return false;
    if (S->drifted) return rescue(S, "rounding errors have grown too large");
    if (S->why == TACIT_STOP_BREAKDOWN)
        return S->now->inferred && rescue(S, "a denominator is not positive");
    return S->met && go_on(S, norm_r);
}

static bool at_mark(const tacit_solver *S)
{
    return !tct_is_held(S) && S->why != TACIT_STOP_INTERRUPTED &&
           S->k >= S->most && S->most < S->limit;
}

/* What is done at marks and in low precision. */
static void half_time(tacit_solver *S, bool mark, bool low)
{
    S->resumed = mark;
    if (mark && first_until(S) && S->k >= first_until(S)) hand_over(S);
    if (low) tct_low_turn(S);
    if (S->q->stop_agreed) S->why = TACIT_STOP_INTERRUPTED;
}

bool tct_next_turn(tacit_solver *S)
{
    const bool mark = at_mark(S);
    const bool broken = S->why == TACIT_STOP_BREAKDOWN && !S->now->inferred;
    const bool low = tct_is_low(S) && (mark || S->met || broken);
    if (mark || low) {
        half_time(S, mark, low);
        if (S->q->peers_know || S->result->converged) return false;
        if (!S->q->stop_agreed && S->k < S->limit) return true;
    }
    tct_residual(S, S->v[V_R]);
    const double norm_r = sqrt(tct_norm2(S, S->v[V_R]));
    if (S->q->peers_know || tct_decided(S, norm_r) || !unsettled(S, norm_r))
        return false;
    if (!isfinite(norm_r)) {
        tct_broke_down(S, "||b - A x||", norm_r);
        return false;
    }
    if (S->k >= S->limit) {
        S->why = TACIT_STOP_MAX_ITERATIONS;
        return false;
    }
    S->low.start = norm_r;
    S->rr = norm_r * norm_r;
    S->resumed = false; /* what led nowhere is not kept */
    if (S->futile == 0) tct_along(S, norm_r);
    return !S->q->peers_know;
}
