/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.c - a run, from b and x to the result. */
#include "solver/solver.h"
#include <math.h>
#include <string.h>

enum { ITERATIONS_DEFAULT = 10000 };

static tacit_status begin(tacit_solver *S, const tacit_stop *stop)
{
    S->stop = *stop;
    S->limit = stop->max_iterations ? stop->max_iterations : ITERATIONS_DEFAULT;
    S->k = 0;
    S->seen = S->host_from = -1;
    S->A = S->exact;
    S->lag = S->q->device->lag ? S->q->device->lag(S->q, S->most_rows) : 0;
    S->q->stop_wanted = S->q->stop_agreed = false;
    TRY(tct_measure_b(S));
    S->target = fmax(stop->rtol * S->norm_b, stop->atol * S->sigma);
    return TACIT_OK;
}

/* Turns, until the true residual or something else decides. */
static void iterate(tacit_solver *S)
{
    q_put(S->q, 1, &S->sigma, &S->c[C_SIGMA]);
    tct_residual(S, S->v[V_R]);
    S->rr = tct_norm2(S, S->v[V_R]);
    S->best = sqrt(S->rr);
    if (S->q->peers_know) return;
    tct_tell_monitor(S);
    if (tct_decided(S, S->best)) return;
    if (!isfinite(S->best)) {
        tct_broke_down(S, "||b - A x||", S->best);
        return;
    }
    tct_first_turn(S);
    do {
        tct_begin_turn(S);
        tct_iterate(S);
    } while (!S->q->peers_know && tct_next_turn(S));
}

static tacit_status breakdown(const tacit_result *r)
{
    if (!isfinite(r->breakdown_value))
        FAIL(TACIT_BREAKDOWN,
             "breakdown at iteration %lld: %s = %.6g: the entries of the "
             "matrix, the right-hand side or the first guess are not finite, "
             "or of sizes too far apart for double precision",
             (long long)r->breakdown_iteration, r->breakdown_quantity,
             r->breakdown_value);
    FAIL(TACIT_BREAKDOWN,
         "breakdown at iteration %lld: %s = %.6g, the %s is not positive "
         "definite",
         (long long)r->breakdown_iteration, r->breakdown_quantity,
         r->breakdown_value,
         strcmp(r->breakdown_quantity, "r'Mr") == 0 ? "preconditioner"
                                                    : "matrix");
}

/* What the solve came to, with a sentence if it did not end well. */
static tacit_status explain(const tacit_solver *S)
{
    const tacit_result *r = S->result;
    const char *what = "not converged";
    tacit_status status = TACIT_NOT_CONVERGED;
    if (r->converged) return TACIT_OK;
    if (r->stop == TACIT_STOP_BREAKDOWN) return breakdown(r);
    if (r->stop == TACIT_STOP_STAGNATION)
        what = "no further progress: b - A x stays where it is";
    if (r->stop == TACIT_STOP_INTERRUPTED) {
        what = "interrupted";
        status = TACIT_INTERRUPTED;
    }
    FAIL(status,
         "%s after %lld iterations: ||b - A x|| / ||b|| is %.3g, wanted %.3g%s",
         what, (long long)r->iterations, r->true_relative_residual,
         S->stop.rtol, S->stop.atol > 0 ? " or the absolute tolerance" : "");
}

static tacit_status conclude(tacit_solver *S, double seconds)
{
    tacit_result *result = S->result;
    TRY(tct_agree(S->A->world, q_own_status(S->q)));
    TRY(tct_reduce_f64(S->A->world, TCT_MAX, 1, &seconds));
    result->seconds = seconds;
    result->stop = S->why;
    result->relative_residual = sqrt(S->rr) / S->norm_b;
    result->extra_products +=
        result->replacements * S->method->about.replace_products;
    const bool broken = S->why == TACIT_STOP_BREAKDOWN;
    result->iterations = broken && S->k > 0 ? S->k - 1 : S->k;
    return TACIT_OK;
}

/* What is solved for is b in the order of A, and so is x. */
static void enter(tacit_solver *S, const double *b, double *x)
{
    const tct_order *o = S->exact->order;
    S->b = o ? S->own_b : b;
    S->x = o ? S->own_x : x;
    if (!o) return;
    tct_order_enter(o, S->q, S->n, b, S->own_b);
    tct_order_enter(o, S->q, S->n, x, S->own_x);
}

static void leave(tacit_solver *S, double *x)
{
    const tct_order *o = S->exact->order;
    if (o) tct_order_leave(o, S->q, S->n, S->own_x, x);
}

static bool overlap(const double *b, const double *x, size_t n)
{
    return (uintptr_t)b < (uintptr_t)(x + n) &&
           (uintptr_t)x < (uintptr_t)(b + n);
}

static tacit_status run(tacit_solver *S, const double *b, double *x,
                        const tacit_stop *stop, tacit_result *result)
{
    enter(S, b, x);
    S->result = result;
    TRY(begin(S, stop));
    if (S->norm_b == 0.0) { /* the solution of A x = 0 is 0 */
        q_fill(S->q, S->n, 0.0, x);
        result->converged = true;
        result->stop = TACIT_STOP_RTOL;
        return tct_agree(S->A->world, q_own_status(S->q));
    }
    const double start_time = tct_seconds();
    tct_shift(S, S->shift, S->x);
    iterate(S);
    tct_describe_loop(S);
    int exponent = 0;
    const bool within = tct_shift_back(S, &exponent);
    leave(S, x);
    TRY(conclude(S, tct_seconds() - start_time));
    if (within || !result->converged) return explain(S);
    result->converged = false;
    result->stop = TACIT_STOP_BREAKDOWN;
    FAIL(TACIT_BREAKDOWN,
         "the solution is beyond the range of doubles, its norm is about 2^%d: "
         "scale the matrix or the right-hand side",
         exponent);
}

tacit_status tacit_solver_run(tacit_solver *solver, const double *b, double *x,
                              const tacit_stop *stop, tacit_result *result)
{
    REQUIRE(solver != NULL && result != NULL);
    REQUIRE(solver->n == 0 || (b != NULL && x != NULL));
    tacit_stop own = solver->wanted;
    if (stop) TRY(tct_read_sized("tacit_stop", stop, &own, sizeof own));
    TRY(tct_check_sized("tacit_result", result));
    REQUIRE(own.rtol >= 0 && own.atol >= 0 && own.max_iterations >= 0);
    if (overlap(b, x, solver->n))
        FAIL(TACIT_INVALID,
             "%s: b and x share memory: x is written while b is "
             "needed, so they must be two vectors",
             __func__);
    if (solver->running)
        FAIL(TACIT_INVALID, "%s: a run of this solver is under way", __func__);
    tacit_result came_to = {.breakdown_iteration = -1};
    solver->running = true;
    const tacit_status status = run(solver, b, x, &own, &came_to);
    solver->running = false;
    tct_write_sized(&came_to, sizeof came_to, result);
    return status;
}
