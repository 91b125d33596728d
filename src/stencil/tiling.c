/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/tiling.c - how a grid is cut into tiles. Rows are whole where the
 * planes of all levels fit into half of a core's second cache. In two dimensions
 * a group of rows and the one that is made of it fit into two thirds of the
 * first cache: so a level reads but two rows that are not there. */
#include "stencil/tiling.h"
#include <unistd.h>

enum {
    CACHE = 1 << 20, /* bytes, where the system does not tell */
    FIRST_CACHE = 32 << 10,
    LINE = 64,         /* bytes */
    PAGE = 4096,       /* bytes: rows at such distances collide */
    EACH = 4,          /* tiles of a thread, for those that are late */
    FEW_ROWS = 8,      /* of a tile's plane, at least */
    PLANES_A_STEP = 8, /* of a tile for each step, at least */
    PLANES = 3,        /* that a level keeps, with one at once */
    GROUP = 4          /* rows that are made at once */
};

static int64_t divide(int64_t count, int64_t by)
{
    return (count + by - 1) / by;
}

static int64_t round_up(int64_t value, int64_t to)
{
    return divide(value, to) * to;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t tct_tiling_room(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return (bytes > 0 ? (int64_t)bytes : CACHE) / 2;
}

static int64_t first_cache(void)
{
    const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    return bytes > 0 ? (int64_t)bytes : FIRST_CACHE;
}

/* Cut `n` into tiles of at most `most`, multiples of `unit`, as even as can
 * be. */
static void cut(int64_t n, int64_t most, int64_t unit, int64_t *size,
                int64_t *tiles)
{
    most = at_least(most / unit * unit, unit);
    *tiles = divide(n, most);
    *size = round_up(divide(n, *tiles), unit);
    *tiles = divide(n, *size);
}

/* `most`: cells of the rows of a group. */
static void cut_rows(const tct_grid_block *b, int64_t cells, int64_t most,
                     tct_tiling *t)
{
    const int64_t rows = at_most(b->n[1], FEW_ROWS);
    const int64_t around = b->n[1] > 1 ? rows + t->depth : 1;
    int64_t width = cells / (t->planes * t->depth * around);
    if (t->group > 1) width = at_most(width, most);
    cut(b->n[0], width, TCT_CHANGE_BLOCK, &t->size[0], &t->tiles[0]);
}

static void cut_planes(const tct_grid_block *b, int64_t cells, tct_tiling *t)
{
    const int64_t width = at_most(t->size[0], b->n[0]);
    const int64_t rows = cells / (t->planes * t->depth * width) - t->depth;
    cut(b->n[1], at_least(rows, FEW_ROWS), 1, &t->size[1], &t->tiles[1]);
}

/* One thread needs no more than one tile in the direction of the stream. */
static void cut_stream(const tct_grid_block *b, int threads, tct_tiling *t)
{
    const int64_t n = b->n[2], across = t->tiles[0] * t->tiles[1];
    const int64_t wanted = threads > 1 ? divide(EACH * threads, across) : 1;
    const int64_t size = at_least(divide(n, wanted), PLANES_A_STEP * t->depth);
    const int64_t fair = divide(n, divide(threads, across));
    cut(n, at_most(size, fair), 1, &t->size[2], &t->tiles[2]);
}

/* The memory of a tile's planes. */
static void lay_out(const tct_grid_block *b, int64_t bytes, tct_tiling *t)
{
    const int64_t line = LINE / bytes, page = PAGE / bytes;
    t->lead = round_up(t->depth + 1, line);
    t->pitch =
        round_up(t->lead + at_most(t->size[0], b->n[0]) + t->depth + 1, line);
    if (t->pitch % page < 2 * line) t->pitch += 2 * line;
    const bool has_rows = b->high[1] - b->low[1] > 1 || b->closes[1];
    t->height = has_rows ? t->size[1] + 2 * t->depth : 1;
    t->bytes = (size_t)(t->depth * t->planes * t->height * t->pitch * bytes);
}

void tct_tiling_choose(const tct_grid_block *b, size_t bytes, bool flat,
                       int depth, int threads, int64_t room, tct_tiling *out)
{
    const int64_t cells = room / (int64_t)bytes;
    *out = (tct_tiling){.depth = depth, .group = 1, .planes = PLANES};
    if (flat && depth > 1) {
        out->group = GROUP;
        out->planes = 2 * GROUP;
    }
    cut_rows(b, cells, first_cache() / (3 * GROUP * (int64_t)bytes), out);
    cut_planes(b, cells, out);
    cut_stream(b, threads, out);
    lay_out(b, (int64_t)bytes, out);
}
