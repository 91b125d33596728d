/* SPDX-License-Identifier: BSD-3-Clause
 * tests/stores.h - tests of links whose kernels store into the memory of peers,
 * one program per link, which defines TEST_LINK: loops graph and resident on
 * several ranks give the results of loop host, and a missing rank is reported.
 * With TEST_FAR, kernels cannot reach that memory, and loop resident
 * refuses. */
#ifndef TESTS_STORES_H
#define TESTS_STORES_H
#include "dealt.h"
#include "links.h"
#include <tacit/exchange.h>

#ifdef TEST_FAR
enum { FAR = true };
#else
enum { FAR = false };
#endif

/* Have the ranks the link? If not it has said so; one rank never has it. */
static bool has_stores(void)
{
    tacit_queue *q = NULL;
    const tacit_status status =
        tacit_queue_create(test_world(), "cuda@" TEST_LINK, 1, &q);
    tacit_queue_destroy(&q);
    if (status == TACIT_OK) return true;
    EXPECT(TACIT_UNSUPPORTED, status);
    assert_non_null(strstr(tacit_error_message(), TEST_LINK));
    print_message("%s\n", tacit_error_message());
    return false;
}

enum { HISTORY = 400 };

typedef struct {
    double residual[HISTORY];
    int count, stop_at; /* stop_at < 0: never */
} history;

static int note(void *ctx, int64_t k, double residual)
{
    history *h = ctx;
    if (k < HISTORY) h->residual[k] = residual;
    if (k < HISTORY && k >= h->count) h->count = (int)k + 1;
    return h->stop_at >= 0 && k >= h->stop_at;
}

/* Solve in `loop`; false: it cannot be had, and says why. */
static bool solve_in(const char *matrix, const char *method,
                     const char *precond, const char *loop, int stop_at,
                     history *h, tacit_result *result)
{
    link_problem p;
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-9, .monitor = note, .monitor_ctx = h};
    open_link_problem(&p, test_world(), "cuda@" TEST_LINK, matrix, method);
    double *b = host_vector(p.n, 0.0);
    for (size_t i = 0; i < p.n; i++)
        b[i] = number(3, (int64_t)i, tacit_world_rank(test_world()));
    OK(tacit_queue_put(p.q, p.n, b, p.b));
    free(b);
    *h = (history){.stop_at = stop_at};
    OK(tacit_solver_set(p.s, "precond", precond));
    const tacit_status can = tacit_solver_set(p.s, "loop", loop);
    if (can >= 0) {
        EXPECT(stop_at < 0 ? TACIT_OK : TACIT_INTERRUPTED,
               tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
        assert_string_equal(p.result.loop, loop);
    } else {
        assert_int_equal(can, TACIT_UNSUPPORTED);
        assert_non_null(strstr(tacit_error_message(), "loop resident: "));
        if (FAR && strcmp(method, "cg") == 0) /* others may have no kernel */
            assert_non_null(strstr(tacit_error_message(), "NVSHMEM's"));
    }
    *result = p.result;
    close_link_problem(&p);
    return can >= 0;
}

static void expect_same(const char *what, const history *a, const history *b,
                        const tacit_result *r, const tacit_result *s)
{
    enum { EARLY = 12 };
    for (int k = 0; k < EARLY && k < a->count && k < b->count; k++)
        if (!(fabs(a->residual[k] - b->residual[k]) <=
              1e-8 * a->residual[k] + 1e-14))
            fail_msg("%s: residual %d is %.12g, loop host's %.12g", what, k,
                     b->residual[k], a->residual[k]);
    if (llabs(r->iterations - s->iterations) > r->iterations / 25 + 3)
        fail_msg("%s: %lld iterations, loop host %lld", what,
                 (long long)s->iterations, (long long)r->iterations);
    assert_true(s->true_relative_residual <= 1e-9);
}

static void loops_do_as_loop_host(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson2d:60", "poisson3d:14",
                                           "elasticity3d:7", "tet3d:8,1",
                                           "poisson2d:3"};
    static const char *const preconds[] = {"none", "jacobi"};
    static const char *const loops[] = {"graph", "resident"};
    int resident = 0;
    if (!has_stores()) skip();
    for (int i = 0; i < 5; i++)
        for (int m = 0; method_of(m); m++)
            for (int c = 0; c < 2; c++) {
                history host, other;
                tacit_result r, s;
                assert_true(solve_in(matrices[i], method_of(m), preconds[c],
                                     "host", -1, &host, &r));
                for (int l = 0; l < 2; l++) {
                    char what[96];
                    snprintf(what, sizeof what, "%s %s %s %s", matrices[i],
                             method_of(m), preconds[c], loops[l]);
                    if (!solve_in(matrices[i], method_of(m), preconds[c],
                                  loops[l], -1, &other, &s))
                        continue;
                    expect_same(what, &host, &other, &r, &s);
                    resident += l;
                }
            }
    if (FAR) assert_int_equal(resident, 0);
    else assert_true(resident >= 4 * 3 * 2);
}

static void wishes_stop_all_in_every_loop(void **state)
{
    (void)state;
    static const char *const loops[] = {"host", "graph", "resident"};
    const int rank = tacit_world_rank(test_world());
    if (!has_stores()) skip();
    for (int l = 0; l < (FAR ? 2 : 3); l++)
        for (int who = 0; who < tacit_world_size(test_world()); who++) {
            history h;
            tacit_result r = {.size = sizeof r};
            /* the others never wish it */
            assert_true(solve_in("poisson2d:60", "cg", "none", loops[l],
                                 rank == who ? 9 : HISTORY, &h, &r));
            int64_t extent[2] = {r.iterations, -r.iterations};
            OK(tct_reduce_i64(test_world(), TCT_MAX, 2, extent));
            assert_int_equal(extent[0], -extent[1]);
            assert_true(extent[0] >= 9);
        }
}

/* Rank 1 does not come to a sum, or to an exchange: the others name it. */
static void who_does_not_come_is_named(void **state)
{
    (void)state;
    const int rank = tacit_world_rank(test_world());
    if (!has_stores()) skip();
    for (int what = 0; what < 3; what++) {
        tacit_world *part = NULL; /* which then knows of it */
        tacit_queue *q = NULL;
        OK(tacit_world_split(test_world(), 0, &part));
        OK(tacit_queue_create(part, "cuda@" TEST_LINK, 1, &q));
        double *c = device_vector(q, 1, (double[]){1.0});
        const tacit_channel to = {0, 1}, from = {1, 1};
        tacit_exchange *e = NULL;
        OK(tacit_exchange_create(q, rank == 1, &to, (int32_t[]){0}, rank == 0,
                                 &from, 1, &e));
        q->peer_seconds = 0.5;
        tacit_status mine = TACIT_OK;
        if (rank != 1 && what == 0) q_sum(q, 1, c);
        if (rank != 1 && what == 2) q_sum_begin(q, 1, c);
        if (rank != 1 && what == 2) q_sum_end(q, 1, c);
        if (rank == 0 && what == 1) tacit_exchange_begin(e, c, 1, 1);
        if (rank == 0 && what == 1) tacit_exchange_end(e);
        if (rank == 0 || (rank != 1 && what != 1)) {
            mine = q_status(q);
            assert_int_equal(mine, TACIT_COMM);
            assert_non_null(strstr(tacit_error_message(),
                                   "rank 1 has not answered for 0.5 s"));
        }
        tacit_exchange_destroy(&e);
        tacit_queue_free(q, &c);
        tacit_queue_destroy(&q);
        tacit_world_destroy(&part);
        OK(tct_agree(test_world(), TACIT_OK));
    }
}

#define STORE_TESTS                                      \
    cmocka_unit_test(loops_do_as_loop_host),             \
        cmocka_unit_test(wishes_stop_all_in_every_loop), \
        cmocka_unit_test(who_does_not_come_is_named)

#endif
