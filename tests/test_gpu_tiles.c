/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_tiles.c - tiles of a GPU, run by an emulator of its threads,
 * against a serial loop, to the last bit: shapes, types, weights, sides, blocks
 * of a divided grid, sizes around those of tiles, values that are not finite;
 * and that they write no cell that is not theirs. */
#include "emulated/grid.h"
#include "emulated/tiles.h"
#include "halo/put.h"

enum { GRIDS = 70 }; /* grids of a type and shape */

/* --- what came out -------------------------------------------------------- */

static void complain(const rank_block *r, const serial *g,
                     const emulated_visit *v, const char *what, int64_t x,
                     int64_t y, int64_t z, double is)
{
    const tct_grid_stencil *s = g->s;
    fail_msg("%s %s %lldx%lldx%lld, block %lldx%lldx%lld at %lld, %lld, %lld, "
             "periodic %d%d%d, weights %d, depth %d, group %d, sms %d: %s "
             "%lld, %lld, %lld is %.9g",
             s->about->name, s->single ? "float" : "double", (long long)s->n[0],
             (long long)s->n[1], (long long)s->n[2], (long long)r->b.n[0],
             (long long)r->b.n[1], (long long)r->b.n[2],
             (long long)r->b.first[0], (long long)r->b.first[1],
             (long long)r->b.first[2], s->periodic[0], s->periodic[1],
             s->periodic[2], (int)s->weights, v->depth, v->group, v->sms, what,
             (long long)x, (long long)y, (long long)z, is);
}

static void compare_cells(const rank_block *r, const serial *g,
                          const emulated_visit *v)
{
    const tct_grid_block *b = &r->b;
    const int64_t edge = b->closes[0] ? 1 : 0; /* ghosts of rows that close */
    for (int64_t z = 0; z < b->n[2]; z++)
        for (int64_t y = 0; y < b->n[1]; y++)
            for (int64_t x = -edge; x < b->n[0] + edge; x++) {
                const double is = get(r, 1, tct_block_at(b, z, y, x));
                if (!same(is, value_at(g, b->first[0] + x, b->first[1] + y,
                                       b->first[2] + z)))
                    complain(r, g, v, "cell", x, y, z, is);
            }
}

/* All else is as it was, but for the boundary value behind the end of a row. */
static void compare_rest(const rank_block *r, const serial *g,
                         const emulated_visit *v)
{
    const tct_grid_block *b = &r->b;
    for (int64_t k = -MARGIN; k < b->stored + MARGIN; k++) {
        const int64_t flat =
            k - b->origin + b->ghost[2] * b->plane + b->ghost[1] * b->pitch;
        const int64_t plane = b->plane, lead = b->pitch - b->n[0];
        const int64_t z = flat < 0 ? -1 : flat / plane - b->ghost[2];
        const int64_t rest = flat < 0 ? flat : flat % plane;
        const int64_t y = rest < 0 ? -1 : rest / b->pitch - b->ghost[1];
        const int64_t x = rest < 0 ? rest : rest % b->pitch;
        const bool row = z >= 0 && z < b->n[2] && y >= 0 && y < b->n[1];
        if (row && x < b->n[0]) continue;
        const double is = get(r, 1, k);
        if (isnan(is)) continue;
        if (row && b->closes[0] && (x == b->n[0] || x == b->pitch - 1))
            continue;
        if (row && !b->closes[0] && b->high[0] == b->n[0] &&
            x < b->n[0] + lead && same(is, g->s->boundary))
            continue;
        if (flat + 1 >= 0 && b->closes[0] && (flat + 1) % b->pitch == 0)
            continue; /* the ghost cell before a row */
        complain(r, g, v, "a cell that is not the tiles', behind", x, y, z, is);
    }
}

/* --- grids ---------------------------------------------------------------- */

static uint64_t seed;

static int draw(int below)
{
    seed++;
    return (int)(tct_uniform(12345, seed) * below);
}

static int64_t draw_size(const int *sizes, int count, int most)
{
    return draw(3) == 0 ? 1 + draw(most) : sizes[draw(count)];
}

static void describe(tct_grid_stencil *s, const char *shape, bool single,
                     int planes)
{
    static const int wide[] = {1,  2,  3,   47,  48,  49,  63,  64,
                               65, 97, 111, 112, 113, 120, 121, 129,
                               24, 25, 56,  57,  225, 241, 256};
    static const int high[] = {1, 2, 3, 7, 28, 29, 36, 37, 57, 64, 65, 73};
    tacit_stencil t = {.size = sizeof t, .shape = shape};
    const bool flat = shape[strlen(shape) - 4] == '2';
    t.type = single ? "float" : "double";
    t.n[0] = draw_size(wide, sizeof wide / sizeof *wide, 150);
    t.n[1] = draw_size(high, sizeof high / sizeof *high, flat ? 90 : 40);
    t.n[2] = flat ? 0 : planes + draw(t.n[0] * t.n[1] > 3000 ? 9 : 30);
    t.periodic = (unsigned)draw(flat ? 4 : 8);
    if (draw(3) == 0) t.periodic = 0;
    t.boundary = draw(3) == 0 ? 0.0 : 0.375;
    t.weights = draw(2) ? TACIT_WEIGHTS_MEAN : TACIT_WEIGHTS_CONSTANT;
    t.centre = -0.3;
    t.neighbours = 0.2;
    assert_int_equal(tct_stencil_read(&t, s), TACIT_OK);
}

/* A rank of a division that has blocks as wide as the depth, if there is. */
static int divide(const tct_grid_stencil *s, int depth, int count[3])
{
    count[0] = count[1] = count[2] = 1;
    for (int d = 0; d < 3; d++)
        if (draw(3) == 0 && s->n[d] >= 2 * depth)
            count[d] = s->n[d] >= 3 * depth ? 2 + draw(2) : 2;
    return draw(count[0] * count[1] * count[2]);
}

/* Ghosts that are as wide as the depth, or some cells wider. */
static int ghosts_of(const tct_grid_stencil *s, const int count[3], int depth)
{
    int most = depth + draw(6);
    for (int d = 0; d < 3; d++)
        if (count[d] > 1 && s->n[d] / count[d] < most)
            most = (int)(s->n[d] / count[d]);
    return most;
}

static void compare(const tct_grid_stencil *s, const emulated_visit *v,
                    bool divided)
{
    serial g;
    rank_block r;
    int count[3] = {1, 1, 1}, rank = 0;
    serial_begin(&g, s, v->seed);
    if (divided) rank = divide(s, v->depth, count);
    make_block(&r, &g, count, rank, ghosts_of(s, count, v->depth));
    const tct_step_work w = work_of(&r, s);
    if (s->single) emulated_visit_float(&w, v);
    else emulated_visit_double(&w, v);
    serial_steps(&g, v->depth);
    compare_cells(&r, &g, v);
    compare_rest(&r, &g, v);
    serial_end(&g);
    free(r.memory[0]);
    free(r.memory[1]);
}

static void compare_all(const char *shape, bool flat)
{
    const int solid = strcmp(shape, "box3d1r") == 0 ? 2 : 4;
    for (int k = 0; k < 2 * GRIDS; k++) {
        tct_grid_stencil s;
        describe(&s, shape, k % 2, 1);
        const bool deep = s.shape == TCT_STAR2 && s.single;
        const emulated_visit v = {.depth =
                                      flat ? 4 << draw(deep ? 3 : 2) : solid,
                                  .group = draw(2) ? 16 : 32,
                                  .sms = 1 + draw(4),
                                  .seed = (uint64_t)k};
        compare(&s, &v, true);
    }
}

static void tiles_of_star2d1r(void **state)
{
    (void)state;
    compare_all("star2d1r", true);
}

static void tiles_of_box2d1r(void **state)
{
    (void)state;
    compare_all("box2d1r", true);
}

static void tiles_of_star3d1r(void **state)
{
    (void)state;
    compare_all("star3d1r", false);
}

static void tiles_of_box3d1r(void **state)
{
    (void)state;
    compare_all("box3d1r", false);
}

/* Grids with a tile that touches no side. */
static void inner_tiles(void **state)
{
    static const struct {
        const char *name, *type;
        int group, depth;
    } grids[] = {{"star3d1r:246x61x14", "float", 32, 4},
                 {"star3d1r:117x133x13", "float", 16, 4},
                 {"star3d1r:116x62x13", "double", 32, 4},
                 {"star3d1r:53x132x14", "double", 16, 4},
                 {"star2d1r:241x60", "float", 0, 8},
                 {"star2d1r:225x90", "float", 0, 16},
                 {"box2d1r:145x61", "double", 0, 8}};
    (void)state;
    for (int k = 0; k < 2 * (int)(sizeof grids / sizeof *grids); k++) {
        tct_grid_stencil s;
        tacit_stencil t = {.size = sizeof t, .type = grids[k / 2].type};
        assert_int_equal(tacit_stencil_parse(grids[k / 2].name, &t), TACIT_OK);
        t.boundary = 0.375;
        t.weights = (tacit_stencil_weights)(k % 2);
        t.centre = -0.3;
        t.neighbours = 0.2;
        assert_int_equal(tct_stencil_read(&t, &s), TACIT_OK);
        const emulated_visit v = {.depth = grids[k / 2].depth,
                                  .group = grids[k / 2].group,
                                  .sms = 1,
                                  .seed = (uint64_t)k + 1};
        compare(&s, &v, false);
    }
}

/* --- slabs that exchange --------------------------------------------------- */

enum { DEPTH = 4, RANKS_MOST = 3, SLABS = 20 };

typedef struct slabs {
    const serial *g;
    rank_block of[RANKS_MOST];
    char *ghosts; /* of the rank that makes a visit, until they come */
    int count, now;
    rank_block *visiting;
} slabs;

/* The planes [from, from + DEPTH) of a buffer. */
static char *planes_of(const slabs *s, rank_block *r, int64_t from)
{
    return r->buffer[s->now] +
           (size_t)tct_block_at(&r->b, from, 0, -1) * s->g->s->bytes;
}

static size_t bytes_of(const slabs *s, const rank_block *r)
{
    const int64_t rows = DEPTH * r->b.plane;
    return (size_t)rows * s->g->s->bytes;
}

/* Ghosts at both ends, to or from memory of their own. */
static void move_ghosts(const slabs *s, rank_block *r, bool out)
{
    const size_t bytes = bytes_of(s, r);
    const bool at[2] = {r->b.low[2]<0, r->b.high[2]> r->b.n[2]};
    for (int k = 0; k < 2; k++) {
        char *planes = planes_of(s, r, k ? r->b.n[2] : -DEPTH);
        char *mine = s->ghosts + (size_t)k * bytes;
        if (!at[k]) continue;
        memcpy(out ? mine : planes, out ? planes : mine, bytes);
        if (out) memset(planes, 0xff, bytes);
    }
}

static void ghosts_come(void *ctx)
{
    const slabs *s = ctx;
    move_ghosts(s, s->visiting, false);
}

/* The boundary value at the ends of rows that do not close. */
static void set_ends(rank_block *r, int buffer, double boundary)
{
    const tct_grid_block *b = &r->b;
    for (int64_t z = from_of(b, 2); z < to_of(b, 2); z++)
        for (int64_t y = 0; !b->closes[0] && y < b->n[1]; y++) {
            put(r, buffer, tct_block_at(b, z, y, -1), boundary);
            put(r, buffer, tct_block_at(b, z, y, b->n[0]), boundary);
        }
}

static int list_puts(slabs *s, int me, tct_halo_put *list)
{
    const int64_t bytes = (int64_t)s->g->s->bytes;
    const rank_block *r = &s->of[me];
    int count = 0;
    for (int high = 0; high < 2; high++) {
        const int to = (me + (high ? 1 : s->count - 1)) % s->count;
        const tct_grid_block *theirs = &s->of[to].b;
        const int64_t shift = high ? -r->b.n[2] : theirs->n[2];
        if (high ? r->b.high[2] <= r->b.n[2] : r->b.low[2] >= 0) continue;
        tct_halo_put *p = &list[count++];
        *p = (tct_halo_put){.direction = high ? 22 : 4,
                            .peer = to,
                            .pitch = theirs->pitch * bytes,
                            .plane = theirs->plane * bytes};
        for (int k = 0; k < 2; k++)
            p->at[k] = s->of[to].buffer[k] +
                       (theirs->origin + shift * theirs->plane) * bytes;
    }
    return count;
}

/* False: the block is not for a kernel with its exchange. */
static bool visit_slab(slabs *s, int me, const emulated_visit *v)
{
    tct_halo_put list[2];
    const emulated_wait wait = {ghosts_come, s};
    rank_block *r = &s->of[me];
    tct_step_work w = work_of(r, s->g->s);
    const tct_step_halo h = {
        .count = list_puts(s, me, list), .put = list, .slot = s->now ^ 1};
    const size_t first = (size_t)r->b.origin * s->g->s->bytes;
    w.in = r->buffer[s->now] + first;
    w.out = r->buffer[s->now ^ 1] + first;
    s->visiting = r;
    s->ghosts = calloc(2, bytes_of(s, r));
    assert_non_null(s->ghosts);
    move_ghosts(s, r, true);
    const bool can = s->g->s->single ? emulated_ranks_float(&w, v, &h, &wait)
                                     : emulated_ranks_double(&w, v, &h, &wait);
    free(s->ghosts);
    return can;
}

static void compare_slab(const slabs *s, int me, const emulated_visit *v)
{
    const rank_block *r = &s->of[me];
    const tct_grid_block *b = &r->b;
    const int64_t to = b->high[2] > b->n[2] ? b->n[2] + DEPTH : b->n[2];
    for (int64_t z = b->low[2] < 0 ? -DEPTH : 0; z < to; z++)
        for (int64_t y = 0; y < b->n[1]; y++)
            for (int64_t x = 0; x < b->n[0]; x++) {
                const double is = get(r, s->now, tct_block_at(b, z, y, x));
                if (!same(is, value_at(s->g, b->first[0] + x, b->first[1] + y,
                                       b->first[2] + z)))
                    complain(r, s->g, v, "slab: cell", x, y, z, is);
            }
}

/* Two visits of all ranks. */
static int compare_slabs(const tct_grid_stencil *st, const emulated_visit *v)
{
    serial g;
    slabs s = {.g = &g, .count = 2 + draw(2)};
    const int count[3] = {1, 1, s.count};
    int visits = 0;
    serial_begin(&g, st, v->seed);
    for (int k = 0; k < s.count; k++) {
        make_block(&s.of[k], &g, count, k, DEPTH);
        set_ends(&s.of[k], 1, st->boundary);
    }
    for (int visit = 0; visit < 2 && visits >= 0; visit++) {
        for (int k = 0; k < s.count && visits >= 0; k++)
            visits = visit_slab(&s, k, v) ? visits + 1 : -1;
        serial_steps(&g, DEPTH);
        s.now ^= 1;
        for (int k = 0; k < s.count && visits >= 0; k++) compare_slab(&s, k, v);
    }
    for (int k = 0; k < s.count; k++) {
        free(s.of[k].memory[0]);
        free(s.of[k].memory[1]);
    }
    serial_end(&g);
    return visits > 0;
}

static void slabs_that_exchange(void **state)
{
    int done = 0;
    (void)state;
    for (int k = 0; k < SLABS; k++) {
        tct_grid_stencil s;
        describe(&s, "star3d1r", k % 2, 2 * RANKS_MOST * DEPTH);
        const emulated_visit v = {
            .depth = DEPTH, .sms = 1 + draw(6), .seed = (uint64_t)k};
        done += compare_slabs(&s, &v);
    }
    assert_true(done > SLABS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_star2d1r),
        cmocka_unit_test(tiles_of_box2d1r),
        cmocka_unit_test(tiles_of_star3d1r),
        cmocka_unit_test(tiles_of_box3d1r),
        cmocka_unit_test(inner_tiles),
        cmocka_unit_test(slabs_that_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
