/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_own.c - tiles of a GPU that stay for all steps, of way free and
 * of way cached in three dimensions, run by an emulator of its threads, against
 * a serial loop, to the last bit: shapes, types, weights, sides, ranks that put
 * cells into each other's ghosts, tiles with some, all and none of their rows
 * in shared memory, values that are not finite. */
#include "emulated/grid.h"
#include "emulated/own.h"

enum { GRIDS = 20, RANKS_MOST = 3, BEFORE = 5, VISITED = 3, DIRECTIONS = 27 };

static uint64_t seed;

static int draw(int below)
{
    seed++;
    return (int)(tct_uniform(54321, seed) * below);
}

/* --- ranks ---------------------------------------------------------------- */

typedef struct rank {
    rank_block block;
    emulated_own own;
    tct_own_tiles tiles;
    tct_own_sides sides;
    tct_halo_put put[2];
    int puts;
    uint64_t came[DIRECTIONS]; /* exchanges */
    uint64_t *flag, gone, missing;
    unsigned ticket[4];
    char outside[8 * 512]; /* a row of the boundary value */
    double lost;
} rank;

typedef struct ranks {
    const tct_grid_stencil *s;
    rank *of;
    int count, cut; /* ranks, the direction that they divide */
    bool keeps;     /* way cached, else free                 */
    int of_layer;   /* tiles of a boundary layer             */
} ranks;

/* Cells of buffer 1 that no step stores: the ends of rows that do not close. */
static void set_ends(rank_block *r, double boundary)
{
    const tct_grid_block *b = &r->b;
    for (int64_t z = from_of(b, 2); z < to_of(b, 2); z++)
        for (int64_t y = from_of(b, 1); !b->closes[0] && y < to_of(b, 1); y++) {
            put(r, 1, tct_block_at(b, z, y, -1), boundary);
            put(r, 1, tct_block_at(b, z, y, b->n[0]), boundary);
        }
}

static int64_t stride_of(const tct_grid_block *b, int d)
{
    return d == 2 ? b->plane : b->pitch;
}

/* Where the neighbour keeps the layer that this rank has at a side. */
static void add_put(ranks *all, int me, bool high)
{
    const int d = all->cut, other = (me + (high ? 1 : all->count - 1));
    const int to = other % all->count, power = d == 2 ? 9 : 3;
    const int direction = 13 + (high ? power : -power);
    rank *r = &all->of[me], *peer = &all->of[to];
    const tct_grid_block *b = &r->block.b, *theirs = &peer->block.b;
    const int64_t bytes = (int64_t)all->s->bytes;
    const int64_t shift = high ? -b->n[d] : theirs->n[d];
    if (!all->s->periodic[d] && (high ? me + 1 == all->count : me == 0)) return;
    tct_halo_put *p = &r->put[r->puts++];
    *p = (tct_halo_put){.direction = direction,
                        .peer = to,
                        .extent = {b->n[0], b->n[1], b->n[2]},
                        .pitch = theirs->pitch * bytes,
                        .plane = theirs->plane * bytes,
                        .own = &r->came[direction],
                        .other = &peer->came[26 - direction]};
    p->send[d] = high ? b->n[d] - 1 : 0;
    p->extent[d] = 1;
    for (int k = 0; k < 2; k++)
        p->at[k] = peer->block.buffer[k] +
                   (theirs->origin + shift * stride_of(theirs, d)) * bytes;
}

/* Cell 0 of a row of the boundary value. */
static const void *make_outside(const ranks *all, rank *r)
{
    const float single = (float)all->s->boundary;
    for (int k = 0; k < 512; k++) {
        char *at = r->outside + k * (int)all->s->bytes;
        if (all->s->single) memcpy(at, &single, sizeof single);
        else memcpy(at, &all->s->boundary, sizeof(double));
    }
    return r->outside + 8 * all->s->bytes;
}

static void make_job(ranks *all, rank *r)
{
    emulated_own *k = &r->own;
    k->job = (tct_own_job){.w = work_of(&r->block, all->s),
                           .box = r->tiles.box,
                           .first = r->tiles.first,
                           .others = r->tiles.others,
                           .flag = r->flag,
                           .visited = VISITED,
                           .limit_ns = 2000000000,
                           .peer_ns = 2000000000,
                           .missing = &r->missing,
                           .gone = &r->gone,
                           .flags = &r->lost,
                           .puts = r->puts,
                           .put = r->sides.put,
                           .first_side = r->sides.first,
                           .sides = r->sides.sides,
                           .parts = r->sides.parts,
                           .ticket = r->ticket,
                           .exchange = BEFORE,
                           .reach = 1};
}

/* As own_kept.c cuts them. */
static void cut_planes(const ranks *all, rank *r, int sms)
{
    const tct_grid_block *b = &r->block.b;
    const int strip = all->s->single ? 128 : 64;
    const int groups = TCT_MARCH_WARPS / (((int)b->n[0] - 1) / strip + 1);
    const int most = groups * TCT_MARCH_ROWS;
    const int least = ((int)b->n[1] - 1) / most + 1;
    assert_int_equal(
        tct_own_planes(b, least > sms ? least : sms, most, groups, &r->tiles),
        TACIT_OK);
}

/* Some rows are kept, or all. */
static void make_memory(rank *r, bool single)
{
    const int columns = (int)r->block.b.n[0];
    const int most = tct_own_most(&r->tiles, 1) * tct_own_most(&r->tiles, 2);
    const int rows = !r->own.keeps ? 0 : draw(3) ? draw(most + 1) : most;
    r->own.job.more = rows;
    r->own.tiles = r->tiles.count;
    r->own.each = single ? emulated_own_bytes_float(columns, rows)
                         : emulated_own_bytes_double(columns, rows);
    const size_t bytes = r->own.each * (size_t)r->tiles.count;
    r->own.memory = aligned_alloc(64, bytes);
    assert_non_null(r->own.memory);
    memset(r->own.memory, 0xff, bytes);
}

static void make_tiles(ranks *all, rank *r, int sms)
{
    r->own.keeps = all->keeps;
    if (all->keeps) cut_planes(all, r, sms);
    else
        assert_int_equal(
            tct_own_layers(&r->block.b, sms, all->of_layer, false, &r->tiles),
            TACIT_OK);
    assert_int_equal(
        tct_own_find_sides(&r->tiles, r->puts, r->put, 0, 1, &r->sides),
        TACIT_OK);
    r->flag = calloc((size_t)r->tiles.count * TCT_FLAG_WORDS, sizeof *r->flag);
    assert_non_null(r->flag);
    for (int t = 0; t < r->tiles.count; t++)
        r->flag[t * TCT_FLAG_WORDS] = VISITED;
    make_job(all, r);
    r->own.job.w.outside = make_outside(all, r);
    make_memory(r, all->s->single);
}

static void make_ranks(ranks *all, const serial *g, int sms)
{
    int count[3] = {1, 1, 1};
    count[all->cut] = all->count;
    for (int k = 0; k < all->count; k++) {
        rank *r = &all->of[k];
        make_block(&r->block, g, count, k, 1);
        set_ends(&r->block, all->s->boundary);
        for (int d = 0; d < DIRECTIONS; d++) r->came[d] = BEFORE;
    }
    for (int k = 0; k < all->count; k++) {
        if (all->count > 1) add_put(all, k, false);
        if (all->count > 1) add_put(all, k, true);
        make_tiles(all, &all->of[k], sms);
    }
}

static void drop_ranks(ranks *all)
{
    for (int k = 0; k < all->count; k++) {
        rank *r = &all->of[k];
        tct_own_sides_free(&r->sides);
        tct_own_tiles_free(&r->tiles);
        free(r->flag);
        free(r->own.memory);
        free(r->block.memory[0]);
        free(r->block.memory[1]);
    }
}

/* --- steps ---------------------------------------------------------------- */

static void make_steps(ranks *all, int steps)
{
    for (int k = 0; k < all->count; k++) all->of[k].own.job.steps = steps;
    for (int step = 0; step < steps; step++)
        for (int k = 0; k < all->count; k++) {
            emulated_own *e = &all->of[k].own;
            if (all->s->single) emulated_own_float(e, step, seed++);
            else emulated_own_double(e, step, seed++);
        }
}

static void compare_cells(const ranks *all, const serial *g, int k, int steps)
{
    const rank *r = &all->of[k];
    const tct_grid_block *b = &r->block.b;
    for (int64_t c = 0; c < b->cells; c++) {
        const int64_t x = c % b->n[0], y = c / b->n[0] % b->n[1];
        const int64_t z = c / b->n[0] / b->n[1];
        const double is = get(&r->block, steps % 2, tct_block_at(b, z, y, x));
        const double want =
            value_at(g, b->first[0] + x, b->first[1] + y, b->first[2] + z);
        if (!same(is, want))
            fail_msg("%s %s %lldx%lldx%lld, rank %d of %d along %d, %d tiles, "
                     "%d rows, %d steps: cell %lld, %lld, %lld is %.9g, not "
                     "%.9g",
                     g->s->about->name, g->s->single ? "float" : "double",
                     (long long)g->s->n[0], (long long)g->s->n[1],
                     (long long)g->s->n[2], k, all->count, all->cut,
                     r->own.tiles, r->own.job.more, steps, (long long)x,
                     (long long)y, (long long)z, is, want);
    }
}

static void compare(const tct_grid_stencil *s, bool keeps)
{
    rank of[RANKS_MOST] = {{.puts = 0}};
    serial g;
    const int cut = s->shape < TCT_STAR3 ? 2 : 1 + draw(2);
    const int wanted = 1 + draw(RANKS_MOST);
    ranks all = {.s = s, .of = of, .cut = cut, .keeps = keeps};
    all.of_layer = draw(4) - 1;
    all.count = s->n[cut] >= wanted ? wanted : 1;
    serial_begin(&g, s, seed);
    make_ranks(&all, &g, 1 + draw(7));
    const int steps = 1 + draw(5);
    make_steps(&all, steps);
    serial_steps(&g, steps);
    for (int k = 0; k < all.count; k++) compare_cells(&all, &g, k, steps);
    drop_ranks(&all);
    serial_end(&g);
}

static void describe(tct_grid_stencil *s, const char *shape, bool single)
{
    static const int wide[] = {1, 3, 4, 31, 63, 64, 65, 127, 128, 129, 260};
    tacit_stencil t = {.size = sizeof t, .shape = shape};
    t.type = single ? "float" : "double";
    t.n[0] = wide[draw((int)(sizeof wide / sizeof *wide))];
    const bool flat = shape[strlen(shape) - 4] == '2';
    t.n[1] = 1 + draw(40);
    t.n[2] = flat ? 0 : 1 + draw(12);
    t.periodic = (unsigned)draw(flat ? 4 : 8);
    t.boundary = 0.375;
    t.weights = draw(2) ? TACIT_WEIGHTS_MEAN : TACIT_WEIGHTS_CONSTANT;
    t.centre = -0.3;
    t.neighbours = 0.2;
    assert_int_equal(tct_stencil_read(&t, s), TACIT_OK);
}

static void compare_all(const char *shape, bool keeps, int grids)
{
    for (int k = 0; k < 2 * grids; k++) {
        tct_grid_stencil s;
        describe(&s, shape, k % 2);
        compare(&s, keeps);
    }
}

static void kept_rows_of_star3d1r(void **state)
{
    (void)state;
    compare_all("star3d1r", true, GRIDS);
}

static void kept_rows_of_box3d1r(void **state)
{
    (void)state;
    compare_all("box3d1r", true, GRIDS);
}

static void tiles_in_memory(void **state)
{
    (void)state;
    compare_all("star2d1r", false, GRIDS / 2);
    compare_all("box2d1r", false, GRIDS / 2);
    compare_all("star3d1r", false, GRIDS / 2);
    compare_all("box3d1r", false, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_rows_of_star3d1r),
        cmocka_unit_test(kept_rows_of_box3d1r),
        cmocka_unit_test(tiles_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
