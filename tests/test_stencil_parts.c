/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_stencil_parts.c - steps of grids that leave a part out, in all ways
 * of several ranks and with the twin of the kernels: without communication
 * cells far from other blocks have the serial bits, and no exchange is made;
 * without computing the neighbours' cells arrive, and no other cell changes.
 *
 * DEVICE: each
 * RUN: np=2
 * THREADS: 2,3
 * PROCESSES: 2 */
#include "grid_ranks.h"
#include "operator/stencil/own_steps.h"
#include "stencil/field_halo.h"
#include "steps_twin.h"

enum { GRIDS = 16 / EACH, STEPS = 4, VISITS = 4 };
static const char *const in_place[] = {"copy",  "overlap", "p2p",
                                       "shmem", "shmem1",  "tiles",
                                       "free",  "free2",   "cached"};
static const char *const by_link[] = {"copy", "overlap", "tiles", "mpi"};
enum { IN_PLACE = 9, BY_LINK = 4, OF_TWIN = 6 /* the first ones */ };

static bool on_gpu(void)
{
    return strcmp(TEST_DEVICE, "cuda") == 0;
}

static bool is_deep(const char *way)
{
    return strcmp(way, "tiles") == 0 || strcmp(way, "cached") == 0;
}

/* Steps of a visit, 0: the way is not for this grid. */
static int depth_of(const grid *g, const tacit_field *f, const char *way)
{
    const int most = tct_field_deepest(f);
    if (!is_deep(way)) return 1;
    if (g->weights == TACIT_WEIGHTS_CELLS || g->points == 27) return 0;
    return most < STEPS ? most : STEPS;
}

/* A random grid whose buffers have ghosts for `way`, or NULL. */
static tacit_field *open_field(bench *b, uint64_t seed, const char *way,
                               grid *g)
{
    int blocks[3];
    tacit_field *f = NULL;
    *g = grid_of(seed);
    pick_blocks(seed, g->dim, blocks);
    if (deepest(g, blocks) == 0) return NULL;
    make_wanted(b, g, seed, STEPS);
    const tacit_stencil s = stencil_of(g, blocks);
    OK(tacit_field_create(b->q, &s, &f));
    put_all(b, g, f);
    f->worth = 1;
    if (depth_of(g, f, way) > 0) OK(tct_field_widen(f, depth_of(g, f, way)));
    else tacit_field_destroy(&f);
    return f;
}

/* False: a GPU does not have the way for this grid. */
static bool run_part(tacit_field *f, const char *way, int depth, int steps,
                     tacit_field_skip skip)
{
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = steps,
                                   .way = way,
                                   .depth = is_deep(way) ? depth : 0,
                                   .skip = skip};
    tacit_field_result r = {.size = sizeof r};
    const tacit_status status = tacit_field_run(f, &o, &r);
    if (on_gpu() && status == TACIT_UNSUPPORTED) return false;
    OK(status);
    assert_int_equal(r.steps, steps);
    assert_true((r.halo_bytes > 0.0) == (skip == TACIT_SKIP_COMPUTING));
    assert_true((r.moved_bytes > 0.0) == (skip != TACIT_SKIP_COMPUTING));
    return true;
}

/* --- steps alone ---------------------------------------------------------- */

/* Is a cell so far from other blocks that `STEPS` steps do not read them? */
static bool is_inner(const tacit_field *f, const grid *g, int64_t cell)
{
    const tct_grid_block *k = &f->block;
    const int64_t z = cell / g->n[0] / g->n[1];
    const int64_t y = cell / g->n[0] % g->n[1];
    const int64_t at[3] = {cell % g->n[0], g->dim == 2 ? 0 : y,
                           g->dim == 2 ? y : z};
    for (int d = 0; d < 3; d++) {
        const int64_t i = at[d] - k->first[d];
        if (i < 0 || i >= k->n[d]) return false;
        if (k->low[d] < 0 && i < STEPS) return false;
        if (k->high[d] > k->n[d] && i >= k->n[d] - STEPS) return false;
    }
    return true;
}

static int64_t expect_inner(bench *b, const grid *g, const tacit_field *f,
                            const char *way)
{
    int64_t inner = 0;
    OK(tacit_field_get(f, 0, cells_of(g), b->got));
    for (int64_t k = 0; k < cells_of(g); k++) {
        if (!is_inner(f, g, k)) continue;
        inner++;
        if (!same(b->got[k], b->wanted[k]))
            fail_msg("%s, way %s: cell %lld is %.17g, not %.17g", g->shape, way,
                     (long long)k, b->got[k], b->wanted[k]);
    }
    return inner;
}

static int64_t steps_alone(bench *b, uint64_t seed, const char *way, bool twin)
{
    grid g;
    int64_t inner = 0;
    tacit_field *f = open_field(b, seed, way, &g);
    if (!f) return 0;
    const uint64_t before = tct_halo_number(f->halo);
    if (twin) open_steps_twin(f);
    if (run_part(f, way, depth_of(&g, f, way), STEPS, TACIT_SKIP_COMMUNICATION))
        inner = expect_inner(b, &g, f, way);
    assert_true(tct_halo_number(f->halo) == before);
    if (twin) close_steps_twin(f);
    tacit_field_destroy(&f);
    return inner;
}

/* --- exchanges alone ------------------------------------------------------ */

/* The bytes of a buffer, of the device if the field is there. */
static void move_buffer(tacit_field *f, int slot, char *mine, bool get)
{
    const size_t bytes = (size_t)f->block.stored * f->s.bytes;
    if (!f->device) {
        memcpy(get ? mine : f->buffer[slot], get ? f->buffer[slot] : mine,
               bytes);
        return;
    }
    q_enter(f->queue);
    if (get)
        f->device->steps->get(f->queue, mine, f->device->buffer[slot], bytes);
    else f->device->steps->put(f->queue, f->device->buffer[slot], mine, bytes);
}

/* The value that cell (x, y, z) of the block, or a ghost, has in a buffer: a number
 * of its place in the grid. */
static double value_of(const tct_grid_block *b, int slot, const int64_t i[3])
{
    int64_t n[3];
    for (int d = 0; d < 3; d++)
        n[d] = (i[d] + b->first[d] + b->grid[d]) % b->grid[d];
    return (double)(1 + (n[0] * 7 + n[1] * 31 + n[2] * 57) % 101 + 200 * slot);
}

static char *cell_in(const tacit_field *f, char *buffer, const int64_t i[3])
{
    return buffer +
           (size_t)tct_block_at(&f->block, i[2], i[1], i[0]) * f->s.bytes;
}

static double number_at(const tacit_field *f, const char *cell)
{
    double d;
    float single;
    memcpy(&single, cell, sizeof single);
    if (f->s.bytes == sizeof single) return (double)single;
    memcpy(&d, cell, sizeof d);
    return d;
}

/* Cell `i` is a ghost across one face, or a cell of the block. */
static bool is_known(const tct_grid_block *b, const int64_t i[3], bool *ghost)
{
    int out = 0;
    for (int d = 0; d < 3; d++) {
        out += i[d] < 0 || i[d] >= b->n[d];
        if (i[d] < 0 && b->low[d] >= 0) return false;
        if (i[d] >= b->n[d] && b->high[d] <= b->n[d]) return false;
    }
    *ghost = out == 1;
    return out <= 1;
}

typedef void visit_cell(tacit_field *f, int slot, char *cell, double value,
                        bool ghost);

static void each_cell(tacit_field *f, int slot, int of, visit_cell *visit)
{
    const tct_grid_block *b = &f->block;
    char *mine = (char *)malloc((size_t)b->stored * f->s.bytes);
    int64_t i[3];
    bool ghost;
    assert_non_null(mine);
    move_buffer(f, slot, mine, true);
    for (i[2] = -1; i[2] <= b->n[2]; i[2]++)
        for (i[1] = -1; i[1] <= b->n[1]; i[1]++)
            for (i[0] = -1; i[0] <= b->n[0]; i[0]++)
                if (is_known(b, i, &ghost))
                    visit(f, slot, cell_in(f, mine, i), value_of(b, of, i),
                          ghost);
    move_buffer(f, slot, mine, false);
    free(mine);
}

static void set_cell(tacit_field *f, int slot, char *cell, double value,
                     bool ghost)
{
    (void)slot;
    tct_field_set(&f->s, cell, 1, ghost ? -1.0 : value);
}

static void expect_cell(tacit_field *f, int slot, char *cell, double value,
                        bool ghost)
{
    if (number_at(f, cell) != value)
        fail_msg("buffer %d: a %s is %g, not %g", slot,
                 ghost ? "ghost" : "cell", number_at(f, cell), value);
}

/* Tiles of way cached store what they have into both buffers. */
static int exchanges_alone(bench *b, uint64_t seed, const char *way, bool twin)
{
    grid g;
    const int other = strcmp(way, "cached") != 0;
    tacit_field *f = open_field(b, seed, way, &g);
    if (!f) return 0;
    const int depth = depth_of(&g, f, way);
    if (twin) open_steps_twin(f);
    f->small = 0; /* tiles in shared memory have their ghosts elsewhere */
    if (f->device) f->device->host_is_newer = false;
    for (int slot = 0; slot < 2; slot++)
        each_cell(f, slot, slot * other, set_cell);
    OK(tct_agree(test_world(), q_status(f->queue)));
    const bool ran =
        run_part(f, way, depth, VISITS * depth, TACIT_SKIP_COMPUTING);
    OK(tct_agree(test_world(), q_status(f->queue)));
    for (int slot = 0; slot < 2 && ran; slot++)
        each_cell(f, slot, slot * other, expect_cell);
    if (twin) close_steps_twin(f);
    tacit_field_destroy(&f);
    return ran;
}

/* --- tiles in shared memory ----------------------------------------------- */

/* Kernels of a small grid that only exchange, and what they exchange. */
typedef struct numbers {
    tacit_halo *halo;
    tct_numbered *cell[2];
    void *steps;
} numbers;

static int run_numbers(tacit_field *f, const numbers *n, int steps)
{
    const tct_own_steps *ops = tct_own_steps_on(f->queue);
    const tct_step_work w = tct_device_work(f);
    const tct_halo_puts *puts = tct_halo_puts_of(n->halo);
    const tct_own_peers peers = {.count = puts->count,
                                 .put = puts->put,
                                 .slot = f->device->now,
                                 .x = (int)f->halo_x,
                                 .number = tct_halo_number(f->halo),
                                 .idle = true};
    q_enter(f->queue);
    const int visits = ops->run(n->steps, &w, &peers, steps);
    OK(tct_agree(test_world(), q_status(f->queue)));
    return visits;
}

/* Row `z` past an end is the neighbour's, with the number of the last send. */
static void expect_row(bench *b, const grid *g, tacit_field *f,
                       const numbers *n, int64_t z, uint64_t number)
{
    const tct_grid_block *k = &f->block;
    tct_numbered row[64];
    const int64_t y = (k->first[2] + z + g->n[1]) % g->n[1];
    const tct_numbered *at = n->cell[number & 1] + z * k->plane;
    q_enter(f->queue);
    f->device->steps->get(f->queue, row, at, (size_t)g->n[0] * sizeof *row);
    OK(q_status(f->queue));
    for (int64_t x = 0; x < g->n[0]; x++)
        if (row[x].number != number ||
            !same(row[x].value, b->start[y * g->n[0] + x]))
            fail_msg("row %lld, cell %lld: number %llu, value %g", (long long)z,
                     (long long)x, (unsigned long long)row[x].number,
                     row[x].value);
}

/* Each visit but the last sends the edges of tiles as they are. */
static void messages_alone_reach_the_numbers_of_neighbours(void **state)
{
    enum { RUNS = 2, VISITS_OF_ONE = 5 };
    int blocks[3] = {1, tacit_world_size(test_world()), 1};
    numbers n = {.halo = NULL};
    (void)state;
    if (!on_gpu() || blocks[1] == 1 || !gpu_for_each()) skip();
    bench *b = open_bench("cuda@peer");
    grid g = {.shape = "star2d1r",
              .dim = 2,
              .points = 5,
              .n = {40, 30 * blocks[1], 1},
              .periodic = 3};
    make_wanted(b, &g, 1, 1);
    const tacit_stencil s = stencil_of(&g, blocks);
    tacit_field *f = NULL;
    OK(tacit_field_create(b->q, &s, &f));
    put_all(b, &g, f);
    OK(tct_field_to_device(f));
    OK(tct_field_open_numbers(f, 1, &n.halo, n.cell));
    const tct_step_work w = tct_device_work(f);
    OK(tct_own_steps_on(b->q)->open(b->q, &f->block, &w, TCT_OWN_FREE, 1, 0,
                                    n.cell, &n.steps));
    for (int k = 0; k < RUNS; k++) {
        const int before = k * VISITS_OF_ONE;
        assert_int_equal(run_numbers(f, &n, VISITS_OF_ONE), VISITS_OF_ONE);
        const uint64_t number = (uint64_t)(before + VISITS_OF_ONE - 1);
        expect_row(b, &g, f, &n, -1, number);
        expect_row(b, &g, f, &n, f->block.n[2], number);
    }
    tct_own_steps_on(b->q)->close(n.steps);
    tacit_halo_destroy(&n.halo);
    tacit_field_destroy(&f);
    close_bench(b);
}

/* --- tests ---------------------------------------------------------------- */

static void run_all(const char *queue, const char *const *ways, int count,
                    bool twin)
{
    int64_t inner = 0, runs = 0;
    bench *b = open_bench(queue);
    for (uint64_t seed = 0; seed < GRIDS; seed++)
        for (int k = 0; k < count; k++) {
            inner += steps_alone(b, seed, ways[k], twin);
            runs += exchanges_alone(b, seed, ways[k], twin);
        }
    close_bench(b);
    OK(tct_reduce_i64(test_world(), TCT_SUM, 1, &inner));
    assert_true(inner > 0 && runs > GRIDS * count / 4);
}

static void ways_in_place_leave_a_part_out(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    run_all(on_gpu() ? "cuda@peer" : "host", in_place, IN_PLACE, false);
}

static void ways_of_messages_leave_a_part_out(void **state)
{
    tacit_queue *q = NULL;
    (void)state;
    if (!gpu_for_each() ||
        tacit_queue_create(test_world(), TEST_DEVICE "@mpi", 1, &q) < 0)
        skip();
    tacit_queue_destroy(&q);
    run_all(TEST_DEVICE "@mpi", by_link, BY_LINK, false);
}

static void kernels_leave_a_part_out(void **state)
{
    (void)state;
    if (on_gpu()) skip();
    run_all("host", in_place, OF_TWIN, true);
}

static void expect_refused(tacit_field *f, const tacit_field_options *o,
                           const char *word)
{
    tacit_field_result r = {.size = sizeof r};
    EXPECT(TACIT_INVALID, tacit_field_run(f, o, &r));
    if (!strstr(tacit_error_message(), word))
        fail_msg("'%s' lacks '%s'", tacit_error_message(), word);
}

static void what_has_no_meaning_is_refused(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    grid g;
    bench *b = open_bench(on_gpu() ? "cuda@peer" : "host");
    tacit_field *f = open_field(b, 12, "copy", &g);
    const tacit_field_options good = {.size = sizeof good,
                                      .steps = 1,
                                      .way = "copy",
                                      .skip = TACIT_SKIP_COMPUTING};
    tacit_field_options o = good;
    assert_non_null(f);
    o.way = NULL;
    expect_refused(f, &o, "name a way");
    o.way = "auto";
    expect_refused(f, &o, "name a way");
    o.way = "tiles";
    expect_refused(f, &o, "name a depth");
    o = good;
    o.rtol = 0.5;
    expect_refused(f, &o, "leave rtol");
    o = good;
    o.norm_every = 2;
    expect_refused(f, &o, "leave rtol");
    o.skip = (tacit_field_skip)3;
    expect_refused(f, &o, "skip 3");
    o = good;
    o.skip = tacit_world_rank(test_world()) ? TACIT_SKIP_COMPUTING
                                            : TACIT_SKIP_NOTHING;
    expect_refused(f, &o, "options of a run");
    tacit_field_destroy(&f);
    close_bench(b);
}

static void one_rank_is_refused(void **state)
{
    (void)state;
    const tacit_stencil s = {
        .size = sizeof s, .shape = "star2d1r", .n = {9, 9}};
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = 1,
                                   .way = "copy",
                                   .skip = TACIT_SKIP_COMMUNICATION};
    tacit_world *alone = NULL;
    tacit_queue *q = NULL;
    tacit_field *f = NULL;
    if (on_gpu()) skip();
    OK(tacit_world_self(&alone));
    OK(tacit_queue_create(alone, "host", 1, &q));
    OK(tacit_field_create(q, &s, &f));
    expect_refused(f, &o, "take several ranks");
    tacit_field_destroy(&f);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&alone);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_in_place_leave_a_part_out),
        cmocka_unit_test(kernels_leave_a_part_out),
        cmocka_unit_test(messages_alone_reach_the_numbers_of_neighbours),
        cmocka_unit_test(ways_of_messages_leave_a_part_out),
        cmocka_unit_test(what_has_no_meaning_is_refused),
        cmocka_unit_test(one_rank_is_refused)};
    TEST_GPU_MAIN(tests);
}
