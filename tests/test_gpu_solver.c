/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_solver.c - solves on the cuda device: every method, loop,
 * format and precision against the host device and against plain arithmetic;
 * monitors, limits, breakdowns.
 *
 * LABEL: gpu
 */
#include "gpu_rig.h"
#include "oracles.h"

/* --- everything together -------------------------------------------------- */

static void everything_converges_as_on_the_host(void **state)
{
    (void)state;
    static const char *const gallery[] = {"poisson2d:64", "poisson3d:20",
                                          "elasticity3d:8", "tet3d:10,1",
                                          "jump3d:12,1000,1"};
    for (size_t i = 0; i < sizeof gallery / sizeof *gallery; i++)
        check_matrix(gallery[i], gallery_matrix(gallery[i]), NULL, false);
}

/* Rows of some 20 to 60 entries here and there, of few rows for each block:
 * warps share their columns. */
static bool are_near(int64_t i, int64_t j)
{
    const uint64_t low = (uint64_t)(i < j ? i : j);
    return tct_mix(low << 32 | (uint64_t)(i + j)) % 16 == 0;
}
static int scattered_columns(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    for (int64_t j = i < 300 ? 0 : i - 300; j < n && j <= i + 300; j++)
        if (i == j || are_near(i, j)) col[count++] = j;
    return count;
}
static double scattered_value(int64_t i, int64_t j)
{
    return i == j ? 8.0 + (double)(i % 5) : coupling(i, j);
}

static void long_rows_of_all_lengths_converge(void **state)
{
    (void)state;
    tacit_matrix *m = matrix_of(3001, scattered_columns, scattered_value);
    check_matrix("scattered", m, NULL, false);
}

/* --- rows kept apart ------------------------------------------------------ */

static void rows_kept_apart_are_summed_by_every_loop(void **state)
{
    (void)state;
    check_rows_kept_apart(NULL);
}

/* --- rows in another order ------------------------------------------------ */

/* Blocks of 3 on a grid of 40 x 41, their numbers in disorder: as many as
 * reach beyond a chunk of the order. */
enum { GRID_X = 40, GRID_Y = 41, POINTS = GRID_X * GRID_Y, STRIDE = 701 };
static int disordered_columns(int64_t n, int64_t i, int64_t *col)
{
    static const int step[][2] = {{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}};
    const int64_t point = i / 3 * STRIDE % POINTS;
    int64_t inverse = 1, count = 0;
    while (inverse * STRIDE % POINTS != 1) inverse++;
    for (int k = 0; k < 5; k++) {
        const int64_t x = point % GRID_X + step[k][0];
        const int64_t y = point / GRID_X + step[k][1];
        if (x < 0 || x >= GRID_X || y < 0 || y >= GRID_Y) continue;
        const int64_t at = (y * GRID_X + x) * inverse % POINTS;
        for (int j = 0; j < 3; j++) col[count++] = 3 * at + j;
    }
    (void)n;
    return (int)count;
}
static double disordered_value(int64_t i, int64_t j)
{
    if (i / 3 == j / 3) return i == j ? 5.5 : 0.25;
    return i % 3 == j % 3 ? -1.0 - (double)((i + j) % 7) * 0.01 : 0.0625;
}

/* b and x stay in the order of the matrix, whatever is inside. */
static void an_order_is_nobodys_business(void **state)
{
    (void)state;
    static const char *const formats[] = {
        "csr@rcm",   "sell/f64@rcm",   "sell/f64@metis",
        "bsell@rcm", "bsell/f64@rcm",  "sell/f64+low32@rcm",
        "sell@rcm",  "bsell/f64@metis"};
    reference ref;
    tacit_queue *q = open_queue(TEST_DEVICE);
    int seen = 0;
    open_reference(&ref, "a grid in disorder",
                   matrix_of(3 * POINTS, disordered_columns, disordered_value),
                   5);
    solve_on_host(&ref);
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        if (strcmp(TEST_DEVICE, "cuda") != 0 && strpbrk(formats[f], "/+"))
            continue;
        tacit_operator_info about = {.size = sizeof about};
        tacit_operator *A = operator_of(q, ref.m, formats[f]);
        if (!A) continue;
        tacit_operator_describe(A, &about);
        assert_non_null(strstr(formats[f], about.order));
        const int solves = check_solves(&ref, q, A, formats[f], false);
        assert_true(solves > 0);
        OK(tacit_operator_update(A, ref.m)); /* the same values, all new */
        assert_int_equal(check_solves(&ref, q, A, formats[f], false), solves);
        seen += solves;
        tacit_operator_destroy(&A);
    }
    assert_true(seen >= 2 * 4);
    tacit_queue_destroy(&q);
    close_reference(&ref);
}

static void real_matrices_converge_too(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool loose;
    } real[] = {{"spd/Trefethen_2000.mtx.gz", false},
                {"spd/crystm01.mtx.gz", true},
                {"spd/nos3.mtx.gz", true},
                {"spd/bcsstk16.mtx.gz", true},
                {"spd/ex3.mtx.gz", true},
                {"spd/bcsstk14.mtx.gz", true}};
    int found = 0;
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        tacit_matrix *m = real_matrix(real[i].name);
        if (!m) continue;
        found++;
        check_matrix(real[i].name, m, NULL, real[i].loose);
    }
    if (!found) skip();
}

/* --- oracles -------------------------------------------------------------- */

static void iterations_match_the_oracle(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
        reference ref;
        open_reference(&ref, oracles[i].matrix,
                       gallery_matrix(oracles[i].matrix), 0);
        tacit_queue *q = open_queue(TEST_DEVICE);
        tacit_operator *A = operator_of(q, ref.m, PLAIN);
        FOR_METHODS(m)
        FOR_LOOPS(l)
        {
            rig r = {.ref = &ref, .q = q, .A = A};
            if (!open_solver(&r, PLAIN, method_of(m), loop_of(l))) continue;
            OK(solve(&r, oracles[i].eps, 0));
            const int64_t more = r.result.iterations - oracles[i].iterations;
            if (more < -1 || more > 1 + tacit_method_at(m)->steps)
                fail_msg("%s, to %g: %lld iterations, expected %d", r.what,
                         oracles[i].eps, (long long)r.result.iterations,
                         oracles[i].iterations);
            close_rig(&r);
        }
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
        close_reference(&ref);
    }
}

/* --- monitors ------------------------------------------------------------- */

enum { HISTORY_MOST = 4000 };
typedef struct {
    double residual[HISTORY_MOST];
    int64_t iteration[HISTORY_MOST];
    int64_t calls, gaps, stop_at; /* 0: never */
} history;

static int keep(void *ctx, int64_t iteration, double residual)
{
    history *h = ctx;
    h->gaps += iteration != h->calls;
    if (h->calls < HISTORY_MOST) h->residual[h->calls] = residual;
    if (h->calls < HISTORY_MOST) h->iteration[h->calls] = iteration;
    h->calls++;
    return h->stop_at && iteration >= h->stop_at;
}

/* Of each iteration, or of each block, in order? */
static bool told_of_all(const history *h, int64_t iterations, int steps)
{
    if (!steps) return !h->gaps && h->calls == iterations + 1;
    for (int64_t k = 1; k < h->calls; k++) {
        const int64_t more = h->iteration[k] - h->iteration[k - 1];
        if (more < 1 || more > steps) return false;
    }
    return h->iteration[h->calls - 1] == iterations;
}

static tacit_status watch(rig *r, history *h, int m, int64_t stop_at)
{
    *h = (history){.stop_at = stop_at};
    const tacit_status status = run(r, &(tacit_stop){.size = sizeof(tacit_stop),
                                                     .rtol = 1e-8,
                                                     .monitor = keep,
                                                     .monitor_ctx = h});
    if (!told_of_all(h, r->result.iterations, tacit_method_at(m)->steps))
        fail_msg("%s: %lld calls of the monitor for %lld iterations", r->what,
                 (long long)h->calls, (long long)r->result.iterations);
    return status;
}

static void histories_are_those_of_the_host(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d:64", "poisson3d:20",
                                        "poisson3d27:12", "elasticity3d:8"};
    static history host, gpu;
    for (int i = 0; i < 4; i++) {
        reference ref;
        rig r;
        open_reference(&ref, names[i], gallery_matrix(names[i]), 5);
        FOR_METHODS(m)
        {
            assert_true(
                open_rig(&r, &ref, "host", "csr", method_of(m), "host"));
            OK(watch(&r, &host, m, 0));
            close_rig(&r);
            FOR_LOOPS(l)
            {
                if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m),
                              loop_of(l)))
                    continue;
                OK(watch(&r, &gpu, m, 0));
                assert_true(gpu.residual[gpu.calls - 1] ==
                            r.result.relative_residual);
                for (int64_t k = 0; k < host.calls && k < gpu.calls; k++) {
                    const double want = host.residual[k], got = gpu.residual[k];
                    if (host.iteration[k] != gpu.iteration[k]) break;
                    if (want <= 1e-6 || fabs(got - want) <= 1e-6 * want)
                        continue;
                    fail_msg("%s: iteration %lld: %.12e, not %.12e", r.what,
                             (long long)k, got, want);
                }
                close_rig(&r);
            }
        }
        close_reference(&ref);
    }
}

static void the_monitor_stops_the_solve(void **state)
{
    (void)state;
    static history h;
    reference ref;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        /* two recordings may be under way; looks come in batches of 16, and a
         * resident kernel asks as rarely: seen at 48, asked for at 64, and of
         * blocks up to two more are made */
        const int64_t every = tacit_method_at(m)->replace_every;
        const int64_t blocks = 2 * tacit_method_at(m)->steps;
        const int64_t late = strcmp(loop_of(l), "graph") == 0 ? 25 + 2 * every
                             : strcmp(loop_of(l), "resident") == 0
                                 ? 64 - 37 + blocks
                                 : 25;
        for (int again = 0; again < 2; again++) {
            EXPECT(TACIT_INTERRUPTED, watch(&r, &h, m, 37));
            assert_int_equal(r.result.stop, TACIT_STOP_INTERRUPTED);
            assert_false(r.result.converged);
            if (r.result.iterations < 37 || r.result.iterations > 37 + late)
                fail_msg("%s: stopped after %lld iterations, asked to after 37",
                         r.what, (long long)r.result.iterations);
        }
        OK(watch(&r, &h, m, 0)); /* nothing of it is left */
        close_rig(&r);
    }
    close_reference(&ref);
}

/* --- limits --------------------------------------------------------------- */

static void check_limit(const reference *ref, rig *r, rig *gpu_host,
                        const rig *host, int m, int64_t most)
{
    static history h;
    h = (history){0};
    const tacit_stop stop = {.size = sizeof stop,
                             .max_iterations = most,
                             .monitor = keep,
                             .monitor_ctx = &h};
    EXPECT(TACIT_NOT_CONVERGED, run(r, &stop));
    assert_int_equal(r->result.stop, TACIT_STOP_MAX_ITERATIONS);
    if (r->result.iterations != most ||
        !told_of_all(&h, most, tacit_method_at(m)->steps))
        fail_msg("%s: %lld iterations and %lld calls, limit %lld", r->what,
                 (long long)r->result.iterations, (long long)h.calls,
                 (long long)most);
    EXPECT(TACIT_NOT_CONVERGED, solve(gpu_host, 0.0, most));
    double *x = host_copy(r->q, r->n, r->x);
    double *y = host_copy(gpu_host->q, r->n, gpu_host->x);
    double *z = host_copy(host->q, r->n, host->x);
    const double size = norm_of(r->n, z);
    if (!(distance_of(r->n, x, y) <= 1e-9 * size) ||
        !(distance_of(r->n, y, z) <= 1e-8 * size))
        fail_msg("%s: x after %lld iterations is off by %.2e of loop host and "
                 "%.2e of the host device",
                 r->what, (long long)most, distance_of(r->n, x, y) / size,
                 distance_of(r->n, x, z) / size);
    const double residual = true_residual(ref, ref->b, x);
    assert_true(fabs(residual - r->result.true_relative_residual) <=
                1e-6 * residual + 1e-14);
    free(x);
    free(y);
    free(z);
}

static void the_iteration_limit_is_exact(void **state)
{
    (void)state;
    static const int64_t limits[] = {1, 2, 3, 7, 10, 11, 25, 60, 100, 121};
    reference ref;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r, gpu_host, host;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        assert_true(open_rig(&gpu_host, &ref, TEST_DEVICE, PLAIN, method_of(m),
                             "host"));
        assert_true(open_rig(&host, &ref, "host", "csr", method_of(m), "host"));
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            EXPECT(TACIT_NOT_CONVERGED, solve(&host, 0.0, limits[i]));
            check_limit(&ref, &r, &gpu_host, &host, m, limits[i]);
        }
        close_rig(&r);
        close_rig(&gpu_host);
        close_rig(&host);
    }
    close_reference(&ref);
}

/* More iterations than looks can be under way. */
static void long_solves_go_on(void **state)
{
    (void)state;
    static const int64_t limits[] = {4097, 9000};
    reference ref;
    open_reference(&ref, "poisson1d:20000", gallery_matrix("poisson1d:20000"),
                   5);
    check_long_solves(&ref, limits, 1e-6);
    close_reference(&ref);
}

/* --- breakdowns ----------------------------------------------------------- */

static void check_breakdown(const reference *ref, int m)
{
    rig r;
    double *first = NULL; /* x of loop host, and the iteration */
    int64_t at = -1;
    assert_true(open_rig(&r, ref, "host", "csr", method_of(m), "host"));
    EXPECT(TACIT_BREAKDOWN, solve(&r, 1e-10, 0));
    const tacit_result host = r.result;
    close_rig(&r);
    FOR_LOOPS(l)
    {
        if (!open_rig(&r, ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        EXPECT(TACIT_BREAKDOWN, solve(&r, 1e-10, 0));
        assert_int_equal(r.result.stop, TACIT_STOP_BREAKDOWN);
        assert_string_equal(r.result.breakdown_quantity,
                            host.breakdown_quantity);
        assert_true(r.result.breakdown_value <= 0.0);
        assert_non_null(strstr(tacit_error_message(), "not positive definite"));
        if (llabs(r.result.breakdown_iteration - host.breakdown_iteration) > 1)
            fail_msg("%s: breakdown at iteration %lld, %lld on the host",
                     r.what, (long long)r.result.breakdown_iteration,
                     (long long)host.breakdown_iteration);
        double *x = host_copy(r.q, r.n, r.x);
        const double norm = norm_of(r.n, x);
        assert_true(isfinite(norm));
        if (first && at == r.result.breakdown_iteration &&
            !(distance_of(r.n, x, first) <= 1e-6 * norm))
            fail_msg("%s: x is another than that of loop host", r.what);
        if (first) free(x);
        else first = x;
        if (first == x) at = r.result.breakdown_iteration;
        close_rig(&r);
    }
    free(first);
}

static void indefinite_matrices_break_down_as_on_the_host(void **state)
{
    (void)state;
    static const struct {
        int n, at;
        double value; /* of the entry that is negative */
    } cases[] = {{20, 13, -50.0}, {400, 123, -2.0}, {1000, 0, -0.3}};
    for (int i = 0; i < 3; i++) {
        double *values = host_vector((size_t)cases[i].n, 0.0);
        for (int k = 0; k < cases[i].n; k++) values[k] = 1.0 + k;
        values[cases[i].at] = cases[i].value;
        reference ref;
        open_reference(&ref, "a negative entry",
                       diagonal_matrix(cases[i].n, values), 0);
        FOR_METHODS(m)
        if (!tacit_method_at(m)->indefinite) check_breakdown(&ref, m);
        close_reference(&ref);
        free(values);
    }
}

static void numbers_that_are_not_finite_are_reported(void **state)
{
    (void)state;
    const double values[8] = {1, 2, 3, 4, 5, 1e300, 1e300, 1e300};
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    reference ref;
    open_reference(&ref, "huge entries", diagonal_matrix(8, values), 0);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        q_fill(r.q, r.n, 1e30, r.b);
        const tacit_status status = solve(&r, 1e-10, 0);
        assert_true(status == TACIT_NOT_CONVERGED || status == TACIT_BREAKDOWN);
        for (int i = 0; i < 3; i++) {
            q_fill(r.q, 1, bad[i], r.b + 3);
            EXPECT(TACIT_INPUT, solve(&r, 1e-10, 0));
        }
        q_fill(r.q, r.n, 0.0, r.b);
        OK(solve(&r, 1e-10, 0)); /* the queue is as good as new */
        close_rig(&r);
    }
    close_reference(&ref);
}

/* Few distinct eigenvalues; the solution as guess; b = 0. */
static void easy_systems_are_not_divided_by_zero(void **state)
{
    (void)state;
    double values[100];
    for (int i = 0; i < 100; i++) values[i] = 1 + i % 5;
    reference ref;
    open_reference(&ref, "five eigenvalues", diagonal_matrix(100, values), 0);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
        OK(run(&r, &stop));
        assert_int_equal(r.result.iterations, 5);
        OK(tacit_solver_run(r.s, r.b, r.x, &stop, &r.result));
        assert_int_equal(r.result.iterations, 0);
        q_fill(r.q, r.n, 0.0, r.b);
        OK(tacit_solver_run(r.s, r.b, r.x, &stop, &r.result));
        assert_int_equal(r.result.iterations, 0);
        assert_true(r.result.converged);
        double *x = host_copy(r.q, r.n, r.x);
        assert_true(norm_of(r.n, x) == 0.0);
        free(x);
        close_rig(&r);
    }
    close_reference(&ref);
}

/* --- condition ------------------------------------------------------------ */

static double condition_on(const char *device, const char *method,
                           const char *precond, const char *loop)
{
    tacit_matrix *m = gallery_matrix("poisson2d:48");
    tacit_queue *q = open_queue(device);
    tacit_operator *A = NULL;
    tacit_solver *s = NULL;
    tacit_result r = {.size = sizeof r};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    double *b = NULL, *x = NULL;
    OK(tacit_operator_create(q, m, "auto", &A));
    OK(tacit_queue_alloc(q, n, &b));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_queue_fill(q, n, 1.0, b));
    OK(tacit_queue_fill(q, n, 0.0, x));
    OK(tacit_solver_create(q, A, method, &s));
    OK(tacit_solver_set(s, "precond", precond));
    if (loop) OK(tacit_solver_set(s, "loop", loop));
    OK(tacit_solver_run(s, b, x, &stop, &r));
    const double condition = tacit_solver_condition(s);
    tacit_solver_destroy(&s);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
    return condition;
}

/* Samples bring the scalars of the recurrence, in every loop. */
static void conditions_are_those_of_the_host(void **state)
{
    static const char *const methods[] = {"cg", "single", "pipe-pr"};
    static const char *const loops[] = {"host", "graph", "resident"};
    (void)state;
    for (int k = 0; k < 6; k++) {
        const char *method = methods[k % 3], *M = k < 3 ? "none" : "jacobi";
        const double right = condition_on("host", method, M, NULL);
        assert_true(right > 100.0);
        for (int l = 0; l < 3; l++) {
            const double is = condition_on(TEST_DEVICE, method, M, loops[l]);
            if (!(fabs(is / right - 1.0) < 0.01))
                fail_msg("%s, %s, %s: %g, not %g", method, M, loops[l], is,
                         right);
        }
    }
}

/* --- backward errors ------------------------------------------------------ */

/* The componentwise backward error of x = 1, 1/2, 1/3 ... is large, and depends
 * little on rounding. */
static double row_error(const char *device, const char *name,
                        const char *format)
{
    tacit_matrix *m = gallery_matrix(name);
    tacit_queue *q = open_queue(device);
    tacit_operator *A = NULL;
    tacit_backward came_to = {.size = sizeof came_to};
    OK(tacit_operator_create(q, m, format, &A));
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *x = malloc(n * sizeof *x), *b = malloc(n * sizeof *b);
    assert_true(x && b);
    for (size_t i = 0; i < n; i++) {
        x[i] = (i % 3 == 1 ? -1.0 : 1.0) / (double)(i + 1);
        b[i] = 1.0 + (double)(i % 7);
    }
    double *there = device_vector(q, n, x), *rhs = device_vector(q, n, b);
    OK(tacit_backward_error(A, rhs, there, &came_to));
    free(x);
    free(b);
    tacit_queue_free(q, &there);
    tacit_queue_free(q, &rhs);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
    return came_to.componentwise;
}

static void backward_errors_are_those_of_the_host(void **state)
{
    static const char *const names[] = {"poisson3d:40", "elasticity3d:14",
                                        "jump3d:40,1e4,5", "tet3d:20,1"};
    static const char *const formats[] = {
        "sell@none", "sell/f64@none", "sell32@none", "csr@none",
        "sell@rcm",  "stencil@none",  "bsell@none"};
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int f = 0; f < 7; f++) {
            if (strstr(formats[f], "stencil") && i != 0) continue;
            if (strstr(formats[f], "bsell") && i != 1) continue;
            const double right = row_error("host", names[i], "csr@none");
            const double is = row_error(TEST_DEVICE, names[i], formats[f]);
            if (!(fabs(is - right) <= 1e-9 * right))
                fail_msg("%s, %s: %.17g, not %.17g", names[i], formats[f], is,
                         right);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_match_the_oracle),
        cmocka_unit_test(histories_are_those_of_the_host),
        cmocka_unit_test(the_iteration_limit_is_exact),
        cmocka_unit_test(long_solves_go_on),
        cmocka_unit_test(the_monitor_stops_the_solve),
        cmocka_unit_test(indefinite_matrices_break_down_as_on_the_host),
        cmocka_unit_test(numbers_that_are_not_finite_are_reported),
        cmocka_unit_test(easy_systems_are_not_divided_by_zero),
        cmocka_unit_test(everything_converges_as_on_the_host),
        cmocka_unit_test(long_rows_of_all_lengths_converge),
        cmocka_unit_test(rows_kept_apart_are_summed_by_every_loop),
        cmocka_unit_test(an_order_is_nobodys_business),
        cmocka_unit_test(real_matrices_converge_too),
        cmocka_unit_test(backward_errors_are_those_of_the_host),
        cmocka_unit_test(conditions_are_those_of_the_host),
    };
    TEST_GPU_MAIN(tests);
}
