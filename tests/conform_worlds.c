/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_worlds.c - the contract of every kind of world: set-up
 * communication, parts of a world, shared memory. The world is one process, MPI
 * processes, threads, or processes without MPI.
 *
 * RUN: np=1,2,4
 * THREADS: 2,3,5
 * PROCESSES: 1,2,3,4 */
#define TEST_DEVICE "host"
#include "comm/link/link.h"
#include "comm/world/shared.h"
#include "dealt.h"
#include <tacit/exchange.h>

static int size_of(void)
{
    return tacit_world_size(test_world());
}
static int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static int64_t draw(int a, int b, int c, int below)
{
    return (int64_t)(tct_mix((uint64_t)(a * 7919 + b * 104729 + c)) %
                     (uint64_t)below);
}

/* --- set-up plane --------------------------------------------------------- */

static int64_t reduced(tct_reduction op, int64_t a, int64_t b)
{
    if (op == TCT_SUM) return a + b;
    return op == TCT_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static void reductions_are_of_all(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 3, 63, 64, 65, 128, 1000};
    int64_t i[1000];
    double f[1000];
    for (int op = TCT_SUM; op <= TCT_MAX; op++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (int k = 0; k < (int)counts[c]; k++) {
                i[k] = draw(rank_of(), k, op, 2001) - 1000;
                f[k] = (double)i[k];
            }
            OK(tct_reduce_i64(test_world(), (tct_reduction)op, counts[c], i));
            OK(tct_reduce_f64(test_world(), (tct_reduction)op, counts[c], f));
            for (int k = 0; k < (int)counts[c]; k++) {
                int64_t want = draw(0, k, op, 2001) - 1000;
                for (int r = 1; r < size_of(); r++)
                    want = reduced((tct_reduction)op, want,
                                   draw(r, k, op, 2001) - 1000);
                assert_int_equal(i[k], want);
                assert_true(f[k] == (double)want);
            }
        }
}

static void what_one_says_all_hear(void **state)
{
    (void)state;
    char text[300];
    for (int root = 0; root < size_of(); root++)
        for (size_t bytes = 0; bytes <= sizeof text; bytes += 60) {
            memset(text, rank_of() + 1, sizeof text);
            OK(tct_bcast(test_world(), root, bytes, text));
            for (size_t k = 0; k < sizeof text; k++)
                assert_int_equal(text[k], (k < bytes ? root : rank_of()) + 1);
        }
    int64_t mine[3], all[3 * 64];
    for (int round = 0; round < 5; round++) {
        for (int k = 0; k < 3; k++) mine[k] = draw(rank_of(), k, round, 1000);
        OK(tct_allgather(test_world(), sizeof mine, mine, all));
        for (int r = 0; r < size_of(); r++)
            for (int k = 0; k < 3; k++)
                assert_int_equal(all[3 * r + k], draw(r, k, round, 1000));
    }
}

/* Lists of random lengths, many of them empty, from each rank to each. */
static void lists_reach_whom_they_are_for(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        int64_t to[64], from[64], sends = 0, receives = 0;
        for (int r = 0; r < size_of(); r++) {
            to[r] = 8 * draw(rank_of(), r, round, 4);
            from[r] = 8 * draw(r, rank_of(), round, 4);
            sends += to[r] / 8;
            receives += from[r] / 8;
        }
        int64_t *out = calloc((size_t)sends + 1, sizeof *out), *o = out;
        int64_t *in = calloc((size_t)receives + 1, sizeof *in), *i = in;
        for (int r = 0; r < size_of(); r++)
            for (int k = 0; k < to[r] / 8; k++)
                *o++ = rank_of() * 10000 + r * 100 + k;
        OK(tct_alltoallv(test_world(), to, out, from, in));
        for (int r = 0; r < size_of(); r++)
            for (int k = 0; k < from[r] / 8; k++)
                assert_int_equal(*i++, r * 10000 + rank_of() * 100 + k);
        free(out);
        free(in);
    }
}

static void the_first_error_is_everybodys(void **state)
{
    (void)state;
    for (int who = 0; who < size_of(); who++) {
        tacit_status mine = TACIT_OK;
        if (rank_of() == who)
            mine = tacit_error_set(TACIT_IO, "rank %d cannot", who);
        if (rank_of() == who + 1)
            mine = tacit_error_set(TACIT_IO, "rank %d neither", who + 1);
        char said[32];
        snprintf(said, sizeof said, "rank %d cannot", who);
        EXPECT(TACIT_IO, tacit_world_agree(test_world(), mine));
        assert_string_equal(tacit_error_message(), said);
        OK(tacit_world_agree(test_world(), TACIT_OK));
    }
}

/* --- parts ---------------------------------------------------------------- */

static void parts_are_those_of_a_colour(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        const int colour = (int)draw(rank_of(), round, 1, 4) - 1;
        tacit_world *part = NULL;
        int rank = 0, size = 0;
        int64_t sum = 0, numbers = rank_of();
        for (int r = 0; r < size_of(); r++) {
            if ((int)draw(r, round, 1, 4) - 1 != colour) continue;
            rank += r < rank_of();
            size++;
            sum += r;
        }
        OK(tacit_world_split(test_world(), colour, &part));
        assert_int_equal(part != NULL, colour >= 0);
        if (!part) continue;
        assert_int_equal(tacit_world_rank(part), rank);
        assert_int_equal(tacit_world_size(part), size);
        assert_int_equal(part->place, test_world()->place); /* its GPU stays */
        for (int k = 0; k <= colour; k++) { /* each goes its own way */
            int64_t mine = numbers;
            OK(tct_reduce_i64(part, TCT_SUM, 1, &mine));
            assert_int_equal(mine, sum);
        }
        tacit_world *less = NULL; /* and parts have parts */
        OK(tacit_world_split(part, rank == 0 ? 0 : -1, &less));
        assert_int_equal(less != NULL, rank == 0);
        tacit_world_destroy(&less);
        tacit_world_destroy(&part);
    }
}

static void worlds_of_threads_have_a_size(void **state)
{
    (void)state;
    tacit_world *w[3] = {NULL};
    EXPECT(TACIT_INVALID, tacit_world_threads(0, w));
    assert_non_null(strstr(tacit_error_message(), "expected 1 or more"));
    EXPECT(TACIT_INVALID, tacit_world_threads(2, NULL));
    for (int k = 1; k <= 4 && test_threads_ == 0; k++) {
        const size_t blocks = tct_memory_blocks();
        tct_memory_fail_at(k);
        EXPECT(TACIT_NO_MEMORY, tacit_world_threads(3, w));
        tct_memory_fail_at(0);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    OK(tacit_world_threads(3, w));
    for (int r = 2; r >= 0; r--) {
        assert_int_equal(tacit_world_rank(w[r]), r);
        assert_int_equal(tacit_world_size(w[r]), 3);
        tacit_world_destroy(&w[r]);
    }
}

/* --- shared memory -------------------------------------------------------- */

/* A number goes round, through a counter of each rank: who sees the counter
 * sees what was written before it. */
static void what_is_signalled_is_there(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, VALUES = 500 };
    typedef struct {
        tct_counter arrived;
        int64_t value[VALUES];
    } piece;
    const int size = size_of(), rank = rank_of(), next = (rank + 1) % size;
    tct_shared *memory = NULL;
    OK(tct_shared_create(test_world(), sizeof(piece) - (size_t)rank, &memory));
    piece *mine = tct_shared_of(memory, rank);
    piece *theirs = tct_shared_of(memory, next);
    assert_int_equal((uintptr_t)mine % 64, 0);
    for (int k = 0; k < VALUES; k++) assert_int_equal(mine->value[k], 0);
    OK(tct_agree(test_world(), TACIT_OK)); /* all have seen that */
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (rank > 0) tct_await(test_world(), &mine->arrived, round, 100);
        for (int k = 0; k < VALUES && rank > 0; k++)
            assert_int_equal(mine->value[k], (int64_t)round * 1000 + k);
        for (int k = 0; k < VALUES; k++)
            theirs->value[k] = (int64_t)round * 1000 + k;
        tct_signal(&theirs->arrived, round);
        if (rank == 0) tct_await(test_world(), &mine->arrived, round, 100);
    }
    tct_shared_destroy(&memory);
    assert_null(memory);
    tct_shared_destroy(&memory);
}

static void segments_come_and_go(void **state)
{
    (void)state;
    for (int k = 0; k < 200; k++) {
        tct_shared *memory = NULL;
        OK(tct_shared_create(test_world(), (size_t)(5000 * (k % 7)), &memory));
        *(char *)tct_shared_of(memory, rank_of()) = 1;
        tct_shared_destroy(&memory);
    }
}

/* --- several links at once ------------------------------------------------ */

/* A solve with a named link and one with the link that autotuning keeps are
 * the same. */
static void the_fastest_link_is_left(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_matrix *m = NULL;
    tacit_operator *A = NULL, *B = NULL;
    tacit_solver *s = NULL;
    OK(tacit_matrix_open(test_world(), "poisson2d:31", NULL, &m));
    OK(tacit_operator_create(q, m, NULL, &A));
    const int open = tct_links_open(q);
    assert_int_equal(open, test_launched_ && size_of() > 1 ? 2 : 1);
    OK(tacit_solver_create(q, A, "cg", &s));
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *x = poisoned_vector(q, n), *b = poisoned_vector(q, n),
           *before = NULL;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    tacit_result result = {.size = sizeof result};
    for (int run = 0; run < 3; run++) {
        if (run == 1) OK(tacit_solver_set_loop(s, "auto"));
        assert_int_equal(tct_links_open(q), run == 0 ? open : 1);
        if (run == 2) OK(tacit_operator_create(q, m, NULL, &B));
        OK(tacit_queue_fill(q, n, 1.0, b));
        OK(tacit_queue_fill(q, n, 0.0, x));
        OK(tacit_solver_run(s, b, x, &stop, &result));
        double *now = host_copy(q, n, x);
        if (before) assert_true(same_bits(before, now, n));
        free(before);
        before = now;
    }
    free(before);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &b);
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&A);
    tacit_operator_destroy(&B);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* Wherever a rank has no memory, all have a queue and a plan with what is left,
 * or none has, and nothing stays behind. */
static void a_link_that_cannot_leaves_another(void **state)
{
    (void)state;
    if (test_threads_ > 0) { /* whose allocations are counted together */
        printf("skipped: a_link_that_cannot_leaves_another: on threads\n");
        return;
    }
    const size_t blocks = tct_memory_blocks();
    const int32_t index[] = {0};
    const tacit_channel to = {(rank_of() + 1) % size_of(), 1};
    const tacit_channel from = {(rank_of() + size_of() - 1) % size_of(), 1};
    int refused = 0, fewer = 0, queues = 0;
    for (int k = 1; k < 40; k++) {
        tacit_queue *q = NULL;
        tacit_exchange *e = NULL;
        if (rank_of() == size_of() - 1) tct_memory_fail_at(k);
        tacit_status status =
            tacit_queue_create(test_world(), TEST_DEVICE, 1, &q);
        queues += status == TACIT_OK;
        if (status == TACIT_OK)
            status = tacit_exchange_create(q, 1, &to, index, 1, &from, 1, &e);
        tct_memory_fail_at(0);
        if (status < 0) assert_int_equal(status, TACIT_NO_MEMORY);
        refused += status < 0;
        fewer += status == TACIT_OK &&
                 tct_links_open(q) < (test_launched_ && size_of() > 1 ? 2 : 1);
        tacit_exchange_destroy(&e);
        tacit_queue_destroy(&q);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_true(refused > 0 && queues > 0);
    if (test_launched_ && size_of() > 1) assert_true(fewer > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_are_of_all),
        cmocka_unit_test(what_one_says_all_hear),
        cmocka_unit_test(lists_reach_whom_they_are_for),
        cmocka_unit_test(the_first_error_is_everybodys),
        cmocka_unit_test(parts_are_those_of_a_colour),
        cmocka_unit_test(worlds_of_threads_have_a_size),
        cmocka_unit_test(what_is_signalled_is_there),
        cmocka_unit_test(segments_come_and_go),
        cmocka_unit_test(the_fastest_link_is_left),
        cmocka_unit_test(a_link_that_cannot_leaves_another),
    };
    TEST_MPI_MAIN(tests);
}
