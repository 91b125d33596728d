/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/tiles3.cuh - several steps of star3d1r in one sweep over
 * memory, for the type TCT_REAL.
 *
 * A block is a tile of x and y, and streams along z with the last three planes
 * of all levels in registers, as tiles.cuh does with rows. LANES_X lanes are a
 * group, which holds ROWS rows; a lane has V cells of each. Neighbours in x
 * come from the lanes beside it, those in y from its own registers and, between
 * groups, from shared memory. What a group gives to others is a plane that is
 * complete, so that a plane of all levels takes one barrier. */
#ifndef TCT_OPERATOR_STENCIL_GPU_TILES3_CUH
#define TCT_OPERATOR_STENCIL_GPU_TILES3_CUH
#include "operator/stencil/gpu/lanes.cuh"

/* A tile of 384 threads, which may have 168 registers each. */
template <int WEIGHTS, int GROUP, int LANE_ROWS = 2, int BLOCK_THREADS = 512>
struct tct_plane_tile {
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr int DEPTH = 4, V = TCT_LANE_CELLS, ROWS = LANE_ROWS;
    static constexpr int MARGIN = DEPTH; /* columns that are not stored */
    static constexpr int THREADS = BLOCK_THREADS, LANES_X = GROUP;
    static constexpr int GROUPS = THREADS / LANES_X;
    static constexpr int WIDTH = LANES_X * V, HEIGHT = GROUPS * ROWS;
    static constexpr int VALID_X = WIDTH - 2 * MARGIN;
    static constexpr int VALID_Y = HEIGHT - 2 * DEPTH;
    static_assert(DEPTH % V == 0, "whole lanes are stored");
    static_assert(GPU_WAVE % LANES_X == 0, "a group is in a warp");
};

template <class T> struct tct_plane {
    TCT_REAL cell[T::ROWS][T::V];
};

/* Of each group its first and its last row of a plane, of all levels. */
template <class T> struct tct_group_edges {
    tct_lane_cells row[T::DEPTH][T::GROUPS][2][T::LANES_X];
};

/* Shared memory: edges of two planes in turn. */
template <class T> struct tct_block_memory {
    tct_group_edges<T> edges[2];
};

/* The grid is cut into tiles[0] x tiles[1] x tiles[2] blocks, of `planes`
 * planes each but for the last. */
typedef struct tct_cut3 {
    int tiles[3], planes;
} tct_cut3;

/* Work of a thread: planes [from, to) of a tile. Cell (c.x, y) is its first
 * one; `live` and `owned` have a bit for each row with a cell within the grid,
 * or to be stored, `inside` one for each cell within the grid. */
template <class T> struct tct_block_tile {
    const tct_tile_grid &g;
    tct_lane_columns c;
    int y = 0, from = 0, to = 0;
    unsigned live = 0, owned = 0, inside = 0;
    bool middle = false, simple = false; /* as of tct_warp_tile */
    char *memory = nullptr;
    int above = 0, below = 0, mine = 0, step = 0; /* see find_edges */
};

template <class T> static __device__ __forceinline__ int group_of()
{
    return (int)threadIdx.x / T::LANES_X;
}

/* Which cells keep their values: none, those of lanes and rows outside the grid,
 * or all that are outside. */
enum { SIDE_NONE, SIDE_LANES, SIDE_CELLS };

/* --- a level -------------------------------------------------------------- */

/* Where in shared memory the rows are that other groups gave of the plane
 * before, above and below, and where this one gives its first row; all of level
 * 0, for this lane. At the edge of the tile a group reads its own row, since
 * cells there are not stored. The two planes change places by `step`. */
template <class T>
static __device__ __forceinline__ void find_edges(tct_block_tile<T> &t)
{
    enum { ROW = sizeof(tct_lane_cells) * T::LANES_X };
    const int group = group_of<T>(), lane = (int)threadIdx.x % T::LANES_X;
    const int at = lane * (int)sizeof(tct_lane_cells);
    t.step = (int)sizeof(tct_group_edges<T>);
    t.above = at + (2 * (group > 0 ? group - 1 : 0) + 1) * ROW;
    t.below = at + 2 * (group + 1 < T::GROUPS ? group + 1 : group) * ROW;
    t.mine = at + 2 * group * ROW + t.step;
}

template <class T>
static __device__ __forceinline__ tct_lane_cells &
edge_at(const tct_block_tile<T> &t, int l, int at)
{
    return *(tct_lane_cells *)(t.memory + at +
                               l * (int)sizeof(tct_group_edges<T>::row[0]));
}

template <class T>
static __device__ __forceinline__ void give_rows(const tct_block_tile<T> &t,
                                                 int l, const tct_plane<T> &u)
{
    enum { ROW = sizeof(tct_lane_cells) * T::LANES_X };
    tct_lane_cells first, last;
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        first.v[i] = u.cell[0][i];
        last.v[i] = u.cell[T::ROWS - 1][i];
    }
    edge_at(t, l, t.mine) = first;
    edge_at(t, l, t.mine + ROW) = last;
}

/* Plane z of level l + 1 in `out`, of which plane[PHASE] of level l has plane
 * z + 1. Cells outside the grid stay as they are, but for
 * those of the last level, which are not stored. */
template <class T, int PHASE, int SIDE>
static __device__ __forceinline__ void
solid_level(const tct_block_tile<T> &t, int l, const tct_plane<T> (&plane)[3],
            tct_plane<T> &out)
{
    const tct_plane<T> &d = plane[(PHASE + 1) % 3], &u = plane[PHASE];
    const tct_plane<T> &c = plane[(PHASE + 2) % 3];
    const tct_lane_cells above = edge_at(t, l, t.above);
    const tct_lane_cells below = edge_at(t, l, t.below);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++) {
        TCT_REAL row[T::V + 2];
        widen(c.cell[r], row);
#pragma unroll
        for (int i = 0; i < T::V; i++) {
            const TCT_REAL *n =
                r == 0 ? &above.v[i] : &c.cell[r > 0 ? r - 1 : 0][i];
            const TCT_REAL *s = r == T::ROWS - 1
                                    ? &below.v[i]
                                    : &c.cell[r + 1 < T::ROWS ? r + 1 : r][i];
            const TCT_REAL sum =
                sum_star3(&d.cell[r][i], n, row + i + 1, s, &u.cell[r][i], 0);
            const TCT_REAL value = weighted(T::CENTRE, t.g.centre, row[i + 1],
                                            t.g.neighbours, sum);
            if (SIDE == SIDE_NONE || l + 1 == T::DEPTH ||
                (SIDE == SIDE_LANES && (t.live >> r & 1)) ||
                (SIDE == SIDE_CELLS && (t.inside >> (r * T::V + i) & 1)))
                out.cell[r][i] = value;
        }
    }
}

template <class T>
static __device__ __forceinline__ void set_plane(TCT_REAL value,
                                                 tct_plane<T> &u)
{
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
#pragma unroll
        for (int i = 0; i < T::V; i++) u.cell[r][i] = value;
}

/* Bring levels FIRST to AFTER - 1 one plane on: plane z of level 0 is in
 * level[0][PHASE], plane z - DEPTH of level DEPTH comes out. The first planes of a chunk need
 * only some levels. */
template <class T, int PHASE, int SIDE, bool CAREFUL, int FIRST, int AFTER>
static __device__ __forceinline__ void
advance_plane(const tct_block_tile<T> &t, tct_plane<T> (&level)[T::DEPTH][3],
              int z, tct_plane<T> &last)
{
    constexpr int DEPTH = T::DEPTH;
#pragma unroll
    for (int l = FIRST; l < AFTER; l++) {
        tct_plane<T> &next =
            l + 1 < DEPTH ? level[l + 1 < DEPTH ? l + 1 : l][PHASE] : last;
        const int since = z - t.from + DEPTH;
        if (!CAREFUL || since >= 2 * l) give_rows(t, l, level[l][PHASE]);
        if (!CAREFUL || since >= 2 * l + 2)
            solid_level<T, PHASE, SIDE>(t, l, level[l], next);
        if (CAREFUL && !within(t.g, 2, z - 1 - l))
            set_plane(t.g.boundary, next);
    }
}

/* --- planes --------------------------------------------------------------- */

/* Load the thread's rows of plane z; cells outside have the boundary value. */
template <class T>
static __device__ __forceinline__ void load_plane(const tct_block_tile<T> &t,
                                                  int z, tct_plane<T> &u)
{
    set_plane(t.g.boundary, u);
    if (z >= t.to + T::DEPTH || !within(t.g, 2, z)) return;
    const TCT_REAL *plane = t.g.in + place_of(t.g, 2, z) * t.g.plane;
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
        if (t.live >> r & 1)
            load_cells(t.g, t.c, plane + place_of(t.g, 1, t.y + r) * t.g.pitch,
                       u.cell[r]);
}

template <class T>
static __device__ __forceinline__ void
store_rows(const tct_block_tile<T> &t, TCT_REAL *plane, int64_t pitch,
           const tct_plane<T> &u)
{
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
        if (t.owned >> r & 1)
            store_some(t.g, plane + (t.y + r) * pitch, t.c.x, u.cell[r]);
}

/* The block has given its edges of a plane. */
template <class T>
static __device__ __forceinline__ void turn(tct_block_tile<T> &t)
{
    t.above += t.step;
    t.below += t.step;
    t.mine -= t.step;
    t.step = -t.step;
    __syncthreads();
}

/* Plane z that needs care: some planes around it are outside, or belong to
 * another chunk. */
template <class T, int PHASE>
static __device__ __forceinline__ void
careful_plane(tct_block_tile<T> &t, tct_plane<T> (&level)[T::DEPTH][3], int z)
{
    constexpr int SPENT = (PHASE + 1) % 3; /* of level 0, after its turn */
    tct_plane<T> last;
    advance_plane<T, PHASE, SIDE_CELLS, true, 0, 1>(t, level, z, last);
    load_plane(t, z + 1, level[0][SPENT]);
    advance_plane<T, PHASE, SIDE_CELLS, true, 1, T::DEPTH>(t, level, z, last);
    const int to = z - T::DEPTH;
    if (to >= t.from) store_rows(t, t.g.out + to * t.g.plane, t.g.pitch, last);
    turn(t);
}

/* A plane that needs none. `in` is the thread's first cell of the plane to load,
 * `out` that of the plane to store; both move on. */
template <class T, int PHASE, int SIDE>
static __device__ __forceinline__ void
plain_plane(tct_block_tile<T> &t, tct_plane<T> (&level)[T::DEPTH][3],
            bool loads, const TCT_REAL *&in, TCT_REAL *&out)
{
    constexpr int SPENT = (PHASE + 1) % 3;
    tct_plane<T> last;
    advance_plane<T, PHASE, SIDE, false, 0, 1>(t, level, 0, last);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
        if (loads && (!SIDE || t.live >> r & 1))
            load_all(in + r * t.g.pitch, level[0][SPENT].cell[r]);
    advance_plane<T, PHASE, SIDE, false, 1, T::DEPTH>(t, level, 0, last);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
        if (t.owned >> r & 1) store_all(out + r * t.g.pitch, last.cell[r]);
    in += t.g.plane;
    out += t.g.plane;
    turn(t);
}

/* As plain_rows. */
template <class T, int SIDE>
static __device__ __forceinline__ int
plain_planes(tct_block_tile<T> &t, tct_plane<T> (&level)[T::DEPTH][3], int z,
             int last)
{
    const int end = t.to + T::DEPTH;
    const int64_t row = t.y * t.g.pitch;
    const TCT_REAL *in = t.g.in + (z + 1) * t.g.plane + row + t.c.at;
    TCT_REAL *out = t.g.out + (z - T::DEPTH) * t.g.plane + row + t.c.x;
#pragma unroll 1
    for (; z < last; z += 3) {
        plain_plane<T, 0, SIDE>(t, level, z + 1 < end, in, out);
        plain_plane<T, 1, SIDE>(t, level, z + 2 < end, in, out);
        plain_plane<T, 2, SIDE>(t, level, z + 3 < end, in, out);
    }
    return z;
}

/* --- a tile --------------------------------------------------------------- */

/* All cells have the boundary value; the first plane is on its way. */
template <class T>
static __device__ __forceinline__ void
begin_planes(const tct_block_tile<T> &t, tct_plane<T> (&level)[T::DEPTH][3])
{
#pragma unroll
    for (int l = 0; l < T::DEPTH; l++)
#pragma unroll
        for (int r = 0; r < T::ROWS; r++)
#pragma unroll
            for (int i = 0; i < 3 * T::V; i++)
                level[l][i / T::V].cell[r][i % T::V] = t.g.boundary;
    load_plane(t, t.from - T::DEPTH, level[0][0]);
}

template <class T>
static __device__ __forceinline__ void solid_chunk(tct_block_tile<T> t)
{
    tct_plane<T> level[T::DEPTH][3];
    const int end = t.to + T::DEPTH, high = t.g.high[2];
    const int first = t.from + T::DEPTH;
    const int last = end <= high ? end - 2 : high - 3;
    int z = t.from - T::DEPTH;
    begin_planes(t, level);
    for (;;) {
        if (z >= first && z < last && t.middle)
            z = plain_planes<T, SIDE_NONE>(t, level, z, last);
        else if (z >= first && z < last && t.simple)
            z = plain_planes<T, SIDE_LANES>(t, level, z, last);
        if (z >= end) return;
        careful_plane<T, 0>(t, level, z);
        if (++z >= end) return;
        careful_plane<T, 1>(t, level, z);
        if (++z >= end) return;
        careful_plane<T, 2>(t, level, z);
        z++;
    }
}

/* The thread's rows, of a tile whose first cell is (x, y). */
template <class T>
static __device__ __forceinline__ void find_rows(tct_block_tile<T> &t, int y)
{
    const int first = group_of<T>() * T::ROWS;
    const int column = (int)threadIdx.x % T::LANES_X * T::V;
    const bool middle = column >= T::MARGIN && column < T::WIDTH - T::MARGIN;
    t.y = y + first;
    t.live = t.owned = t.inside = 0;
#pragma unroll
    for (int r = 0; r < T::ROWS; r++) {
        const int at = first + r;

        if (t.c.inside != 0 && within(t.g, 1, t.y + r)) {
            t.live |= 1u << r;
            t.inside |= t.c.inside << (r * T::V);
        }
        if (middle && at >= T::DEPTH && at < T::HEIGHT - T::DEPTH &&
            t.y + r < t.g.n[1] && t.c.x < t.g.n[0])
            t.owned |= 1u << r;
    }
}

/* All cells of a tile are stored at their places, and it owns what it stores. */
template <class T>
static __device__ __forceinline__ bool is_inside(const tct_tile_grid &g, int x,
                                                 int y)
{
    return x >= g.low[0] && x + T::WIDTH <= g.high[0] && y >= g.low[1] &&
           y + T::HEIGHT <= g.high[1] && x + T::WIDTH - T::MARGIN <= g.n[0] &&
           y + T::HEIGHT - T::DEPTH <= g.n[1];
}

/* The thread's part of planes [from, to) of tile `tile` of a plane. */
template <class T>
static __device__ __forceinline__ tct_block_tile<T>
tile_of(const tct_tile_grid &g, const tct_cut3 &cut, int tile, int from, int to,
        char *memory)
{
    const int x = tile % cut.tiles[0] * T::VALID_X - T::MARGIN;
    const int y = tile / cut.tiles[0] * T::VALID_Y - T::DEPTH;
    const int column = (int)threadIdx.x % T::LANES_X * T::V;
    tct_block_tile<T> t = {g, find_columns(g, x + column)};
    t.from = from;
    t.to = to;
    t.memory = memory;
    find_edges(t);
    t.middle = is_inside<T>(g, x, y);
    t.simple = is_simple(g, x, T::WIDTH, T::MARGIN) &&
               (g.n[0] % T::V == 0 || x + T::WIDTH <= g.n[0]) &&
               (!g.closes[1] || (y >= 0 && y + T::HEIGHT <= g.n[1]));
    find_rows(t, y);
    return t;
}

template <class T>
static __global__ void __launch_bounds__(T::THREADS, 1)
    solid_kernel(const __grid_constant__ tct_tile_grid g,
                 const __grid_constant__ tct_cut3 cut)
{
    extern __shared__ __align__(16) char tct_tile_memory[];

    const int flat = cut.tiles[0] * cut.tiles[1];
    const int from = (int)blockIdx.x / flat * cut.planes;
    const int to = min(g.n[2], from + cut.planes);
    solid_chunk(
        tile_of<T>(g, cut, (int)blockIdx.x % flat, from, to, tct_tile_memory));
}

/* --- the cut -------------------------------------------------------------- */

/* The chunks of planes with which the GPU is done first; *cost: planes that a
 * multiprocessor computes, times their cells. A chunk's first planes are half
 * as much work. */
template <class T>
static tct_cut3 cut_planes(const tct_tile_grid *g, int sms, double *cost)
{
    enum { CHUNKS_MOST = 64 };
    tct_cut3 best = {};
    *cost = 0.0;
    for (int chunks = 1; chunks <= CHUNKS_MOST && chunks <= g->n[2]; chunks++) {
        tct_cut3 c = {};
        c.tiles[0] = (g->n[0] - 1) / T::VALID_X + 1;
        c.tiles[1] = (g->n[1] - 1) / T::VALID_Y + 1;
        c.planes = (g->n[2] - 1) / chunks + 1;
        c.tiles[2] = (g->n[2] - 1) / c.planes + 1;
        const int64_t all = (int64_t)c.tiles[0] * c.tiles[1] * c.tiles[2];
        const double rounds = (double)((all - 1) / sms + 1);
        const double cells =
            rounds * (c.planes + 1.5 * T::DEPTH) * T::WIDTH * T::HEIGHT;
        if (chunks > 1 && cells >= *cost) continue;
        *cost = cells;
        best = c;
    }
    return best;
}

#endif
