/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_history.c - the history of residuals is what a monitor is told, of
 * each method, block, race and direct solve; a monitor decides that a solve has
 * converged.
 *
 * RUN: np=1,2,3 */
#include "mpi_main.h"
#include "problem.h"
#include "said.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/precond.h>

enum { ROOM = 400, COLUMNS = 3 };

static void open_problem(problem *p, const char *matrix)
{
    *p = (problem){.result.size = sizeof p->result};
    OK(tacit_matrix_open(test_world(), matrix, NULL, &p->m));
    OK(tacit_queue_create(test_world(), "host", 1, &p->q));
    OK(tacit_operator_create(p->q, p->m, "csr@none", &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, COLUMNS * p->n, &p->b));
    OK(tacit_queue_alloc(p->q, COLUMNS * p->n, &p->x));
    const int64_t first = tacit_matrix_first_row(p->m);
    for (size_t i = 0; i < COLUMNS * p->n; i++) {
        const int64_t row = first + (int64_t)(i % p->n);
        const int64_t column = (int64_t)(i / p->n);
        p->b[i] = (double)((row * (7 + column) + column) % 13 - 6);
    }
}

static void guess_zero(problem *p)
{
    memset(p->x, 0, COLUMNS * p->n * sizeof *p->x);
}

/* --- history -------------------------------------------------------------- */

/* The numbers that a monitor is told, column by column. */
typedef struct {
    double told[COLUMNS][ROOM];
    int64_t count[COLUMNS]; /* the last iteration + 1 */
} looks;

static int note_column(void *ctx, int column, int64_t k, double residual)
{
    looks *l = ctx;
    assert_true(k >= 0 && k < ROOM);
    while (l->count[column] < k) l->told[column][l->count[column]++] = NAN;
    l->told[column][k] = residual;
    l->count[column] = k + 1;
    return 0;
}

static int note(void *ctx, int64_t k, double residual)
{
    return note_column(ctx, 0, k, residual);
}

static void assert_same(const double *history, const tacit_result *r,
                        const looks *l, int column)
{
    assert_int_equal(r->history, l->count[column]);
    assert_int_equal(r->history, r->iterations + 1);
    for (int64_t k = 0; k < r->history; k++) {
        const double told = l->told[column][k];
        if (isnan(told)) assert_true(isnan(history[k]));
        else assert_true(history[k] == told);
    }
    assert_true(history[r->history - 1] == r->relative_residual);
}

static tacit_stop stop_of(looks *l, double *history)
{
    *l = (looks){0};
    for (int64_t k = 0; k < COLUMNS * ROOM; k++) history[k] = -1.0;
    return (tacit_stop){.size = sizeof(tacit_stop),
                        .rtol = 1e-8,
                        .monitor = note,
                        .monitor_ctx = l,
                        .history = history,
                        .history_room = ROOM};
}

static void of_every_method(void **state)
{
    (void)state;
    static double history[COLUMNS * ROOM];
    static looks l;
    problem p;
    const tacit_method *method;
    open_problem(&p, "poisson2d:17");
    for (int i = 0; (method = tacit_method_at(i)) != NULL; i++) {
        const tacit_stop stop = stop_of(&l, history);
        OK(tacit_solver_create(p.q, p.A, method->name, &p.s));
        guess_zero(&p);
        OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
        assert_same(history, &p.result, &l, 0);
        assert_true(history[0] == 1.0);
        assert_true(history[p.result.history] == -1.0); /* nothing beyond */
        tacit_solver_destroy(&p.s);
    }
    close_problem(&p);
}

static void of_the_columns_of_a_block(void **state)
{
    (void)state;
    static double history[COLUMNS * ROOM];
    static looks l;
    tacit_result r[COLUMNS];
    problem p;
    open_problem(&p, "poisson2d:17");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    for (int again = 0; again < 3; again++) { /* in step, and in turn */
        tacit_stop stop = stop_of(&l, history);
        stop.column_monitor = note_column;
        stop.monitor_decides = again == 2;
        for (int j = 0; j < COLUMNS; j++) r[j].size = sizeof r[j];
        guess_zero(&p);
        OK(tacit_solver_run_block(p.s, COLUMNS, p.b, p.n, p.x, p.n, &stop, r));
        for (int j = 0; j < COLUMNS; j++)
            assert_same(history + j * ROOM, &r[j], &l, j);
    }
    close_problem(&p);
}

static void of_a_race_and_of_a_direct_solve(void **state)
{
    (void)state;
    static double history[COLUMNS * ROOM];
    static looks l;
    problem p;
    open_problem(&p, "poisson3d:9");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    tacit_stop stop = stop_of(&l, history);
    const tacit_precond_race race = {.size = sizeof race, .matrix = p.m};
    guess_zero(&p);
    OK(tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
    assert_same(history, &p.result, &l, 0);
    tacit_solver_destroy(&p.s);
    if (tacit_world_size(test_world()) == 1) {
        tacit_operator *M = NULL;
        OK(tacit_precond_create_of(p.A, p.m, "direct", NULL, &M));
        stop = stop_of(&l, history);
        stop.column_monitor = note_column;
        tacit_result r[2] = {{.size = sizeof *r}, {.size = sizeof *r}};
        guess_zero(&p);
        OK(tacit_precond_solve(p.A, M, 2, p.b, p.n, p.x, p.n, &stop, r));
        for (int j = 0; j < 2; j++)
            assert_same(history + j * ROOM, &r[j], &l, j);
        stop.monitor_decides = true;
        REFUSES(TACIT_INVALID, "belongs to tacit_solver_run",
                tacit_precond_solve(p.A, M, 2, p.b, p.n, p.x, p.n, &stop, r));
        tacit_operator_destroy(&M);
    }
    close_problem(&p);
}

static void of_a_short_array(void **state)
{
    (void)state;
    double history[8] = {0};
    problem p;
    open_problem(&p, "poisson2d:17");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    tacit_stop stop = {.size = sizeof stop,
                       .rtol = 1e-8,
                       .history = history,
                       .history_room = 5};
    guess_zero(&p);
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_int_equal(p.result.history, 5);
    for (int k = 0; k < 8; k++) assert_int_equal(history[k] > 0.0, k < 5);
    memset(p.b, 0, p.n * sizeof *p.b);
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_int_equal(p.result.history, 0);
    stop.history = NULL;
    REFUSES(TACIT_INVALID, "history_room is 5 and history is NULL",
            tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    REFUSES(
        TACIT_INVALID, "history_room is 5 and history is NULL",
        tacit_solver_run_block(p.s, 1, p.b, p.n, p.x, p.n, &stop, &p.result));
    REFUSES(TACIT_INVALID, "history_room is 5 and history is NULL",
            tacit_solver_race(p.s, NULL, p.b, p.x, &stop, &p.result));
    close_problem(&p);
}

/* --- convergence by the caller's word ------------------------------------- */

typedef struct {
    double goal[COLUMNS]; /* of the residual */
    int says;             /* there */
    int64_t at[COLUMNS];  /* iteration */
} judgement;

static int judge_column(void *ctx, int column, int64_t k, double residual)
{
    judgement *j = ctx;
    if (residual > j->goal[column]) return 0;
    if (j->at[column] == 0) j->at[column] = k;
    return j->says;
}

static int judge(void *ctx, int64_t k, double residual)
{
    return judge_column(ctx, 0, k, residual);
}

/* `says` is this rank's word once the residual is 1e-3. */
static tacit_status run_until(problem *p, const char *method, int says,
                              judgement *j)
{
    *j = (judgement){.goal = {1e-3}, .says = says};
    const tacit_stop stop = {.size = sizeof stop,
                             .monitor = judge,
                             .monitor_ctx = j,
                             .monitor_decides = true};
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    guess_zero(p);
    const tacit_status status =
        tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
    tacit_solver_destroy(&p->s);
    return status;
}

/* ||b - A x|| / ||b|| of the x that was handed out. */
static double residual_of(const problem *p)
{
    tacit_backward error = {.size = sizeof error};
    OK(tacit_backward_error(p->A, p->b, p->x, &error));
    return error.residual;
}

static void a_monitor_ends_every_method(void **state)
{
    (void)state;
    problem p;
    judgement j;
    const tacit_method *method;
    const int rank = tacit_world_rank(test_world());
    open_problem(&p, "poisson2d:17");
    for (int i = 0; (method = tacit_method_at(i)) != NULL; i++)
        for (int one = 0; one < 2; one++) { /* all ranks, or the last alone */
            const bool mine = rank + 1 == tacit_world_size(test_world());
            OK(run_until(&p, method->name, !one || mine, &j));
            assert_int_equal(p.result.stop, TACIT_STOP_MONITOR);
            assert_true(p.result.converged);
            const int64_t most = j.at[0] + 2 + (method->steps ? 16 : 0);
            assert_true(p.result.iterations >= j.at[0]);
            assert_true(p.result.iterations <= most);
            const double residual = residual_of(&p);
            assert_true(residual < 3e-3 && residual > 1e-8);
            assert_true(fabs(residual - p.result.true_relative_residual) <
                        1e-9);
        }
    close_problem(&p);
}

static void a_monitor_that_interrupts(void **state)
{
    (void)state;
    problem p;
    judgement j;
    const int rank = tacit_world_rank(test_world());
    open_problem(&p, "poisson2d:17");
    assert_int_equal(run_until(&p, "cg", -1, &j), TACIT_INTERRUPTED);
    assert_int_equal(p.result.stop, TACIT_STOP_INTERRUPTED);
    /* rank 0 accepts, the others do not */
    const tacit_status status = run_until(&p, "single", rank == 0 ? 1 : -1, &j);
    const bool alone = tacit_world_size(test_world()) == 1;
    assert_int_equal(status, alone ? TACIT_OK : TACIT_INTERRUPTED);
    assert_int_equal(p.result.converged, alone);
    close_problem(&p);
}

static void columns_end_one_by_one(void **state)
{
    (void)state;
    problem p;
    judgement j = {.goal = {1e-2, 1e-6, 1e-4}, .says = 1};
    tacit_result r[COLUMNS];
    tacit_stop stop = {.size = sizeof stop,
                       .column_monitor = judge_column,
                       .monitor_ctx = &j,
                       .monitor_decides = true};
    open_problem(&p, "poisson2d:17");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    for (int c = 0; c < COLUMNS; c++) r[c].size = sizeof r[c];
    guess_zero(&p);
    OK(tacit_solver_run_block(p.s, COLUMNS, p.b, p.n, p.x, p.n, &stop, r));
    for (int c = 0; c < COLUMNS; c++) {
        assert_int_equal(r[c].stop, TACIT_STOP_MONITOR);
        assert_true(r[c].true_relative_residual < 3 * j.goal[c]);
        assert_true(r[c].true_relative_residual > 1e-2 * j.goal[c]);
    }
    if (tacit_world_size(test_world()) > 1) {
        stop.monitor_decides = tacit_world_rank(test_world()) == 0;
        REFUSES(
            TACIT_INVALID, "monitor_decides is set on some ranks",
            tacit_solver_run_block(p.s, COLUMNS, p.b, p.n, p.x, p.n, &stop, r));
    }
    close_problem(&p);
}

/* A column monitor is called for columns alone. */
static void none_that_decides_is_refused(void **state)
{
    (void)state;
    problem p;
    judgement j = {.goal = {1e-3}, .says = 1};
    tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    open_problem(&p, "poisson2d:17");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    guess_zero(&p);
    stop.monitor_decides = true;
    REFUSES(
        TACIT_INVALID, "monitor is NULL",
        tacit_solver_run_block(p.s, 1, p.b, p.n, p.x, p.n, &stop, &p.result));
    REFUSES(TACIT_INVALID, "monitor is NULL",
            tacit_solver_race(p.s, NULL, p.b, p.x, &stop, &p.result));
    stop.column_monitor = judge_column;
    stop.monitor_ctx = &j;
    REFUSES(TACIT_INVALID, "monitor is NULL",
            tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    OK(tacit_solver_run_block(p.s, 1, p.b, p.n, p.x, p.n, &stop, &p.result));
    assert_int_equal(p.result.stop, TACIT_STOP_MONITOR);
    close_problem(&p);
}

static void a_race_is_ended_too(void **state)
{
    (void)state;
    problem p;
    judgement j = {.goal = {1e-3}, .says = 1};
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-10,
                             .monitor = judge,
                             .monitor_ctx = &j,
                             .monitor_decides = true};
    open_problem(&p, "poisson3d:9");
    const tacit_precond_race race = {.size = sizeof race, .matrix = p.m};
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    guess_zero(&p);
    OK(tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
    assert_int_equal(p.result.stop, TACIT_STOP_MONITOR);
    const double residual = residual_of(&p);
    assert_true(residual < 3e-3 && residual > 1e-8);
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_method),
        cmocka_unit_test(of_the_columns_of_a_block),
        cmocka_unit_test(of_a_race_and_of_a_direct_solve),
        cmocka_unit_test(of_a_short_array),
        cmocka_unit_test(a_monitor_ends_every_method),
        cmocka_unit_test(a_monitor_that_interrupts),
        cmocka_unit_test(columns_end_one_by_one),
        cmocka_unit_test(none_that_decides_is_refused),
        cmocka_unit_test(a_race_is_ended_too),
    };
    TEST_MPI_MAIN(tests);
}
