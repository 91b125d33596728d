/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_tiles.c - tiles of a GPU, run by an emulator of its threads,
 * against a serial loop, to the last bit: shapes, types, weights, sides, blocks
 * of a divided grid, sizes around those of tiles, values that are not finite;
 * and that they write no cell that is not theirs. */
#include "base/base.h"
#include "emulated/tiles.h"
#include "operator/stencil/block.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRIDS = 150, MARGIN = 64 }; /* grids of a type and shape */

/* --- the serial loop ------------------------------------------------------ */

/* Values of the whole grid, as doubles that the type has. */
typedef struct serial {
    const tct_grid_stencil *s;
    double *now, *next;
} serial;

static double value_at(const serial *g, int64_t x, int64_t y, int64_t z)
{
    int64_t i[3] = {x, y, z};
    for (int d = 0; d < 3; d++) {
        const int64_t n = g->s->n[d];
        if (i[d] >= 0 && i[d] < n) continue;
        if (!g->s->periodic[d]) return g->s->boundary;
        i[d] = (i[d] % n + n) % n;
    }
    return g->now[(i[2] * g->s->n[1] + i[1]) * g->s->n[0] + i[0]];
}

static double plus(const serial *g, double a, double b)
{
    return g->s->single ? (double)((float)a + (float)b) : a + b;
}

static double row_p(const serial *g, int64_t x, int64_t y, int64_t z)
{
    return plus(g, value_at(g, x - 1, y, z), value_at(g, x + 1, y, z));
}

static double row_q(const serial *g, int64_t x, int64_t y, int64_t z)
{
    return plus(g, row_p(g, x, y, z), value_at(g, x, y, z));
}

static double sum_at(const serial *g, int64_t x, int64_t y, int64_t z)
{
    const double p = row_p(g, x, y, z);
    if (g->s->shape == TCT_BOX2)
        return plus(g, plus(g, row_q(g, x, y, z - 1), row_q(g, x, y, z + 1)),
                    p);
    const double below = value_at(g, x, y, z - 1);
    const double above = value_at(g, x, y, z + 1);
    if (g->s->shape == TCT_STAR2) return plus(g, plus(g, below, above), p);
    const double n = value_at(g, x, y - 1, z), s = value_at(g, x, y + 1, z);
    return plus(g, plus(g, below, above), plus(g, plus(g, n, s), p));
}

static double after(const serial *g, int64_t x, int64_t y, int64_t z)
{
    const double sum = sum_at(g, x, y, z), c = value_at(g, x, y, z);
    const double C = g->s->centre, N = g->s->neighbours;
    const bool centre = g->s->weights == TACIT_WEIGHTS_CONSTANT;
    if (g->s->single) {
        const float product = (float)N * (float)sum;
        return (double)(centre ? fmaf((float)C, (float)c, product) : product);
    }
    return centre ? fma(C, c, N * sum) : N * sum;
}

static void serial_steps(serial *g, int steps)
{
    const int64_t *n = g->s->n;
    for (; steps > 0; steps--) {
        for (int64_t k = 0; k < g->s->cells; k++)
            g->next[k] = after(g, k % n[0], k / n[0] % n[1], k / n[0] / n[1]);
        double *done = g->next;
        g->next = g->now;
        g->now = done;
    }
}

static void serial_begin(serial *g, const tct_grid_stencil *s, uint64_t seed)
{
    g->s = s;
    g->now = calloc((size_t)s->cells, sizeof(double));
    g->next = calloc((size_t)s->cells, sizeof(double));
    assert_true(g->now && g->next);
    for (int64_t k = 0; k < s->cells; k++) {
        const double v = 2.0 * tct_uniform(seed, (uint64_t)k) - 1.0;
        g->now[k] = s->single ? (double)(float)v : v;
    }
    if (seed % 7 == 0) g->now[s->cells / 3] = (double)NAN;
    if (seed % 11 == 0) g->now[s->cells / 2] = (double)INFINITY;
}

static void serial_end(serial *g)
{
    free(g->now);
    free(g->next);
}

/* --- the block of a rank -------------------------------------------------- */

/* Its two buffers, with a margin around them that nobody may write. */
typedef struct rank_block {
    tct_grid_block b;
    bool single;
    char *memory[2], *buffer[2];
} rank_block;

static double get(const rank_block *r, int buffer, int64_t cell)
{
    const char *at = r->buffer[buffer];
    return r->single ? (double)((const float *)(const void *)at)[cell]
                     : ((const double *)(const void *)at)[cell];
}

static void put(rank_block *r, int buffer, int64_t cell, double value)
{
    char *at = r->buffer[buffer];
    if (r->single) ((float *)(void *)at)[cell] = (float)value;
    else ((double *)(void *)at)[cell] = value;
}

/* Cells with a meaning, [from, to): those of the block, ghosts, and a cell at
 * each end of a row. */
static int64_t from_of(const tct_grid_block *b, int d)
{
    return d == 0 && b->ghost[d] == 0 ? -1 : -b->ghost[d];
}

static int64_t to_of(const tct_grid_block *b, int d)
{
    return b->n[d] - from_of(b, d);
}

static void fill(rank_block *r, const serial *g)
{
    const tct_grid_block *b = &r->b;
    for (int64_t z = from_of(b, 2); z < to_of(b, 2); z++)
        for (int64_t y = from_of(b, 1); y < to_of(b, 1); y++)
            for (int64_t x = from_of(b, 0); x < to_of(b, 0); x++) {
                const int64_t at = tct_block_at(b, z, y, x);
                put(r, 0, at,
                    value_at(g, b->first[0] + x, b->first[1] + y,
                             b->first[2] + z));
            }
}

static void make_block(rank_block *r, const serial *g, const int count[3],
                       int rank, int ghost)
{
    tct_block_make(g->s, count, rank, ghost, &r->b);
    r->single = g->s->single;
    const size_t bytes = (size_t)(r->b.stored + 2 * MARGIN) * g->s->bytes;
    for (int k = 0; k < 2; k++) {
        const size_t lines = (bytes + 127) / 128 * 128;
        r->memory[k] = aligned_alloc(128, lines);
        assert_non_null(r->memory[k]);
        memset(r->memory[k], 0xff, lines);
        r->buffer[k] = r->memory[k] + MARGIN * g->s->bytes;
    }
    fill(r, g);
}

static tct_step_work work_of(const rank_block *r, const tct_grid_stencil *s)
{
    const size_t first = (size_t)r->b.origin * s->bytes;
    tct_step_work w = {.in = r->buffer[0] + first,
                       .out = r->buffer[1] + first,
                       .pitch = r->b.pitch,
                       .plane = r->b.plane,
                       .single = s->single,
                       .shape = s->shape,
                       .weights = s->weights,
                       .boundary = s->boundary,
                       .centre = s->centre,
                       .neighbours = s->neighbours};
    for (int d = 0; d < 3; d++) {
        w.n[d] = (int)r->b.n[d];
        w.low[d] = (int)r->b.low[d];
        w.high[d] = (int)r->b.high[d];
        w.closes[d] = r->b.closes[d];
    }
    return w;
}

/* --- what came out -------------------------------------------------------- */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

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

static void describe(tct_grid_stencil *s, const char *shape, bool single)
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
    t.n[2] = flat ? 0 : 1 + draw(t.n[0] * t.n[1] > 3000 ? 9 : 30);
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
    for (int k = 0; k < 2 * GRIDS; k++) {
        tct_grid_stencil s;
        describe(&s, shape, k % 2);
        const bool deep = s.shape == TCT_STAR2 && s.single;
        const emulated_visit v = {.depth = flat ? 4 << draw(deep ? 3 : 2) : 4,
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
        cmocka_unit_test(tiles_of_star2d1r),
        cmocka_unit_test(tiles_of_box2d1r),
        cmocka_unit_test(tiles_of_star3d1r),
        cmocka_unit_test(inner_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
