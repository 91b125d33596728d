/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.c - around every method: when to look, when to believe, when
 * to stop.
 *
 * A recurrence decides only when to look. Whether the system is solved is
 * decided by b - A x, recomputed: if the recurrence was wrong, the method
 * starts again from x, until the true residual meets the target or three
 * starts in a row have not halved it. */
#include "solver/solver.h"
#include <math.h>

enum { FUTILE_MOST = 3, REPAIRS_MOST = 3, ITERATIONS_DEFAULT = 10000 };

/* Set the scalars for a start from x with r and its (r, r). */
static void start(tacit_solver *S, double rr)
{
    double c[TCT_SCALARS] = {0};
    c[C_RR] = rr;
    c[C_ALPHA] = 1.0;
    S->goal = tct_leg_goal(S, sqrt(rr));
    c[C_TARGET2] = S->goal * S->goal;
    q_put(S->q, TCT_SCALARS, c, S->c);
    S->met = false;
}

/* Hand over to the method's rescue, if it has one. */
static void rescue(tacit_solver *S)
{
    if (!S->now->rescue) return;
    S->now = S->now->rescue;
    S->rescued = true;
    S->result->rescued_by = S->now->about.name;
    S->result->rescued_at = S->k;
    tct_log(TCT_NOTE,
            "iteration %lld: the recurrences of %s are too "
            "inaccurate, %s goes on from x",
            (long long)S->k, S->method->about.name, S->now->about.name);
}

/* A denominator that was inferred, not formed, came out negative: is it
 * rounding? Form it. If it is positive take the step that the method could
 * not take; the direction is in p, and A p goes where the method keeps it. */
static bool repair(tacit_solver *S)
{
    tacit_queue *q = S->q;
    double *c = S->c, *p = S->v[V_P], *s = S->v[V_S];
    double host[TCT_SCALARS] = {0};
    if (S->why != TACIT_STOP_BREAKDOWN || !S->now->inferred) return false;
    apply_dot(S->A, q, p, s, &c[C_PT]);
    q_sum(q, 1, &c[C_PT]);
    q_get(q, TCT_SCALARS, c, host);
    if (q->peers_know || !isfinite(S->rr)) return false;
    S->result->breakdown_value = host[C_PT];
    if (!(host[C_PT] > 0.0) || !isfinite(host[C_PT])) return false;
    host[C_BAD] = 0.0;
    host[C_RR_OLD] = S->rr;
    host[C_ALPHA] = S->rr / host[C_PT];
    q_put(q, TCT_SCALARS, host, c);
    q_axpy(q, S->n, +1, &c[C_ALPHA], p, S->x);
    q_axpy(q, S->n, -1, &c[C_ALPHA], s, S->v[V_R]);
    S->result->breakdown_iteration = -1;
    S->result->breakdown_quantity = NULL;
    S->why = TACIT_STOP_MAX_ITERATIONS;
    if (++S->result->repairs >= REPAIRS_MOST) rescue(S);
    return S->k < S->most && !S->rescued;
}

static bool decided(tacit_solver *S, double norm_r)
{
    if (!(norm_r <= S->target)) return false;
    S->result->converged = true;
    S->why = S->target > S->stop.rtol * S->norm_b ? TACIT_STOP_ATOL
                                                  : TACIT_STOP_RTOL;
    S->result->breakdown_iteration = -1;
    S->result->breakdown_quantity = NULL;
    return true;
}

/* The recurrence met the target and b - A x does not: start again from x,
 * unless it is no use. */
static bool go_on(tacit_solver *S, double norm_r, double best, int *futile)
{
    if (S->rescued) {
        S->rescued = false;
        return true;
    }
    if (!S->met) return false;
    rescue(S);
    S->rescued = false;
    S->result->restarts++;
    tct_log(TCT_NOTE,
            "iteration %lld: the recurrence has ||r||/||b|| = %.3e, but "
            "||b - A x||/||b|| = %.3e: starting again from x",
            (long long)S->k, sqrt(S->rr) / S->norm_b, norm_r / S->norm_b);
    *futile = norm_r > 0.5 * best ? *futile + 1 : 0;
    S->why = TACIT_STOP_STAGNATION;
    return *futile < FUTILE_MOST;
}

/* Iterate until the true residual, or something else, decides. */
static void iterate(tacit_solver *S)
{
    double best = INFINITY, last = INFINITY;
    int futile = 0;
    for (bool first = true;; first = false) {
        if (!first) tct_leg_ends(S);
        tct_residual(S, S->v[V_R]);
        const double rr = tct_norm2(S, S->v[V_R]), norm_r = sqrt(rr);
        if (S->q->peers_know) return;
        S->result->true_relative_residual = norm_r / S->norm_b;
        if (first) {
            S->rr = rr;
            tct_tell_monitor(S);
        }
        if (decided(S, norm_r)) return;
        const bool leg = !first && tct_next_leg(S, norm_r, last);
        if (!first && !leg && !go_on(S, norm_r, best, &futile)) return;
        if (!isfinite(norm_r)) {
            tct_broke_down(S, "||b - A x||", norm_r);
            return;
        }
        S->why = TACIT_STOP_MAX_ITERATIONS;
        if (S->k >= S->most) return;
        if (norm_r < best) best = norm_r;
        last = norm_r;
        start(S, rr);
        S->resumed = leg && S->keeping;
        for (tct_iterate(S); repair(S); tct_iterate(S)) S->resumed = true;
        if (S->q->peers_know) return;
    }
}

static tacit_status conclude(tacit_solver *S, double seconds)
{
    tacit_result *result = S->result;
    TRY(tct_agree(S->A->world, q_own_status(S->q)));
    TRY(tct_reduce_f64(S->A->world, TCT_MAX, 1, &seconds));
    result->seconds = seconds;
    result->stop = S->why;
    result->relative_residual = sqrt(S->rr) / S->norm_b;
    const bool broken = S->why == TACIT_STOP_BREAKDOWN;
    result->iterations = broken && S->k > 0 ? S->k - 1 : S->k;
    if (result->converged) return TACIT_OK;
    if (broken)
        FAIL(TACIT_BREAKDOWN, "breakdown at iteration %lld: %s = %.6g%s",
             (long long)result->breakdown_iteration, result->breakdown_quantity,
             result->breakdown_value,
             isfinite(result->breakdown_value)
                 ? ", the matrix is not positive definite"
                 : ": the matrix or the right-hand side is too large or not "
                   "finite");
    return S->why == TACIT_STOP_INTERRUPTED ? TACIT_INTERRUPTED
                                            : TACIT_NOT_CONVERGED;
}

static tacit_status begin(tacit_solver *S, const tacit_stop *stop)
{
    S->stop = *stop;
    S->most = stop->max_iterations ? stop->max_iterations : ITERATIONS_DEFAULT;
    S->k = 0;
    S->seen = S->host_from = -1;
    S->now = S->method;
    S->A = S->exact->low ? S->exact->low : S->exact;
    S->rescued = false;
    S->rr = S->leg = 0.0;
    S->lag = S->q->device->lag ? S->q->device->lag(S->q, S->n) : 0;
    S->q->stop_wanted = S->q->stop_agreed = false;
    const double bb = tct_norm2(S, S->b);
    TRY(tct_agree(S->A->world, q_own_status(S->q)));
    if (!isfinite(bb))
        FAIL(TACIT_INPUT, "the right-hand side is not finite (its norm is %g)",
             sqrt(bb));
    S->norm_b = S->result->norm_b = sqrt(bb);
    S->target = fmax(stop->rtol * S->norm_b, stop->atol);
    return TACIT_OK;
}

tacit_status tacit_solver_run(tacit_solver *solver, const double *b, double *x,
                              const tacit_stop *stop, tacit_result *result)
{
    REQUIRE(solver != NULL && stop != NULL && result != NULL);
    REQUIRE(solver->n == 0 || (b != NULL && x != NULL));
    REQUIRE(stop->rtol >= 0 && stop->atol >= 0 && stop->max_iterations >= 0);
    tacit_solver *S = solver;
    *result = (tacit_result){.breakdown_iteration = -1};
    S->b = b;
    S->x = x;
    S->result = result;
    TRY(begin(S, stop));
    if (S->norm_b == 0.0) { /* the solution of A x = 0 is 0 */
        q_fill(S->q, S->n, 0.0, x);
        result->converged = true;
        result->stop = TACIT_STOP_RTOL;
        return tct_agree(S->A->world, q_own_status(S->q));
    }
    const double start_time = tct_seconds();
    iterate(S);
    tct_describe_loop(S);
    return conclude(S, tct_seconds() - start_time);
}
