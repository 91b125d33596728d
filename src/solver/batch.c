/* SPDX-License-Identifier: BSD-3-Clause
 * solver/batch.c - several right-hand sides at once: what is asked of them, what
 * they come to together, and, in solve_columns, how they are solved. */
#include "solver/solver.h"
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

/* Of columns that an error does not let begin. */
static void clear_results(const block *k)
{
    const tacit_result none = {.breakdown_iteration = -1};
    for (int j = 0; j < k->columns; j++)
        tct_write_sized(&none, sizeof none, result_of(k, j));
}

/* --- what they come to ------------------------------------------------------- */

/* The worst column so far, and its sentence. */
typedef struct {
    tacit_status status;
    int column;
    char message[896];
} verdict;

/* An error is worse than any outcome; of two alike the first one stays. */
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

/* --- how they are solved ----------------------------------------------------- */

/* What tells the caller's monitor of one column. */
typedef struct {
    const tacit_stop *stop; /* the caller's */
    int column;
    bool over; /* somebody's monitor wants an end */
} listener;

static int tell(void *ctx, int64_t iteration, double relative_residual)
{
    const listener *l = ctx;
    const tacit_stop *s = l->stop;
    if (l->over) return 1;
    if (s->column_monitor)
        return s->column_monitor(s->monitor_ctx, l->column, iteration,
                                 relative_residual);
    return s->monitor ? s->monitor(s->monitor_ctx, iteration, relative_residual)
                      : 0;
}

/* One column after the other. After an interrupt those that are left look at
 * their first guess, and that is all. */
static tacit_status solve_columns(block *k)
{
    verdict worst = {.status = TACIT_OK};
    listener l = {.stop = &k->stop};
    tacit_stop stop = k->stop;
    stop.size = sizeof stop;
    stop.monitor = tell;
    stop.monitor_ctx = &l;
    double seconds = 0.0;
    for (int j = 0; j < k->columns && worst.status >= 0; j++) {
        tacit_result result = {.size = sizeof result};
        l.column = j;
        const tacit_status status = tacit_solver_run(
            k->S, k->S->run.n ? k->B + (size_t)j * k->B_stride : NULL,
            k->S->run.n ? k->X + (size_t)j * k->X_stride : NULL, &stop,
            &result);
        note(&worst, j, status);
        l.over = l.over || status == TACIT_INTERRUPTED;
        seconds += result.seconds;
        tct_write_sized(&result, sizeof result, result_of(k, j));
    }
    for (int j = 0; j < k->columns; j++) {
        tacit_result *r = result_of(k, j);
        if (r->size > offsetof(tacit_result, seconds)) r->seconds = seconds;
    }
    return conclude(&worst);
}

/* --- what is asked ----------------------------------------------------------- */

static bool is_panel(size_t n, int columns, const double *p, size_t stride)
{
    return n == 0 || (p != NULL && stride >= n &&
                      stride <= SIZE_MAX / sizeof *p / (size_t)columns);
}

/* Do the panels meet, from their first element to their last? */
static bool overlap(const block *k)
{
    const size_t n = k->S->run.n, last = (size_t)k->columns - 1;
    const uintptr_t b = (uintptr_t)k->B, x = (uintptr_t)k->X;
    return n > 0 && b < x + (last * k->X_stride + n) * sizeof *k->X &&
           x < b + (last * k->B_stride + n) * sizeof *k->B;
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
    REQUIRE(s->rtol >= 0 && s->atol >= 0 && s->max_iterations >= 0);
    TRY(check_results(k));
    if (overlap(k))
        FAIL(TACIT_INVALID,
             "tacit_solver_run_block: B and X share memory: X is written while "
             "B is needed, so they must be two panels");
    return TACIT_OK;
}

/* The same number on all ranks, or none begins. */
static tacit_status agree_on_columns(tacit_world *w, int columns)
{
    int64_t ends[2] = {columns, -(int64_t)columns};
    TRY(tct_reduce_i64(w, TCT_MAX, 2, ends));
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
    REQUIRE(solver != NULL && results != NULL);
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
    tacit_world *w = solver->run.exact->world;
    tacit_status status = TACIT_OK;
    if (stop)
        status = tct_read_sized("tacit_stop", stop, &k.stop, sizeof k.stop);
    if (status >= 0) status = check(&k);
    TRY(tct_agree(w, status));
    TRY(agree_on_columns(w, columns));
    clear_results(&k);
    return solve_columns(&k);
}
