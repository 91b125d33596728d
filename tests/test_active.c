/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_active.c - active messages: a rank one round ahead does not
 * disturb the others.
 *
 * RUN: np=3
 * THREADS: 3
 * PROCESSES: 3 */
#include "comm/active/active.h"
#include "mpi_main.h"
#include "said.h"

enum { ROUNDS = 6, LATE_US = 20000, MOST = 16 };

/* Of one message from rank 0 to every other, and one back. */
static tct_active *open_star(bool centre)
{
    const int size = tacit_world_size(test_world());
    const int others = size - 1, mine = centre ? others : 1;
    int32_t from[MOST] = {0};
    tct_active *p = NULL;
    assert_in_range(size, 3, MOST);
    for (int r = 0; r < size; r++) from[r] = centre ? r > 0 : r == 0;
    OK(tct_active_open(test_world(),
                       &(tct_active_needs){.tags = 1,
                                           .in = {mine},
                                           .from = from,
                                           .out = mine,
                                           .room = sizeof(uint64_t),
                                           .longest = sizeof(uint64_t)},
                       &p));
    return p;
}

/* Rank 1 sends its next message while rank 0 still waits for those of this
 * round. */
static void rounds_are_kept_apart(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    if (size < 3) skip();
    tct_active *p = open_star(rank == 0);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        OK(tct_active_begin(p));
        if (rank > 1) usleep(LATE_US);
        memcpy(p->room, &round, sizeof round);
        const int first = rank == 0 ? 1 : 0, last = rank == 0 ? size - 1 : 0;
        for (int to = first; to <= last; to++)
            OK(tct_active_send(p, 0, to, p->room, sizeof round));
        int heard[MOST] = {0};
        for (int k = first; k <= last; k++) {
            tct_active_message message;
            uint64_t of;
            OK(tct_active_take(p, 0, &message));
            assert_int_equal(message.bytes, sizeof of);
            memcpy(&of, message.data, sizeof of);
            tct_active_drop(p, &message);
            assert_in_range(message.from, first, last);
            assert_int_equal(of, round);
            assert_int_equal(heard[message.from]++, 0);
        }
    }
    tct_active_close(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_kept_apart),
    };
    TEST_MPI_MAIN(tests);
}
