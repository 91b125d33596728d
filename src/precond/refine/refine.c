/* SPDX-License-Identifier: BSD-3-Clause
 * precond/refine/refine.c - A X = B by M alone: x = x + M (b - A x), repeated. If M is
 * the inverse of A up to rounding, as with a factor, the first step is the
 * solve, and the others are iterative refinement.
 *
 * [Hi02] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.
 *        (2002), chapter 12: refinement in working precision makes a solve
 *        backward stable row by row.
 *
 * Columns go together, so that M is read once for all of them, and each stops
 * by itself. */
#include "precond/refine/refine.h"
#include "precond/history.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tacit/factor.h>

/* Has the factor M its rows permuted and scaled? */
static bool is_permuted(const tacit_operator *M)
{
    tacit_precond_info info = {.size = sizeof info};
    if (tacit_precond_describe(M, &info) < 0 || !info.factor_info) return false;
    return info.factor_info->trials > 0;
}

/* A factor is judged by test systems. If it is bad for one of these columns, it
 * is made again with pivots, and those are solved from the best x. */
static tacit_status pivot_if_bad(tct_refine_panel *R)
{
    tct_refine_part before[TCT_COLUMNS_MOST];
    double left = 0.0;
    bool done = false;
    char why[96];
    for (int j = 0; j < R->columns; j++)
        if (tct_refine_is_bad(&R->m[j]))
            left = fmax(left, R->m[j].result.true_relative_residual);
    if (!(left > 0.0) || R->q->peers_know || R->q->stop_agreed) return TACIT_OK;
    snprintf(why, sizeof why,
             "method direct: a right-hand side is left with ||b - A x|| / "
             "||b|| = %.1e",
             left);
    TRY(tct_precond_pivot(R->M, why, &done));
    if (!done) return TACIT_OK;
    if (R->A->world->rank == 0)
        tct_log(TCT_WARN, "%s: the matrix is factored again, with pivots", why);
    memcpy(before, R->m, sizeof before);
    R->before = before;
    R->to_the_end = is_permuted(R->M);
    const tacit_status status = tct_refine_run(R);
    R->before = NULL;
    return status;
}

static tacit_status open_panels(tct_refine_panel *R, int places)
{
    R->n = (size_t)R->A->n;
    R->stride = tct_stride(R->n);
    const size_t room = R->stride * (size_t)places;
    TRY(tacit_queue_alloc(R->q, room, &R->b));
    TRY(tacit_queue_alloc(R->q, room, &R->x));
    TRY(tacit_queue_alloc(R->q, room, &R->r));
    TRY(tacit_queue_alloc(R->q, room, &R->z));
    TRY(tacit_queue_alloc(R->q, room, &R->best));
    return tacit_queue_alloc(R->q, (size_t)places, &R->c);
}

static tacit_status run_all(tct_refine_panel *R, tacit_result *results,
                            size_t size)
{
    const int places = R->all < TCT_COLUMNS_MOST ? R->all : TCT_COLUMNS_MOST;
    tacit_status worst = TACIT_OK;
    TRY(tct_agree(R->A->world, open_panels(R, places)));
    TRY(tct_operator_columns((tacit_operator *)(uintptr_t)R->A, places));
    TRY(tct_operator_columns((tacit_operator *)(uintptr_t)R->M, places));
    R->q->stop_wanted = R->q->stop_agreed = false;
    double seconds = tct_seconds();
    for (R->first = 0; R->first < R->all; R->first += places) {
        R->columns = R->all - R->first < places ? R->all - R->first : places;
        TRY(tct_refine_run(R));
        TRY(pivot_if_bad(R));
        tct_refine_conclude(R, results, size, &worst);
    }
    seconds = tct_seconds() - seconds;
    TRY(tct_reduce_f64(R->A->world, TCT_MAX, 1, &seconds));
    for (int j = 0; j < R->all; j++) {
        tacit_result *r = tct_refine_result(results, size, j);
        if (size > offsetof(tacit_result, seconds)) r->seconds = seconds;
    }
    return worst;
}

static tacit_status check(const tct_refine_panel *R)
{
    if (R->all < 1 || !R->B || !R->X)
        FAIL(TACIT_INVALID,
             "tacit_precond_solve: %d columns, B is %s and X is %s: expected "
             "one column or more, and both",
             R->all, R->B ? "given" : "NULL", R->X ? "given" : "NULL");
    if (R->stop.norm != TACIT_NORM_RESIDUAL || R->stop.relative_to_first)
        FAIL(TACIT_INVALID, "tacit_precond_solve: stops in the Euclidean norm, "
                            "relative to b");
    TRY(tct_stop_check(&R->stop, true));
    if (R->stop.monitor_decides)
        FAIL(TACIT_INVALID, "tacit_precond_solve: a monitor that decides "
                            "belongs to tacit_solver_run");
    if (R->stop.iterations > 0)
        FAIL(TACIT_INVALID, "tacit_precond_solve: a fixed number of iterations "
                            "belongs to tacit_solver_run: set max_iterations");
    if (R->B_stride < (size_t)R->A->n || R->X_stride < (size_t)R->A->n)
        FAIL(TACIT_INVALID,
             "tacit_precond_solve: strides of %zu and %zu: expected the %lld "
             "rows of this rank or more",
             R->B_stride, R->X_stride, (long long)R->A->n);
    const size_t n = (size_t)R->A->n, last = (size_t)R->all - 1;
    if (tct_overlap(R->B, last * R->B_stride + n, R->X, last * R->X_stride + n))
        FAIL(TACIT_INVALID,
             "tacit_precond_solve: B and X share memory: X is written while B "
             "is needed, so they must be two panels");
    if (R->M->n != R->A->n || R->M->order != R->A->order)
        FAIL(TACIT_INVALID, "tacit_precond_solve: the preconditioner is not "
                            "for this operator");
    return TACIT_OK;
}

tacit_status tct_stop_check(const tacit_stop *stop, bool of_block)
{
    if (!(stop->rtol >= 0.0 && stop->atol >= 0.0))
        FAIL(TACIT_INVALID,
             "tacit_stop: rtol is %g and atol %g: expected 0 or more",
             stop->rtol, stop->atol);
    if (stop->max_iterations < 0 || stop->iterations < 0)
        FAIL(TACIT_INVALID,
             "tacit_stop: max_iterations is %lld and iterations %lld: expected "
             "0 or more",
             (long long)stop->max_iterations, (long long)stop->iterations);
    const bool told = stop->monitor || (of_block && stop->column_monitor);
    if (stop->monitor_decides && !told)
        FAIL(TACIT_INVALID, "tacit_stop: monitor_decides is set, and monitor "
                            "is NULL: give the test of convergence");
    if (stop->history_room >= 0 && (stop->history || stop->history_room == 0))
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "tacit_stop: history_room is %lld and history is %s: give both, or "
         "NULL and 0",
         (long long)stop->history_room, stop->history ? "given" : "NULL");
}

tacit_status tacit_precond_solve(const tacit_operator *A,
                                 const tacit_operator *M, int columns,
                                 const double *B, size_t B_stride, double *X,
                                 size_t X_stride, const tacit_stop *stop,
                                 tacit_result *results)
{
    REQUIRE(A != NULL, M != NULL, stop != NULL, results != NULL);
    for (int j = 0; j < columns; j++)
        TRY(tct_check_sized("tacit_result",
                            tct_refine_result(results, results->size, j)));
    tct_refine_panel R = {.A = A,
                          .M = M,
                          .q = A->q,
                          .B = B,
                          .X = X,
                          .B_stride = B_stride,
                          .X_stride = X_stride,
                          .all = columns};
    TRY(tct_read_sized("tacit_stop", stop, &R.stop, sizeof R.stop));
    R.to_the_end = is_permuted(M);
    TRY(tct_agree(A->world, check(&R)));
    q_enter(A->q);
    TRY(tct_precond_follow(M));
    tct_use uses[2];
    tct_use_begin(&uses[0], A);
    tct_use_begin(&uses[1], M);
    const tacit_status status = run_all(&R, results, results->size);
    tct_use_end(&uses[1]);
    tct_use_end(&uses[0]);
    double **const panels[] = {&R.b, &R.x, &R.r, &R.z, &R.best, &R.c};
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        tacit_queue_free(R.q, panels[i]);
    return status;
}
