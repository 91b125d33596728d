/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_stencil_ranks.c - grids that are divided among ranks against a
 * serial loop, to the last bit: random blocks, shapes, types, weights, sides,
 * sizes and depths; values in and out, files; what all ranks refuse alike.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3
 * PROCESSES: 2 */
#include "comm/world/world.h"
#include "grid_ranks.h"
#include "stencil/field_halo.h"
#include "stencil/sweep.h"

enum { GRIDS = 128 / EACH, STEPS = 11 };

/* --- bits ----------------------------------------------------------------- */

/* A run, or the same refusal on all ranks. */
static bool run_one(const grid *g, tacit_field *f, int depth, int64_t most)
{
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = STEPS,
                                   .way = depth == 1 ? "copy" : "tiles",
                                   .depth = depth,
                                   .norm_every = g->n[1] % 3 ? 0 : 4};
    tacit_field_result r = {.size = sizeof r};
    const tacit_status status = tacit_field_run(f, &o, &r);
    if (depth > most) {
        assert_int_equal(status, TACIT_INVALID);
        assert_non_null(strstr(tacit_error_message(), "depth"));
        return false;
    }
    OK(status);
    assert_int_equal(r.steps, STEPS);
    return true;
}

/* Random grid `seed`; counts runs, and depths that are refused. */
static void try_grid(bench *b, uint64_t seed, int counts[2])
{
    int blocks[3];
    grid g = grid_of(seed);
    pick_blocks(seed, g.dim, blocks);
    make_wanted(b, &g, seed, STEPS);
    const int depth = (int)pick(seed, 8, 6) + 1;
    const int64_t most = deepest(&g, blocks);
    const tacit_stencil s = stencil_of(&g, blocks);
    tacit_field *f = NULL;
    const tacit_status status = tacit_field_create(b->q, &s, &f);
    if (most == 0) {
        assert_int_equal(status, TACIT_INVALID);
        assert_non_null(strstr(tacit_error_message(), "blocks"));
        return;
    }
    OK(status);
    f->worth = 1;
    if (seed % 3 == 0) f->room = 1; /* tiles as small as can be */
    f->streams = seed % 2;
    put_all(b, &g, f);
    const bool ran = run_one(&g, f, depth, most);
    if (ran) expect_wanted(b, &g, f, depth == 1 ? "copy" : "tiles");
    counts[!ran]++;
    tacit_field_destroy(&f);
}

static void random_blocks_have_the_serial_bits(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    int counts[2] = {0};
    for (uint64_t seed = 0; seed < GRIDS; seed++) try_grid(b, seed, counts);
    assert_true(counts[0] > GRIDS / 4);
    assert_true(counts[1] > 0 || tacit_world_size(test_world()) == 1);
    close_bench(b);
}

/* The same when a link carries the ghosts, which is not in place. */
static void messages_have_the_serial_bits(void **state)
{
    (void)state;
    if (!test_launched_ || tacit_world_size(test_world()) == 1) skip();
    bench *b = open_bench("host@mpi");
    int counts[2] = {0};
    for (uint64_t seed = GRIDS; seed < GRIDS + GRIDS / 4; seed++)
        try_grid(b, seed, counts);
    assert_true(counts[0] > 0);
    close_bench(b);
}

/* Without an exchange the ghosts are wrong, and the test above would see it. */
static void stale_ghosts_are_seen(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    const int none[3] = {0, 0, 0};
    for (int exchanges = 0; exchanges < 2; exchanges++) {
        grid g = shapes[1];
        const int64_t n[3] = {20, 64, 1};
        memcpy(g.n, n, sizeof n);
        make_wanted(b, &g, 1, 8);
        const tacit_stencil s = stencil_of(&g, none);
        tacit_field *f = NULL;
        tct_tile_sweep *sweep = NULL;
        tct_field_ghosts ghosts;
        OK(tacit_field_create(b->q, &s, &f));
        put_all(b, &g, f);
        OK(tct_field_widen(f, 4));
        OK(tct_sweep_create(f, 4, &sweep));
        OK(tct_field_ghosts_open(f, 4, &ghosts));
        for (int visit = 0; visit < 2; visit++) {
            if (visit == 0 || exchanges) tct_field_ghosts_exchange(&ghosts);
            tct_sweep_visit(sweep, 4, NULL);
        }
        OK(tacit_field_get(f, 0, cells_of(&g), b->got));
        tacit_field_block o = {.size = sizeof o};
        OK(tacit_field_block_of(f, &o));
        int wrong = 0;
        for (int64_t k = 0; k < cells_of(&g); k++)
            wrong += owns(&o, &g, k) && !same(b->got[k], b->wanted[k]);
        const bool alone = tacit_world_size(test_world()) == 1;
        assert_true((wrong > 0) == (!exchanges && !alone));
        tct_field_ghosts_close(&ghosts);
        tct_sweep_destroy(&sweep);
        tacit_field_destroy(&f);
    }
    close_bench(b);
}

/* --- decisions ------------------------------------------------------------ */

/* Is `value` the same on all ranks? */
static void expect_alike(double value)
{
    double least = value, most = value;
    OK(tct_reduce_f64(test_world(), TCT_MIN, 1, &least));
    OK(tct_reduce_f64(test_world(), TCT_MAX, 1, &most));
    assert_true(least == most);
}

static void measured_ways_are_the_same_on_all_ranks(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    const int none[3] = {0, 0, 0};
    grid g = shapes[0];
    const int64_t n[3] = {40, 100, 1};
    memcpy(g.n, n, sizeof n);
    make_wanted(b, &g, 8, 200);
    const tacit_stencil s = stencil_of(&g, none);
    static const char *const ways[] = {NULL, "tiles"};
    for (int k = 0; k < 2; k++) {
        const tacit_field_options o = {
            .size = sizeof o, .steps = 200, .way = ways[k]};
        tacit_field_result r = {.size = sizeof r};
        tacit_field *f = NULL;
        OK(tacit_field_create(b->q, &s, &f));
        put_all(b, &g, f);
        OK(tacit_field_run(f, &o, &r));
        expect_wanted(b, &g, f, "measured");
        expect_alike(r.depth);
        expect_alike(r.step_seconds);
        expect_alike(r.trials);
        expect_alike(r.moved_bytes);
        const bool alone = tacit_world_size(test_world()) == 1;
        assert_true((r.halo_bytes > 0.0) == !alone);
        assert_int_equal(r.ghost, alone ? 0 : r.depth);
        tacit_field_destroy(&f);
    }
    close_bench(b);
}

static int stop_on_last_rank(void *ctx, int64_t step, double change)
{
    const tacit_world *w = (const tacit_world *)ctx;
    (void)change;
    return step == 32 && w->rank == w->size - 1;
}

static void rtol_and_monitors_stop_all_ranks(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    const int none[3] = {0, 0, 0};
    grid g = shapes[0];
    const int64_t n[3] = {24, 32, 1};
    memcpy(g.n, n, sizeof n);
    g.boundary = 1.0;
    const tacit_stencil s = stencil_of(&g, none);
    tacit_field_options o = {.size = sizeof o,
                             .steps = 3000,
                             .way = "tiles",
                             .depth = 4,
                             .norm_every = 16,
                             .rtol = 1e-3};
    tacit_field_result r = {.size = sizeof r};
    tacit_field *f = NULL;
    OK(tacit_field_create(b->q, &s, &f));
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_OK);
    expect_alike((double)r.steps);
    expect_alike(r.change);
    assert_true(r.change <= 1e-3 * r.first_change);
    memset(b->wanted, 0, (size_t)cells_of(&g) * sizeof *b->wanted);
    serial(&g, (int)r.steps, b->wanted, b->last);
    expect_wanted(b, &g, f, "rtol");
    double sum = 0.0;
    for (int64_t k = 0; k < cells_of(&g); k++)
        sum += (b->wanted[k] - b->last[k]) * (b->wanted[k] - b->last[k]);
    assert_true(fabs(r.change - sqrt(sum)) <= 1e-12 * sqrt(sum));
    o.steps = 64;
    o.rtol = 1e-9;
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_NOT_CONVERGED);
    o.monitor = stop_on_last_rank;
    o.monitor_ctx = test_world();
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_INTERRUPTED);
    assert_int_equal(r.steps, 32);
    const double bad = (double)NAN;
    OK(tacit_field_put(f, 7, 1, &bad));
    o.monitor = NULL;
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_BREAKDOWN);
    tacit_field_destroy(&f);
    close_bench(b);
}

/* Puts a value into the middle of the grid after each measured step. */
typedef struct putter {
    tacit_field *field;
    int64_t cell;
} putter;

static int put_step(void *ctx, int64_t step, double change)
{
    const putter *p = (const putter *)ctx;
    const double value = (double)step;
    (void)change;
    return tacit_field_put(p->field, p->cell, 1, &value) != TACIT_OK;
}

static void monitors_change_values_on_all_ranks(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    const int none[3] = {0, 0, 0};
    static const char *const ways[] = {"copy", "tiles", "shmem", "overlap"};
    const int count = tacit_world_size(test_world()) == 1 ? 2 : 4;
    grid g = shapes[1];
    const int64_t n[3] = {12, 48, 1};
    memcpy(g.n, n, sizeof n);
    make_wanted(b, &g, 3, 0);
    const int64_t cell = cells_of(&g) / 2; /* at a border of two blocks */
    for (int step = 3; step <= 9; step += 3) {
        serial(&g, 3, b->wanted, b->last);
        b->wanted[cell] = step;
    }
    serial(&g, 2, b->wanted, b->last);
    const tacit_stencil s = stencil_of(&g, none);
    for (int k = 0; k < count; k++) {
        tacit_field *f = NULL;
        OK(tacit_field_create(b->q, &s, &f));
        put_all(b, &g, f);
        putter p = {f, cell};
        const tacit_field_options o = {.size = sizeof o,
                                       .steps = 11,
                                       .way = ways[k],
                                       .depth = k == 1 ? 2 : 0,
                                       .norm_every = 3,
                                       .monitor = put_step,
                                       .monitor_ctx = &p};
        tacit_field_result r = {.size = sizeof r};
        OK(tacit_field_run(f, &o, &r));
        expect_wanted(b, &g, f, ways[k]);
        tacit_field_destroy(&f);
    }
    close_bench(b);
}

/* --- files ---------------------------------------------------------------- */

/* A new file that all ranks know. */
static void make_file(char path[64])
{
    memset(path, 0, 64);
    if (tacit_world_rank(test_world()) == 0) {
        const char *base = getenv("TMPDIR");
        snprintf(path, 64, "%.40s/tacit-field-XXXXXX", base ? base : "/tmp");
        const int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
    }
    OK(tct_bcast(test_world(), 0, 64, path));
}

/* Once no rank needs it. */
static void remove_file(const char *path)
{
    expect_alike(0.0);
    if (tacit_world_rank(test_world()) == 0) unlink(path);
}

/* Files that one block writes are read by others, and the other way round. */
static void files_do_not_depend_on_blocks(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    char path[64];
    make_file(path);
    for (uint64_t seed = 1; seed < 24; seed++) {
        int blocks[3], others[3];
        grid g = grid_of(seed);
        g.weights = TACIT_WEIGHTS_MEAN;
        pick_blocks(seed, g.dim, blocks);
        pick_blocks(seed + 1000, g.dim, others);
        if (deepest(&g, blocks) == 0 || deepest(&g, others) == 0) continue;
        make_wanted(b, &g, seed, 0);
        tacit_stencil s = stencil_of(&g, blocks);
        tacit_field *f = NULL;
        OK(tacit_field_create(b->q, &s, &f));
        put_all(b, &g, f);
        OK(tacit_field_write(f, path));
        tacit_field_destroy(&f);
        memcpy(s.blocks, others, sizeof others);
        OK(tacit_field_create(b->q, &s, &f));
        OK(tacit_field_read(f, path));
        expect_wanted(b, &g, f, "read");
        tacit_field_destroy(&f);
        expect_alike(0.0); /* nobody reads it any more */
    }
    remove_file(path);
    close_bench(b);
}

static void what_is_wrong_with_a_file_is_told_to_all(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    char path[64];
    make_file(path);
    if (tacit_world_rank(test_world()) == 0) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("1 2 3\n4 x5 6", file);
        fclose(file);
    }
    const int none[3] = {0, 0, 0};
    grid g = shapes[0];
    const int64_t n[3] = {3, 8, 1};
    memcpy(g.n, n, sizeof n);
    const tacit_stencil s = stencil_of(&g, none);
    tacit_field *f = NULL;
    OK(tacit_field_create(b->q, &s, &f));
    assert_int_equal(tacit_field_read(f, path), TACIT_INPUT);
    assert_non_null(strstr(tacit_error_message(), "'x5' is no number"));
    assert_int_equal(tacit_field_write(f, "/no/such/folder/x.npy"), TACIT_IO);
    tacit_field_destroy(&f);
    remove_file(path);
    close_bench(b);
}

/* --- refusals ------------------------------------------------------------- */

static void refused(tacit_status got_status, tacit_status status,
                    const char *text)
{
    if (got_status != status || !strstr(tacit_error_message(), text))
        fail_msg("%s: '%s', not %s with '%s'", tacit_status_name(got_status),
                 tacit_error_message(), tacit_status_name(status), text);
}

static void ranks_that_differ_are_refused(void **state)
{
    (void)state;
    bench *b = open_bench("host");
    const int ranks = tacit_world_size(test_world());
    const int mine = tacit_world_rank(test_world());
    tacit_stencil s = {.size = sizeof s, .shape = "star2d1r", .n = {8, 64}};
    tacit_field *f = NULL;
    s.blocks[0] = ranks + 1;
    s.blocks[1] = 1;
    refused(tacit_field_create(b->q, &s, &f), TACIT_INVALID, "a rank has one");
    s.blocks[1] = 0;
    refused(tacit_field_create(b->q, &s, &f), TACIT_INVALID, "or all 0");
    s.blocks[0] = 0;
    OK(tacit_field_create(b->q, &s, &f));
    tacit_field *other = NULL;
    tacit_field_result r = {.size = sizeof r};
    tacit_field_options o = {.size = sizeof o, .steps = 4};
    tacit_stencil huge = s;
    huge.n[0] = huge.n[1] = INT32_MAX;
    refused(tacit_field_create(b->q, &huge, &other), TACIT_NO_MEMORY,
            "the grid");
    if (ranks > 1) {
        tacit_stencil t = s;
        t.n[1] += mine == ranks - 1;
        refused(tacit_field_create(b->q, &t, &other), TACIT_INVALID, "differ");
        t.n[1] = mine == ranks - 1 ? 0 : 64; /* invalid on one alone */
        refused(tacit_field_create(b->q, &t, &other), TACIT_INVALID, "cells");
        o.steps += mine;
        refused(tacit_field_run(f, &o, &r), TACIT_INVALID, "differ");
        o.steps = 4;
        o.way = mine == 0 ? "copy" : "tiles";
        refused(tacit_field_run(f, &o, &r), TACIT_INVALID, "way");
        o.way = "tiles";
        o.depth = 64;
        refused(tacit_field_run(f, &o, &r), TACIT_INVALID, "fewer ranks");
        t = s;
        t.n[1] = 1;
        t.n[0] = ranks - 1;
        refused(tacit_field_create(b->q, &t, &other), TACIT_INVALID,
                "fewer ranks");
    }
    o.depth = 0;
    o.way = NULL;
    OK(tacit_field_run(f, &o, &r));
    tacit_field_destroy(&f);
    close_bench(b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks_have_the_serial_bits),
        cmocka_unit_test(messages_have_the_serial_bits),
        cmocka_unit_test(stale_ghosts_are_seen),
        cmocka_unit_test(measured_ways_are_the_same_on_all_ranks),
        cmocka_unit_test(rtol_and_monitors_stop_all_ranks),
        cmocka_unit_test(monitors_change_values_on_all_ranks),
        cmocka_unit_test(files_do_not_depend_on_blocks),
        cmocka_unit_test(what_is_wrong_with_a_file_is_told_to_all),
        cmocka_unit_test(ranks_that_differ_are_refused),
    };
    TEST_MPI_MAIN(tests);
}
