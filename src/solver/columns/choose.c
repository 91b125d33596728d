/* SPDX-License-Identifier: BSD-3-Clause
 * solver/columns/choose.c - how many columns go in step, and whether that is
 * faster: trials decide if it is unsure. */
#include "solver/columns/lockstep.h"

/* Iterations of a trial, and the rows from which TRIAL_LONG will do on the
 * host. */
enum { TRIAL = 60, TRIAL_LONG = 5, LONG = 200000 };

static int trial_of(const tacit_solver *S)
{
    const bool gpu = S->run.q->device->kind == TCT_KIND_GPU;
    return gpu || S->most_rows < LONG ? TRIAL : TRIAL_LONG;
}

static tacit_status widen(const tacit_operator *A, int columns)
{
    if (!A) return TACIT_OK;
    return tct_operator_columns((tacit_operator *)(uintptr_t)A, columns);
}

/* Make room for `columns` columns in exchanges of the operator and in the
 * preconditioner. */
static tacit_status widen_both(const tacit_solver *S, int columns)
{
    TRY(widen(S->run.system->exact, columns));
    return widen(S->run.M, columns);
}

/* Again for a preconditioner that was made anew; without memory it is applied
 * column by column. */
static tacit_status widen_again(const tacit_solver *S, int columns)
{
    const tacit_status status = widen(S->run.M, columns);
    return status == TACIT_NO_MEMORY ? TACIT_OK : status;
}

/* As many columns at once as memory allows. */
static tacit_status make_places(tacit_solver *S, int columns)
{
    int wanted = columns < TCT_COLUMNS_MOST ? columns : TCT_COLUMNS_MOST;
    while (wanted > tct_lockstep_places(S->lockstep) && wanted > 1) {
        tct_lockstep_destroy(&S->lockstep);
        tacit_status status = tct_lockstep_create(S, wanted, &S->lockstep);
        if (status == TACIT_OK) status = widen_both(S, wanted);
        if (status != TACIT_NO_MEMORY) return status;
        tct_lockstep_destroy(&S->lockstep);
        wanted = (wanted + 1) / 2;
    }
    return TACIT_OK;
}

static void ignore(void *ctx, int column, tacit_status status,
                   const tacit_result *result)
{
    (void)ctx;
    (void)column;
    (void)status;
    (void)result;
}

static void *no_listener(void *ctx, int column)
{
    (void)column;
    return ctx;
}

/* Seconds of an iteration per column, with `columns` in step, from x = 0, which
 * all of them share; < 0: cannot. */
static double try_in_step(tacit_solver *S, int columns, const double *B,
                          size_t stride, double *x)
{
    const tct_column_batch C = {.columns = columns,
                                .B = B,
                                .B_stride = stride,
                                .X = x,
                                .stop = {.max_iterations = trial_of(S)},
                                .over = ignore,
                                .listener = no_listener};
    double seconds = 0.0;
    for (int run = 0; run < 2; run++) { /* the first warms up */
        q_fill(S->run.q, S->run.n, 0.0, x);
        if (tct_agree(S->run.q->world, q_own_status(S->run.q)) < 0) return -1.0;
        const double start = tct_seconds();
        if (tct_lockstep_run(S->lockstep, &C) < 0) return -1.0;
        seconds = tct_seconds() - start;
    }
    return seconds / columns / (trial_of(S) + 1);
}

static double try_alone(tacit_solver *S, const double *b, double *x)
{
    const tacit_stop stop = {.size = sizeof stop,
                             .max_iterations = trial_of(S)};
    tacit_result result = {.size = sizeof result};
    for (int run = 0; run < 2; run++) {
        q_fill(S->run.q, S->run.n, 0.0, x);
        if (tct_agree(S->run.q->world, q_own_status(S->run.q)) < 0) return -1.0;
        if (tacit_solver_run(S, b, x, &stop, &result) < 0) return -1.0;
    }
    return result.seconds / (trial_of(S) + 1);
}

/* Columns in step may exceed the chip or the caches where the vectors of one
 * column fit; and a matrix that fits is cheap to read again. */
static bool pays(tacit_solver *S, int columns, const double *B, size_t stride)
{
    double *x = NULL;
    tacit_world *w = S->run.q->world;
    if (tct_agree(w, tacit_queue_alloc(S->run.q, S->run.n, &x)) < 0)
        return true;
    double seconds[2] = {try_in_step(S, columns, B, stride, x),
                         try_alone(S, B, x)};
    tacit_queue_free(S->run.q, &x);
    if (tct_reduce_f64(w, TCT_MAX, 2, seconds) < 0) return true;
    tct_log(TCT_DETAIL,
            "%d columns: %.2f us an iteration and column in step, %.2f one "
            "after the other",
            columns, 1e6 * seconds[0], 1e6 * seconds[1]);
    return seconds[0] <= seconds[1];
}

tacit_status tct_lockstep_choose(tacit_solver *S, int columns, const double *B,
                                 size_t stride)
{
    if (columns == 1 || columns == S->alone_columns ||
        !S->run.system->exact->ops->apply_block || /* no gain */
        S->run.system->method->blocks) {
        tct_lockstep_destroy(&S->lockstep);
        return TACIT_OK;
    }
    if (tct_lockstep_places(S->lockstep) >= columns)
        return widen_again(S, columns);
    TRY(make_places(S, columns));
    if (!S->lockstep) return TACIT_OK;
    const int places = tct_lockstep_places(S->lockstep);
    if (tct_is_together(S->run.M)) return TACIT_OK;
    if (pays(S, columns < places ? columns : places, B, stride))
        return TACIT_OK;
    S->alone_columns = columns;
    tct_lockstep_destroy(&S->lockstep);
    TRY(widen(S->run.M, 1));
    return tct_agree(S->run.q->world, q_own_status(S->run.q));
}
