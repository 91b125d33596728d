/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_triggered_lost.c - T33: a rank that is killed, or that waits for
 * another one that is silent. All ranks end with COMM and one message, in
 * seconds, whatever they wait for. */
#include "triggered_rig.h"
#include <sys/mman.h>

enum { SIZE = 4 };

/* Each rank waits for the one before it; the first is killed. */
static int wait_for_killed(tacit_world *w, void *ctx)
{
    rig g = rig_open_in(w);
    char from = 1, to = 0;
    request *r[2] = {NULL};
    const int rank = g.rank;
    if (rank < SIZE - 1)
        OK(tacit_trigger_send_init(g.c, &from, 1, TACIT_TRIGGER_BYTE, rank + 1,
                                   3, &r[0]));
    if (rank > 0)
        OK(tacit_trigger_recv_init(g.c, &to, 1, TACIT_TRIGGER_BYTE, rank - 1, 3,
                                   &r[1]));
    OK(match_those(2, r));
    OK(tacit_world_agree(w, TACIT_OK));
    if (rank == 0) raise(SIGKILL);
    OK(tacit_trigger_enqueue_start(g.q, r[1]));
    OK(tacit_trigger_enqueue_wait(g.q, r[1]));
    OK(tacit_trigger_enqueue_start(g.q, r[0]));
    OK(tacit_trigger_enqueue_wait(g.q, r[0]));
    REFUSES(TACIT_COMM, "rank 0 was killed; rank ",
            tacit_trigger_queue_wait(g.q));
    assert_non_null(strstr(tacit_error_message(), "the receive of 1 bytes with "
                                                  "tag 3 from rank "));
    for (int k = 0; k < 2; k++) OK(tacit_trigger_request_free(&r[k]));
    rig_close(&g);
    assert_int_equal(tacit_world_agree(w, TACIT_OK), TACIT_COMM);
    atomic_fetch_add((atomic_int *)ctx, 1);
    return 5;
}

static void a_killed_rank_is_named(void **state)
{
    (void)state;
    int worst = 0;
    atomic_int *well = mmap(NULL, sizeof *well, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(well != MAP_FAILED);
    const double start = tct_seconds();
    REFUSES(TACIT_COMM, "rank 0 was killed by signal 9",
            tacit_world_processes(SIZE, wait_for_killed, well, &worst));
    assert_int_equal(atomic_load(well), SIZE - 1);
    munmap(well, sizeof *well);
    assert_true(tct_seconds() - start < 30.0); /* not the limit of 60 s */
}

/* The wait of rank 0's host is for all ranks: it is told of the failure. */
static void end_silently(rig *g)
{
    request *none[1] = {NULL};
    tacit_status status = tacit_trigger_startall(0, none);
    while (status >= 0) {
        sched_yield();
        status = tacit_trigger_queue_wait(g->q);
    }
    assert_int_equal(status, TACIT_COMM);
}

/* Rank 0 starts nothing; each other one waits for the rank before it, and the
 * last one, whose limit is short, finds the first in the end. */
static int wait_in_a_chain(tacit_world *w, void *ctx)
{
    (void)ctx;
    rig g = rig_open_in(w);
    char from = 1, to = 0;
    request *r[2] = {NULL};
    const int rank = g.rank, last = SIZE - 1;
    if (rank < last)
        OK(tacit_trigger_send_init(g.c, &from, 1, TACIT_TRIGGER_BYTE, rank + 1,
                                   0, &r[0]));
    if (rank > 0)
        OK(tacit_trigger_recv_init(g.c, &to, 1, TACIT_TRIGGER_BYTE, rank - 1, 0,
                                   &r[1]));
    OK(match_those(2, r));
    OK(tacit_trigger_comm_set_patience(g.c, rank == last ? 2.0 : 4.0));
    OK(tacit_world_agree(w, TACIT_OK));
    if (rank > 0) {
        OK(tacit_trigger_enqueue_start(g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(g.q, r[1]));
        assert_int_equal(tacit_trigger_queue_wait(g.q), TACIT_COMM);
    } else {
        end_silently(&g);
    }
    const bool followed =
        strstr(tacit_error_message(),
               "rank 2 has not answered for 2 s, which waits for rank 0 "
               "itself; rank 3 waits for it") != NULL;
    if (!followed) print_message("%s\n", tacit_error_message());
    for (int k = 0; k < 2; k++) OK(tacit_trigger_request_free(&r[k]));
    rig_close(&g);
    if (tacit_world_agree(w, TACIT_OK) != TACIT_COMM) return 7;
    return followed ? 5 : 6;
}

static void a_chain_of_waits_is_followed(void **state)
{
    (void)state;
    enum { TRIES = 4 };
    int worst = 6;
    /* who has no processor for two seconds waits for nobody yet */
    for (int k = 0; k < TRIES && worst == 6; k++)
        OK(tacit_world_processes(SIZE, wait_in_a_chain, NULL, &worst));
    assert_int_equal(worst, 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_rank_is_named),
        cmocka_unit_test(a_chain_of_waits_is_followed),
    };
    TEST_MPI_MAIN(tests);
}
