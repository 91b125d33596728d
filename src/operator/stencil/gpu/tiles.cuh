/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/tiles.cuh - several steps of a grid of two dimensions in
 * one sweep over memory, for the type TCT_REAL.
 *
 * A warp is a tile: its lanes hold V cells each of a row, and it streams along
 * y with the last rows of all levels in registers; level l is the grid after l
 * steps. Row y of level l + 1 follows from rows y - 1, y, y + 1 of level l, so
 * that a row that is loaded brings each level one row on. West and east of a
 * lane's cells come from the lanes beside it. Cells at the edge of a tile are
 * computed by both tiles, from the same values in the same order; the outermost
 * ones are wrong by a column a level, and are not stored. Warps share nothing
 * and never wait for each other.
 *
 * A level keeps three rows, whose parts change from row to row, in a loop of
 * three rows: nothing is moved. At the sides of a row (SIDE) lanes outside the
 * grid write no cell, and so keep the boundary value that all cells begin with.
 * Rows that need care, at the ends of a chunk, have a loop of their own. */
#ifndef TCT_OPERATOR_STENCIL_GPU_TILES_CUH
#define TCT_OPERATOR_STENCIL_GPU_TILES_CUH
#include "operator/stencil/gpu/lanes.cuh"

enum { TILE_WARPS = 4 };

/* How a tile's registers are used: V cells a lane, BLOCKS of TILE_WARPS warps a
 * multiprocessor, DEPTH steps. */
template <int SHAPE, int WEIGHTS, int STEPS> struct tct_row_tile {
    static constexpr int DEPTH = STEPS;
    static constexpr bool BOX = SHAPE == TCT_BOX2;
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr int V = TCT_LANE_CELLS;
    static constexpr bool SINGLE = sizeof(TCT_REAL) == 4;
    static constexpr int OF_EIGHT = BOX ? (CENTRE ? 2 : 3) : SINGLE ? 3 : 4;
    static constexpr int OF_FOUR = BOX ? (CENTRE ? 4 : 5) : 6;
    static constexpr int BLOCKS = DEPTH > 8   ? 2
                                  : DEPTH > 4 ? OF_EIGHT
                                              : OF_FOUR;
    static constexpr int WIDTH = GPU_WAVE * V;
    static constexpr int VALID = WIDTH - 2 * DEPTH;
    static_assert(DEPTH % V == 0, "whole lanes are stored");
};

/* Strips of columns, cut into chunks of rows. The first and the last strip,
 * which touch a side, take longer a row: their chunks have fewer. Chunks are
 * numbered strip by strip, and those at the sides come first. */
typedef struct tct_strips {
    int strips, sides;
    int chunks[2], rows[2]; /* of a strip inside and at a side */
} tct_strips;

/* A level's last rows. Of a box the row sums q, and of the last row also p and
 * the cells. */
template <class T> struct tct_tile_level {
    TCT_REAL row[3][T::V];
    TCT_REAL p[T::BOX ? T::V : 1], cell[T::BOX && T::CENTRE ? T::V : 1];
};

/* Shared memory of a block: the rings of its warps. */
typedef struct tct_rings {
    tct_lane_cells row[TILE_WARPS][TCT_ROWS_AHEAD][GPU_WAVE];
} tct_rings;

/* Work of a warp: rows [from, to) of a strip; `ring` is the lane's place in
 * the first row of its ring. */
template <class T> struct tct_warp_tile {
    const tct_tile_grid &g;
    tct_lane_columns c;
    tct_lane_cells *ring;
    bool stores = false; /* some of the lane's columns               */
    bool inside = false; /* all of the warp's are stored as they are */
    bool simple = false; /* is_simple                                */
    int from = 0, to = 0;
};

/* --- a level -------------------------------------------------------------- */

/* Row y of level l + 1 in `out`, of which row[PHASE] of level l has row y + 1.
 * Cells outside the grid stay as they are. */
template <class T, int PHASE, bool SIDE>
static __device__ __forceinline__ void star(const tct_warp_tile<T> &t,
                                            const tct_tile_level<T> &level,
                                            TCT_REAL (&out)[T::V])
{
    TCT_REAL c[T::V + 2];
    widen(level.row[(PHASE + 2) % 3], c);
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        const TCT_REAL *n = &level.row[(PHASE + 1) % 3][i];
        const TCT_REAL *s = &level.row[PHASE][i];
        const TCT_REAL value =
            weighted(T::CENTRE, t.g.centre, c[i + 1], t.g.neighbours,
                     sum_star2(n, c + i + 1, s, 0));
        if (!SIDE || t.c.inside >> i & 1) out[i] = value;
    }
}

/* The same, from row y + 1 of level l in `cell`, in place. */
template <class T, int PHASE, bool SIDE>
static __device__ __forceinline__ void
box(const tct_warp_tile<T> &t, tct_tile_level<T> &level, TCT_REAL (&cell)[T::V])
{
    TCT_REAL s[T::V + 2];
    widen(cell, s);
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        const TCT_REAL p = row_p(s, i + 1), q = TCT_ADD(p, s[i + 1]);
        const TCT_REAL sum =
            TCT_ADD(TCT_ADD(level.row[(PHASE + 1) % 3][i], q), level.p[i]);
        const TCT_REAL value =
            weighted(T::CENTRE, t.g.centre, level.cell[T::CENTRE ? i : 0],
                     t.g.neighbours, sum);
        cell[i] = !SIDE || t.c.inside >> i & 1 ? value : t.g.boundary;
        level.row[PHASE][i] = q;
        level.p[i] = p;
        if (T::CENTRE) level.cell[T::CENTRE ? i : 0] = s[i + 1];
    }
}

/* A row that is outside has the boundary value. */
template <class T>
static __device__ __forceinline__ void keep_row(const tct_warp_tile<T> &t,
                                                int y, TCT_REAL (&cell)[T::V])
{
    if (within(t.g, 2, y)) return;
#pragma unroll
    for (int i = 0; i < T::V; i++) cell[i] = t.g.boundary;
}

/* Bring the levels one row on: row y of level 0 is in `cell`, row y - DEPTH of
 * level DEPTH comes out. The first rows of a chunk need only some levels. */
template <class T, int PHASE, bool SIDE, bool CAREFUL>
static __device__ __forceinline__ void
advance(const tct_warp_tile<T> &t, tct_tile_level<T> (&level)[T::DEPTH], int y,
        TCT_REAL (&cell)[T::V])
{
    constexpr int DEPTH = T::DEPTH, SOONER = T::BOX ? 0 : 2;
    if (!T::BOX) {
#pragma unroll
        for (int i = 0; i < T::V; i++) level[0].row[PHASE][i] = cell[i];
    }
#pragma unroll
    for (int l = 0; l < DEPTH; l++) {
        TCT_REAL(&next)
        [T::V] = T::BOX || l + 1 == DEPTH
                     ? cell
                     : level[l + 1 == DEPTH ? l : l + 1].row[PHASE];
        if (SIDE && !T::BOX && l + 1 == DEPTH) {
#pragma unroll
            for (int i = 0; i < T::V; i++) cell[i] = t.g.boundary;
        }
        if (!CAREFUL || y - t.from + DEPTH >= 2 * l + SOONER) {
            if constexpr (T::BOX) box<T, PHASE, SIDE>(t, level[l], cell);
            else star<T, PHASE, SIDE>(t, level[l], next);
        }
        if (CAREFUL) keep_row(t, y - 1 - l, next);
    }
}

/* --- rows ----------------------------------------------------------------- */

/* Start to copy row y into part `phase` of the ring; rows that no tile needs
 * are left out, and counted. */
template <class T>
static __device__ __forceinline__ void fetch(const tct_warp_tile<T> &t,
                                             int phase, int y)
{
    tct_lane_cells *to = t.ring + phase * GPU_WAVE;
    if (y >= t.to + T::DEPTH) return tct_copies_end();
    if (within(t.g, 2, y))
        fetch_cells(t.g, t.c, t.g.in + place_of(t.g, 2, y) * t.g.plane, to);
    else set_all(t.g.boundary, to);
    tct_copies_end();
}

template <class T>
static __device__ __forceinline__ void take(const tct_warp_tile<T> &t,
                                            int phase, TCT_REAL (&cell)[T::V])
{
    tct_await_copies_but<TCT_ROWS_AHEAD - 1>();
    const tct_lane_cells all = t.ring[phase * GPU_WAVE];
#pragma unroll
    for (int i = 0; i < T::V; i++) cell[i] = all.v[i];
}

/* Row y that needs care: some rows around it are outside, or belong to another
 * chunk. */
template <class T, int PHASE>
static __device__ __forceinline__ void
careful_row(const tct_warp_tile<T> &t, tct_tile_level<T> (&level)[T::DEPTH],
            int y)
{
    TCT_REAL cell[T::V];
    take(t, PHASE, cell);
    advance<T, PHASE, true, true>(t, level, y, cell);
    fetch(t, PHASE, y + TCT_ROWS_AHEAD);
    const int to = y - T::DEPTH;
    if (to >= t.from && t.stores)
        store_some(t.g, t.g.out + to * t.g.plane, t.c.x, cell);
}

/* A row that needs none. `in` is the lane's first cell of the row to copy,
 * `out` that of the row to store; both move on. */
template <class T, int PHASE, bool SIDE>
static __device__ __forceinline__ void
plain_row(const tct_warp_tile<T> &t, tct_tile_level<T> (&level)[T::DEPTH],
          bool copies, const TCT_REAL *&in, TCT_REAL *&out)
{
    TCT_REAL cell[T::V];
    take(t, PHASE, cell);
    advance<T, PHASE, SIDE, false>(t, level, 0, cell);
    if (copies && (!SIDE || t.c.whole))
        tct_copy_ahead<16>(t.ring + PHASE * GPU_WAVE, in);
    tct_copies_end();
    if (t.stores) store_all(out, cell);
    in += t.g.plane;
    out += t.g.plane;
}

/* Rows y, y + 3, ... begin threes of plain rows while y < last. Returns the
 * row after them. */
template <class T, bool SIDE>
static __device__ __forceinline__ int
plain_rows(const tct_warp_tile<T> &t, tct_tile_level<T> (&level)[T::DEPTH],
           int y, int last)
{
    const int end = t.to + T::DEPTH;
    const TCT_REAL *in = t.g.in + (y + TCT_ROWS_AHEAD) * t.g.plane + t.c.at;
    TCT_REAL *out = t.g.out + (y - T::DEPTH) * t.g.plane + t.c.x;
#pragma unroll 1
    for (; y < last; y += 3) {
        plain_row<T, 0, SIDE>(t, level, y + 3 < end, in, out);
        plain_row<T, 1, SIDE>(t, level, y + 4 < end, in, out);
        plain_row<T, 2, SIDE>(t, level, y + 5 < end, in, out);
    }
    return y;
}

/* Rows [first, last) may begin a three of plain rows: all levels are at work,
 * and all rows that they read or copy are stored at their own places. */
template <class T>
static __device__ __forceinline__ void find_plain(const tct_warp_tile<T> &t,
                                                  int *first, int *last)
{
    const int end = t.to + T::DEPTH, to = t.g.high[2];
    *first = max(t.from, t.g.low[2]) + T::DEPTH;
    *last = end <= to ? end - 2 : to - 2 - TCT_ROWS_AHEAD;
}

template <class T>
static __device__ __forceinline__ void chunk(const tct_warp_tile<T> &t)
{
    tct_tile_level<T> level[T::DEPTH];
    const int end = t.to + T::DEPTH;
    int y = t.from - T::DEPTH, first, last;
    find_plain(t, &first, &last);
#pragma unroll
    for (int l = 0; l < T::DEPTH; l++)
#pragma unroll
        for (int i = 0; i < 3 * T::V; i++)
            level[l].row[i / T::V][i % T::V] = t.g.boundary;
    for (int k = 0; k < TCT_ROWS_AHEAD; k++) {
        set_all(t.g.boundary, t.ring + k * GPU_WAVE);
        fetch(t, k, y + k);
    }
    for (;;) {
        if (y >= first && y < last && t.inside)
            y = plain_rows<T, false>(t, level, y, last);
        else if (y >= first && y < last && t.simple)
            y = plain_rows<T, true>(t, level, y, last);
        if (y >= end) return;
        careful_row<T, 0>(t, level, y);
        if (++y >= end) return;
        careful_row<T, 1>(t, level, y);
        if (++y >= end) return;
        careful_row<T, 2>(t, level, y);
        y++;
    }
}

/* --- the kernel ----------------------------------------------------------- */

template <class T>
static __global__ void __launch_bounds__(TILE_WARPS *GPU_WAVE, T::BLOCKS)
    visit_kernel(const __grid_constant__ tct_tile_grid g,
                 const __grid_constant__ tct_strips cut)
{
    extern __shared__ __align__(16) char tct_tile_memory[];
    tct_rings &rings = *(tct_rings *)tct_tile_memory;
    const int number = (int)blockIdx.x * TILE_WARPS + tct_warp();
    const int at_sides = cut.sides * cut.chunks[1];
    const bool side = number < at_sides;
    const int tile = side ? number : number - at_sides;
    const int among = side ? cut.sides : cut.strips - cut.sides;
    if (among == 0 || tile >= among * cut.chunks[side]) return;
    const int strip =
        side ? tile % among * (cut.strips - 1) : tile % among + (cut.sides > 0);
    const int first = strip * T::VALID - T::DEPTH, lane = tct_lane() * T::V;
    const int from = tile / among * cut.rows[side];
    const int to = min(g.n[2], from + cut.rows[side]);
    if (from >= to) return;
    tct_warp_tile<T> t = {g, find_columns(g, first + lane),
                          &rings.row[tct_warp()][0][tct_lane()]};
    t.stores =
        lane >= T::DEPTH && lane < T::WIDTH - T::DEPTH && first + lane < g.n[0];
    t.inside = first >= g.low[0] && first + T::WIDTH <= g.high[0] &&
               first + T::WIDTH - T::DEPTH <= g.n[0];
    t.simple = is_simple(g, first, T::WIDTH, T::DEPTH);
    t.from = from;
    t.to = to;
    chunk(t);
}

/* As many chunks as the GPU runs at a time, of at least some rows. */
template <class T> static tct_strips cut_rows(const tct_tile_grid *g, int sms)
{
    enum { ROWS_LEAST = 4 };
    const int at_once = sms * T::BLOCKS * TILE_WARPS;
    tct_strips c = {(g->n[0] - 1) / T::VALID + 1, 0, {}, {}};
    c.sides = c.strips < 2 ? c.strips : 2;
    const int share[2] = {4, 5}; /* time of a row, at a side */
    const int all = share[0] * (c.strips - c.sides) + share[1] * c.sides;
    for (int side = 0; side < 2; side++) {
        int chunks = (int)((int64_t)at_once * share[side] / all);
        if (chunks < 1) chunks = 1;
        c.rows[side] = (g->n[2] - 1) / chunks + 1;
        if (c.rows[side] < ROWS_LEAST) c.rows[side] = ROWS_LEAST;
        c.chunks[side] = (g->n[2] - 1) / c.rows[side] + 1;
    }
    return c;
}

static int tct_strips_blocks(const tct_strips *c)
{
    const int tiles =
        (c->strips - c->sides) * c->chunks[0] + c->sides * c->chunks[1];
    return (tiles - 1) / TILE_WARPS + 1;
}

#endif
