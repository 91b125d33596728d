/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_stencil_ways.c - ways that step grids of several ranks, on GPUs,
 * or their twins on the host, against a serial loop, to the last bit; random
 * blocks, shapes, types, weights, sides and sizes.
 *
 * DEVICE: each
 * RUN: np=2,3
 * THREADS: 2,3
 * PROCESSES: 2 */
#include "device/signals.h"
#include "grid_ranks.h"
#include "halo/state.h"
#include "operator/stencil/split.h"
#include "stencil/stepper.h"
#include "steps_twin.h"

enum { GRIDS = 48 / EACH, STEPS = 9, FEW = 4, MANY = 90 };

static bool on_gpu(void)
{
    return strcmp(TEST_DEVICE, "cuda") == 0;
}

/* --- splits --------------------------------------------------------------- */

static bool has(const tct_cell_box *b, const int64_t i[3])
{
    for (int d = 0; d < 3; d++)
        if (i[d] < b->lo[d] || i[d] >= b->hi[d]) return false;
    return true;
}

static void expect_split(const int64_t n[3], const int64_t low[3],
                         const int64_t high[3], int64_t unit)
{
    tct_block_split s;
    int64_t i[3];
    tct_split_block(n, low, high, unit, &s);
    for (i[2] = 0; i[2] < n[2]; i[2]++)
        for (i[1] = 0; i[1] < n[1]; i[1]++)
            for (i[0] = 0; i[0] < n[0]; i[0]++) {
                const bool inner = has(&s.inner, i);
                int boxes = inner;
                for (int k = 0; k < s.edges; k++) boxes += has(&s.edge[k], i);
                assert_int_equal(boxes, 1);
                for (int d = 0; d < 3; d++)
                    assert_false(inner &&
                                 (i[d] < low[d] || i[d] >= n[d] - high[d]));
            }
    for (int k = 0; k < s.edges; k++) {
        assert_false(tct_box_is_empty(&s.edge[k]));
        assert_true(s.edge[k].lo[0] % unit == 0);
    }
}

static void each_cell_is_in_one_box(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        int64_t n[3], low[3], high[3];
        for (int d = 0; d < 3; d++) {
            n[d] = 1 + (int64_t)pick(seed, d, d == 0 ? 90 : 9);
            low[d] = (int64_t)pick(seed, 3 + d, 5);
            high[d] = (int64_t)pick(seed, 6 + d, 5);
        }
        expect_split(n, low, high, seed % 2 ? 32 : 1);
    }
}

/* --- bits ----------------------------------------------------------------- */

typedef struct run_of {
    const char *way, *loop;
} run_of;

/* Steps at a time of tiles, 0: they are not for this grid. */
static int depth_of(const grid *g, const tacit_field *f)
{
    const bool box = g->points == 27; /* tiles on GPUs have 2 steps */
    const int most = tct_field_deepest(f);
    const int usual = g->dim == 2 ? 8 : box ? 2 : 4;
    if (g->weights == TACIT_WEIGHTS_CELLS || (box && !on_gpu())) return 0;
    return most < usual ? most : usual;
}

/* Of ways that have some, different ones by the number of steps. */
static int boundary_tiles_of(const tacit_field *f, const char *way, int steps)
{
    if (f->small != 0) return 0;
    if (strncmp(way, "free", 4) == 0) return steps % 5 - 1;
    const bool may = f->device && strcmp(way, "tiles") == 0;
    return may && !tct_field_why_packed(f) && steps % 2 ? -1 : 0;
}

/* False: the way is not for this grid. */
static bool run_way(bench *b, const grid *g, tacit_field *f, run_of one,
                    int steps, int64_t norm_every)
{
    const bool deep = strcmp(one.way, "tiles") == 0;
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = steps,
                                   .way = one.way,
                                   .loop = one.loop,
                                   .depth = deep ? depth_of(g, f) : 0,
                                   .boundary_tiles =
                                       boundary_tiles_of(f, one.way, steps),
                                   .norm_every = norm_every};
    tacit_field_result r = {.size = sizeof r};
    if (deep && o.depth == 0) return false;
    OK(tacit_field_run(f, &o, &r));
    assert_int_equal(r.steps, steps);
    assert_string_equal(r.way, one.way);
    assert_true(r.halo_bytes > 0.0);
    if (o.boundary_tiles < 0 && deep) assert_int_equal(r.boundary_tiles, -1);
    expect_wanted(b, g, f, one.way);
    return true;
}

/* A random grid, or NULL: it has more blocks than cells. */
static tacit_field *open_field(bench *b, uint64_t seed, int steps, grid *g)
{
    int blocks[3];
    tacit_field *f = NULL;
    *g = grid_of(seed);
    pick_blocks(seed, g->dim, blocks);
    if (deepest(g, blocks) == 0) return NULL;
    make_wanted(b, g, seed, steps);
    const tacit_stencil s = stencil_of(g, blocks);
    OK(tacit_field_create(b->q, &s, &f));
    put_all(b, g, f);
    f->worth = 1;
    if (seed % 2) f->small = 0; /* as of large grids */
    return f;
}

/* All that `ways` has, each after a run of another one in the same field: the
 * buffers and the numbers of exchanges go on. */
static void run_all(const char *queue, int grids, int steps, const run_of *ways,
                    int count)
{
    int runs = 0;
    bench *b = open_bench(queue);
    for (uint64_t seed = 0; seed < (uint64_t)grids; seed++) {
        grid g;
        tacit_field *f = open_field(b, seed, steps, &g);
        if (!f) continue;
        for (int k = 0; k < count; k++) {
            const int way = (k + (int)seed) % count;
            if (k > 0) OK(tacit_field_put(f, 0, cells_of(&g), b->start));
            runs += run_way(b, &g, f, ways[way], steps, seed % 3 ? 0 : 4);
        }
        tacit_field_destroy(&f);
    }
    close_bench(b);
    assert_true(runs > grids * count / 4);
}

static void ways_in_place_have_the_serial_bits(void **state)
{
    static const run_of ways[] = {
        {"overlap", NULL}, {"p2p", NULL},   {"shmem", NULL}, {"shmem1", NULL},
        {"copy", NULL},    {"tiles", NULL}, {"free", NULL},  {"free2", NULL}};
    (void)state;
    if (!gpu_for_each()) skip();
    run_all(on_gpu() ? "cuda@peer" : "host", GRIDS, STEPS, ways, 8);
    run_all(on_gpu() ? "cuda@peer" : "host", FEW, MANY, ways, 8);
}

static bool opens(const char *queue)
{
    tacit_queue *q = NULL;
    const bool can = tacit_queue_create(test_world(), queue, 1, &q) >= 0;
    tacit_queue_destroy(&q);
    return can;
}

/* The same stores, into memory of NVSHMEM's heap. */
static void puts_into_nvshmem_have_the_serial_bits(void **state)
{
    static const run_of ways[] = {
        {"shmem", NULL}, {"shmem1", NULL}, {"free", NULL}, {"tiles", NULL}};
    (void)state;
    if (!on_gpu() || !gpu_for_each() || !opens("cuda@nvshmem")) skip();
    run_all("cuda@nvshmem", GRIDS / 4, STEPS, ways, 4);
}

/* Tiles that stay, with ghosts of several steps: each depth that there is. */
static void cached_has_the_serial_bits_at_all_depths(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    bench *b = open_bench(on_gpu() ? "cuda@peer" : "host");
    int runs = 0;
    for (uint64_t seed = 1000; seed < 1000 + GRIDS; seed++) {
        grid g;
        tacit_field *f = open_field(b, seed, STEPS, &g);
        if (!f || g.weights == TACIT_WEIGHTS_CELLS) {
            tacit_field_destroy(&f);
            continue;
        }
        const int most = tct_field_deepest(f) < 12 ? tct_field_deepest(f) : 12;
        const tacit_field_options o = {.size = sizeof o,
                                       .steps = STEPS,
                                       .way = "cached",
                                       .depth =
                                           1 + (int)(seed % (uint64_t)most),
                                       .norm_every = seed % 3 ? 0 : 4};
        tacit_field_result r = {.size = sizeof r};
        const tacit_status status = tacit_field_run(f, &o, &r);
        if (!on_gpu() || status != TACIT_UNSUPPORTED) {
            OK(status);
            expect_wanted(b, &g, f, "cached");
            runs++;
        }
        tacit_field_destroy(&f);
    }
    assert_true(runs > GRIDS / 8);
    close_bench(b);
}

static void messages_of_mpi_have_the_serial_bits(void **state)
{
    static const run_of ways[] = {
        {"mpi", NULL}, {"overlap", NULL}, {"copy", NULL}, {"tiles", NULL}};
    (void)state;
    if (!gpu_for_each() || !opens(TEST_DEVICE "@mpi")) skip();
    run_all(TEST_DEVICE "@mpi", GRIDS / 2, STEPS, ways, 4);
}

static void messages_of_nccl_have_the_serial_bits(void **state)
{
    static const run_of ways[] = {{"nccl", NULL},
                                  {"nccl", "graph"},
                                  {"overlap", NULL},
                                  {"copy", NULL},
                                  {"tiles", NULL}};
    (void)state;
    if (!on_gpu() || !gpu_for_each() || !opens("cuda@nccl")) skip();
    run_all("cuda@nccl", GRIDS / 2, STEPS, ways, 5);
    run_all("cuda@nccl", FEW, MANY, ways, 5);
}

/* --- the device's part ----------------------------------------------------- */

/* The driver of GPU kernels, with the twin of the kernels. */
static void kernels_are_driven_right(void **state)
{
    static const run_of ways[] = {{"overlap", NULL}, {"p2p", NULL},
                                  {"shmem", NULL},   {"shmem1", NULL},
                                  {"copy", NULL},    {"tiles", NULL}};
    (void)state;
    /* The twin reads cells that it does not use: races for a sanitizer. */
    if (on_gpu() || TCT_TSAN) skip();
    bench *b = open_bench("host");
    int lanes = 0, visits = 0, steps = 0;
    for (uint64_t seed = 0; seed < GRIDS; seed++) {
        grid g;
        tacit_field *f = open_field(b, seed, STEPS, &g);
        if (!f) continue;
        const int depth = depth_of(&g, f);
        if (depth > 0) OK(tct_field_widen(f, depth));
        open_steps_twin(f);
        for (int k = 0; k < 6; k++) {
            if (k > 0) OK(tacit_field_put(f, 0, cells_of(&g), b->start));
            (void)run_way(b, &g, f, ways[(k + (int)seed) % 6], STEPS,
                          seed % 3 ? 0 : 4);
        }
        lanes += twin_of_steps.lanes;
        visits += twin_of_steps.visits;
        steps += twin_of_steps.steps;
        close_steps_twin(f);
        tacit_field_destroy(&f);
    }
    close_bench(b);
    assert_true(lanes > 0 && visits > 0 && steps > 0);
}

/* --- faults --------------------------------------------------------------- */

enum { DELAY_US = 4000 }; /* much longer than a step */

/* Steppers of shmem1 that do something wrong; the last rank is slow. */
typedef enum { SOUND, NO_PUT, TELLS_FIRST, WAITS_NOT } fault;
static _Thread_local fault planted;

static void hesitate(void)
{
    if (tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1)
        usleep(DELAY_US);
}

static void faulty_step(tct_stepper *s, int edges_do)
{
    tacit_halo *h = s->field->halo;
    const int slot = s->field->now ^ 1;
    (void)edges_do;
    if (planted == WAITS_NOT) h->begun = false;
    else if (s->pending == TCT_EDGES) tct_halo_finish(h);
    s->ops->edges(s, 1);
    s->ops->inner(s, 1);
    if (planted == TELLS_FIRST) tct_halo_start(h, slot, TCT_HALO_SIGNALS);
    hesitate();
    if (planted != NO_PUT) tct_host_stepper_put(s);
    if (planted != TELLS_FIRST) tct_halo_start(h, slot, TCT_HALO_SIGNALS);
}

static int wrong_cells(bench *b, fault faulty)
{
    tct_stepper_ops ops = tct_host_stepper;
    int blocks[3] = {1, tacit_world_size(test_world()), 1}, wrong = 0;
    grid g = shapes[0];
    const int64_t n[3] = {20, 64, 1};
    memcpy(g.n, n, sizeof n);
    make_wanted(b, &g, 1, 6);
    const tacit_stencil s = stencil_of(&g, blocks);
    tacit_field *f = NULL;
    tacit_field_block o = {.size = sizeof o};
    void *stepper = NULL;
    OK(tacit_field_create(b->q, &s, &f));
    put_all(b, &g, f);
    OK(tct_stepper_open(f, &tct_step_shmem1, 1, NULL, &stepper));
    planted = faulty;
    ops.step = faulty_step;
    ((tct_stepper *)stepper)->ops = &ops;
    tct_stepper_visit(stepper, 6, NULL);
    tct_stepper_finish(stepper);
    OK(tacit_field_get(f, 0, cells_of(&g), b->got));
    OK(tacit_field_block_of(f, &o));
    for (int64_t k = 0; k < cells_of(&g); k++)
        wrong += owns(&o, &g, k) && !same(b->got[k], b->wanted[k]);
    tct_stepper_close(stepper);
    tacit_field_destroy(&f);
    return wrong;
}

/* On some rank. ThreadSanitizer would end the races; ranks that get no
 * processor in time lose one, and it is run again. */
static void faults_of_a_halo_are_seen(void **state)
{
    enum { TRIES = 50 };
    (void)state;
    if (on_gpu()) skip();
    bench *b = open_bench("host");
    for (fault f = SOUND; f <= (TCT_TSAN ? NO_PUT : WAITS_NOT); f++) {
        int64_t wrong = 0;
        for (int k = 0; k < (f == SOUND ? 1 : TRIES) && wrong == 0; k++) {
            wrong = wrong_cells(b, f);
            OK(tct_reduce_i64(test_world(), TCT_SUM, 1, &wrong));
        }
        if ((wrong > 0) != (f != SOUND))
            fail_msg("fault %d: %d cells are wrong", (int)f, (int)wrong);
    }
    close_bench(b);
}

/* --- refusals ------------------------------------------------------------- */

static void expect_refused(tacit_field *f, const char *way, const char *word)
{
    const tacit_field_options o = {.size = sizeof o, .steps = 1, .way = way};
    tacit_field_result r = {.size = sizeof r};
    EXPECT(TACIT_UNSUPPORTED, tacit_field_run(f, &o, &r));
    if (!strstr(tacit_error_message(), word))
        fail_msg("way %s: '%s' lacks '%s'", way, tacit_error_message(), word);
}

static void a_way_names_the_link_that_it_needs(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    bench *b = open_bench(on_gpu() ? "cuda@peer" : "host");
    grid g;
    tacit_field_options o = {.size = sizeof o, .steps = 1};
    tacit_field_result r = {.size = sizeof r};
    tacit_field *f = open_field(b, 12, STEPS, &g);
    assert_non_null(f);
    expect_refused(f, "mpi", TCT_HAVE_MPI ? "take link mpi" : "without MPI");
    expect_refused(f, "nccl", "nccl");
    o.way = "copy";
    o.loop = "graph";
    EXPECT(TACIT_INVALID, tacit_field_run(f, &o, &r));
    assert_non_null(strstr(tacit_error_message(), "loop"));
    o.loop = "grapf";
    EXPECT(TACIT_INVALID, tacit_field_run(f, &o, &r));
    assert_non_null(strstr(tacit_error_message(), "did you mean 'graph'"));
    tacit_field_destroy(&f);
    close_bench(b);
}

/* --- trials --------------------------------------------------------------- */

static void slow_visit(tacit_queue *q, const tct_step_work *w, int depth)
{
    usleep(DELAY_US); /* so that a trial is over after one */
    twin_visit(q, w, depth);
}

/* 8 steps of the first depth, and 3 of the second one, which is not taken: no
 * exchange of it is left under way. Nor does a way that is refused leave
 * one. */
static void trials_leave_the_field_usable(void **state)
{
    enum { TRIED = 11, THEN = 4 };
    int blocks[3] = {1, tacit_world_size(test_world()), 1};
    const int64_t n[3] = {20, 64, 1};
    tct_device_steps slow = twin_steps;
    grid g = shapes[0];
    tacit_field *f = NULL;
    (void)state;
    if (TCT_TSAN) skip(); /* as above */
    if (on_gpu()) skip();
    bench *b = open_bench("host");
    memcpy(g.n, n, sizeof n);
    make_wanted(b, &g, 1, TRIED + THEN);
    const tacit_stencil s = stencil_of(&g, blocks);
    OK(tacit_field_create(b->q, &s, &f));
    put_all(b, &g, f);
    open_steps_twin(f);
    slow.visit = slow_visit;
    f->device->steps = &slow;
    tacit_field_options o = {.size = sizeof o, .steps = TRIED, .way = "tiles"};
    tacit_field_result r = {.size = sizeof r};
    OK(tacit_field_run(f, &o, &r));
    assert_int_equal(r.trials, 1);
    expect_refused(f, "nccl", "nccl");
    o.way = "copy";
    o.steps = THEN;
    OK(tacit_field_run(f, &o, &r));
    expect_wanted(b, &g, f, "copy");
    close_steps_twin(f);
    tacit_field_destroy(&f);
    close_bench(b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_is_in_one_box),
        cmocka_unit_test(ways_in_place_have_the_serial_bits),
        cmocka_unit_test(kernels_are_driven_right),
        cmocka_unit_test(messages_of_mpi_have_the_serial_bits),
        cmocka_unit_test(messages_of_nccl_have_the_serial_bits),
        cmocka_unit_test(puts_into_nvshmem_have_the_serial_bits),
        cmocka_unit_test(cached_has_the_serial_bits_at_all_depths),
        cmocka_unit_test(faults_of_a_halo_are_seen),
        cmocka_unit_test(a_way_names_the_link_that_it_needs),
        cmocka_unit_test(trials_leave_the_field_usable)};
    TEST_GPU_MAIN(tests);
}
