/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_triggered_parts.c - messages that several blocks carry
 * (triggered/parts.h), with threads in place of blocks: two ranks send to each
 * other, standard and synchronous, in cells and through windows, late and
 * early. A start is a round of all blocks, and so is a wait, which tries
 * what is pending, as kernels do. */
#include "device/protocol.h"
#include "mpi_main.h"
#include "triggered/parts.h"

enum {
    RANKS = 2,
    BLOCKS = 3,
    ENDS = 5,
    SMALL = 0,
    LARGE = 4,
    ROUNDS = 60,
    MOST = 3 * TCT_PART_LEAST,
    CELLS = TCT_CELLS_MOST / TCT_CELL_BYTES
};

static const int64_t sizes[ENDS] = {5, TCT_EAGER_MOST, TCT_EAGER_MOST + 1, 0,
                                    MOST - 7};
static const tct_send_kind kinds[ENDS] = {TCT_SEND, TCT_SEND_SYNC, TCT_SEND,
                                          TCT_SEND, TCT_SEND};

typedef struct {
    tct_end_signals sender, receiver;
    char window[MOST];
    uint64_t arrived[TCT_PARTS_MOST];
    struct tct_numbered cell[TCT_SLOTS_OF_SMALL * CELLS];
    char from[MOST], to[MOST];
    bool direct; /* the window is `to` */
} message;

typedef struct {
    pthread_barrier_t all;
    uint64_t turn[BLOCKS]; /* of kernels that start and wait */
    tct_parted send[ENDS], receive[ENDS];
    int rounds;
    uint64_t seed;
} rank_;

static rank_ ranks[RANKS];
static message wire[RANKS][ENDS]; /* from a rank to the other */

static char byte_of(int rank, int k, int round, int64_t i)
{
    return (char)(rank * 101 + k * 31 + round * 7 + i % 251);
}

static void connect(int from, int k)
{
    message *m = &wire[from][k];
    tct_rendezvous r = {.own = &m->sender,
                        .other = &m->receiver,
                        .bytes = sizes[k],
                        .kind = kinds[k]};
    tct_end_cells cells = {NULL, tct_cells_of(sizes[k]),
                           tct_cells_of(sizes[k])};
    if (tct_has_cells(sizes[k])) cells.slot = m->cell;
    m->direct = k % 2 == 0;
    if (sizes[k] > 0 && !cells.slot) r.window = m->direct ? m->to : m->window;
    tct_parted *s = &ranks[from].send[k], *t = &ranks[1 - from].receive[k];
    *s = (tct_parted){.r = r, .data = m->from, .peer = 1 - from, .sends = 1};
    s->parts = cells.slot ? 1 : tct_parts_of(sizes[k]);
    r.own = &m->receiver;
    r.other = &m->sender;
    *t = (tct_parted){.r = r, .data = m->to, .peer = from};
    s->cells = t->cells = cells;
    s->arrived = t->arrived = m->arrived;
    t->parts = s->parts;
}

static void copy_cells(const tct_part_copy *c)
{
    for (int64_t i = 0; i < c->count; i++)
        if (c->sends) tct_cell_send(c->cells, i, c->number, c->from, c->bytes);
        else
            while (!tct_cell_take(c->cells, i, c->number, c->to, c->bytes))
                tct_between_checks();
}

/* One look of block b at an end; true: nothing is left to do. */
static bool look(tct_parted *e, int b, bool waited)
{
    tct_part_copy c;
    if (b >= e->parts) return !waited || tct_part_waited_elsewhere(e);
    tct_part_hint h = tct_part_hint_of(e, b);
    if (!tct_part_may_go_on(&h)) return false;
    if (tct_part_try(e, b, &c) == TCT_PART_LATER) return false;
    if (e->part[b].done != e->part[b].begun) {
        if (c.cells) copy_cells(&c);
        else if (c.bytes > 0) memcpy(c.to, c.from, (size_t)c.bytes);
        tct_part_finish(e, b);
    }
    return !waited || tct_part_waited(e, b, true);
}

static void start(tct_parted *e, int b)
{
    if (b >= e->parts) return;
    tct_part_begin(e, b);
    if (e->sends) (void)look(e, b, false);
}

/* Wait for all ends, with no other send. */
static void wait_for_all(rank_ *R, int b)
{
    for (bool all = false; !all;) {
        all = true;
        for (int k = 0; k < 2 * ENDS; k++) {
            tct_parted *e = k < ENDS ? &R->receive[k] : &R->send[k - ENDS];
            all = (b >= e->parts || look(e, b, true)) && all;
        }
        if (!all) tct_between_checks();
    }
}

/* Wait for `n` ends, and try the sends behind them. */
static void wait_for(rank_ *R, tct_parted *e, int n, int b)
{
    for (bool all = false; !all;) {
        all = true;
        for (int k = 0; k < n; k++) all = look(&e[k], b, true) && all;
        for (int k = 0; k < ENDS; k++) (void)look(&R->send[k], b, false);
        if (!all) tct_between_checks();
    }
}

static void fill(int rank, int round)
{
    for (int k = 0; k < ENDS; k++)
        for (int64_t i = 0; i < sizes[k]; i++)
            wire[rank][k].from[i] = byte_of(rank, k, round, i);
}

static int wrong; /* bytes */
static void check_end(int from, int k, int round)
{
    for (int64_t i = 0; i < sizes[k]; i++)
        if (wire[from][k].to[i] != byte_of(from, k, round, i))
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}
static void check(int rank, int round)
{
    for (int k = 0; k < ENDS; k++) check_end(1 - rank, k, round);
}

/* A kernel ends when all its blocks have. */
static void kernel_ends(rank_ *R)
{
    pthread_barrier_wait(&R->all);
}

typedef struct {
    int rank, block;
} block_of;

/* Rank 0 waits for a small message, which rank 1 sends when it has a large one:
 * that is pending, with more parts. */
static void *run_pending(void *arg)
{
    const block_of *me = arg;
    rank_ *R = &ranks[me->rank];
    const int b = me->block;
    for (int round = 0; round < R->rounds; round++) {
        if (b == 0) fill(me->rank, round);
        kernel_ends(R);
        if (me->rank == 0) {
            start(&R->send[LARGE], b);
            start(&R->receive[SMALL], b);
            kernel_ends(R);
            wait_for(R, &R->receive[SMALL], 1, b);
            kernel_ends(R);
            wait_for(R, &R->send[LARGE], 1, b);
        } else {
            start(&R->receive[LARGE], b);
            kernel_ends(R);
            wait_for(R, &R->receive[LARGE], 1, b);
            kernel_ends(R);
            start(&R->send[SMALL], b);
            kernel_ends(R);
            wait_for(R, &R->send[SMALL], 1, b);
        }
        kernel_ends(R);
        if (b == 0)
            check_end(1 - me->rank, me->rank == 0 ? SMALL : LARGE, round);
    }
    return NULL;
}

/* Kernels that start and wait: of the two blocks of a part one starts the sends
 * and the other one the receives, and the last one waits. */
static void *run_exchanges(void *arg)
{
    const block_of *me = arg;
    rank_ *R = &ranks[me->rank];
    const int b = me->block / 2;
    tct_parted *mine = me->block % 2 ? R->receive : R->send;
    for (int round = 0; round < R->rounds; round++) {
        if (me->block == 0) fill(me->rank, round);
        kernel_ends(R);
        for (int k = 0; k < ENDS; k++) start(&mine[k], b);
        if (tct_part_last_start(&R->turn[b], 2)) wait_for_all(R, b);
        kernel_ends(R);
        if (me->block == 0) check(me->rank, round);
        kernel_ends(R);
    }
    return NULL;
}

/* Some rounds begin with the sends, on both ranks. */
static void *run(void *arg)
{
    const block_of *me = arg;
    rank_ *R = &ranks[me->rank];
    const int b = me->block;
    for (int round = 0; round < R->rounds; round++) {
        const bool first = (R->seed + (uint64_t)round) % 3 != 0;
        if (b == 0) fill(me->rank, round);
        kernel_ends(R);
        for (int k = 0; k < ENDS && !first; k++) start(&R->receive[k], b);
        for (int k = 0; k < ENDS; k++) start(&R->send[k], b);
        kernel_ends(R);
        for (int k = 0; k < ENDS && first; k++) start(&R->receive[k], b);
        kernel_ends(R);
        wait_for(R, R->receive, ENDS, b);
        kernel_ends(R);
        if (b == 0) check(me->rank, round);
        wait_for(R, R->send, ENDS, b);
        kernel_ends(R);
    }
    return NULL;
}

static void run_all(void *(*text)(void *), int blocks)
{
    pthread_t thread[RANKS * 2 * BLOCKS];
    block_of of[RANKS * 2 * BLOCKS];
    for (int r = 0; r < RANKS; r++) {
        ranks[r] = (rank_){.rounds = ROUNDS, .seed = (uint64_t)r};
        pthread_barrier_init(&ranks[r].all, NULL, (unsigned)blocks);
    }
    memset(wire, 0, sizeof wire);
    wrong = 0;
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < ENDS; k++) connect(r, k);
    for (int i = 0; i < RANKS * blocks; i++) {
        of[i] = (block_of){i / blocks, i % blocks};
        if (pthread_create(&thread[i], NULL, text, &of[i])) abort();
    }
    for (int i = 0; i < RANKS * blocks; i++) pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
}

/* All parts have waited for all messages. */
static void all_have_waited(void)
{
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < ENDS; k++)
            for (int b = 0; b < ranks[r].send[k].parts; b++)
                assert_int_equal(ranks[r].send[k].part[b].waited, ROUNDS);
}

static void blocks_carry_parts(void **state)
{
    (void)state;
    run_all(run, BLOCKS);
    all_have_waited();
}

static void pending_sends_go_on_in_all_parts(void **state)
{
    (void)state;
    run_all(run_pending, BLOCKS);
}

static void a_kernel_starts_and_waits(void **state)
{
    (void)state;
    run_all(run_exchanges, 2 * BLOCKS);
    all_have_waited();
}

/* A sender is some messages ahead of a receiver that has started nothing, and
 * of each start of it one more. */
static void starts_clear_slots(int64_t bytes, uint64_t slots)
{
    const tct_end_cells c = {NULL, tct_cells_of(bytes), 1};
    uint64_t cleared = 0;
    for (uint64_t n = 1; n <= slots; n++)
        assert_true(tct_cells_room(&c, &cleared, n));
    for (uint64_t n = slots + 1; n < 40; n++) {
        cleared = n - slots;
        assert_false(tct_cells_room(&c, &cleared, n));
        cleared++;
        assert_true(tct_cells_room(&c, &cleared, n));
        assert_true(tct_cells_room(&c, NULL, n));
    }
}

static void slots_are_cleared_by_starts(void **state)
{
    (void)state;
    starts_clear_slots(TCT_EAGER_MOST, TCT_SLOTS_OF_SMALL);
    starts_clear_slots(TCT_EAGER_MOST + 1, TCT_SLOTS_OF_LARGE);
}

/* Every byte is in one part, and parts begin at lines. */
static void parts_are_all_bytes(void **state)
{
    (void)state;
    for (int64_t bytes = 0; bytes < 6000000; bytes = 3 * bytes / 2 + 1) {
        tct_parted e = {.r = {.bytes = bytes}, .parts = tct_parts_of(bytes)};
        int64_t at = 0;
        for (int s = 0; s < e.parts; s++) {
            const tct_part_copy c = tct_part_of(&e, s, NULL, NULL);
            assert_true(c.bytes == 0 || (int64_t)(uintptr_t)c.to == at);
            assert_int_equal(at % 128 * c.bytes, 0);
            at += c.bytes;
        }
        assert_int_equal(at, bytes);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_carry_parts),
        cmocka_unit_test(pending_sends_go_on_in_all_parts),
        cmocka_unit_test(a_kernel_starts_and_waits),
        cmocka_unit_test(slots_are_cleared_by_starts),
        cmocka_unit_test(parts_are_all_bytes),
    };
    TEST_MPI_MAIN(tests);
}
