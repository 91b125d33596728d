/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_halo.c - halos: each ghost cell has the bytes of the grid's cell
 * that it stands for, others are untouched; packed and in place, over random
 * grids, blocks, widths and sizes of a cell. What cannot be is refused.
 *
 * RUN: np=1,2,3,4
 * THREADS: 1,2,3,4
 * PROCESSES: 2,4 */
#include "device/protocol.h"
#include "halo/halo.h"
#include "halo_grid.h"

static int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static int size_of(void)
{
    return tacit_world_size(test_world());
}

static tacit_queue *open_queue(const char *spec)
{
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), spec, 1, &q));
    return q;
}

static tacit_halo *open_halo(tacit_queue *q, const part *p)
{
    tacit_halo *h = NULL;
    OK(tacit_halo_create(q, &p->about, &h));
    return h;
}

/* --- packed --------------------------------------------------------------- */

/* The queue's memory, whose cell (0, 0, 0) is at `*zero`. */
static double *field_of(tacit_queue *q, const part *p, char **zero)
{
    double *field = NULL;
    const int64_t before = (p->before + 63) / 64 * 64;
    OK(tacit_queue_alloc(q, (size_t)(before + p->after) / 8 + 1, &field));
    *zero = (char *)field + before;
    return field;
}

typedef struct {
    const part *p;
    char *zero;
    int round;
    cell_fn *fn;
} visit;

/* memcheck lets the host see vectors in the queue's turn alone, which comes
 * later: the visit must stay. */
static tacit_status in_turn(void *ctx, tacit_queue *q, const double *x,
                            double *y)
{
    const visit *v = ctx;
    (void)q;
    (void)x;
    (void)y;
    each_cell(v->p, v->zero, v->round, v->fn);
    return TACIT_OK;
}

static void each_in_turn(tacit_queue *q, visit *v, const part *p, char *zero,
                         int round, cell_fn *fn)
{
    *v = (visit){p, zero, round, fn};
    q_call(q, in_turn, v, NULL, NULL);
}

static void exchange_packed(const char *spec, const grid *g)
{
    tacit_queue *q = open_queue(spec);
    const part p = part_of(g, rank_of());
    tacit_halo *h = open_halo(q, &p);
    visit v[6];
    char *zero;
    double *field = field_of(q, &p, &zero);
    for (int round = 0; round < 3; round++) {
        each_in_turn(q, &v[2 * round], &p, zero, round, number_cell);
        if (round == 0) tacit_halo_exchange(h, zero);
        else {
            tacit_halo_begin(h, zero);
            tacit_halo_end(h);
        }
        each_in_turn(q, &v[2 * round + 1], &p, zero, round, check_cell);
    }
    OK(q_status(q));
    tacit_queue_free(q, &field);
    tacit_halo_destroy(&h);
    assert_null(h);
    tacit_queue_destroy(&q);
}

static void ghosts_are_the_neighbours_cells(void **state)
{
    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        const grid g = random_grid(size_of(), seed);
        exchange_packed("host", &g);
    }
}

/* Messages of MPI, of ranks that are its processes. */
static void so_they_are_by_messages_of_mpi(void **state)
{
    (void)state;
    if (!test_launched_ || size_of() == 1) skip();
    for (int seed = 120; seed < 140; seed++) {
        const grid g = random_grid(size_of(), seed);
        exchange_packed("host@mpi", &g);
    }
}

static void so_they_are_in_memory_of_a_device(void **state)
{
    (void)state;
    for (int seed = 100; seed < 110; seed++) {
        const grid g = random_grid(size_of(), seed);
        exchange_packed("memcheck:host", &g);
    }
}

/* --- in place ------------------------------------------------------------- */

/* What a kernel of a client does: all cells of a box go to the peer. */
static void store_box(const tct_halo_put *u, int slot, const part *p,
                      const char *zero)
{
    int64_t at[3];
    for (int64_t z = 0; z < u->extent[2]; z++)
        for (int64_t y = 0; y < u->extent[1]; y++)
            for (int64_t x = 0; x < u->extent[0]; x++) {
                at[0] = u->send[0] + x;
                at[1] = u->send[1] + y;
                at[2] = u->send[2] + z;
                memcpy(u->at[slot] + at[2] * u->plane + at[1] * u->pitch +
                           at[0] * p->about.bytes,
                       zero + offset_of(p, at), (size_t)p->about.bytes);
            }
}

static void store_all(tacit_halo *h, int slot, const part *p, const char *zero)
{
    const tct_halo_puts *puts = tct_halo_puts_of(h);
    tct_halo_ready(h, slot);
    for (int k = 0; k < puts->count; k++)
        store_box(&puts->put[k], slot, p, zero);
}

static void pause_at_random(uint64_t bits)
{
    const uint64_t all = tct_mix(bits + (uint64_t)rank_of() * 977);
    if (all % 4 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(all >> 8 & 0x1ffff)},
                  NULL);
}

/* Rounds on both buffers, by turns or not, by any means. Ranks are late at
 * random, which shows if one overruns another. Ghosts belong to the neighbours:
 * they are set once, before any exchange. */
static void exchange_rounds(tacit_halo *h, const part *p, char *const cell[2],
                            int rounds, uint64_t seed, bool in_place)
{
    for (int slot = 0; slot < 2; slot++)
        each_cell(p, cell[slot], 0, number_cell);
    OK(tacit_world_agree(test_world(), TACIT_OK));
    for (int r = 0; r < rounds; r++) {
        const uint64_t bits = tct_mix(seed + (uint64_t)r);
        const int slot = bits % 4 == 0 ? (int)(bits >> 2 & 1) : r % 2;
        const tct_halo_means means =
            in_place ? (tct_halo_means)(bits >> 8 & 3) : TCT_HALO_PACKED;
        each_cell(p, cell[slot], r, number_inside);
        pause_at_random(seed + (uint64_t)r);
        if (means == TCT_HALO_SIGNALS) store_all(h, slot, p, cell[slot]);
        tct_halo_start(h, slot, means);
        tct_halo_finish(h);
        pause_at_random(seed + (uint64_t)r + 7);
        each_cell(p, cell[slot], r, check_cell);
    }
}

static void exchange_buffers(const grid *g, bool reach, int rounds,
                             uint64_t seed)
{
    tacit_queue *q = open_queue("host");
    const part p = part_of(g, rank_of());
    tacit_halo *h = open_halo(q, &p);
    char *cell[2];
    assert_non_null(tct_halo_why_packed(h));
    OK(tct_halo_take_buffers(h, (size_t)p.before, (size_t)p.after, reach,
                             cell));
    for (int slot = 0; slot < 2; slot++)
        assert_int_equal((uintptr_t)cell[slot] % 128, 0);
    if (reach) assert_null(tct_halo_why_packed(h));
    else assert_string_equal(tct_halo_why_packed(h), "not asked for");
    assert_true((tct_halo_puts_of(h) != NULL) == reach);
    exchange_rounds(h, &p, cell, rounds, seed, reach);
    OK(q_status(q));
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

static void peers_store_into_ghosts(void **state)
{
    (void)state;
    for (int seed = 200; seed < 230; seed++) {
        const grid g = random_grid(size_of(), seed);
        exchange_buffers(&g, true, 8, (uint64_t)seed << 32);
    }
}

static void buffers_may_be_packed(void **state)
{
    (void)state;
    for (int seed = 300; seed < 310; seed++) {
        const grid g = random_grid(size_of(), seed);
        exchange_buffers(&g, false, 4, (uint64_t)seed << 32);
    }
}

/* Long enough for a rank to run ahead. */
static void nobody_is_overrun(void **state)
{
    (void)state;
    const grid g = {.dimensions = 2,
                    .blocks = {size_of(), 1, 1},
                    .ghost = {1, 1},
                    .periodic = 3,
                    .bytes = 4,
                    .base = 3};
    exchange_buffers(&g, true, 500, 99);
}

/* A kernel that makes exchanges by itself says how many, and the next one by
 * the halo goes on from there. */
static void clients_count_their_own_exchanges(void **state)
{
    (void)state;
    const grid g = {.dimensions = 3,
                    .blocks = {1, 1, size_of()},
                    .ghost = {0, 0, 2},
                    .periodic = 4,
                    .bytes = 8,
                    .base = 3};
    tacit_queue *q = open_queue("host");
    const part p = part_of(&g, rank_of());
    tacit_halo *h = open_halo(q, &p);
    char *cell[2];
    OK(tct_halo_take_buffers(h, (size_t)p.before, (size_t)p.after, true, cell));
    exchange_rounds(h, &p, cell, 2, 5, false);
    tct_halo_ready(h, 1);
    const tct_halo_puts *puts = tct_halo_puts_of(h);
    const uint64_t from = tct_halo_number(h);
    for (int r = 1; r < 50; r++) {
        const int slot = r % 2;
        each_cell(&p, cell[slot], r, number_inside);
        for (int k = 0; k < puts->count; k++) {
            store_box(&puts->put[k], slot, &p, cell[slot]);
            if (puts->put[k].other)
                tct_signal_send(puts->put[k].other, from + (uint64_t)r);
        }
        for (int k = 0; k < puts->count; k++)
            if (puts->put[k].own)
                assert_int_equal(
                    tct_await_message(puts->put[k].own, from + (uint64_t)r,
                                      (tct_limit){UINT64_C(20000000000), NULL}),
                    TCT_CAME);
        each_cell(&p, cell[slot], r, check_cell);
    }
    tct_halo_advance(h, 49);
    each_cell(&p, cell[0], 50, number_inside);
    tct_halo_start(h, 0, TCT_HALO_STORES);
    tct_halo_finish(h);
    each_cell(&p, cell[0], 50, check_cell);
    assert_int_equal(tct_halo_number(h), from + 50);
    OK(q_status(q));
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

/* --- boxes ---------------------------------------------------------------- */

/* One neighbour in several directions has a tag for each. */
static void directions_have_boxes_and_tags(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_halo *h = NULL;
    const tacit_halo_block b = {.size = sizeof b,
                                .dimensions = 2,
                                .n = {10, 20},
                                .ghost = {2, 3},
                                .blocks = {size_of(), 1},
                                .periodic = TACIT_HALO_X,
                                .bytes = 8};
    const int next = (rank_of() + 1) % size_of();
    const int last = (rank_of() + size_of() - 1) % size_of();
    tacit_halo_message m;
    OK(tacit_halo_create(q, &b, &h));
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++) {
        OK(tacit_halo_message_of(h, i, &m));
        const int peer = i == 12 ? last : i == 14 ? next : -1;
        assert_int_equal(m.peer < 0 ? -1 : m.peer, peer);
    }
    OK(tacit_halo_message_of(h, 14, &m));
    assert_int_equal(m.tag, 12);
    assert_int_equal(m.send[0], 8);
    assert_int_equal(m.receive[0], 10);
    assert_int_equal(m.send[1], 0);
    assert_int_equal(m.receive[1], 0);
    assert_int_equal(m.extent[0], 2);
    assert_int_equal(m.extent[1], 20);
    assert_int_equal(m.extent[2], 1);
    assert_int_equal(m.bytes, 2 * 20 * 8);
    OK(tacit_halo_message_of(h, 12, &m));
    assert_int_equal(m.tag, 14);
    assert_int_equal(m.send[0], 0);
    assert_int_equal(m.receive[0], -2);
    REFUSES(TACIT_INVALID, "direction",
            tacit_halo_message_of(h, TACIT_HALO_DIRECTIONS, &m));
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

/* --- what is refused ------------------------------------------------------ */

static tacit_halo_block good_block(void)
{
    return (tacit_halo_block){.size = sizeof(tacit_halo_block),
                              .dimensions = 3,
                              .n = {4, 4, 4},
                              .ghost = {1, 1, 1},
                              .blocks = {1, 1, size_of()},
                              .bytes = 8};
}

static void expect_refusal(const tacit_halo_block *b, const char *text)
{
    tacit_queue *q = open_queue("host");
    tacit_halo *h = NULL;
    REFUSES(TACIT_INVALID, text, tacit_halo_create(q, b, &h));
    assert_null(h);
    tacit_queue_destroy(&q);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    tacit_halo_block b = good_block();
    b.size = 0;
    expect_refusal(&b, "tacit_halo_block");
    b = good_block(), b.dimensions = 4;
    expect_refusal(&b, "4 dimensions: expected 2 or 3");
    b = good_block(), b.n[1] = 0;
    expect_refusal(&b, "0 cells, 1 ghosts, 1 blocks along y");
    b = good_block(), b.ghost[0] = -1;
    expect_refusal(&b, "4 cells, -1 ghosts, 1 blocks along x");
    b = good_block(), b.blocks[1] = 2;
    expect_refusal(&b, "expected a block a rank");
    b = good_block(), b.bytes = 0;
    expect_refusal(&b, "cells of 0 bytes");
    b = good_block(), b.n[2] = INT64_MAX / 4;
    expect_refusal(&b, "a block that memory can hold");
    b = good_block(), b.pitch = 6 * 8 - 1;
    expect_refusal(&b, "rows of 48 bytes and planes of");
    b = good_block(), b.plane = 6 * 6 * 8 - 1;
    expect_refusal(&b, "planes of 288 overlap");
    expect_refusal(NULL, "expected block");
}

/* One rank alone is wrong; all say so. */
static void what_differs_is_refused(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    const bool mine = rank_of() == last;
    tacit_halo_block b = good_block();
    if (last == 0) skip();
    if (mine) b.bytes = 4;
    expect_refusal(&b, "the bytes of a cell of rank 0 and of rank");
    b = good_block();
    if (mine) b.ghost[1] = 2;
    expect_refusal(&b, "the ghosts of rank 0");
    b = good_block();
    if (mine) b.periodic = TACIT_HALO_Y;
    expect_refusal(&b, "the periodic directions of rank 0");
    b = good_block();
    if (mine) b.faces_only = 1;
    expect_refusal(&b, "faces or corners of rank 0");
    b = good_block();
    if (mine) b.n[1] = 5;
    expect_refusal(&b, "cells along y, that of its neighbour, rank");
    b = good_block();
    b.ghost[2] = 4;
    if (mine) b.n[2] = 3;
    expect_refusal(&b, "is 3 cells wide along z, less than the 4 ghosts");
}

static void a_narrow_block_is_refused(void **state)
{
    (void)state;
    tacit_halo_block b = good_block();
    b.periodic = TACIT_HALO_X;
    b.ghost[0] = 5;
    expect_refusal(&b, "the block of rank 0 is 4 cells wide along x, less than "
                       "the 5 ghosts of its neighbours: take narrower ghosts");
    b.periodic = 0; /* no neighbours along x: ghosts of any width */
    tacit_queue *q = open_queue("host");
    tacit_halo *h = NULL;
    OK(tacit_halo_create(q, &b, &h));
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

static void what_is_out_of_order_fails_the_queue(void **state)
{
    (void)state;
    const tacit_halo_block b = good_block();
    char *cell[2], *field[2] = {NULL};
    for (int k = 0; k < 5; k++) {
        tacit_queue *q = open_queue("host");
        tacit_halo *h = NULL;
        OK(tacit_halo_create(q, &b, &h));
        if (k == 3) OK(tct_halo_take_buffers(h, 4096, 4096, false, cell));
        if (k == 0) tacit_halo_exchange(h, NULL);
        if (k == 1) tacit_halo_exchange(h, (char *)field + 1);
        if (k == 2) tacit_halo_end(h);
        if (k == 3) tct_halo_start(h, 0, TCT_HALO_STORES);
        if (k == 4) tct_halo_start(h, 0, TCT_HALO_PACKED);
        static const char *const said[] = {
            "expected cell != NULL", "a multiple of 8", "without a begin",
            "no exchange in place: not asked for", "it has no buffers"};
        REFUSES(TACIT_INVALID, said[k], q_status(q));
        tacit_halo_destroy(&h);
        tacit_queue_destroy(&q);
    }
}

static void buffers_are_large_enough(void **state)
{
    (void)state;
    const tacit_halo_block b = good_block();
    tacit_queue *q = open_queue("host");
    tacit_halo *h = NULL;
    char *cell[2];
    OK(tacit_halo_create(q, &b, &h));
    const size_t before = 8 * (36 + 6 + 1), after = 8 * (4 * 36 + 4 * 6 + 5);
    REFUSES(TACIT_INVALID, "block and ghosts take",
            tct_halo_take_buffers(h, before - 1, after, true, cell));
    REFUSES(TACIT_INVALID, "block and ghosts take",
            tct_halo_take_buffers(h, before, after - 1, true, cell));
    OK(tct_halo_take_buffers(h, before, after, true, cell));
    REFUSES(TACIT_INVALID, "has its buffers already",
            tct_halo_take_buffers(h, before, after, true, cell));
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

/* --- lost ranks ----------------------------------------------------------- */

/* Rank 0 puts nothing: its neighbours say so within the limit. */
static void the_lost_rank_is_named(void **state)
{
    (void)state;
    const tacit_halo_block b = good_block();
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    tacit_halo *h = NULL;
    char *cell[2];
    if (size_of() == 1) skip();
    OK(tacit_world_split(test_world(), 0, &w));
    OK(tacit_queue_create(w, "host", 1, &q));
    OK(tacit_halo_create(q, &b, &h));
    OK(tct_halo_take_buffers(h, 4096, 4096, true, cell));
    q->peer_seconds = 0.3;
    const double start = tct_seconds();
    if (rank_of() == 1) {
        tct_halo_start(h, 1, TCT_HALO_STORES);
        tct_halo_finish(h);
        REFUSES(TACIT_COMM, "rank 0 has not answered", q_status(q));
        assert_true(tct_seconds() - start >= 0.3);
        assert_true(tct_seconds() - start < 5.0);
    } else {
        while (tct_seconds() - start < 0.6) sched_yield();
    }
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&w);
}

/* Allocations that fail, one after the other, on all ranks alike. */
static void memory_that_is_short_is_said(void **state)
{
    (void)state;
    const tacit_halo_block b = good_block();
    /* of several links one that has no memory is closed */
    tacit_queue *q = open_queue(size_of() > 1 ? "host@shm" : "host");
    if (test_shares_allocations(__func__)) {
        tacit_queue_destroy(&q);
        return;
    }
    const size_t blocks = tct_memory_blocks();
    int refused = 0;
    for (long k = 1; k < 200; k++) {
        tacit_halo *h = NULL;
        char *cell[2];
        tct_memory_fail_at(k);
        tacit_status status = tacit_halo_create(q, &b, &h);
        if (status >= 0)
            status = tct_halo_take_buffers(h, 4096, 4096, true, cell);
        tct_memory_fail_at(0);
        tacit_halo_destroy(&h);
        assert_int_equal(tct_memory_blocks(), blocks);
        if (status < 0) assert_int_equal(status, TACIT_NO_MEMORY);
        refused += status < 0;
    }
    assert_in_range(refused, 5, 150);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ghosts_are_the_neighbours_cells),
        cmocka_unit_test(so_they_are_by_messages_of_mpi),
        cmocka_unit_test(so_they_are_in_memory_of_a_device),
        cmocka_unit_test(peers_store_into_ghosts),
        cmocka_unit_test(buffers_may_be_packed),
        cmocka_unit_test(nobody_is_overrun),
        cmocka_unit_test(clients_count_their_own_exchanges),
        cmocka_unit_test(directions_have_boxes_and_tags),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_differs_is_refused),
        cmocka_unit_test(a_narrow_block_is_refused),
        cmocka_unit_test(what_is_out_of_order_fails_the_queue),
        cmocka_unit_test(buffers_are_large_enough),
        cmocka_unit_test(the_lost_rank_is_named),
        cmocka_unit_test(memory_that_is_short_is_said),
    };
    TEST_MPI_MAIN(tests);
}
