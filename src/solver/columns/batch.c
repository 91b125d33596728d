/* SPDX-License-Identifier: BSD-3-Clause
 * solver/columns/batch.c - several right-hand sides at once: checks of the
 * arguments, the joint status, and, in solve_columns, the ways to solve
 * them. */
#include "precond/history.h"
#include "precond/precond.h"
#include "solver/columns/lockstep.h"
#include "solver/norms.h"
#include "solver/singular.h"
#include <stdio.h>
#include <string.h>

/* The columns of one call. */
typedef struct {
    tacit_solver *S;
    int columns;
    const double *B;
    double *X;
    size_t B_stride, X_stride;
    tacit_stop stop;
    char
        *results; /* [columns][result_size]: the caller's header may be older */
    size_t result_size;
} block;

static tacit_result *result_of(const block *k, int column)
{
    return (tacit_result *)(void *)(k->results +
                                    (size_t)column * k->result_size);
}

/* Results of columns that did not begin, after an error. */
static void clear_results(const block *k)
{
    const tacit_result none = {.breakdown_iteration = -1};
    for (int j = 0; j < k->columns; j++)
        tct_write_sized(&none, sizeof none, result_of(k, j));
}

/* --- status --------------------------------------------------------------- */

/* The worst column so far, and its message. */
typedef struct {
    tacit_status status;
    int column;
    char message[896];
} verdict;

/* An error is worse than any outcome; of two equal ones the first stays. */
static bool is_worse(tacit_status a, tacit_status b)
{
    if (a < 0 || b < 0) return a < 0 && b >= 0;
    return a > b;
}

static void note(verdict *v, int column, tacit_status status)
{
    if (!is_worse(status, v->status)) return;
    v->status = status;
    v->column = column;
    snprintf(v->message, sizeof v->message, "%s", tacit_error_message());
}

static tacit_status conclude(const verdict *v)
{
    if (v->status == TACIT_OK) return TACIT_OK;
    FAIL(v->status, "column %d: %s", v->column + 1, v->message);
}

/* --- ways to solve -------------------------------------------------------- */

/* Passes one column's progress to the caller's monitor. */
typedef struct {
    struct work *all;
    int column;
    int64_t history; /* elements of the caller's that are set */
} listener;

typedef struct work {
    block *k;
    verdict worst;
    listener *listeners; /* [columns]                      */
    bool over;           /* a monitor wants to stop */
} work;

static int tell(void *ctx, int64_t iteration, double relative_residual)
{
    listener *l = ctx;
    const tacit_stop *s = &l->all->k->stop;
    tct_history_note(s, l->column, iteration, relative_residual, &l->history);
    if (l->all->over) return -1;
    if (s->column_monitor)
        return s->column_monitor(s->monitor_ctx, l->column, iteration,
                                 relative_residual);
    return s->monitor ? s->monitor(s->monitor_ctx, iteration, relative_residual)
                      : 0;
}

static void *listener_of(void *ctx, int column)
{
    return &((work *)ctx)->listeners[column];
}

static void over(void *ctx, int column, tacit_status status,
                 const tacit_result *result)
{
    work *w = ctx;
    tacit_result own = *result;
    note(&w->worst, column, status);
    w->over = w->over || status == TACIT_INTERRUPTED;
    own.history = w->listeners[column].history;
    tct_write_sized(&own, sizeof own, result_of(w->k, column));
}

/* Columns one by one. After an interrupt the others only check their first
 * guess. */
static tacit_status solve_in_turn(work *w, tct_column_batch *C)
{
    const block *k = w->k;
    for (int j = C->first; j < k->columns; j++) {
        tacit_result result = {.size = sizeof result};
        C->stop.monitor_ctx = listener_of(w, j);
        const size_t at = (size_t)j;
        const bool rows = k->S->run.n > 0;
        const tacit_status status = tacit_solver_run(
            k->S, rows ? k->B + at * k->B_stride : NULL,
            rows ? k->X + at * k->X_stride : NULL, &C->stop, &result);
        over(w, j, status, &result);
        if (status < 0) return status;
    }
    return TACIT_OK;
}

/* Blocks of columns of nearly equal size. */
static tacit_status solve_in_step(work *w, tct_column_batch *C)
{
    const int places = tct_lockstep_places(w->k->S->lockstep);
    const int blocks = (w->k->columns + places - 1) / places;
    for (int i = 0; i < blocks; i++) {
        const int64_t columns = w->k->columns;
        C->first = (int)(columns * i / blocks);
        C->columns = (int)(columns * (i + 1) / blocks) - C->first;
        tct_solver_uses uses;
        tct_operator_settle(w->k->S->run.system->exact);
        tct_solver_begin(w->k->S, &uses);
        const tacit_queue *q = w->k->S->run.q;
        const double before = tct_set_timeout(q->world, q->timeout);
        const tacit_status status = tct_lockstep_run(w->k->S->lockstep, C);
        q->world->timeout = before;
        tct_solver_end(w->k->S, &uses);
        TRY(status);
    }
    return TACIT_OK;
}

static tacit_status solve_columns(work *w)
{
    block *k = w->k;
    tct_column_batch C = {.B = k->B,
                          .X = k->X,
                          .B_stride = k->B_stride,
                          .X_stride = k->X_stride,
                          .stop = k->stop,
                          .ctx = w,
                          .listener = listener_of,
                          .over = over};
    C.stop.size = sizeof C.stop;
    C.stop.monitor = tell;
    C.stop.history = NULL; /* `tell` keeps it */
    C.stop.history_room = 0;
    for (int j = 0; j < k->columns; j++) w->listeners[j] = (listener){w, j, 0};
    const double start = tct_seconds();
    const bool in_step = k->S->lockstep && !k->stop.monitor_decides;
    const tacit_status status =
        in_step ? solve_in_step(w, &C) : solve_in_turn(w, &C);
    if (status < 0) return w->worst.status < 0 ? conclude(&w->worst) : status;
    double seconds = tct_seconds() - start;
    TRY(tct_reduce_f64(k->S->run.q->world, TCT_MAX, 1, &seconds));
    for (int j = 0; j < k->columns; j++) {
        tacit_result *r = result_of(k, j);
        if (r->size > offsetof(tacit_result, seconds)) r->seconds = seconds;
    }
    return conclude(&w->worst);
}

static tacit_status solve(block *k)
{
    work w = {.k = k, .worst = {.status = TACIT_OK}};
    tacit_status status = TCT_ALLOC(k->columns, "the columns", &w.listeners);
    status = tct_agree(k->S->run.q->world, status);
    if (status >= 0 && !k->stop.monitor_decides)
        status = tct_lockstep_choose(k->S, k->columns, k->B, k->B_stride);
    if (status >= 0) status = solve_columns(&w);
    tct_free(w.listeners);
    return status;
}

/* --- arguments ------------------------------------------------------------ */

static bool is_panel(size_t n, int columns, const double *p, size_t stride)
{
    return n == 0 || (p != NULL && stride >= n &&
                      stride <= SIZE_MAX / sizeof *p / (size_t)columns);
}

/* Do the panels overlap, from their first element to their last? */
static bool overlap(const block *k)
{
    const size_t n = k->S->run.n, last = (size_t)k->columns - 1;
    return n > 0 && tct_overlap(k->B, last * k->B_stride + n, k->X,
                                last * k->X_stride + n);
}

static tacit_status check_results(const block *k)
{
    for (int j = 0; j < k->columns; j++) {
        TRY(tct_check_sized("tacit_result", result_of(k, j)));
        if (result_of(k, j)->size != k->result_size)
            FAIL(TACIT_INVALID,
                 "tacit_solver_run_block: the results of columns 1 and %d have "
                 "two sizes, %zu and %zu: set both to sizeof(tacit_result)",
                 j + 1, k->result_size, result_of(k, j)->size);
    }
    return TACIT_OK;
}

static tacit_status check(const block *k)
{
    const size_t n = k->S->run.n;
    if (k->columns < 1)
        FAIL(TACIT_INVALID,
             "tacit_solver_run_block: %d columns: there must be one at least",
             k->columns);
    if (!is_panel(n, k->columns, k->B, k->B_stride) ||
        !is_panel(n, k->columns, k->X, k->X_stride))
        FAIL(TACIT_INVALID,
             "tacit_solver_run_block: B and X must be there, and their strides "
             "not less than the %zu rows of this rank",
             n);
    const tacit_stop *s = &k->stop;
    TRY(tct_stop_check(s, true));
    TRY(check_results(k));
    if (overlap(k))
        FAIL(TACIT_INVALID,
             "tacit_solver_run_block: B and X share memory: X is written while "
             "B is needed, so they must be two panels");
    return TACIT_OK;
}

/* All ranks must give the same number, and let the monitor decide or not. */
static tacit_status agree_on_columns(tacit_world *w, int columns, bool decides)
{
    int64_t ends[4] = {columns, -(int64_t)columns, decides, -(int64_t)decides};
    TRY(tct_reduce_i64(w, TCT_MAX, 4, ends));
    if (ends[2] != -ends[3])
        FAIL(TACIT_INVALID, "tacit_solver_run_block: monitor_decides is set on "
                            "some ranks: give all of them the same");
    if (ends[0] == -ends[1]) return TACIT_OK;
    FAIL(
        TACIT_INVALID,
        "tacit_solver_run_block: %lld columns on one rank and %lld on another: "
        "give all of them the same number",
        (long long)-ends[1], (long long)ends[0]);
}

tacit_status tacit_solver_run_block(tacit_solver *solver, int columns,
                                    const double *B, size_t B_stride, double *X,
                                    size_t X_stride, const tacit_stop *stop,
                                    tacit_result *results)
{
    REQUIRE(solver != NULL, results != NULL);
    if (solver->running)
        FAIL(TACIT_INVALID, "%s: a run of this solver is under way", __func__);
    block k = {.S = solver,
               .columns = columns,
               .B = B,
               .B_stride = B_stride,
               .X = X,
               .X_stride = X_stride,
               .stop = solver->wanted,
               .results = (char *)results,
               .result_size = results->size};
    tacit_world *w = solver->run.system->exact->world;
    tacit_status status = TACIT_OK;
    q_enter(solver->run.q);
    if (stop)
        status = tct_read_sized("tacit_stop", stop, &k.stop, sizeof k.stop);
    if (status >= 0) status = check(&k);
    TRY(tct_agree(w, status));
    TRY(tct_agree(w, tct_norm_open(solver, &k.stop)));
    TRY(agree_on_columns(w, columns, k.stop.monitor_decides));
    TRY(tct_agree(w, tct_singular_open(&solver->run)));
    TRY(tct_precond_follow(solver->run.M));
    clear_results(&k);
    return solve(&k);
}
