/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/block.c - how a grid is cut into blocks, and their layout in
 * memory. */
#include "operator/stencil/block.h"
#include "device/parallel.h"
#include <math.h>

enum {
    LINE = 128,     /* bytes: cell 0 of a row begins one         */
    HOST_LINE = 64, /* ... of a host, in three dimensions */
    WIDE = 4        /* depths that a slab has, at least          */
};

static const double MOST = 4e18; /* cells: more than any memory has */

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- the layout ----------------------------------------------------------- */

static void lay_sides(const tct_grid_stencil *s, int64_t ghost,
                      tct_grid_block *b, int d)
{
    const bool divided = b->count[d] > 1;
    const bool first = b->place[d] == 0, last = b->place[d] + 1 == b->count[d];
    b->closes[d] = s->periodic[d] && !divided;
    b->ghost[d] = divided ? ghost : 0;
    b->low[d] = first && !s->periodic[d] ? 0 : -b->ghost[d];
    b->high[d] = b->n[d] + (last && !s->periodic[d] ? 0 : b->ghost[d]);
}

/* Rows `pitch` apart, the first cell of all `lead` cells after a buffer's
 * begin. */
static void lay_rows(tct_grid_block *b, int64_t lead, int64_t pitch)
{
    const int64_t rows = b->n[1] + 2 * b->ghost[1];
    const int64_t planes = b->n[2] + 2 * b->ghost[2];
    b->pitch = pitch;
    b->stored = INT64_MAX;
    if ((double)b->pitch * (double)rows * (double)planes > MOST) return;
    b->plane = rows * b->pitch;
    b->origin = b->ghost[2] * b->plane + b->ghost[1] * b->pitch + lead;
    b->stored = planes * b->plane;
}

/* A row has a ghost cell at each end at least. */
static void lay_apart(const tct_grid_stencil *s, tct_grid_block *b)
{
    const int64_t line = LINE / (int64_t)s->bytes;
    const int64_t around = at_least(b->ghost[0], 1);
    const int64_t lead = round_up(around, line);
    lay_rows(b, lead, lead + round_up(b->n[0] + around, line));
}

void tct_block_pack(const tct_grid_stencil *s, tct_grid_block *b)
{
    const int64_t line = HOST_LINE / (int64_t)s->bytes;
    const int64_t around = at_least(b->ghost[0], 1);
    if (tct_shape_is_flat(s->shape) || !s->single) return;
    if (b->stored == INT64_MAX) return;
    if (b->closes[0] && tct_block_is_divided(b)) return;
    lay_rows(b, round_up(around, line), round_up(b->n[0] + 2 * around, line));
    b->stored += b->pitch; /* the last row's end */
}

void tct_block_make(const tct_grid_stencil *s, const int count[3], int rank,
                    int64_t ghost, tct_grid_block *out)
{
    tct_grid_block b = {.cells = 1};
    for (int d = 0; d < 3; d++) {
        b.grid[d] = s->n[d];
        b.count[d] = count[d];
        b.place[d] = rank % count[d];
        rank /= count[d];
        b.first[d] = tct_part_first(s->n[d], b.place[d], count[d]);
        b.n[d] = tct_part_first(s->n[d], b.place[d] + 1, count[d]) - b.first[d];
        b.cells *= b.n[d];
        lay_sides(s, ghost, &b, d);
    }
    lay_apart(s, &b);
    *out = b;
}

int64_t tct_block_narrowest(const tct_grid_block *b, int d)
{
    return b->grid[d] / b->count[d];
}

/* --- the cut -------------------------------------------------------------- */

/* Ghosts of width `depth` of a block; INFINITY if it is narrower. */
static double ghosts_of(const tct_grid_stencil *s, const int count[3],
                        int64_t depth)
{
    double inner = 1.0, all = 1.0;
    for (int d = 0; d < 3; d++) {
        const double n = (double)(s->n[d] / count[d]);
        if (count[d] > 1 && n < (double)depth) return INFINITY;
        inner *= n;
        all *= count[d] > 1 ? n + 2.0 * (double)depth : n;
    }
    return all - inner;
}

/* False: all blocks are narrower than `depth`. */
static bool fewest_ghosts(const tct_grid_stencil *s, int ranks, int64_t depth,
                          int count[3])
{
    double least = INFINITY;
    for (int z = ranks; z >= 1; z--) {
        for (int y = 1; ranks % z == 0 && y <= ranks / z; y++) {
            if (ranks / z % y != 0) continue;
            const int cut[3] = {ranks / z / y, y, z};
            const double ghosts = ghosts_of(s, cut, depth);
            if (!(ghosts < least)) continue;
            least = ghosts;
            memcpy(count, cut, sizeof cut);
        }
    }
    return isfinite(least);
}

void tct_block_divide(const tct_grid_stencil *s, int ranks, int64_t depth,
                      int count[3])
{
    for (; depth >= 1; depth /= 2) {
        count[0] = count[1] = 1;
        count[2] = ranks;
        if (s->n[2] / ranks >= WIDE * depth) return;
        if (fewest_ghosts(s, ranks, depth, count)) return;
    }
}
