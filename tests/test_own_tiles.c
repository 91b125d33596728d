/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_own_tiles.c - tiles that have owners: how blocks of a grid are cut,
 * who waits for whom, and that a missing wait is seen. */
#include "device/signals.h"
#include "gpu.h"
#include "stencil/own_host.h"

enum { CUTS = 400, MOST = 24 };

static uint64_t dice(uint64_t seed, int what)
{
    return tct_mix(seed * 977u + (uint64_t)what);
}

/* A random block, some sides of which have neighbours. */
static tct_grid_block block_of(uint64_t seed)
{
    tct_grid_block b = {.cells = 1};
    for (int d = 0; d < 3; d++) {
        b.n[d] = 1 + (int64_t)(dice(seed, d) % (d == 1 ? 5 : MOST));
        b.high[d] = b.n[d];
        b.cells *= b.n[d];
        b.closes[d] = dice(seed, 3 + d) % 3 == 0;
        if (b.closes[d]) continue;
        if (dice(seed, 6 + d) % 2) b.low[d] = -1;
        if (dice(seed, 9 + d) % 2) b.high[d]++;
    }
    return b;
}

static bool has(const tct_box *b, const int64_t i[3])
{
    for (int d = 0; d < 3; d++)
        if (i[d] < b->lo[d] || i[d] >= b->hi[d]) return false;
    return true;
}

static int tile_of(const tct_own_tiles *t, const int64_t i[3])
{
    int found = -1;
    for (int k = 0; k < t->count; k++) {
        if (!has(&t->box[k], i)) continue;
        assert_int_equal(found, -1); /* in one tile alone */
        found = k;
    }
    assert_true(found >= 0);
    return found;
}

static bool waits(const tct_own_tiles *t, int a, int b)
{
    for (int k = t->first[a]; k < t->first[a + 1]; k++)
        if (t->others[k] == b) return true;
    return false;
}

/* Tile `a`, which has cell i, waits for the owners of cells around it. */
static void expect_waits(const tct_grid_block *b, const tct_own_tiles *t, int a,
                         const int64_t i[3], int reach)
{
    for (int d = 0; d < 3; d++)
        for (int by = -reach; by <= reach; by += 2 * reach) {
            int64_t j[3] = {i[0], i[1], i[2]};
            j[d] += by;
            if (b->closes[d]) j[d] = tct_block_wrap(b, d, j[d]);
            if (j[d] < 0 || j[d] >= b->n[d]) continue;
            assert_true(waits(t, a, tile_of(t, j)));
        }
}

static void expect_sound(const tct_grid_block *b, tct_own_tiles *t, int reach)
{
    int64_t i[3];
    for (i[2] = 0; i[2] < b->n[2]; i[2]++)
        for (i[1] = 0; i[1] < b->n[1]; i[1]++)
            for (i[0] = 0; i[0] < b->n[0]; i[0]++)
                expect_waits(b, t, tile_of(t, i), i, reach);
    for (int a = 0; a < t->count; a++)
        for (int k = 0; k < t->count; k++)
            assert_int_equal(waits(t, a, k), waits(t, k, a));
    tct_own_tiles_free(t);
}

static void each_cell_has_an_owner_who_waits_for_its_neighbours(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CUTS; seed++) {
        const tct_grid_block b = block_of(seed);
        const int tiles = 1 + (int)(dice(seed, 20) % 12);
        const int reach = 1 + (int)(dice(seed, 21) % 5);
        tct_own_tiles t;
        for (int of_layer = -1; of_layer <= 3; of_layer++) {
            OK(tct_own_layers(&b, tiles, of_layer, seed % 2, &t));
            assert_true(of_layer >= 0 || t.of_layers == 0);
            expect_sound(&b, &t, 1);
        }
        OK(tct_own_blocks(&b, tiles, reach, &t));
        assert_true(t.count <= tiles);
        expect_sound(&b, &t, reach);
        if ((b.n[1] - 1) / 2 + 1 > tiles)
            EXPECT(TACIT_UNSUPPORTED, tct_own_planes(&b, tiles, 2, 2, &t));
        else {
            OK(tct_own_planes(&b, tiles, 2, 2, &t));
            assert_true(t.count <= tiles && tct_own_most(&t, 1) <= 2);
            assert_int_equal(tct_own_most(&t, 0), b.n[0]);
            expect_sound(&b, &t, 1);
        }
        OK(tct_own_columns(&b, tiles, 2 * reach + 3, reach, &t));
        assert_true(tct_own_most(&t, 0) <= 3);
        expect_sound(&b, &t, reach);
    }
}

/* The paper's formula, clamped: 132 blocks, two layers. */
static void layers_have_the_blocks_of_the_formula(void **state)
{
    static const struct {
        int64_t n[3];
        double formula;
        int used;
    } some[] = {{{4096, 1, 4096}, 132.0 / 4096, 1},
                {{256, 256, 128}, 132.0 / 128, 1},
                {{256, 256, 16}, 132.0 / 16, 8},
                {{256, 256, 2}, 66.0, 65}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        tct_grid_block b = {.low = {0, 0, -1}};
        b.cells = 1;
        for (int d = 0; d < 3; d++) {
            b.n[d] = b.high[d] = some[k].n[d];
            b.cells *= b.n[d];
        }
        b.high[2]++;
        tct_own_tiles t;
        OK(tct_own_layers(&b, 132, 0, false, &t));
        assert_int_equal(t.layers, 2);
        assert_true(fabs(t.formula - some[k].formula) < 1e-12);
        assert_in_range(t.of_layer, some[k].used * 9 / 10, some[k].used);
        assert_true(t.count <= 132);
        tct_own_tiles_free(&t);
    }
}

/* --- a missing wait -------------------------------------------------------- */

enum {
    N = 64,
    STEPS = 6,
    TRIES = 50,
    DELAY_US = 3000 /* much longer than a step */
};

/* As way free; the last tile is late. */
static void late_step(tct_own_host *h, int tile, int from, int steps, bool last)
{
    const tacit_field *f = h->field;
    const tct_box *b = &h->tiles.box[tile];
    const tct_row_fn step = f->rows->step[f->s.shape][f->s.weights];
    (void)steps;
    (void)last;
    if (tile + 1 == h->tiles.count) usleep(DELAY_US);
    for (int64_t z = b->lo[2]; z < b->hi[2]; z++) {
        const tct_row_inputs r = tct_own_inputs(f, from, z, 0, b->lo[0]);
        step(&r, tct_field_cell(f, from ^ 1, z, 0, b->lo[0]), 0, 1,
             b->hi[0] - b->lo[0]);
    }
}

/* Nobody waits for the last tile. */
static void forget_last(tct_own_tiles *t)
{
    for (int k = 0; k < t->first[t->count]; k++)
        if (t->others[k] == t->count - 1) t->others[k] = 0;
}

static void values_after(tacit_queue *q, bool forget, double *v)
{
    const tacit_stencil s = {
        .size = sizeof s, .shape = "star2d1r", .n = {N, N}, .type = "double"};
    tacit_field *f = NULL;
    tct_own_host *h = NULL;
    OK(tacit_field_create(q, &s, &f));
    f->worth = 1;
    for (int k = 0; k < N * N; k++) v[k] = tct_uniform(5, (uint64_t)k);
    OK(tacit_field_put(f, 0, N * N, v));
    OK(tct_own_host_create(f, 1, false, late_step, &h));
    assert_true(h->tiles.count > 2);
    if (forget) forget_last(&h->tiles);
    tct_own_host_run(h, STEPS);
    OK(tacit_field_get(f, 0, N * N, v));
    tct_own_host_destroy(&h);
    tacit_field_destroy(&f);
}

static void a_missing_wait_is_seen(void **state)
{
    static double one[N * N], other[N * N];
    tacit_queue *alone = NULL, *many = NULL;
    (void)state;
    OK(tacit_queue_create(test_world(), "host", 1, &alone));
    OK(tacit_queue_create(test_world(), "host", 3, &many));
    values_after(alone, false, one);
    values_after(many, false, other);
    assert_memory_equal(one, other, sizeof one);
    /* Not by a sanitizer, which would end the races. Threads that get no
     * processor in time lose a race: it is run again. */
    bool differs = TCT_TSAN;
    for (int k = 0; k < TRIES && !differs; k++) {
        values_after(many, true, other);
        differs = memcmp(one, other, sizeof one) != 0;
    }
    assert_true(differs);
    tacit_queue_destroy(&many);
    tacit_queue_destroy(&alone);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_has_an_owner_who_waits_for_its_neighbours),
        cmocka_unit_test(layers_have_the_blocks_of_the_formula),
        cmocka_unit_test(a_missing_wait_is_seen),
    };
    TEST_MPI_MAIN(tests);
}
