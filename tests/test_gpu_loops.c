/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_loops.c - repeated runs of solvers on the cuda device: the
 * same bits every time, many right-hand sides, one loop after another; their
 * cost, and failures.
 *
 * LABEL: gpu */
#include "gpu_rig.h"

/* --- many runs ------------------------------------------------------------ */

static void assert_same_x(const rig *r, const double *want, const char *when)
{
    double *x = host_copy(r->q, r->n, r->x);
    if (!same_bits(x, want, r->n))
        fail_msg("%s: %s x has other bits (off by %.2e)", r->what, when,
                 distance_of(r->n, x, want) / norm_of(r->n, want));
    free(x);
}

static void two_runs_give_the_same_bits(void **state)
{
    (void)state;
    static const char *const names[] = {"tet3d:10,2", "elasticity3d:8"};
    static const char *const cuda[] = {"sell/f64", "csr", "sell", "bsell/f64"};
    static const char *const host[] = {"sell", "csr", "sell", "bsell"};
    for (int i = 0; i < 8; i++) {
        const char *name = names[i % 2];
        const char *format = (strcmp(TEST_DEVICE, "cuda") ? host : cuda)[i / 2];
        reference ref;
        open_reference(&ref, name, gallery_matrix(name), 5);
        FOR_METHODS(m)
        FOR_LOOPS(l)
        {
            rig r;
            if (!open_rig(&r, &ref, TEST_DEVICE, format, method_of(m),
                          loop_of(l)))
                continue;
            OK(solve(&r, 1e-9, 0));
            double *first = host_copy(r.q, r.n, r.x);
            OK(solve(&r, 1e-9, 0));
            assert_same_x(&r, first, "run again,");
            close_rig(&r);
            assert_true(open_rig(&r, &ref, TEST_DEVICE, format, method_of(m),
                                 loop_of(l)));
            OK(solve(&r, 1e-9, 0));
            assert_same_x(&r, first, "made again,");
            free(first);
            close_rig(&r);
        }
        close_reference(&ref);
    }
}

/* Vectors change places from run to run, so that no recording fits twice. */
static void one_solver_has_many_right_hand_sides(void **state)
{
    (void)state;
    enum { VECTORS = 3, RUNS = 7 };
    static const int order[RUNS][2] = {{0, 0}, {0, 0}, {0, 1}, {1, 1},
                                       {2, 0}, {1, 2}, {0, 0}};
    reference ref;
    double *rhs[VECTORS], *b[VECTORS], *x[VECTORS];
    open_reference(&ref, "poisson3d:20", gallery_matrix("poisson3d:20"), 5);
    for (int v = 0; v < VECTORS; v++) {
        set_rhs(&ref, v + 1);
        rhs[v] = host_vector(ref.n, 0.0);
        memcpy(rhs[v], ref.b, ref.n * sizeof *ref.b);
    }
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
        double *first = NULL;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        for (int v = 0; v < VECTORS; v++) {
            b[v] = device_vector(r.q, r.n, rhs[v]);
            x[v] = poisoned_vector(r.q, r.n);
        }
        for (int i = 0; i < RUNS; i++) {
            const int from = order[i][0], to = order[i][1];
            q_fill(r.q, r.n, 0.0, x[to]);
            OK(tacit_solver_run(r.s, b[from], x[to], &stop, &r.result));
            double *got = host_copy(r.q, r.n, x[to]);
            const double residual = true_residual(&ref, rhs[from], got);
            if (!(residual <= 1.001e-8))
                fail_msg("%s: run %d: residual %.3e", r.what, i, residual);
            if (first && from == 0 && !same_bits(got, first, r.n))
                fail_msg("%s: run %d: x has other bits", r.what, i);
            if (first) free(got);
            else first = got;
        }
        free(first);
        for (int v = 0; v < VECTORS; v++) {
            tacit_queue_free(r.q, &b[v]);
            tacit_queue_free(r.q, &x[v]);
        }
        close_rig(&r);
    }
    for (int v = 0; v < VECTORS; v++) free(rhs[v]);
    close_reference(&ref);
}

/* --- loops ---------------------------------------------------------------- */

static void loops_may_be_changed(void **state)
{
    (void)state;
    static const char *const order[] = {"graph",    "host", "resident", "graph",
                                        "resident", "auto", "host"};
    reference ref;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    solve_on_host(&ref);
    FOR_METHODS(m)
    {
        rig r;
        bool known = false;
        assert_true(
            open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), "host"));
        for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
            const tacit_status status = tacit_solver_set_loop(r.s, order[i]);
            if (status == TACIT_UNSUPPORTED) continue;
            OK(status);
            OK(solve(&r, 1e-8, 0));
            check_solution(&r, m, false, false);
            if (strcmp(order[i], "auto") != 0) {
                assert_string_equal(r.result.loop, order[i]);
                continue;
            }
            FOR_LOOPS(l)
            known = known || strcmp(loop_of(l), r.result.loop) == 0;
            printf("%s: auto is loop %s %s\n", method_of(m), r.result.loop,
                   r.result.loop_detail);
        }
        assert_true(known);
        EXPECT(TACIT_INVALID, tacit_solver_set_loop(r.s, "hots"));
        OK(solve(&r, 1e-8, 0));
        close_rig(&r);
    }
    close_reference(&ref);
}

static void the_host_device_has_one_loop(void **state)
{
    (void)state;
    reference ref;
    rig r;
    open_reference(&ref, "poisson2d:20", gallery_matrix("poisson2d:20"), 5);
    assert_true(open_rig(&r, &ref, "host", "csr", "cg", "host"));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(r.s, "graph"));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(r.s, "resident"));
    EXPECT(TACIT_INVALID, tacit_solver_set_loop(r.s, "hots"));
    OK(tacit_solver_set_loop(r.s, "auto"));
    OK(solve(&r, 1e-8, 0));
    assert_string_equal(r.result.loop, "host");
    close_rig(&r);
    close_reference(&ref);
}

static tacit_tally tally_of(rig *r, int64_t iterations)
{
    tacit_queue_clear_tally(r->q);
    EXPECT(TACIT_NOT_CONVERGED, solve(r, 0.0, iterations));
    assert_int_equal(r->result.iterations, iterations);
    return *tacit_queue_tally(r->q);
}

/* A replay counts like what was recorded, a kernel like what it replaces. */
static void loops_cost_what_the_methods_state(void **state)
{
    (void)state;
    reference ref;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, "count:" TEST_DEVICE, PLAIN, method_of(m),
                      loop_of(l)))
            continue;
        const tacit_method *cost = tacit_method_at(m);
        const tacit_method *first =
            cost->first ? tacit_method_find(cost->first_by) : cost;
        const int more = cost->steps ? 10 : 30; /* as long as it is `first` */
        const tacit_tally a = tally_of(&r, 10), b = tally_of(&r, 10 + more);
        const int64_t products = b.spmv.count - a.spmv.count;
        const int64_t sums = b.reduce.count - a.reduce.count;
        if (products != more * first->products ||
            sums != more * first->reductions)
            fail_msg("%s: %d iterations have %lld products and %lld sums",
                     r.what, more, (long long)products, (long long)sums);
        if (cost->replace_every) {
            const int every = cost->replace_every, from = cost->first + 12;
            const tacit_tally c = tally_of(&r, from),
                              d = tally_of(&r, from + every);
            assert_int_equal(d.spmv.count - c.spmv.count,
                             every * cost->products + cost->replace_products);
            assert_int_equal(r.result.replacements, 1);
        }
        close_rig(&r);
    }
    close_reference(&ref);
}

/* An operation fails: the solve ends, and says so, wherever it was. */
static void one_failure_ends_the_solve(void **state)
{
    (void)state;
    reference ref;
    int failures = 0;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    for (int k = 9; k < 140; k += 13) {
        char spec[64];
        rig r;
        snprintf(spec, sizeof spec, "chaos(1,%d):%s", k, TEST_DEVICE);
        if (!open_rig(&r, &ref, spec, PLAIN, method_of(m), loop_of(l)))
            continue;
        const tacit_status status = solve(&r, 0.0, 40);
        /* what is replayed does not come by where operations are counted */
        if (status != TACIT_DEVICE &&
            (status != TACIT_NOT_CONVERGED || strcmp(loop_of(l), "host") == 0))
            fail_msg("%s: operation %d fails: %s", r.what, k,
                     tacit_status_name(status));
        failures += status == TACIT_DEVICE;
        close_rig(&r);
    }
    assert_true(failures > 0);
    rig r; /* and the device goes on */
    assert_true(open_rig(&r, &ref, TEST_DEVICE, PLAIN, "cg", "host"));
    OK(solve(&r, 1e-8, 0));
    close_rig(&r);
    close_reference(&ref);
}

static void need_a_gpu(void)
{
    if (strcmp(TEST_DEVICE, "cuda") == 0) return;
    puts("skipped: the host device waits for nobody");
    skip();
}

/* After `r` has failed: it stays so, with the sentence that has `part`; all can
 * be freed, and another queue works. */
static void has_failed_for_good(rig *r, const char *part)
{
    for (int again = 0; again < 2; again++) {
        EXPECT(TACIT_DEVICE, solve(r, 1e-8, 0));
        if (!strstr(tacit_error_message(), part))
            fail_msg("%s: '%s'", r->what, tacit_error_message());
    }
    EXPECT(TACIT_DEVICE, q_status(r->q));
    const reference *ref = r->ref;
    close_rig(r);
    assert_true(open_rig(r, ref, TEST_DEVICE, PLAIN, "cg", "host"));
    OK(solve(r, 1e-6, 0));
    close_rig(r);
}

static void who_does_not_answer_has_failed(void **state)
{
    (void)state;
    need_a_gpu();
    reference ref;
    open_reference(&ref, "poisson3d:100", gallery_matrix("poisson3d:100"), 0);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        assert_true(r.q->answer_seconds == 120.0);
        r.q->answer_seconds = 1e-9;
        has_failed_for_good(&r, "no answer for 1e-09 s");
    }
    close_reference(&ref);
}

/* The first rows, which are one block's, are long: the others wait for it. */
enum { ROWS = 132 * 24 * 32, LONG_ROWS = 24 * 32, LONG = 8192 };
static int slow_block_row(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    if (i >= LONG_ROWS) col[count++] = i;
    for (int64_t c = 0; c < n && i < LONG_ROWS; c++)
        if (c == i || c % (n / LONG) == 0) col[count++] = c;
    return count;
}
/* Seven values, so that a solve takes more than one iteration. */
static double heavy_diagonal(int64_t i, int64_t j)
{
    return i == j ? 1.0 + (double)(i % 7) : 1e-12;
}

static void who_comes_late_ends_the_kernel(void **state)
{
    (void)state;
    need_a_gpu();
    reference ref;
    int late = 0;
    open_reference(&ref, "a slow block",
                   matrix_of(ROWS, slow_block_row, heavy_diagonal), 0);
    FOR_METHODS(m)
    {
        rig r;
        if (tacit_method_at(m)->first) { /* which solves it without a kernel */
            printf("not with %s, which begins without a kernel\n",
                   method_of(m));
            continue;
        }
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), "resident"))
            continue;
        assert_true(r.q->barrier_seconds == 20.0);
        r.q->barrier_seconds = 1e-9;
        has_failed_for_good(&r, "to its barrier within 1e-09 s");
        late++;
    }
    assert_true(late > 0);
    close_reference(&ref);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs_give_the_same_bits),
        cmocka_unit_test(one_solver_has_many_right_hand_sides),
        cmocka_unit_test(loops_may_be_changed),
        cmocka_unit_test(the_host_device_has_one_loop),
        cmocka_unit_test(loops_cost_what_the_methods_state),
        cmocka_unit_test(one_failure_ends_the_solve),
        cmocka_unit_test(who_does_not_answer_has_failed),
        cmocka_unit_test(who_comes_late_ends_the_kernel),
    };
    TEST_GPU_MAIN(tests);
}
