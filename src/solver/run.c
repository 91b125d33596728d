/* SPDX-License-Identifier: BSD-3-Clause
 * solver/run.c - begin and end of a run: from b and x to a first residual, and
 * from the last one to the result. */
#include "operator/backward.h"
#include "solver/after_phase.h"
#include "solver/norms.h"
#include "solver/singular.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITERATIONS_DEFAULT = 10000 };

/* The run works on b and x in the order of A. */
static void enter(tct_run *R, const double *b, double *x)
{
    tct_system *S = R->system;
    const tct_order *o = S->exact->order;
    S->b = S->own_b ? S->own_b : b;
    R->x = S->permuted_x ? S->permuted_x : x;
    S->user_x = x;
    if (!S->own_b) return;
    if (o) tct_order_permute_in(o, R->q, R->n, b, S->own_b);
    else q_copy(R->q, R->n, b, S->own_b);
    if (o) tct_order_permute_in(o, R->q, R->n, x, S->permuted_x);
    else q_copy(R->q, R->n, x, S->permuted_x);
}

static void leave(const tct_run *R)
{
    const tct_system *S = R->system;
    const tct_order *o = S->exact->order;
    if (!S->permuted_x) return;
    if (o) tct_order_permute_out(o, R->q, R->n, S->permuted_x, S->user_x);
    else q_copy(R->q, R->n, S->permuted_x, S->user_x);
}

tacit_status tct_run_begin(tct_run *R, const double *b, double *x,
                           const tacit_stop *stop)
{
    tct_restart_policy *P = R->policy;
    tct_system *S = R->system;
    enter(R, b, x);
    TRY(tct_singular_enter(R));
    S->stop = *stop;
    S->limit = stop->max_iterations ? stop->max_iterations : ITERATIONS_DEFAULT;
    S->exactly = stop->iterations > 0;
    S->attained = S->accepted = S->refused = S->outgrown = false;
    if (S->exactly) S->limit = stop->iterations;
    R->k = 0;
    P->checked = R->loop->left_from = -1;
    P->made = 0;
    P->size = 0.0;
    P->narrowed = P->unsure = false;
    P->kept = INFINITY;
    R->A = S->exact;
    R->result->bits = R->A->bits; /* in case there is no iteration */
    TRY(tct_measure_b(R));
    S->target = S->wanted = fmax(stop->rtol * S->norm_b, stop->atol * S->sigma);
    S->reference = S->norm_b;
    return TACIT_OK;
}

/* x = 0, in place of an x whose residual is not a number. */
static void take_zero(tct_run *R)
{
    q_fill(R->q, R->n, 0.0, R->x);
    R->result->true_relative_residual = 1.0;
}

bool tct_run_starts(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    P->best = sqrt(P->rr);
    if (R->q->peers_know) return false;
    if (isfinite(P->best)) tct_norm_target(R, P->best);
    tct_tell_monitor(R);
    if (tct_decided(R, R->v[V_R], P->best)) return false;
    if (isfinite(P->best)) {
        tct_keep_best(R, P->best);
        tct_first_phase(R);
        return true;
    }
    tct_broke_down(R, "||b - A x||", P->best);
    take_zero(R);
    return false;
}

/* Is b - A x as small as rounding allows? */
static bool is_attained(tct_run *R)
{
    const tct_system *S = R->system;
    double *r = R->v[V_T];
    tct_residual(R, r);
    return tct_backward_error(S->exact, R->q, r, R->x, S->b, S->sigma) <=
           TCT_BACKWARD_LEAST;
}

/* Is the solve converged by the word of the monitors? Collective. */
static tacit_status ask_monitors(tct_run *R)
{
    const tct_system *S = R->system;
    int64_t wish[] = {S->accepted, S->refused};
    if (R->policy->why != TACIT_STOP_INTERRUPTED) return TACIT_OK;
    TRY(tct_reduce_i64(S->exact->world, TCT_MAX, 2, wish));
    if (!wish[0] || wish[1]) return TACIT_OK;
    R->result->converged = true;
    R->policy->why = TACIT_STOP_MONITOR;
    return TACIT_OK;
}

/* Return the best x, and note the residual that rounding allows. */
static void end_without_solution(tct_run *R)
{
    tct_system *S = R->system;
    tct_restart_policy *P = R->policy;
    const bool limited = P->why == TACIT_STOP_MAX_ITERATIONS && !S->exactly;
    const bool stagnated = P->why == TACIT_STOP_STAGNATION;
    tct_hand_out_best(R);
    S->attained = false;
    if (!limited && !stagnated && P->why != TACIT_STOP_BREAKDOWN) return;
    const double allowed = tct_allowed_at_end(R);
    /* the limit says nothing of rounding unless the target is below it */
    if (limited && S->target >= allowed) return;
    R->result->attainable = allowed / S->norm_b;
    S->attained = (limited || stagnated) && is_attained(R);
    if (S->stop.rtol == 0.0 && S->stop.atol == 0.0)
        R->result->converged = S->attained;
    if (R->result->converged) P->why = TACIT_STOP_STAGNATION;
}

/* All iterations that were asked for are made: has b - A x met the target? */
static void note_count(const tct_run *R)
{
    const tct_system *S = R->system;
    tacit_result *r = R->result;
    if (!S->exactly || r->stop != TACIT_STOP_MAX_ITERATIONS) return;
    r->stop = TACIT_STOP_ITERATIONS;
    r->converged = r->measure * S->reference <= S->wanted;
}

static void fill_result(tct_run *R, double seconds)
{
    const tct_restart_policy *P = R->policy;
    tacit_result *result = R->result;
    result->seconds = seconds;
    result->stop = P->why;
    result->relative_residual = sqrt(P->rr) / R->system->norm_b;
    result->extra_products +=
        result->replacements * R->system->method->about.replace_products;
    tct_made(R, P->now);
    result->iterations = P->made;
    note_count(R);
}

tacit_status tct_run_conclude(tct_run *R, double seconds)
{
    tacit_world *w = R->system->exact->world;
    int exponent = 0;
    if (!R->result->converged && !R->q->peers_know) TRY(ask_monitors(R));
    if (!R->result->converged && !R->q->peers_know) end_without_solution(R);
    TRY(tct_singular_leave(R));
    const bool within = tct_shift_back(R, &exponent);
    if (!within) take_zero(R);
    leave(R);
    TRY(tct_agree(w, q_own_status(R->q)));
    TRY(tct_reduce_f64(w, TCT_MAX, 1, &seconds));
    fill_result(R, seconds);
    tct_singular_judge(R);
    if (within) return tct_explain(R);
    R->result->converged = false;
    R->result->stop = TACIT_STOP_BREAKDOWN;
    FAIL(TACIT_BREAKDOWN,
         "the solution is beyond the range of doubles, its norm is about 2^%d: "
         "scale the matrix or the right-hand side",
         exponent);
}

tacit_status tct_run_zero(tct_run *R)
{
    q_fill(R->q, R->n, 0.0, R->system->user_x);
    q_fill(R->q, R->n, 0.0, R->x);
    R->result->converged = true;
    R->result->stop = TACIT_STOP_RTOL;
    TRY(tct_singular_leave(R));
    tct_singular_judge(R);
    TRY(tct_agree(R->system->exact->world, q_own_status(R->q)));
    return tct_explain(R);
}
