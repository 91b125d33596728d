/* SPDX-License-Identifier: BSD-3-Clause
 * solver/preconds/autotune.c - a solve that finds the preconditioner which
 * reaches the tolerance first.
 *
 * A trial is a run with one candidate. It ends if it would need much longer
 * than another candidate is predicted to need. That one goes on from the
 * current x; only the search directions of the trial are lost, since each trial
 * reduces the error in the norm of A. A prediction is bounded by the cost of
 * its candidate so far, so that alternating trials get longer. Costs are those
 * of a model (candidates.c) times iterations, and residuals have the same bits
 * on all ranks: equal runs choose alike. Clocks decide only which of two solves
 * for several systems was faster.
 *
 * All trials share one limit of iterations. Without a solution the x with the
 * smallest b - A x at the end of a trial is handed out. */
#include "solver/preconds/autotune.h"
#include "comm/setup/alltoall.h"
#include "operator/null/ends.h"
#include "precond/history.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A trial ends if its predicted remaining time exceeds MUCH times another's:
 * predictions are unsure, and a new start from x costs iterations. From the
 * second trial on the factor grows by MORE with each. */
static const double MUCH = 1.5, MORE = 4.0;
/* Predictions take as long as an iteration of a small matrix: the next one is
 * after a further SELDOM-th of the iterations. */
enum { SELDOM = 16 };
/* A solve that is not faster than by this factor changes no choice. */
static const double ALIKE = 0.9;

typedef struct {
    tct_autotuning *race;
    tct_candidate *c;
    const tacit_stop *stop; /* the user's */
    int64_t before;         /* iterations of all trials before */
    bool again;             /* a later solve from 0 */
    double began, had;      /* seconds; cost of this candidate's before */
    double limit;           /* seconds that the trial may take */
    double much;            /* factor of another's cost that ends it        */
    double first, least;    /* residual at the start, least so far */
    int64_t mark[2];        /* iterations: 2^i, 2^(i + 1) */
    int64_t next;           /* iteration of the next prediction */
    double at[2];           /* ... and the least residual then */
    tct_candidate *exact;   /* the one that ended it, if an exact factor */
    int wished;             /* the user's wish to stop, if not 0 */
    int64_t *history;       /* elements of the user's that are set */
} trial;

/* --- a trial -------------------------------------------------------------- */

static void note(trial *l, int64_t k, double residual)
{
    if (k == 0) l->at[0] = l->at[1] = l->first = l->least = residual;
    l->least = fmin(l->least, residual);
    if (k < 2 * l->mark[1]) return;
    l->mark[0] = l->mark[1];
    l->at[0] = l->at[1];
    l->mark[1] = k;
    l->at[1] = l->least;
}

/* ln of how much smaller the residual got in each of `steps` iterations. */
static double rate_of(double before, double after, int64_t steps)
{
    return steps > 0 ? log(before / after) / (double)steps : 0.0;
}

/* The rate of the whole trial, or since the mark before the last one, which is
 * at least half of it, if that is larger: residuals of cg stay where they are
 * for many iterations and then fall the faster. */
static void set_rate(trial *l, int64_t k)
{
    const double whole = rate_of(l->first, l->least, k);
    const double lately = rate_of(l->at[0], l->least, k - l->mark[0]);
    l->c->rate = fmax(whole, lately) / tct_autotuning_each(l->race, l->c);
}

/* Would another candidate need much less? */
static bool is_beaten(trial *l, int64_t k, double residual)
{
    tct_autotuning *race = l->race;
    if (l->limit < HUGE_VAL && tct_seconds() - l->began > l->limit) return true;
    if (k < 2 || k < l->next) return false;
    l->next = k + 1 + k / SELDOM;
    l->c->spent = l->had + (double)k * tct_autotuning_each(race, l->c);
    l->c->about.iterations = k; /* so that its rate counts */
    set_rate(l, k);
    tct_autotuning_slow(
        race, l->c, &(tct_fall){k, l->first, l->least, l->mark[0], l->at[0]});
    const tct_candidate *other = tct_autotuning_best(race, l->c, residual);
    if (other &&
        tct_autotuning_against(race, l->c, other, residual) >
            l->much * tct_autotuning_against(race, other, l->c, residual))
        return true;
    if (l->much < HUGE_VAL)
        l->exact = tct_autotuning_exact(race, l->c, MUCH, residual);
    return l->exact != NULL;
}

static int watch(void *ctx, int64_t k, double residual)
{
    trial *l = ctx;
    const tacit_stop *stop = l->stop;
    if (!l->again && (k > 0 || l->before == 0)) {
        tct_history_note(stop, 0, l->before + k, residual, l->history);
        const int wish = stop->monitor ? stop->monitor(stop->monitor_ctx,
                                                       l->before + k, residual)
                                       : 0;
        if (wish) l->wished = wish;
    }
    note(l, k, residual);
    if (k == 0)
        l->race->target =
            l->race->S->run.system->target / l->race->S->run.system->norm_b;
    if (l->wished) return l->wished;
    return is_beaten(l, k, residual) ? -1 : 0; /* no convergence */
}

/* The iterations that are left of all trials'. */
static int64_t limit_of(const tacit_stop *stop, int64_t made)
{
    enum { ITERATIONS_DEFAULT = 10000 };
    const int64_t most =
        stop->max_iterations ? stop->max_iterations : ITERATIONS_DEFAULT;
    return most - made;
}

/* Update the candidate from numbers that are equal on all ranks. */
static void sum_up(trial *l, int64_t iterations, double seconds,
                   const tacit_result *result)
{
    tacit_precond_trial *about = &l->c->about;
    about->iterations = iterations + result->iterations;
    about->seconds = seconds + result->seconds;
    about->reached = result->true_relative_residual;
    l->c->spent = l->had + (double)result->iterations *
                               tct_autotuning_each(l->race, l->c);
    if (result->iterations > 0) set_rate(l, result->iterations);
}

/* Why a candidate cannot go on after a trial with this status; NULL: it can. */
static const char *why_not(tacit_status status, tacit_stop_reason stop)
{
    const bool over =
        (status == TACIT_NOT_CONVERGED && stop != TACIT_STOP_MAX_ITERATIONS &&
         stop != TACIT_STOP_SINGULAR) ||
        status == TACIT_BREAKDOWN;
    return over ? tacit_error_message() : NULL;
}

/* The trial has ended without a solution: keep x if it is the best. */
static void keep_best(const trial *l, const double *x,
                      const tacit_result *result)
{
    tct_autotuning *race = l->race;
    const double least = race->best_result.true_relative_residual;
    if (l->before == 0) race->first = l->first;
    if (race->best && race->x && !(result->true_relative_residual < least))
        return;
    if (race->x) q_copy(race->S->run.q, race->S->run.n, x, race->x);
    race->best = l->c;
    race->best_result = *result;
}

/* Run a trial from x. INTERRUPTED is the user's wish or, if *beaten, the end of
 * the trial for another candidate. */
static tacit_status run_trial(trial *l, const double *b, double *x,
                              tacit_result *result, bool *beaten)
{
    tacit_solver *S = l->race->S;
    tacit_precond_trial *about = &l->c->about;
    const int64_t iterations = about->iterations;
    const double seconds = about->seconds;
    tacit_stop stop = *l->stop;
    stop.size = sizeof stop;
    stop.monitor = watch;
    stop.monitor_ctx = l;
    stop.history = NULL; /* `watch` keeps it */
    stop.history_room = 0;
    stop.max_iterations = limit_of(l->stop, l->before);
    l->began = tct_seconds();
    l->had = l->c->spent;
    l->mark[1] = 1;
    *result = (tacit_result){.size = sizeof *result};
    const tacit_status status = tacit_solver_run(S, b, x, &stop, result);
    if (status < 0) return status;
    sum_up(l, iterations, seconds, result);
    if (status > 0)
        snprintf(l->race->sentence, sizeof l->race->sentence, "%s",
                 tacit_error_message());
    if (status > 0 && !l->again) keep_best(l, x, result);
    const char *why = why_not(status, result->stop);
    if (why) tct_candidate_drop(l->c, why);
    bool wished = false;
    TRY(tct_any(S->run.q->world, l->wished != 0, &wished));
    *beaten = status == TACIT_INTERRUPTED && !wished;
    return status;
}

/* --- the first solve ------------------------------------------------------ */

/* Add the counts of a trial to those of the solve. */
static void add_up(tacit_result *total, const tacit_result *more)
{
    const tacit_result before = *total;
    *total = *more;
    total->history = before.history;
    total->iterations += before.iterations;
    total->seconds += before.seconds;
    total->restarts += before.restarts;
    total->replacements += before.replacements;
    total->extra_products += before.extra_products;
    total->reliable_updates += before.reliable_updates;
}

/* Is the matrix itself not positive definite? No preconditioner helps then. */
static bool is_hopeless(tacit_status status, const tacit_result *result)
{
    return status == TACIT_BREAKDOWN && result->breakdown_quantity &&
           strcmp(result->breakdown_quantity, "r'Mr") != 0;
}

/* Trials, until one has solved, no candidate or no iteration is left; *last is
 * the last one, NULL: none could be set up. */
static tacit_status solve(tct_autotuning *race, const double *b, double *x,
                          const tacit_stop *stop, tacit_result *total,
                          tct_candidate **last)
{
    tacit_status status = TACIT_UNSUPPORTED; /* the last reason counts */
    double residual = 1.0;
    tct_candidate *c = tct_autotuning_best(race, NULL, residual);
    double much = MUCH;
    for (int trials = 0; c && limit_of(stop, total->iterations) > 0; trials++) {
        bool beaten = false;
        tacit_result result;
        trial l = {.race = race,
                   .c = c,
                   .stop = stop,
                   .before = total->iterations,
                   .limit = HUGE_VAL,
                   .much = much,
                   .history = &total->history};
        TRY(tct_autotuning_take(race, c));
        if (trials > 0) much *= MORE;
        if (tct_is_in(c)) {
            *last = c;
            status = run_trial(&l, b, x, &result, &beaten);
            if (status < 0) return status;
            if (beaten) {
                status = TACIT_NOT_CONVERGED;
                result.stop = TACIT_STOP_MAX_ITERATIONS;
            }
            tct_candidate_tell(race, c);
            add_up(total, &result);
            residual = result.true_relative_residual;
            if (is_hopeless(status, &result)) return status;
            if (tct_is_in(c) && !beaten) {
                c->about.alone = trials == 0 && status == TACIT_OK;
                c->about.solve_seconds = result.seconds;
                c->whole =
                    (double)result.iterations * tct_autotuning_each(race, c);
                return status;
            }
        }
        c = beaten && l.exact
                ? l.exact
                : tct_autotuning_best(race, beaten ? c : NULL, residual);
    }
    return status;
}

/* --- for later solves ----------------------------------------------------- */

/* Would `c`, which has not solved alone, save time in later solves? */
static bool may_be_faster(const tct_autotuning *race, const tct_candidate *c,
                          const tct_candidate *best)
{
    const double more = (double)(race->wish.solves - 1);
    return tct_is_in(c) && !c->about.alone &&
           tct_autotuning_left(race, c, race->target) <
               more * tct_autotuning_whole(race, best);
}

/* Seconds of a solve: predicted ones are those of its iterations so far. */
static double seconds_of(const tct_autotuning *race, const tct_candidate *c)
{
    if (c->about.alone) return c->about.solve_seconds;
    return tct_autotuning_whole(race, c) * c->about.seconds / c->spent;
}

/* Solve with `c` from 0 too, for less than the time of `best`. */
static tacit_status solve_again(tct_autotuning *race, tct_candidate *c,
                                const tct_candidate *best, const double *b,
                                double *x, const tacit_stop *user)
{
    tacit_stop stop = *user;
    bool beaten = false;
    tacit_result result;
    trial l = {.race = race,
               .c = c,
               .stop = &stop,
               .again = true,
               .limit = ALIKE * seconds_of(race, best),
               .much = HUGE_VAL};
    stop.monitor_decides = false; /* it watches the first solve only */
    TRY(tct_autotuning_take(race, c));
    if (!tct_is_in(c)) return TACIT_OK;
    q_fill(race->S->run.q, race->S->run.n, 0.0, x);
    const tacit_status status = run_trial(&l, b, x, &result, &beaten);
    if (status < 0) return status;
    tct_candidate_tell(race, c);
    if (beaten) tct_candidate_drop(c, "another solves faster");
    c->about.alone = status == TACIT_OK;
    c->about.solve_seconds = result.seconds;
    c->whole = (double)result.iterations * tct_autotuning_each(race, c);
    return TACIT_OK;
}

static tacit_status try_others(tct_autotuning *race, const double *b,
                               const tacit_stop *stop, tct_candidate **best)
{
    tacit_queue *q = race->S->run.q;
    double *x = NULL;
    tacit_status status =
        tct_agree(q->world, tacit_queue_alloc(q, race->S->run.n, &x));
    if (status == TACIT_NO_MEMORY) return TACIT_OK;
    for (int i = 0; status >= 0 && i < race->count; i++) {
        tct_candidate *c = &race->candidate[i];
        if (c == *best || !may_be_faster(race, c, *best)) continue;
        status = solve_again(race, c, *best, b, x, stop);
        if (status >= 0 && c->about.alone && tct_is_in(c) &&
            c->about.solve_seconds < ALIKE * seconds_of(race, *best))
            *best = c;
    }
    tacit_queue_free(q, &x);
    return status;
}

/* --- all of it ------------------------------------------------------------ */

/* `c` becomes the solver's preconditioner. */
static tacit_status keep(tct_autotuning *race, tct_candidate *c)
{
    tacit_solver *S = race->S;
    if (S->run.M != c->M) TRY(tct_autotuning_take(race, c));
    S->own_M = c->M;
    tct_precond_set_raced(c->M);
    c->M = NULL;
    c->about.picked = true;
    for (int i = 0; i < race->count; i++) {
        tct_candidate *o = &race->candidate[i];
        if (!o->about.alone && o->about.iterations > 0)
            o->about.solve_seconds = seconds_of(race, o);
        if (o != c && tct_is_in(o))
            tct_candidate_drop(o, o->driver
                                      ? "another is predicted to be faster"
                                      : "not tried: predicted to save "
                                        "little or no time");
    }
    return TACIT_OK;
}

/* The sentence of a race that ended with `status`, not OK. */
static tacit_status explain(const tct_autotuning *race, tacit_status status,
                            const tacit_stop *stop, const tacit_result *total)
{
    const bool several = total->iterations > race->best_result.iterations;
    const bool interrupted = status == TACIT_INTERRUPTED;
    char outside[360] = "", from[64] = "that of the first guess";
    if ((status != TACIT_NOT_CONVERGED && !interrupted) || !several ||
        total->stop == TACIT_STOP_SINGULAR)
        return tacit_error_set(status, "%s", race->sentence);
    if (race->S->run.system->outside)
        tct_null_sentence(total, outside, sizeof outside);
    if (!race->no_gain)
        snprintf(from, sizeof from, "reached with precond %s",
                 race->best->about.name);
    return tacit_error_set(
        status,
        "%s%s after %lld iterations of all trials: ||b - A x|| / ||b|| is "
        "%.3g, %s, wanted %.3g%s%s",
        outside, interrupted ? "interrupted" : "not converged",
        (long long)total->iterations, total->true_relative_residual, from,
        stop->rtol, stop->atol > 0 ? " or the absolute tolerance" : "",
        tct_null_is_close(total) ? tct_null_unknown(total) : "");
}

/* After a breakdown by the matrix itself those not tried would end alike. */
static void spare_others(tct_autotuning *race)
{
    for (int i = 0; i < race->count; i++)
        if (strncmp(race->candidate[i].reason, "not tried", 9) == 0)
            tct_candidate_drop(&race->candidate[i],
                               "not tried: the matrix is not positive "
                               "definite, which no preconditioner changes");
}

/* Is no x of a trial as good as the first guess? As in a solve with one
 * preconditioner, it counts neither at the iteration limit nor at the user's
 * wish. */
static bool has_no_gain(const tct_autotuning *race, tacit_status status,
                        const tacit_result *total)
{
    return race->guess && status != TACIT_INTERRUPTED &&
           total->stop != TACIT_STOP_MAX_ITERATIONS && race->first > 0.0 &&
           race->first < race->best_result.true_relative_residual;
}

/* No trial has solved: x is the best, with its numbers. */
static tacit_status take_best(tct_autotuning *race, tacit_status status,
                              double *x, tacit_result *total)
{
    tacit_result *best = &race->best_result;
    tacit_queue *q = race->S->run.q;
    const double *from = race->x;
    race->no_gain = has_no_gain(race, status, total);
    if (race->no_gain) {
        from = race->guess;
        best->relative_residual = best->true_relative_residual = race->first;
        best->attainable = 0.0; /* of another x */
    }
    if (from) q_copy(q, race->S->run.n, from, x);
    total->relative_residual = best->relative_residual;
    total->true_relative_residual = best->true_relative_residual;
    total->attainable = best->attainable;
    return tct_agree(q->world, q_own_status(q));
}

/* A vector, or NULL where a rank has no memory for it. */
static tacit_status alloc_if_room(tct_autotuning *race, double **v)
{
    tacit_queue *q = race->S->run.q;
    const tacit_status status =
        tct_agree(q->world, tacit_queue_alloc(q, race->S->run.n, v));
    if (status < 0) tacit_queue_free(q, v);
    return status == TACIT_NO_MEMORY ? TACIT_OK : status;
}

static tacit_status autotune_all(tct_autotuning *race, const double *b,
                                 double *x, const tacit_stop *stop,
                                 tacit_result *total)
{
    tct_candidate *c = NULL;
    TRY(tct_autotuning_begin(race));
    TRY(alloc_if_room(race, &race->x));
    TRY(alloc_if_room(race, &race->guess));
    if (race->guess) q_copy(race->S->run.q, race->S->run.n, x, race->guess);
    const tacit_status status = solve(race, b, x, stop, total, &c);
    if (status < 0 || !c || (status > 0 && !race->best)) return status;
    if (status == TACIT_OK && race->wish.solves > 1 && !stop->monitor_decides)
        TRY(try_others(race, b, stop, &c));
    if (status == TACIT_OK) return keep(race, c);
    TRY(keep(race, race->best));
    if (is_hopeless(status, total)) spare_others(race);
    TRY(take_best(race, status, x, total));
    return explain(race, status, stop, total);
}

static tacit_status begin(tacit_solver *S, const tacit_precond_race *wish)
{
    tct_autotuning *race = tct_calloc(sizeof *race);
    if (!race) FAIL(TACIT_NO_MEMORY, "no memory for a race of preconditioners");
    tct_free(S->race);
    S->race = race;
    race->S = S;
    if (wish)
        TRY(tct_read_sized("tacit_precond_race", wish, &race->wish,
                           sizeof race->wish));
    if (race->wish.solves < 0)
        FAIL(TACIT_INVALID, "solves: expected 1 or more, got %lld",
             (long long)race->wish.solves);
    if (race->wish.solves == 0) race->wish.solves = 1;
    if (!race->wish.loop) race->wish.loop = S->driver->about.name;
    return TACIT_OK;
}

/* Remove the solver's old preconditioner. */
static tacit_status drop_old(tacit_solver *S)
{
    TRY(tacit_solver_set_precond(S, NULL));
    tacit_operator_destroy(&S->own_M);
    return TACIT_OK;
}

tacit_status tacit_solver_race(tacit_solver *solver,
                               const tacit_precond_race *wish, const double *b,
                               double *x, const tacit_stop *stop,
                               tacit_result *result)
{
    REQUIRE(solver != NULL, result != NULL);
    if (solver->running)
        FAIL(TACIT_INVALID, "%s: a run of this solver is under way", __func__);
    tacit_solver *S = solver;
    q_enter(S->run.q);
    tacit_stop own = S->wanted;
    tacit_result total = {.breakdown_iteration = -1};
    tacit_status status = tct_check_sized("tacit_result", result);
    if (stop && status >= 0)
        status = tct_read_sized("tacit_stop", stop, &own, sizeof own);
    if (status >= 0 && own.iterations > 0)
        status = tacit_error_set(TACIT_INVALID,
                                 "a fixed number of iterations tells no "
                                 "preconditioner from another: name one");
    if (status >= 0 && own.norm == TACIT_NORM_PRECONDITIONED)
        status = tacit_error_set(
            TACIT_INVALID, "norm preconditioned is of one preconditioner, "
                           "and several are tried: name one");
    if (status >= 0) status = tct_stop_check(&own, false);
    if (status >= 0) status = begin(S, wish);
    TRY(tct_agree(S->run.q->world, status));
    status = drop_old(S);
    if (status >= 0) status = autotune_all(S->race, b, x, &own, &total);
    if (status < 0) { /* mostly of the queue */
        const char *sentence = tacit_error_message();
        (void)tacit_solver_set_precond(S, NULL);
        tct_autotuning_free(S->race);
        return tacit_error_set(status, "%s", sentence);
    }
    tct_autotuning_free(S->race);
    total.size = sizeof total;
    tct_write_sized(&total, sizeof total, result);
    return status;
}

const tacit_precond_trial *tacit_solver_trial_at(const tacit_solver *solver,
                                                 int i)
{
    const tct_autotuning *race = solver ? solver->race : NULL;
    return race && i >= 0 && i < race->count ? &race->candidate[i].about : NULL;
}

const tacit_operator *tacit_solver_precond(const tacit_solver *solver)
{
    return solver ? solver->run.M : NULL;
}
