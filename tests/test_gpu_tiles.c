/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_tiles.c - tiles of a GPU, run by an emulator of its threads,
 * against a serial loop, to the last bit: shapes, types, weights, sides, blocks
 * of a divided grid, sizes around those of tiles, values that are not finite;
 * and that they write no cell that is not theirs. */
#include "emulated/grid.h"
#include "emulated/tiles.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_star2d1r), cmocka_unit_test(tiles_of_box2d1r),
        cmocka_unit_test(tiles_of_star3d1r), cmocka_unit_test(tiles_of_box3d1r),
        cmocka_unit_test(inner_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
