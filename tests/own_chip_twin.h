/* SPDX-License-Identifier: BSD-3-Clause
 * tests/own_chip_twin.h - tiles in shared memory whose edges travel as numbered
 * values (operator/stencil/gpu/own_chip.h), with threads as blocks: the text of
 * the kernel, between ranks too, against a serial loop, to the last bit; random
 * delays; a rank that does not come is named. For the type TCT_REAL. */
#ifndef TESTS_OWN_CHIP_TWIN_H
#define TESTS_OWN_CHIP_TWIN_H
#define TEST_DEVICE "host"
#include "grid_ranks.h"
#include "stencil/device.h"
#include "stencil/field_halo.h"

/* The names that the serial loop has, too. */
#define row_p              chip_row_p
#define row_q              chip_row_q
#define plane_p            chip_plane_p
#define TCT_CELL           static inline
#define TCT_ADD(a, b)      ((a) + (b))
#define TCT_MUL(a, b)      ((a) * (b))
#define TCT_FMA(a, b, sum) chip_fma((a), (b), (sum))

static inline TCT_REAL chip_fma(TCT_REAL a, TCT_REAL b, TCT_REAL sum)
{
    return (TCT_REAL)(sizeof(TCT_REAL) == 4
                          ? fmaf((float)a, (float)b, (float)sum)
                          : fma((double)a, (double)b, (double)sum));
}
#include "operator/stencil/cell.h"
/* after cells */
#include "operator/stencil/gpu/own_chip.h"

enum { GRIDS = 70 / EACH, TILES = 6, ROOM = 8192, LONG_NS = 2000000000 };

/* The blocks of a rank, that is, its GPU. */
typedef struct chip_gpu {
    tacit_field *field;
    tacit_halo *numbers;
    tct_field_device device;
    tct_own_job job;
    tct_own_tiles tiles;
    tct_own_sides sides;
    uint64_t visited, gone;
    uint64_t lost; /* 1 + a rank that did not come */
    int threads;
    int delays; /* 0: none; seed */
    int which;  /* of runs       */
} chip_gpu;

typedef struct chip_block {
    chip_gpu *gpu;
    int tile;
    tct_halo_put put[TCT_SIDES_MOST];
    int sides;
    TCT_REAL state[2][ROOM];
    pthread_t thread;
} chip_block;

/* --- a block -------------------------------------------------------------- */

static chip_room room_of(const chip_block *b, int thread)
{
    const chip_gpu *g = b->gpu;
    return chip_room_of(&g->job, &g->tiles.box[b->tile], thread, g->threads);
}

static void wander(const chip_block *b, int visit)
{
    const chip_gpu *g = b->gpu;
    const uint64_t dice = tct_mix(
        (uint64_t)(g->delays * 7919 + visit * 31 + b->tile * 101 + g->which));
    if (g->delays && dice % 8 == 0) usleep((unsigned)(dice / 8 % 300));
}

/* False: a cell did not come. All of its threads wait in vain. */
static bool receive_all(chip_block *b, int now, int visit)
{
    chip_gpu *g = b->gpu;
    for (int i = 0; i < g->threads; i++) {
        const chip_room r = room_of(b, i);
        chip_cell lost;
        const tct_wait_status status =
            chip_receive(&g->job, &r, b->state[now],
                         g->job.visited + (uint64_t)visit, &lost);
        if (status == TCT_CAME) continue;
        const uint64_t who = chip_owner(&g->job, b->put, b->sides, &lost);
        if (status == TCT_MISSED && who > 0)
            __atomic_store_n(&g->lost, who, __ATOMIC_RELAXED);
        __atomic_store_n(&g->gone, 1, __ATOMIC_RELAXED);
        return false;
    }
    if (visit == 1) tct_fence_all();
    return true;
}

static int make_steps(chip_block *b, int now, int steps)
{
    const chip_gpu *g = b->gpu;
    const tct_step_work *w = &g->job.w;
    for (int k = 1; k <= steps; k++, now ^= 1)
        for (int i = 0; i < g->threads; i++) {
            const chip_room r = room_of(b, i);
            chip_step(&g->job, &r, b->state[now], b->state[now ^ 1], steps - k,
                      w->shape == TCT_BOX2,
                      w->weights == TACIT_WEIGHTS_CONSTANT);
        }
    return now;
}

static void send_all(chip_block *b, int now, int visit)
{
    const chip_gpu *g = b->gpu;
    if (visit == 0) tct_fence_all();
    for (int i = 0; i < g->threads; i++) {
        const chip_room r = room_of(b, i);
        chip_send(&g->job, &r, b->put, b->sides, b->state[now],
                  g->job.visited + (uint64_t)visit + 1);
    }
}

static void load_all(chip_block *b)
{
    const chip_gpu *g = b->gpu;
    for (int i = 0; i < g->threads; i++) {
        const chip_room r = room_of(b, i);
        if (r.wide * r.high > ROOM) abort();
        chip_load(&g->job, &r, g->job.w.in, b->state[0], b->state[1]);
    }
}

static void store_all(chip_block *b, int now, int visit)
{
    const tct_own_job *J = &b->gpu->job;
    void *out = visit % 2 ? (void *)(uintptr_t)J->w.in : J->w.out;
    for (int i = 0; i < b->gpu->threads; i++) {
        const chip_room r = room_of(b, i);
        chip_store(J, &r, b->state[now], out);
    }
}

/* As the kernel. */
static void *be_block(void *arg)
{
    chip_block *b = arg;
    const tct_own_job *J = &b->gpu->job;
    int now = 0;
    load_all(b);
    for (int visit = 0, made = 0; made < J->steps; visit++) {
        const int left = J->steps - made;
        const int steps = left < J->reach ? left : J->reach;
        made += steps;
        wander(b, visit);
        if (visit > 0 && !receive_all(b, now, visit)) break;
        now = make_steps(b, now, J->idle ? 0 : steps);
        wander(b, visit + 1000);
        if (made < J->steps) send_all(b, now, visit);
        if (J->stores || made == J->steps) store_all(b, now, visit);
    }
    return NULL;
}

/* --- a GPU ---------------------------------------------------------------- */

static void open_gpu(chip_gpu *g, tacit_field *f, int reach, uint64_t seed)
{
    struct tct_numbered *cell[2];
    *g = (chip_gpu){.field = f};
    OK(tct_field_widen(f, reach));
    OK(tct_field_open_numbers(f, reach, &g->numbers, cell));
    OK(tct_own_rooms(&f->block, 1 + (int)(seed % TILES), reach, 4096,
                     &g->tiles));
    g->device = (tct_field_device){.buffer = {f->buffer[0], f->buffer[1]},
                                   .outside = f->outside};
    g->threads = tct_own_most(&g->tiles, 0) + 2 * reach;
    g->threads *= 1 + (int)(seed / TILES % 4);
    g->job = (tct_own_job){.reach = reach,
                           .cell = {cell[0], cell[1]},
                           .limit_ns = 30ull * LONG_NS,
                           .peer_ns = 30ull * LONG_NS,
                           .gone = &g->gone,
                           .x = (int)f->halo_x,
                           .stores = seed % 3 == 0};
    if (f->halo) {
        const tct_halo_puts *puts = tct_halo_puts_of(g->numbers);
        g->job.puts = puts->count;
        OK(tct_own_find_sides(&g->tiles, puts->count, puts->put, (int)f->halo_x,
                              reach, &g->sides));
    }
}

static void close_gpu(chip_gpu *g)
{
    tct_own_sides_free(&g->sides);
    tct_own_tiles_free(&g->tiles);
    tacit_halo_destroy(&g->numbers);
}

static chip_block *make_block(chip_gpu *g, int tile)
{
    chip_block *b = (chip_block *)calloc(1, sizeof *b);
    assert_non_null(b);
    b->gpu = g;
    b->tile = tile;
    for (int k = 0;
         g->job.puts > 0 && k < g->sides.first[tile + 1] - g->sides.first[tile];
         k++)
        b->put[b->sides++] =
            g->sides.put[g->sides.sides[g->sides.first[tile] + k]];
    return b;
}

static void run_blocks(chip_gpu *g)
{
    chip_block *b[TILES];
    for (int t = 0; t < g->tiles.count; t++) {
        b[t] = make_block(g, t);
        if (pthread_create(&b[t]->thread, NULL, be_block, b[t])) abort();
    }
    for (int t = 0; t < g->tiles.count; t++) {
        pthread_join(b[t]->thread, NULL);
        free(b[t]);
    }
}

/* As stencil/own_device.c: the ghosts of the first visit come by an
 * exchange. */
static void begin_run(chip_gpu *g, int steps)
{
    tacit_field *f = g->field;
    if (f->halo) {
        tct_field_narrow(f, g->job.reach);
        tct_halo_start(f->halo, f->now, TCT_HALO_STORES);
        tct_halo_finish(f->halo);
        OK(q_status(f->queue));
    }
    g->device.now = f->now;
    f->device = &g->device;
    g->job.w = tct_device_work(f);
    f->device = NULL;
    g->job.steps = steps;
    g->job.visited = g->visited;
    g->which++;
}

static void run_gpu(chip_gpu *g, int steps)
{
    const int visits = (steps - 1) / g->job.reach + 1;
    begin_run(g, steps);
    run_blocks(g);
    g->visited += (uint64_t)visits;
    g->field->now ^= visits & 1;
}

/* --- tests ---------------------------------------------------------------- */

static bool is_for_chip(const grid *g)
{
    return g->dim == 2 && g->weights != TACIT_WEIGHTS_CELLS &&
           g->single == (sizeof(TCT_REAL) == 4);
}

/* Several runs of a field, of any number of steps. */
static void one_grid(bench *b, uint64_t seed, int *runs)
{
    int blocks[3];
    tacit_field *f = NULL;
    chip_gpu gpu;
    grid g = grid_of(seed);
    pick_blocks(seed, g.dim, blocks);
    const int most = (int)deepest(&g, blocks);
    if (most == 0 || !is_for_chip(&g)) return;
    const int reach = 1 + (int)pick(seed, 30, most < 9 ? (uint64_t)most : 9);
    const int steps[2] = {1 + (int)pick(seed, 31, 20),
                          1 + (int)pick(seed, 32, 20)};
    make_wanted(b, &g, seed, steps[0] + steps[1]);
    const tacit_stencil s = stencil_of(&g, blocks);
    OK(tacit_field_create(b->q, &s, &f));
    put_all(b, &g, f);
    open_gpu(&gpu, f, reach, seed);
    gpu.delays = seed % 2 ? (int)seed : 0;
    for (int k = 0; k < 2; k++) run_gpu(&gpu, steps[k]);
    assert_int_equal(gpu.lost, 0);
    expect_wanted(b, &g, f, "tiles in shared memory");
    close_gpu(&gpu);
    tacit_field_destroy(&f);
    ++*runs;
}

static void tiles_have_the_serial_bits(void **state)
{
    bench *b = open_bench("host");
    int runs = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 12 * GRIDS; seed++) one_grid(b, seed, &runs);
    close_bench(b);
    assert_true(runs > GRIDS / 2);
}

static tacit_field *flat_field(bench *b, int64_t n)
{
    const tacit_stencil s = {.size = sizeof s,
                             .shape = "star2d1r",
                             .n = {n, n},
                             .type =
                                 sizeof(TCT_REAL) == 4 ? "float" : "double"};
    tacit_field *f = NULL;
    OK(tacit_field_create(b->q, &s, &f));
    return f;
}

/* The last rank makes no steps: its neighbour says so, and all end. */
static void a_rank_that_does_not_come_is_named(void **state)
{
    const int ranks = tacit_world_size(test_world());
    const int me = tacit_world_rank(test_world());
    (void)state;
    if (ranks == 1) skip();
    bench *b = open_bench("host");
    tacit_field *f = flat_field(b, 40);
    chip_gpu gpu;
    open_gpu(&gpu, f, 2, 3);
    gpu.job.peer_ns = LONG_NS / 2; /* the other one may be late */
    begin_run(&gpu, 9);
    if (me != ranks - 1) run_blocks(&gpu);
    if (me == ranks - 2) assert_int_equal(gpu.lost, ranks);
    OK(tct_agree(test_world(), TACIT_OK));
    close_gpu(&gpu);
    tacit_field_destroy(&f);
    close_bench(b);
}

/* A value of a later visit has overwritten the one that is waited for. */
static void a_later_value_is_not_taken(void **state)
{
    bench *b = open_bench("host");
    tacit_field *f = flat_field(b, 40);
    chip_gpu gpu;
    (void)state;
    open_gpu(&gpu, f, 1, 3);
    begin_run(&gpu, 3);
    chip_block *block = make_block(&gpu, 0);
    chip_room r = room_of(block, 0);
    for (int i = 0; r.takes.at < 0; i++) r = room_of(block, i);
    chip_cell lost;
    tct_numbered_send(gpu.job.cell[1] + chip_in(&gpu.job, &r.takes),
                      chip_packed(1), 3);
    const tct_wait_status status =
        chip_receive(&gpu.job, &r, block->state[0], 1, &lost);
    assert_int_equal(status, TCT_AHEAD);
    assert_int_equal(lost.at, r.takes.at);
    free(block);
    OK(tct_agree(test_world(), TACIT_OK));
    close_gpu(&gpu);
    tacit_field_destroy(&f);
    close_bench(b);
}

static void cells_keep_their_bits(void **state)
{
    const TCT_REAL some[] = {(TCT_REAL)0,      (TCT_REAL)-0.0,
                             (TCT_REAL)NAN,    (TCT_REAL)INFINITY,
                             (TCT_REAL)1e-310, (TCT_REAL)-1.1};
    (void)state;
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        const TCT_REAL got = chip_unpacked(chip_packed(some[k]));
        assert_memory_equal(&got, &some[k], sizeof got);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_have_the_serial_bits),
        cmocka_unit_test(a_rank_that_does_not_come_is_named),
        cmocka_unit_test(a_later_value_is_not_taken),
        cmocka_unit_test(cells_keep_their_bits),
    };
    TEST_MPI_MAIN(tests);
}

#endif
