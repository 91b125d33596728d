/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_loops.c - time loops with an iteration that no solver knows:
 * Jacobi's. It runs in loops host, graph and persistent; on the host the latter
 * two are on the twin of a GPU.
 *
 * DEVICE: each
 * RUN: np=1,2,3
 * THREADS: 2 */
#include "jacobi.h"

enum { NEVER = 1000 };

/* --- checks --------------------------------------------------------------- */

/* x after `most` iterations, in plain C. */
static const double *plain_jacobi(int64_t most)
{
    static _Thread_local double x[2][POINTS];
    memset(x, 0, sizeof x);
    for (int64_t k = 0; k < most; k++) {
        const double *old = x[k % 2];
        double *new = x[(k + 1) % 2];
        for (int i = 0; i < POINTS; i++) {
            double sum = b_of(i);
            if (i >= WIDTH) sum += old[i - WIDTH];
            if (i + WIDTH < POINTS) sum += old[i + WIDTH];
            if (i % WIDTH > 0) sum += old[i - 1];
            if (i % WIDTH < WIDTH - 1) sum += old[i + 1];
            new[i] = sum / DIAGONAL;
        }
    }
    return x[most % 2];
}

static void expect_x(const jacobi *J, form f, int64_t k)
{
    double *x = host_copy(J->q, J->n, J->x[k % 2]);
    const double *want = plain_jacobi(k) + J->first;
    const double off = distance_of(J->n, x, want);
    free(x);
    if (!(off <= 1e-14 * sqrt(POINTS)))
        fail_msg("form %d: x after %d iterations is off by %.2e", (int)f,
                 (int)k, off);
}

/* --- tests ---------------------------------------------------------------- */

/* Loops that look late make a few iterations more. */
static void a_check_ends_the_loop(void **state)
{
    (void)state;
    const int64_t period = 4;
    int64_t want = 0;
    if (!gpu_for_each()) skip();
    const tct_iteration I = iteration_of((int)period);
    for (form f = AT_ONCE; f < FORMS; f++) {
        jacobi J;
        if (!has_form(f)) continue;
        open_jacobi(&J, f, "");
        open_loop(&J, f, &I);
        OK(tct_loop_run(&J.loop, NEVER));
        if (want == 0) want = J.decided;
        const int64_t more = J.loop.k - J.decided;
        if (J.decided < 20 || J.decided != want || more < 0 ||
            more > (f == AT_ONCE || f == PERSISTENT ? 0 : 3 * period))
            fail_msg("form %d: ended at check %d, expected %d, after %d "
                     "iterations",
                     (int)f, (int)J.decided, (int)want, (int)J.loop.k);
        expect_x(&J, f, J.loop.k);
        close_jacobi(&J);
    }
}

/* A check that decides without a norm. */
static void a_check_may_count(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    const tct_iteration I = iteration_of(2);
    for (form f = AT_ONCE; f < FORMS; f++) {
        jacobi J;
        if (!has_form(f)) continue;
        open_jacobi(&J, f, "");
        J.stop_at = 9;
        open_loop(&J, f, &I);
        OK(tct_loop_run(&J.loop, NEVER));
        assert_int_equal(J.decided, 9);
        assert_true(J.loop.k >= 9);
        assert_true(J.checks <= J.loop.k);
        expect_x(&J, f, J.loop.k);
        close_jacobi(&J);
    }
}

/* Also where a period does not divide the limit, and from there to another
 * one. */
static void loops_end_at_their_limit(void **state)
{
    (void)state;
    static const int periods[] = {2, 4, 10};
    static const int64_t limits[] = {0, 1, 2, 7, 23};
    if (!gpu_for_each()) skip();
    for (int p = 0; p < 3; p++) {
        const tct_iteration I = iteration_of(periods[p]);
        for (form f = AT_ONCE; f < FORMS; f++) {
            jacobi J;
            if (!has_form(f)) continue;
            open_jacobi(&J, f, "");
            open_loop(&J, f, &I);
            for (int i = 0; i < 5; i++) {
                OK(tct_loop_run(&J.loop, limits[i]));
                assert_int_equal(J.loop.k, limits[i]);
                assert_int_equal(J.checks, limits[i]);
                expect_x(&J, f, limits[i]);
            }
            if (f == GRAPH && !on_gpu()) assert_true(twin_here.replays > 0);
            close_jacobi(&J);
        }
    }
}

/* Replayed iterations have the bits of enqueued ones. */
static void loops_have_the_same_bits(void **state)
{
    (void)state;
    const double never[] = {0.0};
    double *x[FORMS] = {NULL};
    if (!gpu_for_each()) skip();
    const tct_iteration I = iteration_of(0);
    size_t n = 0;
    for (form f = AT_ONCE; f <= GRAPH; f++) {
        jacobi J;
        if (!has_form(f)) continue;
        open_jacobi(&J, f, "");
        q_put(J.q, 1, never, &J.c[C_TARGET2]);
        J.decided = 0;
        open_loop(&J, f, &I);
        OK(tct_loop_run(&J.loop, 29));
        n = J.n;
        x[f] = host_copy(J.q, n, J.x[29 % 2]);
        close_jacobi(&J);
    }
    assert_true(same_bits(x[HOST], x[GRAPH], n));
    if (x[AT_ONCE]) assert_true(same_bits(x[AT_ONCE], x[HOST], n));
    for (form f = AT_ONCE; f < FORMS; f++) free(x[f]);
}

/* An operation of one rank fails, early or in a replay, which on a GPU submits
 * no operations: the loop ends on all ranks, with this rank's words. */
static void failures_end_all_ranks(void **state)
{
    (void)state;
    static const int at[] = {1, 12, 23, 40, 41, 90};
    if (!gpu_for_each()) skip();
    const tct_iteration I = iteration_of(4);
    for (int i = 0; i < 6; i++)
        for (form f = AT_ONCE; f <= (on_gpu() ? HOST : GRAPH); f++) {
            char decorator[32];
            jacobi J;
            if (!has_form(f)) continue;
            snprintf(decorator, sizeof decorator, "chaos(2,%d):", at[i] + 60);
            open_jacobi(&J, f, decorator);
            open_loop(&J, f, &I);
            EXPECT(TACIT_DEVICE, tct_loop_run(&J.loop, NEVER));
            assert_non_null(strstr(tacit_error_message(), "chaos"));
            assert_true(J.loop.k > 0 && J.decided == 0);
            close_jacobi(&J);
        }
}

/* Soon after iteration `at`. */
static void expect_failed_run(jacobi *J, form f, int64_t at)
{
    enum { MORE = 24 };
    const tct_iteration I = iteration_of(4);
    open_loop(J, f, &I);
    EXPECT(TACIT_INPUT, tct_loop_run(&J->loop, NEVER));
    assert_non_null(strstr(tacit_error_message(), "made to fail"));
    if (J->loop.k < at || (!on_gpu() && J->loop.k > at + MORE))
        fail_msg("form %d: iteration %d failed, the loop ended after %d",
                 (int)f, (int)at, (int)J->loop.k);
    close_jacobi(J);
}

/* The same where a check fails, in a kernel, too, and where an iteration fails
 * while it is recorded. */
static void failed_checks_end_all_ranks(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    for (form f = AT_ONCE; f < FORMS; f++)
        for (int64_t at = 1; at < 30; at += 7) {
            jacobi J;
            if (!has_form(f)) continue;
            open_jacobi(&J, f, "");
            J.fail_at = at;
            expect_failed_run(&J, f, at);
        }
}

static void failed_iterations_end_all_ranks(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    for (form f = AT_ONCE; f <= GRAPH; f++)
        for (int64_t at = 1; at < 7; at++) {
            jacobi J;
            if (!has_form(f)) continue;
            open_jacobi(&J, f, "");
            J.break_at = at;
            expect_failed_run(&J, f, 0);
        }
}

/* A block of a kernel that does not come to its barrier. */
static void late_blocks_are_noticed(void **state)
{
    (void)state;
    jacobi J;
    if (on_gpu()) skip();
    const tct_iteration I = iteration_of(4);
    open_jacobi(&J, PERSISTENT, "");
    J.absent = true;
    open_loop(&J, PERSISTENT, &I);
    EXPECT(TACIT_DEVICE, tct_loop_run(&J.loop, NEVER));
    assert_non_null(strstr(tacit_error_message(), "barrier"));
    close_jacobi(&J);
}

static void refusals_say_why(void **state)
{
    (void)state;
    jacobi J;
    if (on_gpu()) skip();
    const tct_iteration I = iteration_of(4);
    tct_iteration plain = I;
    plain.kernel = NULL;
    open_jacobi(&J, AT_ONCE, "");
    EXPECT(TACIT_UNSUPPORTED,
           tct_loop_open(&J.loop, &tct_loop_graph, &I, J.q, &J, J.c));
    assert_non_null(strstr(tacit_error_message(), "loop graph: device host"));
    EXPECT(TACIT_UNSUPPORTED,
           tct_loop_open(&J.loop, &tct_loop_persistent, &plain, J.q, &J, J.c));
    assert_non_null(strstr(tacit_error_message(), "has no kernel"));
    close_jacobi(&J);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_ends_the_loop),
        cmocka_unit_test(a_check_may_count),
        cmocka_unit_test(loops_end_at_their_limit),
        cmocka_unit_test(loops_have_the_same_bits),
        cmocka_unit_test(failures_end_all_ranks),
        cmocka_unit_test(failed_checks_end_all_ranks),
        cmocka_unit_test(failed_iterations_end_all_ranks),
        cmocka_unit_test(late_blocks_are_noticed),
        cmocka_unit_test(refusals_say_why),
    };
    TEST_GPU_MAIN(tests);
}
