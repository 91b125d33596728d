/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_solver.c - the methods: oracles, properties, costs, failures.
 *
 * RUN: np=1,2,3,4
 */
#include "device/queue.h"
#include "methods.h"
#include "mpi_main.h"
#include "oracles.h"
#include "problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

static void open_with(problem *p, const char *spec, tacit_matrix *matrix,
                      const char *method)
{
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    p->m = matrix;
    assert_int_equal(tacit_queue_create(test_world(), spec, 1, &p->q),
                     TACIT_OK);
    assert_int_equal(tacit_operator_create(p->q, matrix, "auto", &p->A),
                     TACIT_OK);
    assert_int_equal(tacit_solver_create(p->q, p->A, method, &p->s), TACIT_OK);
    p->n = (size_t)tacit_operator_local_rows(p->A);
    assert_int_equal(tacit_queue_alloc(p->q, p->n, &p->b), TACIT_OK);
    assert_int_equal(tacit_queue_alloc(p->q, p->n, &p->x), TACIT_OK);
    assert_int_equal(tacit_queue_alloc(p->q, p->n, &p->xstar), TACIT_OK);
    q_fill(p->q, p->n, 1.0, p->b);
    q_fill(p->q, p->n, 0.0, p->x);
}

static void open_problem(problem *p, const char *spec, const char *matrix,
                         const char *method)
{
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), matrix, NULL, &m),
                     TACIT_OK);
    open_with(p, spec, m, method);
}

static tacit_status solve(problem *p, double rtol, int64_t most)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = most};
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* The diagonal matrix with `values` [n], this rank's share of it. */
static tacit_matrix *diagonal(const double *values, int64_t n)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    const int64_t first = n * rank / size, rows = n * (rank + 1) / size - first;
    int64_t *ptr = malloc((size_t)(rows + 1) * sizeof *ptr);
    int64_t *cols = malloc((size_t)(rows + 1) * sizeof *cols);
    for (int64_t i = 0; i <= rows; i++) {
        ptr[i] = i;
        cols[i] = first + i;
    }
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows, ptr,
                                            cols, values + first, &m),
                     TACIT_OK);
    free(ptr);
    free(cols);
    return m;
}

/* --- oracles -------------------------------------------------------------- */

static void iterations_match_the_oracle(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++)
        for (int m = 0; method_of(m); m++) {
            problem p;
            open_problem(&p, "host", oracles[i].matrix, method_of(m));
            assert_int_equal(solve(&p, oracles[i].eps, 0), TACIT_OK);
            /* where iterations come in blocks, to the end of the last one */
            const int64_t more = p.result.iterations - oracles[i].iterations;
            if (more < -1 || more > 1 + tacit_method_at(m)->steps)
                fail_msg("%s, %s to %g: %lld iterations, expected %d",
                         method_of(m), oracles[i].matrix, oracles[i].eps,
                         (long long)p.result.iterations, oracles[i].iterations);
            close_problem(&p);
        }
}

static void every_method_finds_the_manufactured_solution(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson2d:31x17", "elasticity3d:5",
                                           "random:500,6,3", "tet3d:8,1"};
    for (int i = 0; i < 4; i++)
        for (int m = 0; method_of(m); m++) {
            problem p;
            double norm = 0, error = 0;
            open_problem(&p, "host", matrices[i], method_of(m));
            assert_int_equal(
                tacit_operator_manufacture(p.A, p.m, 5, p.xstar, p.b),
                TACIT_OK);
            assert_int_equal(
                tacit_queue_distance(p.q, p.n, p.xstar, NULL, &norm), TACIT_OK);
            assert_true(fabs(norm - 1) < 1e-12);
            assert_int_equal(solve(&p, 1e-11, 0), TACIT_OK);
            assert_true(p.result.converged);
            assert_true(p.result.true_relative_residual <= 1e-11);
            assert_int_equal(
                tacit_queue_distance(p.q, p.n, p.x, p.xstar, &error), TACIT_OK);
            if (!(error < 1e-7))
                fail_msg("%s on %s: error %g", method_of(m), matrices[i],
                         error);
            close_problem(&p);
        }
}

/* m distinct eigenvalues: done in m steps, in exact arithmetic. */
static void distinct_eigenvalues_count_the_steps(void **state)
{
    (void)state;
    double values[60];
    for (int i = 0; i < 60; i++) values[i] = 1 + i % 5;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_with(&p, "host", diagonal(values, 60), method_of(m));
        assert_int_equal(solve(&p, 1e-10, 0), TACIT_OK);
        assert_int_equal(p.result.iterations, 5);
        close_problem(&p);
    }
}

static void easy_systems_are_not_divided_by_zero(void **state)
{
    (void)state;
    double values[9];
    for (int i = 0; i < 9; i++) values[i] = 3;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_with(&p, "host", diagonal(values, 9), method_of(m));
        assert_int_equal(solve(&p, 1e-12, 0),
                         TACIT_OK); /* b is an eigenvector */
        assert_int_equal(p.result.iterations, 1);
        assert_int_equal(solve(&p, 1e-12, 0), TACIT_OK); /* x is the solution */
        assert_int_equal(p.result.iterations, 0);
        q_fill(p.q, p.n, 0.0, p.b);
        assert_int_equal(solve(&p, 1e-12, 0), TACIT_OK); /* b = 0 */
        assert_int_equal(p.result.iterations, 0);
        double norm = 1;
        assert_int_equal(tacit_queue_distance(p.q, p.n, p.x, NULL, &norm),
                         TACIT_OK);
        assert_true(norm == 0);
        close_problem(&p);
    }
}

static void ranks_may_own_nothing(void **state)
{
    (void)state;
    const double values[2] = {2, 4};
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_with(&p, "host", diagonal(values, 2), method_of(m));
        assert_int_equal(solve(&p, 1e-12, 0), TACIT_OK);
        assert_int_equal(p.result.iterations, 2);
        close_problem(&p);
    }
}

/* --- honesty -------------------------------------------------------------- */

static void the_true_residual_decides(void **state)
{
    (void)state;
    bool lied = false;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_problem(&p, "host", "poisson2d:64", method_of(m));
        const tacit_status status = solve(&p, 2e-15, 3000);
        lied = lied || p.result.restarts > 0;
        double *r = NULL, norm = 0;
        assert_int_equal(tacit_queue_alloc(p.q, p.n, &r), TACIT_OK);
        assert_int_equal(tacit_operator_apply(p.A, p.x, r), TACIT_OK);
        assert_int_equal(tacit_queue_distance(p.q, p.n, p.b, r, &norm),
                         TACIT_OK);
        norm /= p.result.norm_b;
        assert_true(fabs(norm - p.result.true_relative_residual) <
                    1e-3 * norm + 1e-18);
        assert_true(p.result.converged == (status == TACIT_OK));
        if (p.result.converged) assert_true(norm <= 2.001e-15);
        else
            assert_true(p.result.stop == TACIT_STOP_STAGNATION ||
                        p.result.stop == TACIT_STOP_MAX_ITERATIONS);
        tacit_queue_free(p.q, &r);
        close_problem(&p);
    }
    assert_true(lied); /* or this test tests nothing */
}

static void indefinite_matrices_break_down_where_it_happens(void **state)
{
    (void)state;
    double values[20];
    for (int i = 0; i < 20; i++) values[i] = i == 13 ? -50 : 1 + i;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_with(&p, "host", diagonal(values, 20), method_of(m));
        const tacit_status status = solve(&p, 1e-10, 0);
        if (tacit_method_at(m)->indefinite) {
            assert_int_equal(status, TACIT_OK);
            close_problem(&p);
            continue;
        }
        assert_int_equal(status, TACIT_BREAKDOWN);
        assert_true(status > 0); /* x and the result are valid */
        assert_int_equal(p.result.stop, TACIT_STOP_BREAKDOWN);
        assert_string_equal(p.result.breakdown_quantity, "p'Ap");
        assert_true(p.result.breakdown_value <= 0);
        assert_in_range(p.result.breakdown_iteration, 1, 20);
        assert_non_null(strstr(tacit_error_message(), "not positive definite"));
        double norm = NAN;
        assert_int_equal(tacit_queue_distance(p.q, p.n, p.x, NULL, &norm),
                         TACIT_OK);
        assert_true(isfinite(norm));
        close_problem(&p);
    }
}

static void numbers_that_are_not_finite_are_reported(void **state)
{
    (void)state;
    double values[8] = {1, 2, 3, 4, 5, 1e300, 1e300, 1e300};
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_with(&p, "host", diagonal(values, 8), method_of(m));
        q_fill(p.q, p.n, 1e30, p.b);
        /* beside 1e300 the other eigenvalues are 0 */
        assert_int_equal(solve(&p, 1e-10, 0), tacit_method_at(m)->indefinite
                                                  ? TACIT_NOT_CONVERGED
                                                  : TACIT_BREAKDOWN);
        q_fill(p.q, p.n, NAN, p.b);
        assert_int_equal(solve(&p, 1e-10, 0), TACIT_INPUT);
        close_problem(&p);
    }
}

/* --- cost ----------------------------------------------------------------- */

static tacit_tally tally_of(problem *p, int64_t iterations)
{
    q_fill(p->q, p->n, 0.0, p->x);
    tacit_queue_clear_tally(p->q);
    assert_int_equal(solve(p, 0, iterations), TACIT_NOT_CONVERGED);
    assert_int_equal(p->result.iterations, iterations);
    return *tacit_queue_tally(p->q);
}

enum { GRID = 100 }; /* rows of one slab's side */

/* Iterations `from` + 1 to `to` cost what `cost` states, `replacements` of
 * vectors and `looks` included. */
static void check_cost(problem *p, const tacit_method *cost, int from, int to,
                       int replacements, int looks)
{
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    const int peers = (rank > 0) + (rank < size - 1); /* of a slab */
    const tacit_tally a = tally_of(p, from), b = tally_of(p, to);
    const int k = to - from, more = replacements * cost->replace_products;
    const int sums = cost->steps ? k / cost->steps : k; /* not in each */
    assert_int_equal(b.spmv.count - a.spmv.count, k * cost->products + more);
    assert_int_equal(b.reduce.count - a.reduce.count, sums * cost->reductions);
    assert_true(b.reduce.bytes - a.reduce.bytes ==
                8.0 * (sums * cost->scalars + looks));
    if (size == 1) return;
    /* a pair of products shares one exchange */
    assert_int_equal(b.exchange.count - a.exchange.count, k + more);
    assert_int_equal(b.exchange.messages - a.exchange.messages,
                     (k + more) * peers);
    assert_true(b.exchange.bytes - a.exchange.bytes ==
                8.0 * (k * cost->products + more) * peers * GRID);
}

/* Of all its iterations, not of those that another method begins with. */
static void check_costs(problem *p, const tacit_method *cost)
{
    const int first = cost->first, steps = cost->steps, look = cost->look_every;
    const int from = first + (steps ? steps : 11);
    check_cost(p, cost, from, from + (steps ? 3 * steps : 28), 0,
               look ? 2 : 0); /* not at its first iteration */
    if (cost->replace_every)
        check_cost(p, cost, first + (steps ? steps : 15),
                   first + (steps ? steps : 15) + cost->replace_every, 1,
                   look ? cost->replace_every / look : 0);
}

static void methods_cost_what_their_headers_state(void **state)
{
    (void)state;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_problem(&p, "count:host", "poisson2d:100", method_of(m));
        const tacit_method *cost = tacit_method_find(method_of(m));
        assert_non_null(cost);
        if (cost->first)
            check_cost(&p, tacit_method_find(cost->first_by), 5,
                       cost->first - 5, 0, 0);
        check_costs(&p, cost);
        close_problem(&p);
    }
}

/* --- failure and disturbance ---------------------------------------------- */

static void late_messages_and_late_execution_change_no_bit(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "host", "memcheck:host", "chaos(3):host", "chaos(8):memcheck:host",
        "late:chaos(2):host"}; /* the last not of processes */
    const int specs_here =
        test_launched_ && tacit_world_size(test_world()) > 1 ? 4 : 5;
    for (int m = 0; method_of(m); m++) {
        tacit_result first = {.size = sizeof first};
        for (int i = 0; i < specs_here; i++) {
            problem p;
            open_problem(&p, specs[i], "poisson2d:12x7", method_of(m));
            assert_int_equal(solve(&p, 1e-8, 0), TACIT_OK);
            if (i == 0) first = p.result;
            assert_int_equal(p.result.iterations, first.iterations);
            assert_memory_equal(&p.result.true_relative_residual,
                                &first.true_relative_residual, sizeof(double));
            close_problem(&p);
        }
    }
}

static void one_failure_ends_every_rank(void **state)
{
    (void)state;
    for (int m = 0; method_of(m); m++)
        for (int k = 9; k < 140; k += 13) {
            char spec[64];
            snprintf(spec, sizeof spec, "chaos(1,%d):host", k);
            problem p;
            open_problem(&p, spec, "poisson2d:12x7", method_of(m));
            const tacit_status status = solve(&p, 0, 40);
            assert_int_equal(status, TACIT_DEVICE); /* of the one that failed */
            close_problem(&p);
        }
}

static void running_never_allocates(void **state)
{
    (void)state;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_problem(&p, "host", "poisson2d:20", method_of(m));
        tct_memory_fail_at(1);
        const tacit_status status = solve(&p, 1e-8, 0);
        tct_memory_fail_at(0);
        assert_int_equal(status, TACIT_OK);
        close_problem(&p);
    }
}

/* With one link: a queue that has several does without one that fails. */
static void set_up_without_memory(const char *spec)
{
    tacit_matrix *m = NULL;
    tacit_queue *q = NULL;
    tacit_operator *first = NULL;
    assert_int_equal(
        tacit_matrix_open(test_world(), "elasticity3d:3", NULL, &m), TACIT_OK);
    assert_int_equal(tacit_queue_create(test_world(), spec, 1, &q), TACIT_OK);
    /* the matrix keeps a count of those that share its rows */
    assert_int_equal(tacit_operator_create(q, m, "sell", &first), TACIT_OK);
    tacit_operator_destroy(&first);
    const size_t before = tct_memory_blocks();
    bool finished = false;
    for (long k = 1; k < 200 && !finished; k++) {
        tacit_operator *A = NULL;
        tacit_solver *s = NULL;
        tct_memory_fail_at(k);
        tacit_status status = tacit_operator_create(q, m, "sell", &A);
        if (status == TACIT_OK) status = tacit_solver_create(q, A, "cg", &s);
        tct_memory_fail_at(0);
        finished = status == TACIT_OK;
        if (!finished) assert_int_equal(status, TACIT_NO_MEMORY);
        tacit_solver_destroy(&s);
        tacit_operator_destroy(&A);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(finished);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

static void no_memory_at_set_up_leaks_nothing(void **state)
{
    (void)state;
    const bool alone = tacit_world_size(test_world()) == 1;
    set_up_without_memory(alone ? "host" : "host@shm");
    if (!alone) set_up_without_memory("host@mpi");
}

/* --- the rest of the contract --------------------------------------------- */

static int stop_at_seven(void *ctx, int64_t iteration, double residual)
{
    int64_t *calls = ctx;
    assert_int_equal(iteration, *calls);
    assert_true(residual > 0);
    ++*calls;
    /* only the last rank asks */
    return iteration >= 7 &&
           tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
}

static void one_rank_may_stop_all(void **state)
{
    (void)state;
    for (int m = 0; method_of(m); m++) {
        problem p;
        int64_t calls = 0;
        open_problem(&p, "host", "poisson2d:40", method_of(m));
        const tacit_stop stop = {.size = sizeof stop,
                                 .rtol = 1e-8,
                                 .monitor = stop_at_seven,
                                 .monitor_ctx = &calls};
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                         TACIT_INTERRUPTED);
        assert_in_range(p.result.iterations, 7, 9);
        assert_int_equal(calls, p.result.iterations + 1);
        assert_int_equal(p.result.stop, TACIT_STOP_INTERRUPTED);
        close_problem(&p);
    }
}

static void absolute_tolerance_counts_too(void **state)
{
    (void)state;
    problem p;
    open_problem(&p, "host", "poisson2d:20", "cg");
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-14, .atol = 1e-3};
    assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                     TACIT_OK);
    assert_int_equal(p.result.stop, TACIT_STOP_ATOL);
    assert_true(p.result.true_relative_residual * p.result.norm_b <= 1e-3);
    close_problem(&p);
}

static void two_runs_give_the_same_bits(void **state)
{
    (void)state;
    for (int m = 0; method_of(m); m++) {
        problem p;
        open_problem(&p, "host", "tet3d:10,2", method_of(m));
        assert_int_equal(solve(&p, 1e-9, 0), TACIT_OK);
        const tacit_result first = p.result;
        q_fill(p.q, p.n, 0.0, p.x);
        assert_int_equal(solve(&p, 1e-9, 0), TACIT_OK);
        assert_int_equal(first.iterations, p.result.iterations);
        assert_memory_equal(&first.true_relative_residual,
                            &p.result.true_relative_residual, sizeof(double));
        close_problem(&p);
    }
}

static void new_values_replace_the_old(void **state)
{
    (void)state;
    problem p, other;
    /* the same pattern, other values */
    open_problem(&p, "host", "jump3d:6,100,1", "cg");
    open_problem(&other, "host", "jump3d:6,1000,2", "cg");
    assert_int_equal(tacit_operator_update(p.A, other.m), TACIT_OK);
    double *y = NULL, gap = 1;
    assert_int_equal(tacit_queue_alloc(p.q, p.n, &y), TACIT_OK);
    assert_int_equal(tacit_operator_apply(p.A, p.b, p.x), TACIT_OK);
    assert_int_equal(tacit_operator_apply(other.A, p.b, y), TACIT_OK);
    assert_int_equal(tacit_queue_distance(p.q, p.n, p.x, y, &gap), TACIT_OK);
    assert_true(gap == 0);
    tacit_queue_free(p.q, &y);
    problem wrong; /* the same rows, another pattern */
    open_problem(&wrong, "host", "random:216,5,1", "cg");
    assert_int_equal(tacit_operator_update(p.A, wrong.m), TACIT_INVALID);
    close_problem(&wrong);
    close_problem(&other);
    close_problem(&p);
}

static void unknown_methods_are_refused_with_the_nearest(void **state)
{
    (void)state;
    problem p;
    tacit_solver *s = NULL;
    open_problem(&p, "host", "poisson1d:9", "cg");
    assert_int_equal(tacit_solver_create(p.q, p.A, "pipelnied", &s),
                     TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "'pipelined'"));
    assert_null(s);
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_match_the_oracle),
        cmocka_unit_test(every_method_finds_the_manufactured_solution),
        cmocka_unit_test(distinct_eigenvalues_count_the_steps),
        cmocka_unit_test(easy_systems_are_not_divided_by_zero),
        cmocka_unit_test(ranks_may_own_nothing),
        cmocka_unit_test(the_true_residual_decides),
        cmocka_unit_test(indefinite_matrices_break_down_where_it_happens),
        cmocka_unit_test(numbers_that_are_not_finite_are_reported),
        cmocka_unit_test(methods_cost_what_their_headers_state),
        cmocka_unit_test(late_messages_and_late_execution_change_no_bit),
        cmocka_unit_test(one_failure_ends_every_rank),
        cmocka_unit_test(running_never_allocates),
        cmocka_unit_test(no_memory_at_set_up_leaks_nothing),
        cmocka_unit_test(one_rank_may_stop_all),
        cmocka_unit_test(absolute_tolerance_counts_too),
        cmocka_unit_test(two_runs_give_the_same_bits),
        cmocka_unit_test(new_values_replace_the_old),
        cmocka_unit_test(unknown_methods_are_refused_with_the_nearest),
    };
    TEST_MPI_MAIN(tests);
}
