/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_ends.c - how solves end, and with which numbers: a fixed number of
 * iterations, what rounding allows, the condition, the norm that
 * decides.
 *
 * RUN: np=1,3 */
#include "device/queue.h"
#include "mpi_main.h"
#include "problem.h"
#include "said.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/precond.h>

/* b is uniform in [-1, 1], the same for any number of ranks. */
static void fill(problem *p)
{
    const int64_t first = tacit_matrix_first_row(p->m);
    for (size_t i = 0; i < p->n; i++) {
        uint64_t z = (uint64_t)(first + (int64_t)i + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        p->b[i] = ldexp((double)(z >> 11), -52) - 1.0;
    }
}

/* `m` becomes the problem's. */
static void open_matrix(problem *p, tacit_matrix *m, const char *format)
{
    *p = (problem){.m = m, .result.size = sizeof p->result};
    OK(tacit_queue_create(test_world(), "host", 1, &p->q));
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    q_fill(p->q, p->n, 0.0, p->x);
    fill(p);
}

static void open_problem(problem *p, const char *matrix, const char *format)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), matrix, NULL, &m));
    open_matrix(p, m, format);
}

static tacit_status solve(problem *p, const char *method, const char *precond,
                          const tacit_stop *stop)
{
    tacit_operator *M = NULL;
    OK(tacit_precond_create_of(p->A, p->m, precond, NULL, &M));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    OK(tacit_solver_set_precond(p->s, M));
    q_fill(p->q, p->n, 0.0, p->x);
    const tacit_status status =
        tacit_solver_run(p->s, p->b, p->x, stop, &p->result);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&M);
    return status;
}

/* --- a fixed number of iterations ----------------------------------------- */

static void as_many_as_asked_for(void **state)
{
    (void)state;
    problem p;
    const tacit_method *method;
    open_problem(&p, "poisson2d:14", "csr@none");
    for (int i = 0; (method = tacit_method_at(i)) != NULL; i++)
        for (int64_t k = 7; k <= 700; k *= 10) { /* 700: far beyond rounding */
            const tacit_stop stop = {
                .size = sizeof stop, .rtol = 1e-3, .iterations = k};
            if (solve(&p, method->name, k < 700 ? "jacobi" : "none", &stop))
                fail_msg("%s: %s", method->name, tacit_error_message());
            assert_int_equal(p.result.iterations, k);
            assert_int_equal(p.result.stop, TACIT_STOP_ITERATIONS);
            assert_true(p.result.converged ==
                        (p.result.true_relative_residual <= 1e-3));
            if (k == 700) assert_true(p.result.true_relative_residual < 1e-13);
        }
    close_problem(&p);
}

/* A residual of 0, and a breakdown. */
static void what_ends_it_earlier(void **state)
{
    (void)state;
    problem p;
    const tacit_stop stop = {.size = sizeof stop, .iterations = 50};
    open_problem(&p, "poisson1d:40", "csr@none");
    q_fill(p.q, p.n, 0.0, p.b);
    OK(solve(&p, "cg", "none", &stop));
    assert_true(p.result.converged && p.result.iterations == 0);
    close_problem(&p);
    open_problem(&p, "like:nlpkkt80,4", "csr@none");
    assert_int_equal(solve(&p, "cg", "none", &stop), TACIT_BREAKDOWN);
    assert_true(p.result.iterations < 50);
    close_problem(&p);
}

static void columns_count_alike(void **state)
{
    (void)state;
    problem p;
    enum { COLUMNS = 4 };
    double *B = NULL, *X = NULL;
    tacit_result r[COLUMNS];
    const tacit_stop stop = {.size = sizeof stop, .iterations = 230};
    open_problem(&p, "poisson2d:12", "csr@none");
    OK(tacit_queue_alloc(p.q, COLUMNS * p.n, &B));
    OK(tacit_queue_alloc(p.q, COLUMNS * p.n, &X));
    for (int j = 0; j < COLUMNS; j++) {
        r[j] = (tacit_result){.size = sizeof r[j]};
        for (size_t i = 0; i < p.n; i++)
            B[(size_t)j * p.n + i] = pow(p.b[i], j + 1);
    }
    q_fill(p.q, COLUMNS * p.n, 0.0, X);
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    OK(tacit_solver_run_block(p.s, COLUMNS, B, p.n, X, p.n, &stop, r));
    for (int j = 0; j < COLUMNS; j++) {
        assert_int_equal(r[j].iterations, 230);
        assert_int_equal(r[j].stop, TACIT_STOP_ITERATIONS);
    }
    tacit_queue_free(p.q, &B);
    tacit_queue_free(p.q, &X);
    close_problem(&p);
}

static void a_count_chooses_no_preconditioner(void **state)
{
    (void)state;
    problem p;
    const tacit_stop stop = {.size = sizeof stop, .iterations = 5};
    open_problem(&p, "poisson2d:8", "csr@none");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    REFUSES(TACIT_INVALID, "name one",
            tacit_solver_race(p.s, NULL, p.b, p.x, &stop, &p.result));
    OK(tacit_solver_set(p.s, "iterations", "9"));
    q_fill(p.q, p.n, 0.0, p.x);
    OK(tacit_solver_run(p.s, p.b, p.x, NULL, &p.result));
    assert_int_equal(p.result.iterations, 9);
    OK(tacit_solver_set(p.s, "max-iterations", "3"));
    q_fill(p.q, p.n, 0.0, p.x);
    assert_int_equal(tacit_solver_run(p.s, p.b, p.x, NULL, &p.result),
                     TACIT_NOT_CONVERGED);
    assert_int_equal(tacit_solver_set(p.s, "iterations", "0"), TACIT_INVALID);
    close_problem(&p);
}

/* --- what rounding allows ------------------------------------------------- */

/* A clamped beam, fourth differences: what a factor solves as well as rounding
 * allows has a residual of 1e-5. */
static tacit_matrix *beam(int64_t n)
{
    static const double value[] = {1.0, -4.0, 6.0, -4.0, 1.0};
    const int ranks = tacit_world_size(test_world());
    const int64_t rank = tacit_world_rank(test_world());
    const int64_t first = n * rank / ranks, end = n * (rank + 1) / ranks;
    int64_t *ptr = calloc((size_t)(end - first + 1), sizeof *ptr), k = 0;
    int64_t *col = calloc((size_t)(5 * (end - first)), sizeof *col);
    double *val = calloc((size_t)(5 * (end - first)), sizeof *val);
    assert_true(ptr && col && val);
    for (int64_t i = first; i < end; i++) {
        for (int64_t j = i - 2; j <= i + 2; j++) {
            if (j < 0 || j >= n) continue;
            col[k] = j;
            val[k++] = value[j - i + 2] + (i == j && i == 0 ? 1.0 : 0.0);
        }
        ptr[i - first + 1] = k;
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, first, end - first, ptr, col,
                              val, &m));
    free(ptr);
    free(col);
    free(val);
    return m;
}

static void expect_attained(problem *p, tacit_status status, bool wanted)
{
    tacit_backward a = {.size = sizeof a};
    OK(tacit_backward_error(p->A, p->b, p->x, &a));
    assert_true(a.normwise <= 10.0 * 0x1p-52);
    assert_true(a.residual <= 10.0 * a.attainable);
    assert_int_equal(p->result.stop, TACIT_STOP_STAGNATION);
    assert_true(p->result.converged == !wanted);
    if (!wanted) {
        assert_int_equal(status, TACIT_OK);
        return;
    }
    REFUSES(TACIT_NOT_CONVERGED, "as far as rounding allows", status);
    assert_non_null(strstr(tacit_error_message(), "rounding allows about"));
}

static void rounding_ends_a_solve_well(void **state)
{
    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        problem p;
        tacit_operator *M = NULL;
        const tacit_stop stop = {.size = sizeof stop,
                                 .rtol = wanted ? 1e-18 : 0.0};
        open_problem(&p, "jump3d:8,1e3,1", "auto");
        expect_attained(&p, solve(&p, "cg", "jacobi", &stop), wanted);
        expect_attained(&p, solve(&p, "single", "none", &stop), wanted);
        close_problem(&p);
        open_matrix(&p, beam(1500), "auto");
        OK(tacit_precond_create_of(p.A, p.m, "direct", NULL, &M));
        q_fill(p.q, p.n, 0.0, p.x);
        const tacit_status status = tacit_precond_solve(
            p.A, M, 1, p.b, p.n, p.x, p.n, &stop, &p.result);
        assert_true(p.result.true_relative_residual > 1e-9);
        expect_attained(&p, status, wanted);
        tacit_operator_destroy(&M);
        close_problem(&p);
    }
}

/* y = 2 x: a function, without rows. */
static tacit_status twice(void *ctx, tacit_queue *q, const double *x, double *y)
{
    (void)q;
    const problem *p = ctx;
    for (size_t i = 0; i < p->n; i++) y[i] = 2.0 * x[i];
    return TACIT_OK;
}

/* The diagonal matrix (3, 2^-40), (1, 2^-40), ... times 2^e, two rows a rank,
 * with b of the size of 2^f. */
static void open_two_rows(problem *p, int e, int f)
{
    const int rank = tacit_world_rank(test_world());
    const int ranks = tacit_world_size(test_world());
    const int64_t ptr[] = {0, 1, 2}, col[] = {2 * rank, 2 * rank + 1};
    const double val[] = {ldexp(rank == 0 ? 3.0 : 1.0, e), ldexp(1.0, e - 40)};
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), 2 * ranks, 2 * rank, 2, ptr, col,
                              val, &m));
    open_matrix(p, m, "csr");
    p->x[0] = ldexp(1.0, f - e);
    p->x[1] = ldexp(1.0, f - e + 10);
    p->b[0] = ldexp(rank == 0 ? 4.0 : 1.0, f);
    p->b[1] = ldexp(1.0, f - 30);
}

/* By definition, with scales near the ends of the range of doubles. */
static void accuracy_is_by_definition(void **state)
{
    (void)state;
    for (int e = -900; e <= 900; e += 450)
        for (int f = -800; f <= 800; f += 400) {
            if (abs(f - e) > 1000) continue; /* x is not a double */
            problem p;
            tacit_backward a = {.size = sizeof a};
            open_two_rows(&p, e, f);
            /* r = 1 in the first row, |A| |x| 3, ||A|| ||x|| 3 2^10 */
            OK(tacit_backward_error(p.A, p.b, p.x, &a));
            assert_true(fabs(a.normwise - 1.0 / 3076.0) < 1e-18);
            assert_true(fabs(a.componentwise - 1.0 / 7.0) < 1e-15);
            p.b[0] = ldexp(tacit_world_rank(test_world()) ? 1.0 : 3.0, f);
            OK(tacit_backward_error(p.A, p.b, p.x, &a));
            assert_true(a.normwise == 0.0 && a.componentwise == 0.0);
            assert_true(a.residual == 0.0 && isfinite(a.attainable));
            p.b[1] = 0.0; /* r = A x there */
            OK(tacit_backward_error(p.A, p.b, p.x, &a));
            assert_true(a.componentwise == 1.0 && a.normwise < 1e-12);
            close_problem(&p);
        }
}

static void a_function_has_none(void **state)
{
    (void)state;
    problem p = {.n = 5};
    tacit_backward a = {.size = sizeof a};
    OK(tacit_queue_create(test_world(), "host", 1, &p.q));
    const tacit_operator_function f = {
        .size = sizeof f, .apply = twice, .ctx = &p};
    OK(tacit_operator_from_function(p.q, 5, &f, &p.A));
    OK(tacit_queue_alloc(p.q, 5, &p.b));
    OK(tacit_queue_alloc(p.q, 5, &p.x));
    q_fill(p.q, 5, 1.0, p.b);
    q_fill(p.q, 5, 1.0, p.x);
    OK(tacit_backward_error(p.A, p.b, p.x, &a));
    assert_true(isnan(a.normwise) && isnan(a.componentwise));
    assert_true(fabs(a.residual - 1.0) < 1e-15);
    a.size = 0;
    assert_int_equal(tacit_backward_error(p.A, p.b, p.x, &a), TACIT_INVALID);
    close_problem(&p);
}

/* --- norms ---------------------------------------------------------------- */

/* Points of a chain, of which the first are held by a penalty of 1e10: b is
 * large there, and the Euclidean norm looks at nothing else. */
static tacit_matrix *held_chain(int64_t n)
{
    const int ranks = tacit_world_size(test_world());
    const int64_t rank = tacit_world_rank(test_world());
    const int64_t first = n * rank / ranks, end = n * (rank + 1) / ranks;
    int64_t ptr[128] = {0}, col[384], k = 0;
    double val[384];
    for (int64_t i = first; i < end; i++) {
        for (int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            col[k] = j;
            val[k++] = j != i ? -1.0 : i == 0 ? 1e10 : 2.0;
        }
        ptr[i - first + 1] = k;
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, first, end - first, ptr, col,
                              val, &m));
    return m;
}

static void open_chain(problem *p)
{
    open_matrix(p, held_chain(90), "csr@none");
    if (tacit_world_rank(test_world()) == 0) p->b[0] = 1e10;
}

/* ||D^-1 (b - A x)|| / ||D^-1 b||, for M = D^-1 the norm sqrt(r' M r) too. */
static double scaled(const problem *p, bool root)
{
    double sums[2] = {0.0}, *t = NULL;
    OK(tacit_queue_alloc(p->q, p->n, &t));
    OK(tacit_operator_apply(p->A, p->x, t));
    for (size_t i = 0; i < p->n; i++) {
        const bool held = i == 0 && tacit_world_rank(test_world()) == 0;
        const double d = held ? 1e10 : 2.0, by = root ? sqrt(d) : d;
        sums[0] += pow((p->b[i] - t[i]) / by, 2.0);
        sums[1] += pow(p->b[i] / by, 2.0);
    }
    tacit_queue_free(p->q, &t);
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 2, sums));
    return sqrt(sums[0] / sums[1]);
}

static void the_chosen_norm_decides(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "cg", "single", "pipelined", "pipe-pr", "flexible", "sstep", "minres"};
    problem p;
    open_chain(&p);
    for (int i = 0; i < 7; i++)
        for (int norm = 0; norm < 4; norm++) {
            const tacit_stop stop = {
                .size = sizeof stop, .rtol = 1e-7, .norm = (tacit_norm)norm};
            if (solve(&p, methods[i], "jacobi", &stop))
                fail_msg("%s in norm %d: %s", methods[i], norm,
                         tacit_error_message());
            tacit_backward a = {.size = sizeof a};
            OK(tacit_backward_error(p.A, p.b, p.x, &a));
            const double is[] = {a.residual, scaled(&p, true),
                                 scaled(&p, false), a.normwise};
            assert_true(is[norm] <= 1e-7 * (1.0 + 1e-9));
            assert_true(fabs(is[norm] - p.result.measure) <= 1e-6 * is[norm]);
            if (norm == TACIT_NORM_RESIDUAL) /* and so x is wrong */
                assert_true(scaled(&p, false) > 1e-3);
        }
    close_problem(&p);
}

static void a_good_guess_is_no_solution(void **state)
{
    (void)state;
    problem p;
    tacit_stop stop = {.size = sizeof stop, .rtol = 1e-4};
    open_problem(&p, "poisson2d:20", "csr@none");
    OK(solve(&p, "cg", "none", &stop));
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_int_equal(p.result.iterations, 0); /* relative to b */
    const double before = p.result.true_relative_residual;
    stop.relative_to_first = true;
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_true(p.result.true_relative_residual <= 1.01e-4 * before);
    assert_true(p.result.measure <= 1e-4);
    close_problem(&p);
}

static void columns_are_stopped_in_a_norm(void **state)
{
    (void)state;
    problem p;
    enum { COLUMNS = 3 };
    double *B = NULL, *X = NULL;
    tacit_result r[COLUMNS];
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-7, .norm = TACIT_NORM_SCALED};
    open_chain(&p);
    OK(tacit_queue_alloc(p.q, COLUMNS * p.n, &B));
    OK(tacit_queue_alloc(p.q, COLUMNS * p.n, &X));
    for (size_t j = 0; j < COLUMNS; j++) {
        r[j] = (tacit_result){.size = sizeof r[j]};
        q_copy(p.q, p.n, p.b, B + j * p.n);
        q_scale(p.q, p.n, 1.0 + (double)j, B + j * p.n);
    }
    q_fill(p.q, COLUMNS * p.n, 0.0, X);
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    OK(tacit_solver_run_block(p.s, COLUMNS, B, p.n, X, p.n, &stop, r));
    for (size_t j = 0; j < COLUMNS; j++) {
        q_copy(p.q, p.n, X + j * p.n, p.x);
        q_scale(p.q, p.n, 1.0 / (1.0 + (double)j), p.x);
        assert_true(scaled(&p, false) <= 1.0001e-7);
    }
    tacit_queue_free(p.q, &B);
    tacit_queue_free(p.q, &X);
    close_problem(&p);
}

static void norms_that_make_no_sense(void **state)
{
    (void)state;
    problem p;
    tacit_operator *M = NULL;
    tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-6, .norm = TACIT_NORM_PRECONDITIONED};
    open_problem(&p, "poisson2d:8", "csr@none");
    REFUSES(TACIT_INVALID, "no preconditioner", solve(&p, "cg", "none", &stop));
    tacit_solver_destroy(&p.s);
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    REFUSES(TACIT_INVALID, "name one",
            tacit_solver_race(p.s, NULL, p.b, p.x, &stop, &p.result));
    stop.norm = TACIT_NORM_BACKWARD;
    stop.relative_to_first = true;
    REFUSES(TACIT_INVALID, "backward",
            tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    OK(tacit_precond_create_of(p.A, p.m, "direct", NULL, &M));
    REFUSES(
        TACIT_INVALID, "Euclidean",
        tacit_precond_solve(p.A, M, 1, p.b, p.n, p.x, p.n, &stop, &p.result));
    OK(tacit_solver_set(p.s, "norm", "backward"));
    OK(tacit_solver_set(p.s, "relative-to", "b"));
    assert_int_equal(tacit_solver_set(p.s, "norm", "backwards"), TACIT_INVALID);
    q_fill(p.q, p.n, 0.0, p.x);
    OK(tacit_solver_run(p.s, p.b, p.x, NULL, &p.result));
    tacit_operator_destroy(&M);
    close_problem(&p);
}

/* --- condition ------------------------------------------------------------ */

/* Of a grid of 20 x 20 it is known; what is found is no larger. */
static void the_condition_is_found(void **state)
{
    (void)state;
    static const char *const methods[] = {"cg", "single", "pipe-pr",
                                          "pipelined"};
    const double angle = acos(-1.0) / 42.0;
    const double right = 1.0 / (tan(angle) * tan(angle));
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-11};
    problem p;
    open_problem(&p, "poisson2d:20", "csr@none");
    OK(tacit_solver_create(p.q, p.A, "minres", &p.s));
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_true(tacit_solver_condition(p.s) == 0.0);
    tacit_solver_destroy(&p.s);
    for (int i = 0; i < 4; i++) {
        OK(tacit_solver_create(p.q, p.A, methods[i], &p.s));
        assert_true(tacit_solver_condition(p.s) == 0.0);
        for (int run = 0; run < 2; run++) {
            q_fill(p.q, p.n, 0.0, p.x);
            OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
            const double found = tacit_solver_condition(p.s);
            if (!(found > (i < 3 ? 0.75 : 0.3) * right) ||
                !(found < right * (1.0 + 1e-9)))
                fail_msg("%s: %g, not %g", methods[i], found, right);
        }
        tacit_solver_destroy(&p.s);
    }
    assert_true(tacit_solver_condition(NULL) == 0.0);
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_asked_for),
        cmocka_unit_test(what_ends_it_earlier),
        cmocka_unit_test(columns_count_alike),
        cmocka_unit_test(a_count_chooses_no_preconditioner),
        cmocka_unit_test(the_chosen_norm_decides),
        cmocka_unit_test(a_good_guess_is_no_solution),
        cmocka_unit_test(columns_are_stopped_in_a_norm),
        cmocka_unit_test(norms_that_make_no_sense),
        cmocka_unit_test(the_condition_is_found),
        cmocka_unit_test(rounding_ends_a_solve_well),
        cmocka_unit_test(accuracy_is_by_definition),
        cmocka_unit_test(a_function_has_none),
    };
    TEST_MPI_MAIN(tests);
}
