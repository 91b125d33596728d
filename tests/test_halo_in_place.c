/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_halo_in_place.c - halos whose cells are stored into the neighbours'
 * buffers: by the library, by clients, and by threads in place of the blocks of
 * a kernel; ranks are late at random. A lost rank is named.
 *
 * RUN: np=1,2,4
 * THREADS: 1,3,4
 * PROCESSES: 2,4 */
#include "halo/halo.h"
#include "halo/signals.h"
#include "halo_grid.h"
#include "silence.h"

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

/* --- in place ------------------------------------------------------------- */

/* Work of a client's kernel: all cells of a box go to the peer. */
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
        if (bits >> 12 & 1) {
            tct_halo_swap(h, slot, means);
        } else {
            tct_halo_start(h, slot, means);
            tct_halo_finish(h);
        }
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

/* Of wide ghosts one cell is enough for a while; then all again. */
static void narrow(tacit_halo *h, const part *p, char *const cell[2])
{
    OK(tct_halo_narrow(h, 1, true));
    for (int slot = 1; slot >= 0; slot--) {
        each_cell(p, cell[slot], 5, number_inside);
        tct_halo_swap(h, slot, TCT_HALO_STORES);
        each_cell(p, cell[slot], 5, check_next_to_block);
    }
    OK(tct_halo_narrow(h, 0, false));
    each_cell(p, cell[1], 6, number_inside);
    tct_halo_swap(h, 1, TCT_HALO_COPIES);
    each_cell(p, cell[1], 6, check_cell);
}

static void exchanges_may_be_narrow(void **state)
{
    (void)state;
    for (int seed = 400; seed < 420; seed++) {
        const grid g = random_grid(size_of(), seed);
        const part p = part_of(&g, rank_of());
        tacit_queue *q = open_queue("host");
        tacit_halo *h = open_halo(q, &p);
        char *cell[2];
        OK(tct_halo_take_buffers(h, (size_t)p.before, (size_t)p.after, true,
                                 cell));
        for (int slot = 0; slot < 2; slot++)
            each_cell(&p, cell[slot], 0, number_cell);
        OK(tacit_world_agree(test_world(), TACIT_OK));
        for (int slot = 1; slot >= 0; slot--)
            tct_halo_swap(h, slot, TCT_HALO_STORES);
        narrow(h, &p, cell);
        OK(q_status(q));
        tacit_halo_destroy(&h);
        tacit_queue_destroy(&q);
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

/* --- blocks of a kernel --------------------------------------------------- */

/* A thread in place of a block: part `part` of each direction. */
enum { BLOCKS = 3 };
typedef struct {
    const tct_halo_signals *signals;
    const part *p;
    char *zero;
    int slot, round, number_of_block;
    pthread_t thread;
} block;

/* Its rows of a direction's box. */
static void store_part(const block *b, const tct_halo_put *u)
{
    tct_halo_put rows = *u;
    const int64_t each = (u->extent[1] + BLOCKS - 1) / BLOCKS;
    const int64_t first = each * b->number_of_block;
    const int64_t left = u->extent[1] - first;
    rows.send[1] += first;
    rows.extent[1] = left < 0 ? 0 : left < each ? left : each;
    store_box(&rows, b->slot, b->p, b->zero);
}

static void *run_block(void *arg)
{
    const block *b = arg;
    const tct_halo_signals *s = b->signals;
    const tct_limit limit = {UINT64_C(20000000000), NULL};
    const uint64_t number = (uint64_t)b->round;
    bool last = false;
    for (int k = 0; k < s->count; k++) {
        store_part(b, &s->put[k]);
        last = tct_halo_block_done(s, k, BLOCKS, BLOCKS * (unsigned)s->count,
                                   number);
    }
    for (int k = 0; k < s->count && last; k++)
        if (tct_halo_await_one(s, k, number, limit) != TCT_CAME) return arg;
    return NULL;
}

/* A block of a kernel that unpacks: it stores part of one direction, and the
 * last two for each direction wait for it. */
static void *run_unpacking(void *arg)
{
    block *b = arg;
    const tct_halo_signals *s = b->signals;
    const tct_limit limit = {UINT64_C(20000000000), NULL};
    const uint64_t number = (uint64_t)b->round;
    const unsigned count = (unsigned)s->count;
    const int k = b->number_of_block / BLOCKS;
    b->number_of_block %= BLOCKS;
    store_part(b, &s->put[k]);
    const int place =
        tct_halo_block_goes_on(s, k, BLOCKS, BLOCKS * count, 2 * count, number);
    if (place < 0) return NULL;
    return tct_halo_await_cells(s, place % s->count, number, limit) == TCT_CAME
               ? NULL
               : arg;
}

static void run_kernel(const block *b, void *(*text)(void *), int blocks)
{
    block all[BLOCKS * TACIT_HALO_DIRECTIONS];
    void *missed = NULL;
    for (int i = 0; i < blocks; i++) {
        all[i] = *b;
        all[i].number_of_block = i;
        assert_int_equal(pthread_create(&all[i].thread, NULL, text, &all[i]),
                         0);
    }
    for (int i = 0; i < blocks; i++) {
        assert_int_equal(pthread_join(all[i].thread, &missed), 0);
        assert_null(missed);
    }
}

static void run_blocks(bool unpacks)
{
    const grid g = {.dimensions = 2,
                    .blocks = {size_of(), 1, 1},
                    .ghost = {2, 1},
                    .periodic = 3,
                    .bytes = 8,
                    .base = 4};
    tacit_queue *q = open_queue("host");
    const part p = part_of(&g, rank_of());
    tacit_halo *h = open_halo(q, &p);
    char *cell[2];
    unsigned ticket[TACIT_HALO_DIRECTIONS + 1] = {0};
    uint64_t number = 0, drawn = 0;
    OK(tct_halo_take_buffers(h, (size_t)p.before, (size_t)p.after, true, cell));
    const tct_halo_puts *puts = tct_halo_puts_of(h);
    const tct_halo_signals signals = {puts->count, puts->put, &number, ticket,
                                      &drawn};
    assert_int_equal(puts->count, 8);
    for (int r = 1; r <= 60; r++) {
        block b = {&signals, &p, cell[r % 2], r % 2, r, 0, 0};
        each_cell(&p, cell[r % 2], r, number_inside);
        if (unpacks) run_kernel(&b, run_unpacking, BLOCKS * puts->count);
        else run_kernel(&b, run_block, BLOCKS);
        assert_int_equal(number, r);
        each_cell(&p, cell[r % 2], r, check_cell);
    }
    tct_halo_advance(h, number);
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

static void blocks_store_tell_and_wait(void **state)
{
    (void)state;
    run_blocks(false);
}

static void blocks_unpack_what_comes(void **state)
{
    (void)state;
    run_blocks(true);
}

/* Ranks that are told that others are on another machine. */
static void far_ranks_have_packed_messages(void **state)
{
    (void)state;
    const grid g = random_grid(size_of(), 500);
    const part p = part_of(&g, rank_of());
    tacit_queue *q = open_queue("host");
    tacit_halo *h = open_halo(q, &p);
    const int local = q->world->local_size;
    char *cell[2];
    if (size_of() > 1) {
        q->world->local_size = 1;
        OK(tct_halo_take_buffers(h, (size_t)p.before, (size_t)p.after, true,
                                 cell));
        q->world->local_size = local;
        assert_non_null(strstr(tct_halo_why_packed(h), "several machines"));
        assert_null(tct_halo_puts_of(h));
        exchange_rounds(h, &p, cell, 4, 1, false);
        OK(q_status(q));
    }
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
    silence_begin();
    if (rank_of() == 1) {
        tct_halo_start(h, 1, TCT_HALO_STORES);
        tct_halo_finish(h);
        REFUSES(TACIT_COMM, "rank 0 has not answered", q_status(q));
        assert_true(tct_seconds() - start >= 0.3);
        silence_mark();
    }
    silence_until(1);
    silence_end();
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
        cmocka_unit_test(peers_store_into_ghosts),
        cmocka_unit_test(exchanges_may_be_narrow),
        cmocka_unit_test(buffers_may_be_packed),
        cmocka_unit_test(far_ranks_have_packed_messages),
        cmocka_unit_test(nobody_is_overrun),
        cmocka_unit_test(clients_count_their_own_exchanges),
        cmocka_unit_test(blocks_store_tell_and_wait),
        cmocka_unit_test(blocks_unpack_what_comes),
        cmocka_unit_test(buffers_are_large_enough),
        cmocka_unit_test(the_lost_rank_is_named),
        cmocka_unit_test(memory_that_is_short_is_said),
    };
    TEST_MPI_MAIN(tests);
}
