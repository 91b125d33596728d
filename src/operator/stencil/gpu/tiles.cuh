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
 * Tiles that touch a side of the grid select the boundary value at all levels,
 * or wrap where the direction is periodic. */
#ifndef TCT_OPERATOR_STENCIL_GPU_TILES_CUH
#define TCT_OPERATOR_STENCIL_GPU_TILES_CUH
#include "operator/stencil/gpu/step.cuh"

enum { TILE_WARPS = 4, TILE_AHEAD = 2 };

/* How a tile's registers are used: V cells a lane, BLOCKS of TILE_WARPS warps a
 * multiprocessor, DEPTH steps. */
template <int SHAPE, int WEIGHTS, int STEPS> struct tct_row_tile {
    static constexpr int DEPTH = STEPS;
    static constexpr bool BOX = SHAPE == TCT_BOX2;
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr int V = sizeof(TCT_REAL) == 4 ? 4 : 2;
    static constexpr int BLOCKS = (!BOX     ? 4
                                   : CENTRE ? 2
                                            : 3) +
                                  (DEPTH <= 4 ? 2 : 0);
    static constexpr int WIDTH = GPU_WAVE * V;
    static constexpr int VALID = WIDTH - 2 * DEPTH;
    static_assert(DEPTH % V == 0, "whole lanes are stored");
};

/* Strips of columns, cut into chunks of rows. The first and the last strip,
 * which touch a side, take twice as long a row: their chunks are half as long.
 * Chunks are numbered strip by strip, and those at the sides come first. */
typedef struct tct_strips {
    int strips, sides;
    int chunks[2], rows[2]; /* of a strip inside and at a side */
} tct_strips;

/* The ends of what is stored that a tile touches: none; some, none of which
 * closes; or some that do. */
enum tct_touch { TCT_INSIDE, TCT_OPEN, TCT_CLOSED };

template <int V> struct alignas(V * sizeof(TCT_REAL)) tct_lane_cells {
    TCT_REAL v[V];
};

/* A level's last two rows. Of a box the row sums q, and of the last row also
 * p and the cells. */
template <class T> struct tct_tile_level {
    TCT_REAL row[2][T::V];
    TCT_REAL p[T::BOX ? T::V : 1], cell[T::BOX && T::CENTRE ? T::V : 1];
};

/* A row with a cell more at each end. */
template <int V>
static __device__ __forceinline__ void widen(const TCT_REAL (&cell)[V],
                                             TCT_REAL (&row)[V + 2])
{
    row[0] = tct_shuffle_up(cell[V - 1], 1);
#pragma unroll
    for (int i = 0; i < V; i++) row[1 + i] = cell[i];
    row[V + 1] = tct_shuffle_down(cell[0], 1);
}

/* The next row of level l + 1 in `cell`, from that of level l in it. PHASE is
 * where the level keeps the row before the last, which the new one replaces. */
template <class T, int PHASE>
static __device__ __forceinline__ void
star(const tct_step_work &w, tct_tile_level<T> &level, TCT_REAL (&cell)[T::V])
{
    TCT_REAL c[T::V + 2];
    widen<T::V>(level.row[1 - PHASE], c);
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        const TCT_REAL *n = &level.row[PHASE][i], *s = &cell[i];
        const TCT_REAL value =
            weighted(T::CENTRE, (TCT_REAL)w.centre, c[i + 1],
                     (TCT_REAL)w.neighbours, sum_star2(n, c + i + 1, s, 0));
        level.row[PHASE][i] = cell[i];
        cell[i] = value;
    }
}

template <class T, int PHASE>
static __device__ __forceinline__ void
box(const tct_step_work &w, tct_tile_level<T> &level, TCT_REAL (&cell)[T::V])
{
    TCT_REAL s[T::V + 2];
    widen<T::V>(cell, s);
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        const TCT_REAL p = row_p(s, i + 1), q = TCT_ADD(p, s[i + 1]);
        const TCT_REAL sum =
            TCT_ADD(TCT_ADD(level.row[PHASE][i], q), level.p[i]);
        cell[i] = weighted(T::CENTRE, (TCT_REAL)w.centre,
                           level.cell[T::CENTRE ? i : 0],
                           (TCT_REAL)w.neighbours, sum);
        level.row[PHASE][i] = q;
        level.p[i] = p;
        if (T::CENTRE) level.cell[T::CENTRE ? i : 0] = s[i + 1];
    }
}

/* --- rows in and out ------------------------------------------------------ */

/* Where cell `i` of direction d is stored; mostly it is inside, or out by less
 * than n. */
static __device__ __forceinline__ int wrap(const tct_step_work &w, int d, int i)
{
    const int n = w.n[d];
    if (!w.closes[d]) return i;
    if (i < 0) i += n;
    if (i >= n) i -= n;
    if (i >= 0 && i < n) return i;
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}

/* A lane's columns at a side of the grid: `inside` has a bit for each cell that
 * is inside, or in a direction that closes. */
typedef struct tct_tile_side {
    unsigned inside;
    bool together; /* all inside, with no end of a row between them */
    bool of_warp;  /* the warp's are all inside                     */
} tct_tile_side;

template <int V>
static __device__ __forceinline__ tct_tile_side
find_side(const tct_step_work &w, int x)
{
    tct_tile_side s = {0, x >= w.low[0] && x + V <= w.high[0], false};
#pragma unroll
    for (int i = 0; i < V; i++)
        if (is_there(w, 0, x + i)) s.inside |= 1u << i;
    s.of_warp = tct_ballot(s.inside == (1u << V) - 1) == TCT_ALL_LANES;
    return s;
}

template <class T>
static __device__ __forceinline__ void load_all(const TCT_REAL *from,
                                                TCT_REAL (&cell)[T::V])
{
    const tct_lane_cells<T::V> all = *(const tct_lane_cells<T::V> *)from;
#pragma unroll
    for (int i = 0; i < T::V; i++) cell[i] = all.v[i];
}

/* Cells that are outside have the boundary value, at all levels. */
template <class T>
static __device__ __forceinline__ void
keep_boundary(const tct_step_work &w, const tct_tile_side &side, int y,
              TCT_REAL (&cell)[T::V])
{
    const unsigned inside = is_there(w, 2, y) ? side.inside : 0;
    if (side.of_warp && inside != 0) return;
#pragma unroll
    for (int i = 0; i < T::V; i++)
        if (!(inside >> i & 1)) cell[i] = (TCT_REAL)w.boundary;
}

/* Cells of a row that starts at `row`; those outside have the boundary value.
 * Nothing here waits for what it loads. */
template <class T, tct_touch TOUCH>
static __device__ __forceinline__ void
load_some(const tct_step_work &w, const tct_tile_side &side,
          const TCT_REAL *row, int x, bool has, TCT_REAL (&cell)[T::V])
{
#pragma unroll
    for (int i = 0; i < T::V; i++) cell[i] = (TCT_REAL)w.boundary;
    if (has && side.together) load_all<T>(row + x, cell);
    else if (has && side.inside != 0) {
#pragma unroll
        for (int i = 0; i < T::V; i++)
            if (side.inside >> i & 1)
                cell[i] = row[TOUCH == TCT_CLOSED ? wrap(w, 0, x + i) : x + i];
    }
}

template <class T, tct_touch TOUCH>
static __device__ __forceinline__ void load(const tct_step_work &w,
                                            const tct_tile_side &side, int x,
                                            int y, TCT_REAL (&cell)[T::V])
{
    const int at = TOUCH == TCT_CLOSED ? wrap(w, 2, y) : y;
    const TCT_REAL *row = (const TCT_REAL *)w.in + (int64_t)at * w.plane;
    if constexpr (TOUCH == TCT_INSIDE) load_all<T>(row + x, cell);
    else load_some<T, TOUCH>(w, side, row, x, is_there(w, 2, y), cell);
}

template <class T>
static __device__ __forceinline__ void store_all(TCT_REAL *to,
                                                 const TCT_REAL (&cell)[T::V])
{
    tct_lane_cells<T::V> all;
#pragma unroll
    for (int i = 0; i < T::V; i++) all.v[i] = cell[i];
    *(tct_lane_cells<T::V> *)to = all;
}

/* Cells of a row that starts at `row`, but for those past its end. */
template <class T, tct_touch TOUCH>
static __device__ __forceinline__ void store_some(const tct_step_work &w,
                                                  TCT_REAL *row, int x,
                                                  const TCT_REAL (&cell)[T::V])
{
    if (TOUCH == TCT_INSIDE || (TOUCH == TCT_OPEN && x + T::V <= w.n[0]))
        store_all<T>(row + x, cell);
    if constexpr (TOUCH != TCT_INSIDE) {
        if (TOUCH == TCT_OPEN && x + T::V <= w.n[0]) return;
#pragma unroll
        for (int i = 0; i < T::V; i++)
            if (x + i < w.n[0]) store_cell(w, row, x + i, cell[i]);
    }
}

template <class T, int DEPTH, tct_touch TOUCH>
static __device__ __forceinline__ void
store(const tct_step_work &w, int x, int y, const TCT_REAL (&cell)[T::V])
{
    const int first = tct_lane() * T::V;
    if (first < DEPTH || first >= T::WIDTH - DEPTH) return;
    store_some<T, TOUCH>(w, (TCT_REAL *)w.out + (int64_t)y * w.plane, x, cell);
}

/* --- a chunk -------------------------------------------------------------- */

/* Bring all levels one row on: row y of level 0 is in `cell`, row y - DEPTH of
 * level DEPTH comes out. */
template <class T, int DEPTH, tct_touch TOUCH, int PHASE>
static __device__ __forceinline__ void
advance(const tct_step_work &w, tct_tile_level<T> (&level)[DEPTH],
        const tct_tile_side &side, int y, TCT_REAL (&cell)[T::V])
{
#pragma unroll
    for (int l = 0; l < DEPTH; l++) {
        if constexpr (T::BOX) box<T, PHASE>(w, level[l], cell);
        else star<T, PHASE>(w, level[l], cell);
        if constexpr (TOUCH != TCT_INSIDE)
            keep_boundary<T>(w, side, y - 1 - l, cell);
    }
}

/* Rows [from, to) of a strip. The first rows that come out are not the grid's,
 * and are not stored. */
template <class T, int DEPTH, tct_touch TOUCH>
static __device__ __forceinline__ void chunk(const tct_step_work &w, int x,
                                             int from, int to)
{
    tct_tile_level<T> level[DEPTH] = {};
    TCT_REAL ahead[TILE_AHEAD][T::V], cell[T::V];
    const int end = to + DEPTH;
    int y = from - DEPTH;
    const tct_tile_side side = find_side<T::V>(w, x);
    load<T, TOUCH>(w, side, x, y, ahead[0]);
    load<T, TOUCH>(w, side, x, y + 1, ahead[1]);
#define TCT_ROW(phase)                                                        \
    {                                                                         \
        _Pragma("unroll") for (int i = 0; i < T::V; i++) cell[i] =            \
            ahead[phase][i];                                                  \
        if (y + 2 < end) load<T, TOUCH>(w, side, x, y + 2, ahead[phase]);     \
        advance<T, DEPTH, TOUCH, phase>(w, level, side, y, cell);             \
        if (y - DEPTH >= from) store<T, DEPTH, TOUCH>(w, x, y - DEPTH, cell); \
        if (++y >= end) return;                                               \
    }
    for (;;) {
        TCT_ROW(0)
        TCT_ROW(1)
    }
#undef TCT_ROW
}

template <class T>
static __global__ void __launch_bounds__(TILE_WARPS *GPU_WAVE, T::BLOCKS)
    visit_kernel(const __grid_constant__ tct_step_work w,
                 const __grid_constant__ tct_strips cut)
{
    constexpr int DEPTH = T::DEPTH;
    const int number = (int)blockIdx.x * TILE_WARPS + tct_warp();
    const int at_sides = cut.sides * cut.chunks[1];
    const bool side = number < at_sides;
    const int tile = side ? number : number - at_sides;
    const int among = side ? cut.sides : cut.strips - cut.sides;
    if (among == 0 || tile >= among * cut.chunks[side]) return;
    const int strip =
        side ? tile % among * (cut.strips - 1) : tile % among + (cut.sides > 0);
    const int first = strip * T::VALID - DEPTH;
    const int from = tile / among * cut.rows[side];
    const int to = min(w.n[2], from + cut.rows[side]);
    const int x = first + tct_lane() * T::V;
    if (from >= to) return;
    if (first >= w.low[0] && first + T::WIDTH <= w.high[0] &&
        first + T::WIDTH - DEPTH <= w.n[0] && from - DEPTH >= w.low[2] &&
        to + DEPTH <= w.high[2])
        chunk<T, DEPTH, TCT_INSIDE>(w, x, from, to);
    else if (!w.closes[0] && !w.closes[2])
        chunk<T, DEPTH, TCT_OPEN>(w, x, from, to);
    else chunk<T, DEPTH, TCT_CLOSED>(w, x, from, to);
}

/* As many chunks as the GPU runs at a time, of at least some rows. */
template <class T> static tct_strips cut(const tct_step_work *w, int sms)
{
    enum { ROWS_LEAST = 4 };
    const int at_once = sms * T::BLOCKS * TILE_WARPS;
    tct_strips c = {(w->n[0] - 1) / T::VALID + 1, 0, {}, {}};
    c.sides = c.strips < 2 ? c.strips : 2;
    const int shares = c.strips + c.sides; /* a side's chunks count twice */
    const int chunks = shares < at_once ? at_once / shares : 1;
    for (int side = 0; side < 2; side++) {
        c.rows[side] = (w->n[2] - 1) / (chunks << side) + 1;
        if (c.rows[side] < ROWS_LEAST) c.rows[side] = ROWS_LEAST;
        c.chunks[side] = (w->n[2] - 1) / c.rows[side] + 1;
    }
    return c;
}

template <class T> static void launch(tacit_queue *q, const tct_step_work *w)
{
    const gpu_stream stream = stream_of(q);
    const tct_strips c = cut<T>(w, tct_gpu_of(q)->sms);
    const int64_t tiles = (int64_t)(c.strips - c.sides) * c.chunks[0] +
                          (int64_t)c.sides * c.chunks[1];
    const unsigned blocks = (unsigned)((tiles + TILE_WARPS - 1) / TILE_WARPS);
    visit_kernel<T><<<blocks, TILE_WARPS * GPU_WAVE, 0, stream>>>(*w, c);
    tct_gpu_ok(q, gpu_last_error(), "a visit of a grid");
}

template <int SHAPE, int WEIGHTS>
static void visit_depth(tacit_queue *q, const tct_step_work *w, int depth)
{
    if (depth == 8) launch<tct_row_tile<SHAPE, WEIGHTS, 8>>(q, w);
    else launch<tct_row_tile<SHAPE, WEIGHTS, 4>>(q, w);
}

template <int WEIGHTS>
static void visit_flat(tacit_queue *q, const tct_step_work *w, int depth)
{
    if (w->shape == TCT_STAR2) visit_depth<TCT_STAR2, WEIGHTS>(q, w, depth);
    else visit_depth<TCT_BOX2, WEIGHTS>(q, w, depth);
}

#endif
