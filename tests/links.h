/* SPDX-License-Identifier: BSD-3-Clause
 * tests/links.h - tests of every link and device: the list of links, plans,
 * solves on several ranks, failures, parts of a world. test_link.c runs them on
 * the host, test_gpu_ranks.c on a GPU that the ranks share. */
#ifndef TESTS_LINKS_H
#define TESTS_LINKS_H
#include "comm/exchange/plan.h"
#include "comm/link/link.h"
#include "gpu.h"
#include "methods.h"

enum { COLUMNS = 5 };

/* --- specs ---------------------------------------------------------------- */

static void refused(const char *spec, tacit_status wanted, const char *word)
{
    tacit_queue *q = NULL;
    EXPECT(wanted, tacit_queue_create(test_world(), spec, 1, &q));
    assert_null(q);
    if (!strstr(tacit_error_message(), word))
        fail_msg("%s: '%s' does not say '%s'", spec, tacit_error_message(),
                 word);
}

/* A link with a library, which may not be here, and wants a GPU for each rank:
 * it says which. */
static bool has_library(const char *link)
{
    tacit_queue *q = NULL;
    char spec[64];
    snprintf(spec, sizeof spec, TEST_DEVICE "@%s", link);
    const tacit_status status = tacit_queue_create(test_world(), spec, 1, &q);
    tacit_queue_destroy(&q);
    if (status == TACIT_OK) return true;
    EXPECT(TACIT_UNSUPPORTED, status);
    const char *why = tacit_error_message();
    if (!strstr(why, "could not be loaded") && !strstr(why, "share a GPU"))
        fail_msg("%s: %s", link, why);
    print_message("%s\n", why);
    return false;
}

static void links_are_chosen_by_name(void **state)
{
    (void)state;
    const bool alone = tacit_world_size(test_world()) == 1;
    const bool gpus = strcmp(TEST_DEVICE, "cuda") == 0 && !alone;
    tacit_queue *q = open_queue(TEST_DEVICE);
    assert_string_equal(tacit_queue_link(q), alone  ? "self"
                                             : gpus ? "peer"
                                                    : "shm");
    tacit_queue_destroy(&q);
    for (int i = 0; tacit_link_at(i); i++) {
        const char *name = tacit_link_at(i)->name;
        const bool can =
            strcmp(name, "self") == 0   ? alone
            : strcmp(name, "mpi") == 0  ? test_launched_
            : strcmp(name, "peer") == 0 ? gpus
            : strcmp(name, "nccl") == 0 || strcmp(name, "nvshmem") == 0
                ? gpus && has_library(name)
                : !alone;
        char spec[64];
        snprintf(spec, sizeof spec, "count:" TEST_DEVICE "@%s", name);
        if (can) {
            q = open_queue(spec);
            assert_string_equal(tacit_queue_link(q), name);
            assert_int_equal(tct_links_open(q), 1);
            tacit_queue_destroy(&q);
        } else {
            refused(spec, TACIT_UNSUPPORTED, name);
        }
    }
    refused(TEST_DEVICE "@sefl", TACIT_INVALID, "did you mean 'self'");
    refused(TEST_DEVICE "(99)", TACIT_INVALID, TEST_DEVICE);
    refused(TEST_DEVICE "(x)", TACIT_INVALID, "expected " TEST_DEVICE);
    refused(TEST_DEVICE "()", TACIT_INVALID, "expected " TEST_DEVICE);
    if (!alone) refused(TEST_DEVICE "@self", TACIT_UNSUPPORTED, "alone");
    if (alone) refused(TEST_DEVICE "@shm", TACIT_UNSUPPORTED, "several");
    if (!test_launched_) refused(TEST_DEVICE "@mpi", TACIT_UNSUPPORTED, "MPI");
}

/* --- plans ---------------------------------------------------------------- */

/* Element `i` of column `j` of rank `r`. */
static double value_at(int r, int j, int i)
{
    return 1000.0 * r + 100.0 * j + i;
}

/* A ring in which each rank sends its elements 4, 2, 0 to the next rank, 1 and
 * 3 to the same one again, and 5 to itself. */
static void check_columns(tacit_queue *q)
{
    enum { N = 6, LD = 8 };
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    const tct_plan_part send[] = {{next, 0, 3}, {next, 0, 2}, {rank, 0, 1}};
    const tct_plan_part recv[] = {{last, 0, 3}, {last, 0, 2}, {rank, 0, 1}};
    static const int32_t index[N] = {4, 2, 0, 1, 3, 5};
    tct_plan *plan = NULL;
    OK(tct_plan_from_lists(q, 3, send, index, 3, recv, COLUMNS, &plan));
    double host[COLUMNS * LD] = {0};
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < N; i++) host[j * LD + i] = value_at(rank, j, i);
    double *x = device_vector(q, COLUMNS * LD, host);
    for (int round = 0; round < 3; round++)
        for (int columns = 1; columns <= COLUMNS; columns++) {
            q_exchange_begin(q, &plan->base, tct_panel_of(x, LD, columns));
            q_exchange_end(q, &plan->base, columns);
            double ghost[COLUMNS * N];
            q_get(q, (size_t)(columns * N), plan->base.ghost, ghost);
            for (int j = 0; j < columns; j++)
                for (int i = 0; i < N; i++) {
                    const int from = i < N - 1 ? last : rank;
                    assert_true(ghost[j * N + i] ==
                                value_at(from, j, index[i]));
                }
        }
    OK(q_status(q));
    tacit_queue_free(q, &x);
    tct_plan_destroy(&plan);
}

static void columns_arrive_where_they_belong(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    check_columns(q);
    tacit_queue_destroy(&q);
}

/* --- solves --------------------------------------------------------------- */

typedef struct {
    tacit_queue *q;
    tacit_operator *A;
    tacit_solver *s;
    double *b, *x;
    size_t n;
    tacit_result result;
} link_problem;

static void open_link_problem(link_problem *p, tacit_world *world,
                              const char *spec, const char *matrix,
                              const char *method)
{
    tacit_matrix *m = NULL;
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    OK(tacit_queue_create(world, spec, 1, &p->q));
    OK(tacit_matrix_open(world, matrix, NULL, &m));
    OK(tacit_operator_create(p->q, m, NULL, &p->A));
    tacit_matrix_destroy(&m);
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    double *one = host_vector(p->n, 1.0), *zero = host_vector(p->n, 0.0);
    p->b = device_vector(p->q, p->n, one);
    p->x = device_vector(p->q, p->n, zero);
    free(one);
    free(zero);
}

static void close_link_problem(link_problem *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
}

static void ranks_solve_as_one(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson3d:14", "elasticity3d:7",
                                           "tet3d:8,1"};
    const tacit_stop stop = {.size = sizeof(tacit_stop), .rtol = 1e-11};
    for (int i = 0; i < 3; i++)
        for (int m = 0; method_of(m); m++) {
            link_problem p, h;
            open_link_problem(&p, test_world(), TEST_DEVICE, matrices[i],
                              method_of(m));
            open_link_problem(&h, test_world(), "host", matrices[i],
                              method_of(m));
            OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
            OK(tacit_solver_run(h.s, h.b, h.x, &stop, &h.result));
            assert_true(llabs(p.result.iterations - h.result.iterations) <= 3);
            double *x = host_copy(p.q, p.n, p.x), *y = host_copy(h.q, h.n, h.x);
            assert_true(distance_of(p.n, x, y) <= 1e-6 * norm_of(p.n, y));
            free(x);
            free(y);
            close_link_problem(&p);
            close_link_problem(&h);
        }
}

static int stop_at_nine(void *ctx, int64_t k, double residual)
{
    (void)ctx;
    (void)residual;
    return k == 9 && tacit_world_rank(test_world()) == 0;
}

static void a_wish_to_stop_is_everybodys(void **state)
{
    (void)state;
    for (int m = 0; method_of(m); m++) {
        link_problem p;
        const tacit_stop stop = {
            .size = sizeof(tacit_stop), .rtol = 1e-12, .monitor = stop_at_nine};
        open_link_problem(&p, test_world(), TEST_DEVICE, "poisson2d:40",
                          method_of(m));
        EXPECT(TACIT_INTERRUPTED,
               tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
        int64_t extent[2] = {p.result.iterations, -p.result.iterations};
        OK(tct_reduce_i64(test_world(), TCT_MAX, 2, extent));
        assert_int_equal(extent[0], -extent[1]);
        assert_true(extent[0] >= 9);
        close_link_problem(&p);
    }
}

/* Wherever one rank's queue fails, no rank is left waiting, and all know
 * why. */
static void a_failure_is_everybodys(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof(tacit_stop), .max_iterations = 40};
    for (int m = 0; method_of(m); m++)
        for (int k = 9; k < 140; k += 13) {
            char spec[64];
            link_problem p;
            snprintf(spec, sizeof spec, "chaos(1,%d):%s", k, TEST_DEVICE);
            open_link_problem(&p, test_world(), spec, "poisson2d:12x7",
                              method_of(m));
            const tacit_status status =
                tacit_solver_run(p.s, p.b, p.x, &stop, &p.result);
            if (status != TACIT_DEVICE)
                print_error("operation %d of %s: status %d\n", k, method_of(m),
                            (int)status);
            EXPECT(TACIT_DEVICE, status);
            assert_non_null(strstr(tacit_error_message(), "made to fail"));
            close_link_problem(&p);
        }
}

/* The loops that cannot be had say which can. */
static void loops_need_links_that_start_messages(void **state)
{
    (void)state;
    static const char *const loops[] = {"graph", "resident"};
    const bool host = strcmp(TEST_DEVICE, "host") == 0;
    const tacit_stop stop = {.size = sizeof(tacit_stop), .rtol = 1e-9};
    link_problem p;
    open_link_problem(&p, test_world(),
                      tacit_world_size(test_world()) > 1 ? TEST_DEVICE "@shm"
                                                         : TEST_DEVICE,
                      "poisson2d:20", "cg");
    for (int i = 0; i < 2; i++) {
        if (!host && tacit_world_size(test_world()) == 1) continue;
        EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(p.s, loops[i]));
        assert_non_null(strstr(tacit_error_message(),
                               host ? "cuda" : "loop host can be had"));
    }
    OK(tacit_solver_set_loop(p.s, "auto"));
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    if (host || tacit_world_size(test_world()) > 1)
        assert_string_equal(p.result.loop, "host");
    close_link_problem(&p);
}

/* --- parts of a world ----------------------------------------------------- */

static void halves_solve_at_the_same_time(void **state)
{
    (void)state;
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    const tacit_stop stop = {.size = sizeof(tacit_stop), .rtol = 1e-9};
    tacit_world *half = NULL;
    OK(tacit_world_split(test_world(), rank % 2, &half));
    assert_int_equal(tacit_world_rank(half), rank / 2);
    assert_int_equal(tacit_world_size(half), (size + 1 - rank % 2) / 2);
    link_problem p; /* each half its own matrix and its own number of solves */
    open_link_problem(&p, half, TEST_DEVICE,
                      rank % 2 ? "poisson2d:30" : "poisson3d:9", "cg");
    for (int i = 0; i < 2 + 3 * (rank % 2); i++) {
        q_fill(p.q, p.n, 0.0, p.x);
        OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
        assert_true(p.result.true_relative_residual <= 1e-9);
    }
    close_link_problem(&p);
    tacit_world_destroy(&half);
    OK(tacit_world_split(test_world(), rank == 0 ? 3 : -1, &half));
    assert_int_equal(half != NULL, rank == 0);
    if (half) assert_int_equal(tacit_world_size(half), 1);
    tacit_world_destroy(&half);
}

static const struct CMUnitTest link_tests[] = {
    cmocka_unit_test(links_are_chosen_by_name),
    cmocka_unit_test(columns_arrive_where_they_belong),
    cmocka_unit_test(ranks_solve_as_one),
    cmocka_unit_test(a_wish_to_stop_is_everybodys),
    cmocka_unit_test(a_failure_is_everybodys),
    cmocka_unit_test(loops_need_links_that_start_messages),
    cmocka_unit_test(halves_solve_at_the_same_time),
};

#endif
