/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_outcomes.c - the ends of solves: no method breaks down by rounding
 * where cg does not, x is the best iterate, singular matrices are reported at
 * once, the number of iterations by method, and recurrences alone.
 * bench/outcomes.c runs more matrices.
 *
 * RUN: np=1,3
 * LIMIT: 500 */
#include "device/queue.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "operator/operator.h"
#include "problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/precond.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

static const char *const methods[] = {"cg",      "single",   "pipelined",
                                      "pipe-pr", "flexible", "sstep"};
enum { METHODS = 6, LIMIT = 4000 };

static void open_problem(problem *p, tacit_matrix *m)
{
    *p = (problem){.m = m, .result.size = sizeof p->result};
    OK(tacit_queue_create(test_world(), "host", 1, &p->q));
    OK(tacit_operator_create(p->q, m, "csr@none", &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    q_fill(p->q, p->n, 1.0, p->b);
}

static tacit_status solve(problem *p, const tacit_operator *M,
                          const char *method, double rtol, const char *pure)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = LIMIT};
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    OK(tacit_solver_set_precond(p->s, M));
    OK(tacit_solver_set(p->s, "pure", pure));
    q_fill(p->q, p->n, 0.0, p->x);
    const tacit_status status =
        tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
    tacit_solver_destroy(&p->s);
    return status;
}

/* ||b - A x|| / ||b||, and ||x||. */
static double residual(const problem *p, double *norm_x)
{
    double sums[3] = {0.0}, *t = NULL;
    OK(tacit_queue_alloc(p->q, p->n, &t));
    OK(tacit_operator_apply(p->A, p->x, t));
    for (size_t i = 0; i < p->n; i++) {
        sums[0] += (p->b[i] - t[i]) * (p->b[i] - t[i]);
        sums[1] += p->b[i] * p->b[i];
        sums[2] += p->x[i] * p->x[i];
    }
    tacit_queue_free(p->q, &t);
    OK(tct_reduce_f64(test_world(), TCT_SUM, 3, sums));
    *norm_x = sqrt(sums[2]);
    return sqrt(sums[0] / sums[1]);
}

static double norm_b(const problem *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) sum += p->b[i] * p->b[i];
    OK(tct_reduce_f64(test_world(), TCT_SUM, 1, &sum));
    return sqrt(sum);
}

static int64_t made(const tacit_result *r)
{
    int64_t sum = 0;
    for (int i = 0; i < TACIT_MADE_MOST && r->made[i].method; i++)
        sum += r->made[i].iterations;
    return sum;
}

/* The promises for `method` where cg ended with `cg`. */
static void check(problem *p, const tacit_operator *M, const char *name,
                  const char *method, double rtol, tacit_status cg,
                  int64_t iterations, double allowed)
{
    double norm_x;
    const tacit_status status = solve(p, M, method, rtol, "off");
    const tacit_result *r = &p->result;
    const double true_residual = residual(p, &norm_x);
    if (status != TACIT_OK && status != TACIT_NOT_CONVERGED)
        fail_msg("%s, %s to %g: %s", name, method, rtol, tacit_error_message());
    if (status != TACIT_OK && cg == TACIT_OK && iterations <= LIMIT / 2 &&
        rtol > 4.0 * allowed)
        fail_msg("%s, %s to %g, which cg meets: %s", name, method, rtol,
                 tacit_error_message());
    if (!(fabs(true_residual - r->true_relative_residual) <=
          0.01 * true_residual + 4.0 * allowed))
        fail_msg("%s, %s to %g: %g was told, x has %g", name, method, rtol,
                 r->true_relative_residual, true_residual);
    /* nothing is handed out that is worse than x_0 near the limit of
     * rounding */
    if (r->stop == TACIT_STOP_STAGNATION) assert_true(true_residual <= 1.0);
    if (r->stop == TACIT_STOP_STAGNATION) assert_true(r->attainable > 0.0);
    assert_int_equal(made(r), r->iterations);
}

static void check_all(problem *p, const char *name, const char *precond,
                      double rtol)
{
    tacit_operator *M = NULL;
    double norm_x;
    OK(tacit_precond_create_of(p->A, p->m, precond, NULL, &M));
    const tacit_status cg = solve(p, M, "cg", rtol, "off");
    const int64_t iterations = p->result.iterations;
    residual(p, &norm_x);
    const double allowed = 0x1p-52 * (p->A->norm * norm_x / norm_b(p) + 1.0);
    assert_true(cg == TACIT_OK || cg == TACIT_NOT_CONVERGED);
    for (int i = 0; i < METHODS; i++)
        check(p, M, name, methods[i], rtol, cg, iterations, allowed);
    tacit_operator_destroy(&M);
}

static const struct {
    const char *name, *precond;
    double rtol;
} real[] = {
    {"spd/685_bus.mtx.gz", "amg", 1e-12},
    {"spd/662_bus.mtx.gz", "amg", 1e-12},
    {"derived/dcpf_case6515rte.mtx.gz", "amg", 1e-12},
    {"derived/dcpf_case_ACTIVSg10k.mtx.gz", "amg", 1e-10},
    {"spd/nos2.mtx.gz", "direct", 1e-8},
    {"spd/bcsstk20.mtx.gz", "direct", 1e-8},
    {"spd/bcsstk22.mtx.gz", "jacobi", 2e-13},
    {"spd/bcsstk06.mtx.gz", "jacobi", 1e-12},
    {"spd/bcsstk03.mtx.gz", "none", 1e-8},
};

static void rounding_breaks_nothing_down(void **state)
{
    (void)state;
    char path[1024];
    const char *folder = getenv("TACIT_MATRICES");
    if (!folder || !*folder) skip();
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        problem p;
        tacit_matrix *m = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, real[i].name);
        OK(tacit_matrix_open(test_world(), path, NULL, &m));
        open_problem(&p, m);
        check_all(&p, real[i].name, real[i].precond, real[i].rtol);
        close_problem(&p);
    }
}

/* The rows of this rank of a diagonal matrix. */
static tacit_matrix *diagonal(int64_t n, double (*value)(int64_t row))
{
    tacit_world *w = test_world();
    const int ranks = tacit_world_size(w), rank = tacit_world_rank(w);
    const int64_t first = n * rank / ranks, end = n * (rank + 1) / ranks;
    int64_t ptr[512], cols[512];
    double vals[512];
    tacit_matrix *m = NULL;
    for (int64_t i = first; i < end; i++) {
        ptr[i - first] = i - first;
        cols[i - first] = i;
        vals[i - first] = value(i);
    }
    ptr[end - first] = end - first;
    OK(tacit_matrix_from_rows(w, n, first, end - first, ptr, cols, vals, &m));
    return m;
}

static double but_one(int64_t row)
{
    return row == 39 ? 0.0 : (double)(row + 1);
}

static double all_alike_but_one(int64_t row)
{
    return row == 39 ? 0.0 : 2.0;
}

/* b has a component that A has not, in a row of zeros: that is projected out. */
static void singular_matrices_are_told(void **state)
{
    (void)state;
    double (*const values[])(int64_t row) = {but_one, all_alike_but_one};
    for (int v = 0; v < 2; v++) {
        problem p;
        open_problem(&p, diagonal(40, values[v]));
        for (int i = 0; i < METHODS; i++) {
            double norm_x;
            assert_int_equal(solve(&p, NULL, methods[i], 1e-8, "off"),
                             TACIT_NOT_CONVERGED);
            assert_int_equal(p.result.stop, TACIT_STOP_SINGULAR);
            assert_non_null(strstr(tacit_error_message(), "outside its range"));
            assert_true(p.result.iterations < 200);
            assert_true(p.result.true_relative_residual <= 1e-8);
            assert_true(p.result.outside > 0.0 && p.result.outside < 1.0);
            assert_true(residual(&p, &norm_x) <= 1.0 + 1e-12);
        }
        close_problem(&p);
    }
}

static double penalty(int64_t row)
{
    return row % 5 == 0 ? 1e12 : 1.0 + (double)(row % 7);
}

/* Entries as large as penalties for boundary values. */
static void penalties_are_solved(void **state)
{
    (void)state;
    problem p;
    open_problem(&p, diagonal(100, penalty));
    for (int i = 0; i < METHODS; i++)
        OK(solve(&p, NULL, methods[i], 1e-8, "off"));
    close_problem(&p);
}

static double of_rows(int64_t row)
{
    return 1.0 + 0.01 * (double)row;
}

static double fifth_of_rows(int64_t row)
{
    return 0.2 * of_rows(row);
}

/* Steps by a preconditioner that make b - A x larger: the guess stays. */
static void refinement_keeps_the_best(void **state)
{
    (void)state;
    problem p;
    tacit_operator *A = NULL, *M = NULL;
    double norm_x;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    open_problem(&p, diagonal(40, of_rows)); /* M of another matrix: 5 A^-1 */
    tacit_matrix *fifth = diagonal(40, fifth_of_rows);
    OK(tacit_operator_create(p.q, fifth, "csr@none", &A));
    OK(tacit_precond_create_of(A, fifth, "jacobi", NULL, &M));
    q_fill(p.q, p.n, 0.0, p.x);
    assert_int_equal(
        tacit_precond_solve(p.A, M, 1, p.b, p.n, p.x, p.n, &stop, &p.result),
        TACIT_NOT_CONVERGED);
    const double told = p.result.true_relative_residual;
    assert_true(told <= 1.0);
    assert_true(fabs(residual(&p, &norm_x) - told) <= 1e-12);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&fifth);
    close_problem(&p);
}

static void methods_are_told(void **state)
{
    (void)state;
    problem p;
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), "poisson2d:60", NULL, &m));
    open_problem(&p, m);
    OK(solve(&p, NULL, "pipelined", 1e-8, "off"));
    assert_string_equal(p.result.made[0].method, "single");
    assert_int_equal(p.result.made[0].iterations, 50);
    assert_string_equal(p.result.made[1].method, "pipelined");
    assert_int_equal(made(&p.result), p.result.iterations);
    assert_null(p.result.made[2].method);
    OK(solve(&p, NULL, "sstep", 1e-8, "off"));
    assert_string_equal(p.result.made[0].method, "cg");
    assert_int_equal(p.result.made[0].iterations, 20);
    assert_string_equal(p.result.made[1].method, "sstep");
    assert_int_equal(made(&p.result), p.result.iterations);
    close_problem(&p);
}

static void pure_runs_are_the_methods_own(void **state)
{
    (void)state;
    problem p;
    open_problem(&p, diagonal(300, of_rows));
    for (int i = 0; i < METHODS; i++) {
        OK(solve(&p, NULL, methods[i], 1e-8, "on"));
        assert_string_equal(p.result.made[0].method, methods[i]);
        assert_int_equal(p.result.made[0].iterations, p.result.iterations);
        assert_null(p.result.made[1].method);
        assert_int_equal(p.result.replacements, 0);
        assert_int_equal(p.result.restarts, 0);
    }
    /* to what a recurrence alone does not come */
    assert_int_not_equal(solve(&p, NULL, "pipelined", 1e-17, "on"), TACIT_OK);
    assert_int_equal(p.result.restarts, 0);
    assert_null(p.result.rescued_by);
    close_problem(&p);
}

static void wrong_settings_are_told(void **state)
{
    (void)state;
    problem p;
    open_problem(&p, diagonal(30, of_rows));
    OK(tacit_solver_create(p.q, p.A, "sstep", &p.s));
    assert_int_equal(tacit_solver_set(p.s, "pure", "maybe"), TACIT_INVALID);
    OK(tacit_solver_set(p.s, "pure", "on"));
    assert_int_equal(tacit_solver_set(p.s, "basis", "newton"),
                     TACIT_UNSUPPORTED);
    OK(tacit_solver_set(p.s, "basis", "monomial"));
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_breaks_nothing_down),
        cmocka_unit_test(singular_matrices_are_told),
        cmocka_unit_test(penalties_are_solved),
        cmocka_unit_test(refinement_keeps_the_best),
        cmocka_unit_test(methods_are_told),
        cmocka_unit_test(pure_runs_are_the_methods_own),
        cmocka_unit_test(wrong_settings_are_told),
    };
    TEST_MPI_MAIN(tests);
}
