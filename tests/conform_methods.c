/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_methods.c - every method with every preconditioner in every
 * available loop: begin and end of runs, their results, and that neither
 * decorators nor an earlier run change a bit.
 *
 * RUN: np=1,3
 * DEVICE: each */
#include "dealt.h"
#include "decorated.h"

/* --- problems ------------------------------------------------------------- */

typedef struct {
    char what[160];
    const tacit_method *method;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    tacit_solver *s;
    double *b, *x;
    size_t n;
    tacit_result result;
} problem;

/* With b = 1 and x = 0. */
static void open_problem(problem *p, const char *spec, tacit_matrix *m,
                         const char *method)
{
    *p = (problem){.m = m, .result = {.size = sizeof p->result}};
    p->method = tacit_method_find(method);
    p->q = open_queue(spec);
    OK(tacit_operator_create(p->q, m, "sell@none", &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static void close_problem(problem *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
    tacit_matrix_destroy(&p->m);
}

/* Set what is listed; false where it cannot be had, with a reason. */
static bool have(problem *p, const char *name, const char *value)
{
    const tacit_status status = tacit_solver_set(p->s, name, value);
    const size_t at = strlen(p->what);
    snprintf(p->what + at, sizeof p->what - at, ", %s %s", name, value);
    if (status == TACIT_OK) return true;
    if (status != TACIT_UNSUPPORTED || strlen(tacit_error_message()) < 10)
        fail_msg("%s: %s: %s", p->what, tacit_status_name(status),
                 tacit_error_message());
    return false;
}

typedef void (*check_fn)(problem *p);

/* Hand each method with each preconditioner in each loop to `check`; what makes
 * a matrix makes it anew. */
static void everywhere(const char *spec, tacit_matrix *(*make)(void),
                       check_fn check)
{
    int checked = 0;
    for (int i = 0; tacit_method_at(i); i++)
        for (int k = 0; tacit_precond_at(k); k++)
            for (int l = 0; tacit_loop_at(l); l++) {
                problem p;
                open_problem(&p, spec, make(), tacit_method_at(i)->name);
                snprintf(p.what, sizeof p.what, "%s, %s", spec,
                         tacit_method_at(i)->name);
                const bool takes =
                    have(&p, "precond", tacit_precond_at(k)->name);
                if (takes && have(&p, "loop", tacit_loop_at(l)->name)) {
                    check(&p);
                    checked++;
                }
                close_problem(&p);
                if (!takes) break; /* nor in another loop */
            }
    assert_true(checked >= 2 * 5);
}

static tacit_matrix *grid(void)
{
    return gallery_matrix("poisson2d:9x7");
}

/* --- runs ----------------------------------------------------------------- */

static tacit_status solve(problem *p, double rtol, int64_t most)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = most};
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* ||b - A x|| / ||b|| as anyone can form it. */
static double residual_of(problem *p)
{
    double *r = poisoned_vector(p->q, p->n), norm = NAN, size = NAN;
    OK(tacit_operator_apply(p->A, p->x, r));
    OK(tacit_queue_distance(p->q, p->n, p->b, r, &norm));
    OK(tacit_queue_distance(p->q, p->n, p->b, NULL, &size));
    tacit_queue_free(p->q, &r);
    return norm / size;
}

/* What is true of every result. */
static void check_result(problem *p, tacit_status status)
{
    const tacit_result *r = &p->result;
    const double residual = residual_of(p);
    if (!(fabs(residual - r->true_relative_residual) <=
          1e-3 * residual + 1e-15))
        fail_msg("%s: residual %g, said to be %g", p->what, residual,
                 r->true_relative_residual);
    assert_true(r->converged == (status == TACIT_OK));
    if (r->stop != TACIT_STOP_STAGNATION)
        assert_true(r->converged ==
                    (r->stop == TACIT_STOP_RTOL || r->stop == TACIT_STOP_ATOL));
    assert_true((r->stop == TACIT_STOP_INTERRUPTED) ==
                (status == TACIT_INTERRUPTED));
    assert_int_equal(r->breakdown_iteration, -1);
    assert_null(r->breakdown_quantity);
    assert_true(!r->rescued_by || tacit_method_find(r->rescued_by));
    assert_int_equal(r->bits, 64);
    assert_true(r->seconds >= 0.0 && r->iterations >= 0);
    double n = (double)p->n, norm = 0.0;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &n));
    OK(tacit_queue_distance(p->q, p->n, p->b, NULL, &norm));
    assert_true(fabs(norm - r->norm_b) <= 1e-12 * norm);
    int loops = 0;
    for (int l = 0; tacit_loop_at(l); l++)
        loops += !strcmp(tacit_loop_at(l)->name, r->loop);
    assert_int_equal(loops, 1);
    if (status != TACIT_OK) assert_true(strlen(tacit_error_message()) > 20);
}

/* --- beginnings ----------------------------------------------------------- */

static int count_calls(void *ctx, int64_t iteration, double residual)
{
    (void)residual;
    assert_int_equal(iteration, *(int *)ctx);
    ++*(int *)ctx;
    return 0;
}

static void check_zeros(problem *p)
{
    int calls = 0;
    const tacit_stop stop = {
        .size = sizeof stop, .monitor = count_calls, .monitor_ctx = &calls};
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 3.0, p->x));
    OK(tacit_solver_run(p->s, p->b, p->x, &stop, &p->result));
    assert_int_equal(calls, 0);
    assert_int_equal(p->result.iterations, 0);
    assert_true(p->result.converged && p->result.norm_b == 0.0);
    assert_int_equal(p->result.breakdown_iteration, -1);
    assert_int_equal(p->result.bits, 64);
    assert_non_null(strstr(p->what, p->result.loop));
    double *x = host_copy(p->q, p->n, p->x);
    for (size_t i = 0; i < p->n; i++) assert_true(x[i] == 0.0);
    free(x);
}

static void zeros_are_solved_by_zeros(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_zeros);
}

/* Whole numbers: A x is exact, and so is the guess. */
static void check_exact(problem *p)
{
    int calls = 0;
    const tacit_stop stop = {
        .size = sizeof stop, .monitor = count_calls, .monitor_ctx = &calls};
    double *x = host_vector(p->n, 0.0);
    for (size_t i = 0; i < p->n; i++) x[i] = (double)(i * 7 % 11) - 4.0;
    OK(tacit_queue_put(p->q, p->n, x, p->x));
    OK(tacit_operator_apply(p->A, p->x, p->b));
    OK(tacit_solver_run(p->s, p->b, p->x, &stop, &p->result));
    assert_int_equal(calls, 1);
    assert_int_equal(p->result.iterations, 0);
    assert_true(p->result.true_relative_residual == 0.0);
    double *after = host_copy(p->q, p->n, p->x);
    for (size_t i = 0; i < p->n; i++) assert_true(x[i] == after[i]);
    check_result(p, TACIT_OK);
    free(x);
    free(after);
}

static void exact_guesses_stay(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_exact);
}

/* --- ends ----------------------------------------------------------------- */

static void check_limits(problem *p)
{
    for (int most = 1; most <= 6; most++) {
        int calls = 0;
        const tacit_stop stop = {.size = sizeof stop,
                                 .max_iterations = most,
                                 .monitor = count_calls,
                                 .monitor_ctx = &calls};
        OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
        const tacit_status status =
            tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
        if (status != TACIT_NOT_CONVERGED || p->result.iterations != most ||
            p->result.stop != TACIT_STOP_MAX_ITERATIONS || calls != most + 1)
            fail_msg("%s: %s after %d iterations of %d and %d calls", p->what,
                     tacit_status_name(status), (int)p->result.iterations, most,
                     calls);
        check_result(p, status);
    }
}

static void limits_are_kept(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_limits);
}

typedef struct {
    const problem *p;
    int64_t at, last, calls;
    double sum;
} stopper;

static int stop_at(void *ctx, int64_t iteration, double residual)
{
    stopper *s = ctx;
    /* of a block of iterations only the last is told */
    if (s->p->method->steps > 0 ? iteration <= s->last
                                : iteration != s->last + 1)
        fail_msg("%s: iteration %d comes after %d, the end is wished at %d",
                 s->p->what, (int)iteration, (int)s->last, (int)s->at);
    s->last = iteration;
    s->calls++;
    s->sum += residual * (double)s->calls;
    return iteration == s->at &&
           tacit_world_rank(test_world()) ==
               iteration % 2 % tacit_world_size(test_world());
}

/* One rank's wish is everybody's, soon, and all have seen the same numbers. */
static void check_stops(problem *p)
{
    for (int at = 0; at < 5; at++) {
        stopper s = {.p = p, .at = at, .last = -1};
        const tacit_stop stop = {
            .size = sizeof stop, .monitor = stop_at, .monitor_ctx = &s};
        OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
        const tacit_status status =
            tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
        const bool late = strcmp(TEST_DEVICE, "host") != 0;
        if (status != TACIT_INTERRUPTED || p->result.iterations < at ||
            (!late && p->result.iterations > at + 2))
            fail_msg("%s: %s after %d iterations, asked for after %d", p->what,
                     tacit_status_name(status), (int)p->result.iterations, at);
        double seen[4] = {s.sum, -s.sum, (double)s.calls, -(double)s.calls};
        OK(tacit_world_reduce(test_world(), TACIT_MAX, 4, seen));
        assert_true(seen[0] == -seen[1] && seen[2] == -seen[3]);
        check_result(p, status);
    }
}

static void anybody_may_stop_at_any_time(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_stops);
}

/* No tolerance at all: as far as it goes, and then the truth. */
static void check_no_tolerance(problem *p)
{
    stopper s = {.p = p, .at = INT64_MAX, .last = -1};
    const tacit_stop stop = {.size = sizeof stop,
                             .max_iterations = 400,
                             .monitor = stop_at,
                             .monitor_ctx = &s};
    const tacit_status status =
        tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
    if (status < 0 || status == TACIT_BREAKDOWN)
        fail_msg("%s: %s: %s", p->what, tacit_status_name(status),
                 tacit_error_message());
    check_result(p, status);
    if (s.last != p->result.iterations)
        fail_msg("%s: told of iteration %d last, after %d", p->what,
                 (int)s.last, (int)p->result.iterations);
    if (!(p->result.true_relative_residual <= 1e-14))
        fail_msg("%s: residual %g after %d iterations", p->what,
                 p->result.true_relative_residual, (int)p->result.iterations);
    if (status == TACIT_OK && p->result.stop != TACIT_STOP_STAGNATION)
        assert_true(residual_of(p) == 0.0);
}

static void without_tolerance_they_end_all_the_same(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_no_tolerance);
}

static void check_bad_b(problem *p)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    const int last = tacit_world_size(test_world()) - 1;
    for (int k = 0; k < 3; k++) {
        double *b = host_vector(p->n, 1.0);
        if (tacit_world_rank(test_world()) == last) b[p->n - 1] = bad[k];
        OK(tacit_queue_put(p->q, p->n, b, p->b));
        EXPECT(TACIT_INPUT, solve(p, 1e-8, 0));
        assert_non_null(strstr(tacit_error_message(), "finite"));
        free(b);
    }
    EXPECT(TACIT_INVALID, tacit_solver_run(p->s, p->x, p->x, NULL, &p->result));
    tacit_result none = {0};
    EXPECT(TACIT_INVALID, tacit_solver_run(p->s, p->b, p->x, NULL, &none));
    const tacit_stop no_size = {.rtol = 1e-8};
    EXPECT(TACIT_INVALID,
           tacit_solver_run(p->s, p->b, p->x, &no_size, &p->result));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b)); /* and it works still */
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(solve(p, 1e-8, 0));
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_bad_b);
}

/* --- the same bits -------------------------------------------------------- */

/* x of b = 1 from 0, and after how many iterations. */
static double *solution(problem *p, int64_t *iterations)
{
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(solve(p, 1e-9, 0));
    *iterations = p->result.iterations;
    return host_copy(p->q, p->n, p->x);
}

static void expect_solution(problem *p, const double *x, int64_t iterations,
                            const char *after)
{
    int64_t again = -1;
    double *y = solution(p, &again);
    if (again != iterations || !same_bits(x, y, p->n))
        fail_msg("%s: %lld iterations %s, %lld before", p->what,
                 (long long)again, after, (long long)iterations);
    free(y);
}

/* A run leaves nothing behind that the next one would notice. */
static void check_again(problem *p)
{
    int64_t iterations = 0;
    double *x = solution(p, &iterations);
    expect_solution(p, x, iterations, "again");
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    EXPECT(TACIT_NOT_CONVERGED, solve(p, 0.0, 3));
    expect_solution(p, x, iterations, "after a limit");
    stopper s = {.p = p, .at = 1, .last = -1};
    const tacit_stop stop = {
        .size = sizeof stop, .monitor = stop_at, .monitor_ctx = &s};
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    EXPECT(TACIT_INTERRUPTED,
           tacit_solver_run(p->s, p->b, p->x, &stop, &p->result));
    expect_solution(p, x, iterations, "after an interruption");
    OK(tacit_queue_fill(p->q, p->n, INFINITY, p->b));
    EXPECT(TACIT_INPUT, solve(p, 1e-8, 0));
    expect_solution(p, x, iterations, "after bad input");
    assert_true(solve(p, 0.0, 300) >= 0); /* goes on from the solution */
    expect_solution(p, x, iterations, "after stagnation");
    OK(tacit_solver_set(p->s, "rtol", "1e-9"));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(tacit_solver_run(p->s, p->b, p->x, NULL, &p->result));
    assert_int_equal(p->result.iterations, iterations);
    free(x);
}

static void runs_leave_nothing_behind(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_again);
}

/* b times a power of 2 is solved by x times that. */
static void check_powers(problem *p)
{
    static const int powers[] = {-900, -31, 1, 64, 900};
    int64_t iterations = 0;
    double *x = solution(p, &iterations);
    for (int k = 0; k < 5; k++) {
        OK(tacit_queue_fill(p->q, p->n, ldexp(1.0, powers[k]), p->b));
        OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
        OK(solve(p, 1e-9, 0));
        double *y = host_copy(p->q, p->n, p->x);
        for (size_t i = 0; i < p->n; i++)
            if (y[i] != ldexp(x[i], powers[k]))
                fail_msg("%s: b times 2^%d: x is %g times %.17g, not %.17g",
                         p->what, powers[k], ldexp(1.0, powers[k]),
                         ldexp(y[i], -powers[k]), x[i]);
        assert_int_equal(p->result.iterations, iterations);
        free(y);
    }
    free(x);
}

static void powers_of_two_are_only_powers(void **state)
{
    (void)state;
    everywhere(TEST_DEVICE, grid, check_powers);
}

static void be_silent(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    (void)text;
}

static const char *decorated; /* what stands before the device */

static void check_decorated(problem *p)
{
    problem plain;
    int64_t iterations = 0;
    char spec[64];
    if (strstr(p->what, "loop host") == NULL) return;
    double *x = solution(p, &iterations);
    snprintf(spec, sizeof spec, "%s:" TEST_DEVICE, decorated);
    open_problem(&plain, spec, grid(), p->method->name);
    snprintf(plain.what, sizeof plain.what, "%s, %s", spec, p->method->name);
    if (strstr(p->what, "jacobi")) have(&plain, "precond", "jacobi");
    tacit_set_log(be_silent, NULL);
    expect_solution(&plain, x, iterations, decorated);
    tacit_set_log(NULL, NULL);
    close_problem(&plain);
    free(x);
}

/* Each alone, and all of them together. */
static void decorators_change_no_bit(void **state)
{
    (void)state;
    char all[128] = "";
    for (int k = 0; tacit_decorator_at(k) || all[0]; k++) {
        const tacit_decorator *d = tacit_decorator_at(k);
        char one[32], spec[160];
        tacit_queue *q = NULL;
        if (d) snprintf(one, sizeof one, "%s%s", d->name, argument_of(d->name));
        decorated = d ? one : all;
        snprintf(spec, sizeof spec, "%s:" TEST_DEVICE, decorated);
        if (tacit_queue_create(test_world(), spec, 1, &q) == TACIT_UNSUPPORTED)
            continue; /* memcheck and late are for the host */
        tacit_queue_destroy(&q);
        everywhere(TEST_DEVICE, grid, check_decorated);
        if (!d) break;
        const size_t at = strlen(all);
        snprintf(all + at, sizeof all - at, "%s%s", at ? ":" : "", one);
    }
}

/* --- small systems -------------------------------------------------------- */

/* 4 on the diagonal, and -1 beside it, of 1 to 7 rows, some ranks without. */
static int small_case;

static double second_difference(int seed, int64_t i, int64_t j)
{
    (void)seed;
    return i == j ? 4.0 : -1.0;
}

static tacit_matrix *small_matrix(void)
{
    const formula f = {small_case % 2 ? DIAGONAL : LINE, 1 + small_case / 2, 1,
                       second_difference};
    return dealt(&f, (deal)(small_case % DEALS));
}

static void check_small(problem *p)
{
    OK(solve(p, 1e-10, 100));
    check_result(p, TACIT_OK);
    const int done = (int)p->result.iterations; /* of 4 I one */
    if (small_case % 2 ? done != 1 : done > tacit_matrix_global_rows(p->m) + 1)
        fail_msg("%s, case %d: %d iterations, stop %d", p->what, small_case,
                 done, (int)p->result.stop);
}

static void small_systems_are_solved(void **state)
{
    (void)state;
    for (small_case = 0; small_case < 14; small_case++)
        everywhere(TEST_DEVICE, small_matrix, check_small);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_solved_by_zeros),
        cmocka_unit_test(exact_guesses_stay),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(anybody_may_stop_at_any_time),
        cmocka_unit_test(without_tolerance_they_end_all_the_same),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(runs_leave_nothing_behind),
        cmocka_unit_test(powers_of_two_are_only_powers),
        cmocka_unit_test(decorators_change_no_bit),
        cmocka_unit_test(small_systems_are_solved),
    };
    TEST_GPU_MAIN(tests);
}
