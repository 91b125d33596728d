/* SPDX-License-Identifier: BSD-3-Clause
 * tests/halo_grid.h - grids that are cut into blocks, whose cells are numbered:
 * the bytes of a cell follow from its place in the whole grid, so that each
 * ghost cell says where it must have come from. */
#ifndef TESTS_HALO_GRID_H
#define TESTS_HALO_GRID_H
#include "mpi_main.h"
#include "said.h"
#include <tacit/halo.h>

static inline int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static inline int size_of(void)
{
    return tacit_world_size(test_world());
}

/* A grid: blocks of a direction may differ in width. */
typedef struct {
    int dimensions, blocks[3];
    int64_t ghost[3];
    unsigned periodic;
    int faces_only;
    int64_t bytes;
    int64_t base; /* cells of the least block of a direction       */
    int64_t pad;  /* bytes after each row                          */
} grid;

static inline int64_t width_of(const grid *g, int d, int place)
{
    if (d == 2 && g->dimensions == 2) return 1;
    return g->base + (place * 5 + d * 2) % 4;
}

static inline int64_t first_of(const grid *g, int d, int place)
{
    int64_t first = 0;
    for (int p = 0; p < place; p++) first += width_of(g, d, p);
    return first;
}

/* A rank's block of it, with buffers in memory. */
typedef struct {
    tacit_halo_block about;
    int place[3];
    int64_t n[3], ghost[3], total[3], first[3]; /* total: of the grid */
    int64_t before, after; /* bytes before and from cell (0, 0, 0) on */
} part;

static inline part part_of(const grid *g, int rank)
{
    part p = {.about = {.size = sizeof p.about,
                        .dimensions = g->dimensions,
                        .periodic = g->periodic,
                        .faces_only = g->faces_only,
                        .bytes = g->bytes}};
    const int *b = g->blocks;
    const int place[] = {rank % b[0], rank / b[0] % b[1], rank / b[0] / b[1]};
    for (int d = 0; d < 3; d++) {
        p.place[d] = place[d];
        p.n[d] = p.about.n[d] = width_of(g, d, place[d]);
        p.ghost[d] = p.about.ghost[d] = g->ghost[d];
        p.about.blocks[d] = b[d];
        p.first[d] = first_of(g, d, place[d]);
        p.total[d] = first_of(g, d, b[d]);
    }
    p.about.pitch = (p.n[0] + 2 * p.ghost[0]) * g->bytes + g->pad;
    p.about.plane = (p.n[1] + 2 * p.ghost[1]) * p.about.pitch + g->pad;
    p.before = p.ghost[2] * p.about.plane + p.ghost[1] * p.about.pitch +
               p.ghost[0] * g->bytes;
    p.after = (p.n[2] + p.ghost[2]) * p.about.plane + g->pad;
    return p;
}

static inline int64_t offset_of(const part *p, const int64_t at[3])
{
    return at[2] * p->about.plane + at[1] * p->about.pitch +
           at[0] * p->about.bytes;
}

/* Byte i of the grid's cell `at` after `round` rounds. */
static inline unsigned char byte_of(const part *p, const int64_t at[3],
                                    int round, int64_t i)
{
    const int64_t cell = (at[2] * p->total[1] + at[1]) * p->total[0] + at[0];
    return (unsigned char)tct_mix((uint64_t)(cell * 64 + i) +
                                  ((uint64_t)round << 40));
}

/* Call `fn` for each cell of the block and its ghosts. */
typedef void cell_fn(const part *p, const int64_t at[3], char *cell, int round);
static inline void each_cell(const part *p, char *zero, int round, cell_fn *fn)
{
    int64_t at[3];
    for (at[2] = -p->ghost[2]; at[2] < p->n[2] + p->ghost[2]; at[2]++)
        for (at[1] = -p->ghost[1]; at[1] < p->n[1] + p->ghost[1]; at[1]++)
            for (at[0] = -p->ghost[0]; at[0] < p->n[0] + p->ghost[0]; at[0]++)
                fn(p, at, zero + offset_of(p, at), round);
}

enum { UNTOUCHED = 0xa5 };

/* The place in the grid of a cell of the block; false: the cell is a ghost that
 * no neighbour fills. */
static inline bool find_source(const part *p, const int64_t at[3],
                               int64_t global[3])
{
    int outside = 0;
    for (int d = 0; d < 3; d++) {
        const bool ghost = at[d] < 0 || at[d] >= p->n[d];
        const bool closes = p->about.periodic >> d & 1;
        outside += ghost;
        global[d] = p->first[d] + at[d];
        if (global[d] >= 0 && global[d] < p->total[d]) continue;
        if (!closes) return false;
        global[d] = (global[d] + p->total[d]) % p->total[d];
    }
    return outside <= 1 || !p->about.faces_only;
}

static inline bool is_inside(const part *p, const int64_t at[3])
{
    for (int d = 0; d < 3; d++)
        if (at[d] < 0 || at[d] >= p->n[d]) return false;
    return true;
}

/* Number the cells of the block. */
static inline void number_inside(const part *p, const int64_t at[3], char *cell,
                                 int round)
{
    int64_t global[3] = {0};
    if (!is_inside(p, at)) return;
    find_source(p, at, global);
    for (int64_t i = 0; i < p->about.bytes; i++)
        cell[i] = (char)byte_of(p, global, round, i);
}

/* The same; ghosts are untouched. */
static inline void number_cell(const part *p, const int64_t at[3], char *cell,
                               int round)
{
    memset(cell, UNTOUCHED, (size_t)p->about.bytes);
    number_inside(p, at, cell, round);
}

static inline void check_bytes(const part *p, const int64_t at[3],
                               const char *cell, const int64_t *global,
                               int round)
{
    for (int64_t i = 0; i < p->about.bytes; i++) {
        const unsigned char wanted =
            global ? byte_of(p, global, round, i) : UNTOUCHED;
        if ((unsigned char)cell[i] != wanted)
            fail_msg("cell %d %d %d of block %d %d %d, byte %d, round %d: %d, "
                     "expected %d",
                     (int)at[0], (int)at[1], (int)at[2], p->place[0],
                     p->place[1], p->place[2], (int)i, round,
                     (unsigned char)cell[i], wanted);
    }
}

static inline void check_cell(const part *p, const int64_t at[3], char *cell,
                              int round)
{
    int64_t global[3] = {0};
    const bool comes = find_source(p, at, global);
    check_bytes(p, at, cell, comes ? global : NULL, round);
}

/* After an exchange of the ghosts of faces next to the block: others are of
 * round 0. */
static inline void check_next_to_block(const part *p, const int64_t at[3],
                                       char *cell, int round)
{
    int64_t global[3] = {0};
    int64_t away = 0;
    const bool comes = find_source(p, at, global);
    for (int d = 0; d < 3; d++)
        away += at[d] < 0 ? -at[d] : at[d] >= p->n[d] ? at[d] - p->n[d] + 1 : 0;
    check_bytes(p, at, cell, comes ? global : NULL, away <= 1 ? round : 0);
}

/* --- which grids ---------------------------------------------------------- */

/* Blocks number k of `ranks` ranks; false: there are no more. */
static inline bool blocks_at(int ranks, int k, int blocks[3])
{
    for (int x = 1; x <= ranks; x++)
        for (int y = 1; y <= ranks / x; y++) {
            if (ranks % (x * y) != 0) continue;
            if (k-- > 0) continue;
            blocks[0] = x;
            blocks[1] = y;
            blocks[2] = ranks / (x * y);
            return true;
        }
    return false;
}

/* Grid number `seed`, with blocks for `ranks` ranks. */
static inline grid random_grid(int ranks, int seed)
{
    static const int64_t sizes[] = {1, 4, 8, 12, 16, 3};
    uint64_t bits = tct_mix((uint64_t)seed + 1);
    grid g = {.dimensions = 2 + (int)(bits & 1)};
    int shapes = 0;
    while (blocks_at(ranks, shapes, g.blocks)) shapes++;
    (void)blocks_at(ranks, (int)(bits >> 1 & 0xff) % shapes, g.blocks);
    if (g.blocks[2] > 1) g.dimensions = 3;
    for (int d = 0; d < g.dimensions; d++)
        g.ghost[d] = (int64_t)(bits >> (10 + 2 * d) & 3);
    g.periodic = (unsigned)(bits >> 16 & 7);
    if (g.dimensions == 2) g.periodic &= 3;
    g.faces_only = (int)(bits >> 20 & 1);
    g.bytes = sizes[(bits >> 21 & 0xff) % 6];
    g.base = 3 + (int64_t)(bits >> 30 & 3);
    g.pad = (bits >> 34 & 1) ? g.bytes * 3 : (int64_t)(bits >> 35 & 7);
    return g;
}

#endif
