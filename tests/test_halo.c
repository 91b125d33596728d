/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_halo.c - halos by messages: each ghost cell has the bytes of the
 * grid's cell that it stands for, others are untouched, over random grids,
 * blocks, widths and sizes of a cell. What cannot be is refused.
 *
 * RUN: np=1,2,3,4
 * THREADS: 1,2,3,4
 * PROCESSES: 2,4 */
#include "halo/halo.h"
#include "halo_grid.h"

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
    expect_refusal(NULL, "block is NULL");
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
            "cell is NULL", "a multiple of 8", "without a begin",
            "no exchange in place: not asked for", "it has no buffers"};
        REFUSES(TACIT_INVALID, said[k], q_status(q));
        tacit_halo_destroy(&h);
        tacit_queue_destroy(&q);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ghosts_are_the_neighbours_cells),
        cmocka_unit_test(so_they_are_by_messages_of_mpi),
        cmocka_unit_test(so_they_are_in_memory_of_a_device),
        cmocka_unit_test(directions_have_boxes_and_tags),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_differs_is_refused),
        cmocka_unit_test(a_narrow_block_is_refused),
        cmocka_unit_test(what_is_out_of_order_fails_the_queue),
    };
    TEST_MPI_MAIN(tests);
}
