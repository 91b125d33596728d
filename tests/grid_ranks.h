/* SPDX-License-Identifier: BSD-3-Clause
 * tests/grid_ranks.h - random grids that are divided among the ranks of a test,
 * and what they are compared with: the serial loop. */
#ifndef TESTS_GRID_RANKS_H
#define TESTS_GRID_RANKS_H
#include "gpu.h"
#include "grid_serial.h"

enum { MOST = 1 << 12 };

/* Data of a rank; ranks may be threads. */
typedef struct bench {
    tacit_queue *q;
    double start[MOST], wanted[MOST], last[MOST], got[MOST], weight[27 * MOST];
} bench;

static inline bench *open_bench(const char *queue)
{
    bench *b = (bench *)calloc(1, sizeof *b);
    assert_non_null(b);
    OK(tacit_queue_create(test_world(), queue, 2, &b->q));
    return b;
}

static inline void close_bench(bench *b)
{
    tacit_queue_destroy(&b->q);
    free(b);
}

/* --- random grids --------------------------------------------------------- */

static inline uint64_t pick(uint64_t seed, int k, uint64_t count)
{
    return (uint64_t)(tct_uniform(seed, (uint64_t)k) * (double)count);
}

/* Some way to cut a grid into as many blocks as there are ranks. */
static inline void pick_blocks(uint64_t seed, int dim, int blocks[3])
{
    const int ranks = tacit_world_size(test_world());
    int cut[64][3], count = 0;
    for (int x = 1; x <= ranks; x++)
        for (int y = 1; y <= ranks; y++)
            for (int z = 1; z <= (dim == 2 ? 1 : ranks); z++)
                if (x * y * z == ranks) {
                    const int one[3] = {x, y, z};
                    memcpy(cut[count++], one, sizeof one);
                }
    memcpy(blocks, cut[pick(seed, 20, (uint64_t)count)], sizeof cut[0]);
}

static inline grid grid_of(uint64_t seed)
{
    static const int64_t most[2][3] = {{70, 58, 1}, {17, 15, 16}};
    grid g = shapes[seed % SHAPES];
    for (int d = 0; d < g.dim; d++)
        g.n[d] = 1 + (int64_t)pick(seed, d, (uint64_t)most[g.dim - 2][d]);
    if (g.dim == 2) g.n[2] = 1;
    if (seed % 16 == 3) g.n[0] = g.dim == 2 ? 701 : 263; /* blocks of changes */
    if (seed % 16 == 3) g.n[1] = g.n[2] = g.dim == 2 ? 5 : 3;
    if (g.dim == 2) g.n[2] = 1;
    g.single = pick(seed, 4, 2);
    g.weights = (tacit_stencil_weights)pick(seed, 5, 3);
    g.periodic = (unsigned)pick(seed, 6, g.dim == 2 ? 4 : 8);
    g.boundary = pick(seed, 7, 2) ? 0.375 : 0.0;
    g.centre = -0.3;
    g.neighbours = 1.7 / (g.points - 1);
    return g;
}

static inline tacit_stencil stencil_of(const grid *g, const int blocks[3])
{
    tacit_stencil s = {.size = sizeof s,
                       .shape = g->shape,
                       .n = {g->n[0], g->n[1], g->n[2]},
                       .type = g->single ? "float" : "double",
                       .periodic = g->periodic,
                       .boundary = g->boundary,
                       .weights = g->weights,
                       .centre = g->centre,
                       .neighbours = g->neighbours};
    memcpy(s.blocks, blocks, sizeof s.blocks);
    return s;
}

static inline void put_all(const bench *b, const grid *g, tacit_field *f)
{
    OK(tacit_field_put(f, 0, cells_of(g), b->start));
    for (int p = 0; g->k && p < g->points; p++)
        OK(tacit_field_put_weights(f, p, 0, cells_of(g),
                                   g->k + p * cells_of(g)));
}

/* Steps that a visit can have, or 0: there are more blocks than cells. */
static inline int64_t deepest(const grid *g, const int blocks[3])
{
    int64_t most = TACIT_FIELD_DEPTH_MOST;
    const bool divided = tacit_world_size(test_world()) > 1;
    if (divided && g->weights == TACIT_WEIGHTS_CELLS) most = 1;
    for (int d = 0; d < 3; d++)
        if (blocks[d] > 1 && g->n[d] / blocks[d] < most)
            most = g->n[d] / blocks[d];
    return most;
}

static inline bool owns(const tacit_field_block *o, const grid *g, int64_t cell)
{
    const int64_t i[3] = {cell % g->n[0], cell / g->n[0] % g->n[1],
                          cell / g->n[0] / g->n[1]};
    for (int d = 0; d < 3; d++)
        if (i[d] < o->first[d] || i[d] >= o->first[d] + o->n[d]) return false;
    return true;
}

static inline bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* This rank's cells are those of the serial loop, and it gives no others. */
static inline void expect_wanted(bench *b, const grid *g, const tacit_field *f,
                                 const char *what)
{
    const double no_value = 4242.25;
    const int64_t n = cells_of(g);
    tacit_field_block o = {.size = sizeof o};
    OK(tacit_field_block_of(f, &o));
    for (int64_t k = 0; k < n; k++) b->got[k] = no_value;
    OK(tacit_field_get(f, 0, n, b->got));
    int64_t own = 0;
    for (int64_t k = 0; k < n; k++) {
        const bool mine = owns(&o, g, k);
        own += mine;
        if (same(b->got[k], mine ? b->wanted[k] : no_value)) continue;
        fail_msg("%s %lldx%lldx%lld in %dx%dx%d blocks, periodic %u, weights "
                 "%d, %s, %s: cell %lld, mine %d, is %.17g, not %.17g",
                 g->shape, (long long)g->n[0], (long long)g->n[1],
                 (long long)g->n[2], o.blocks[0], o.blocks[1], o.blocks[2],
                 g->periodic, (int)g->weights, g->single ? "float" : "double",
                 what, (long long)k, mine, b->got[k], b->wanted[k]);
    }
    assert_true(own == o.n[0] * o.n[1] * o.n[2]);
}

static inline void make_wanted(bench *b, grid *g, uint64_t seed, int steps)
{
    const int64_t n = cells_of(g);
    assert_true(n <= MOST);
    random_values(g, seed, n, b->start);
    if (seed % 5 == 0) b->start[n / 2] = (double)NAN;
    if (g->weights == TACIT_WEIGHTS_CELLS) {
        random_values(g, seed + 9999, g->points * n, b->weight);
        g->k = b->weight;
    }
    memcpy(b->wanted, b->start, (size_t)n * sizeof *b->wanted);
    serial(g, steps, b->wanted, b->last);
}

#endif
