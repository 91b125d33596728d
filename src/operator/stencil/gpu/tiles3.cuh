/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/tiles3.cuh - several steps of star3d1r in one sweep over
 * memory, for the type TCT_REAL.
 *
 * A block is a tile of x and y, and streams along z with the last two planes of
 * all levels in registers, as tiles.cuh does with rows. A thread holds ROWS
 * rows of V cells: neighbours in x come from the lanes beside it, those in y
 * from its own registers and, between warps, from shared memory. What a warp
 * gives to others is a plane that is complete, so that a plane of all levels
 * takes one barrier. */
#ifndef TCT_OPERATOR_STENCIL_GPU_TILES3_CUH
#define TCT_OPERATOR_STENCIL_GPU_TILES3_CUH
#include "operator/stencil/gpu/tiles.cuh"

/* A tile of WARPS warps. */
template <int WEIGHTS, int LANE_CELLS, int LANE_ROWS, int BLOCK_WARPS>
struct tct_plane_tile {
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr int DEPTH = 4, V = LANE_CELLS, ROWS = LANE_ROWS;
    static constexpr int WARPS = BLOCK_WARPS, THREADS = WARPS * GPU_WAVE;
    static constexpr int WIDTH = GPU_WAVE * V, HEIGHT = WARPS * ROWS;
    static constexpr int VALID_X = WIDTH - 2 * DEPTH;
    static constexpr int VALID_Y = HEIGHT - 2 * DEPTH;
    static_assert(DEPTH % V == 0, "whole lanes are stored");
};

/* Of each warp its first and its last row of a plane, of all levels; two
 * planes in turn. */
template <class T> struct tct_warp_edges {
    tct_lane_cells<T::V> row[2][T::DEPTH][T::WARPS][2][GPU_WAVE];
};

template <class T> struct tct_plane {
    TCT_REAL cell[T::ROWS][T::V];
};

/* The grid is cut into tiles[0] x tiles[1] x tiles[2] blocks, of `planes`
 * planes each but for the last. */
typedef struct tct_cut3 {
    int tiles[3], planes;
} tct_cut3;

/* A thread's place: cell (x, y) is its first one. `inside` has a bit for each
 * of its cells that is inside in x and y. */
typedef struct tct_place3 {
    int x, y;
    unsigned inside;
    bool all_inside; /* of the warp */
} tct_place3;

template <class T>
static __device__ __forceinline__ tct_place3 find_place(const tct_step_work &w,
                                                        int x, int y)
{
    tct_place3 p = {x, y, 0, true};
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
#pragma unroll
        for (int i = 0; i < T::V; i++) {
            const bool in = is_there(w, 0, x + i) && is_there(w, 1, y + r);
            p.inside |= (unsigned)in << (r * T::V + i);
        }
    p.all_inside =
        tct_ballot(p.inside == (1u << (T::ROWS * T::V)) - 1) == TCT_ALL_LANES;
    return p;
}

/* The bits of row r. */
template <class T>
static __device__ __forceinline__ unsigned inside_of(const tct_place3 &p, int r)
{
    return p.inside >> (r * T::V) & ((1u << T::V) - 1);
}

/* --- planes in and out ---------------------------------------------------- */

/* Row y of plane z of a buffer. */
template <tct_touch TOUCH>
static __device__ __forceinline__ int64_t line_at(const tct_step_work &w, int z,
                                                  int y)
{
    if (TOUCH == TCT_CLOSED) {
        z = wrap(w, 2, z);
        y = wrap(w, 1, y);
    }
    return line_of(w, z, y);
}

template <class T, tct_touch TOUCH>
static __device__ __forceinline__ void
load_plane(const tct_step_work &w, const tct_place3 &p, int z, tct_plane<T> &u)
{
    const TCT_REAL *in = (const TCT_REAL *)w.in;
    const bool has = is_there(w, 2, z);
    const bool within = p.x >= w.low[0] && p.x + T::V <= w.high[0];
#pragma unroll
    for (int r = 0; r < T::ROWS; r++) {
        const unsigned inside = inside_of<T>(p, r);
        const tct_tile_side side = {inside, within && inside != 0, false};
        const TCT_REAL *row = in + line_at<TOUCH>(w, z, p.y + r);
        if constexpr (TOUCH == TCT_INSIDE) load_all<T>(row + p.x, u.cell[r]);
        else load_some<T, TOUCH>(w, side, row, p.x, has, u.cell[r]);
    }
}

template <class T, tct_touch TOUCH>
static __device__ __forceinline__ void store_plane(const tct_step_work &w,
                                                   const tct_place3 &p, int z,
                                                   const tct_plane<T> &u)
{
    const int column = tct_lane() * T::V, first = tct_warp() * T::ROWS;
    if (column < T::DEPTH || column >= T::WIDTH - T::DEPTH) return;
    TCT_REAL *row = (TCT_REAL *)w.out + line_at<TCT_OPEN>(w, z, p.y);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++) {
        const bool owned =
            first + r >= T::DEPTH && first + r < T::HEIGHT - T::DEPTH;
        if (owned && (TOUCH == TCT_INSIDE || p.y + r < w.n[1]))
            store_some<T, TOUCH>(w, row + r * w.pitch, p.x, u.cell[r]);
    }
}

/* --- a level -------------------------------------------------------------- */

/* Row `row` of warp `warp`, whose other rows this warp does not need: at the
 * edge of the tile its own, whose cells are not stored. */
template <class T>
static __device__ __forceinline__ void other_row(const tct_warp_edges<T> &e,
                                                 int turn, int l, int warp,
                                                 int row, TCT_REAL (&out)[T::V])
{
    const int from = warp < 0 ? 0 : warp >= T::WARPS ? T::WARPS - 1 : warp;
    const tct_lane_cells<T::V> all = e.row[turn][l][from][row][tct_lane()];
#pragma unroll
    for (int i = 0; i < T::V; i++) out[i] = all.v[i];
}

template <class T>
static __device__ __forceinline__ void give_rows(tct_warp_edges<T> &e, int turn,
                                                 int l, const tct_plane<T> &u)
{
    tct_lane_cells<T::V> first, last;
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        first.v[i] = u.cell[0][i];
        last.v[i] = u.cell[T::ROWS - 1][i];
    }
    e.row[turn][l][tct_warp()][0][tct_lane()] = first;
    e.row[turn][l][tct_warp()][1][tct_lane()] = last;
}

/* The next plane of level l + 1 in `u`, from that of level l in it. old[PHASE]
 * has the plane before the last, which the new one replaces. */
template <class T, int PHASE>
static __device__ __forceinline__ void
solid_level(const tct_step_work &w, tct_warp_edges<T> &e, int l,
            tct_plane<T> (&old)[2], tct_plane<T> &u)
{
    TCT_REAL above[T::V], below[T::V];
    const tct_plane<T> &c = old[1 - PHASE];
    other_row<T>(e, 1 - PHASE, l, tct_warp() - 1, 1, above);
    other_row<T>(e, 1 - PHASE, l, tct_warp() + 1, 0, below);
    give_rows<T>(e, PHASE, l, u);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++) {
        TCT_REAL row[T::V + 2];
        widen<T::V>(c.cell[r], row);
#pragma unroll
        for (int i = 0; i < T::V; i++) {
            const TCT_REAL *n = r == 0 ? &above[i] : &c.cell[r - 1][i];
            const TCT_REAL *s =
                r == T::ROWS - 1 ? &below[i] : &c.cell[r + 1][i];
            const TCT_REAL sum = sum_star3(&old[PHASE].cell[r][i], n,
                                           row + i + 1, s, &u.cell[r][i], 0);
            const TCT_REAL value =
                weighted(T::CENTRE, (TCT_REAL)w.centre, row[i + 1],
                         (TCT_REAL)w.neighbours, sum);
            old[PHASE].cell[r][i] = u.cell[r][i];
            u.cell[r][i] = value;
        }
    }
}

/* keep_boundary of a plane of a level: with one branch for all rows, since one
 * a row spills registers. */
template <class T>
static __device__ __forceinline__ void
keep_sides(const tct_step_work &w, const tct_place3 &p, int z, tct_plane<T> &u)
{
    const unsigned inside = is_there(w, 2, z) ? p.inside : 0;
    if (p.all_inside && inside != 0) return;
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
#pragma unroll
        for (int i = 0; i < T::V; i++)
            if (!(inside >> (r * T::V + i) & 1))
                u.cell[r][i] = (TCT_REAL)w.boundary;
}

/* --- a tile --------------------------------------------------------------- */

/* Planes [from, to) of a tile. */
template <class T, tct_touch TOUCH>
static __device__ __forceinline__ void
solid_chunk(const tct_step_work &w, tct_warp_edges<T> &edges,
            const tct_place3 &p, int from, int to)
{
    tct_plane<T> level[T::DEPTH][2] = {}, ahead, u;
    const int end = to + T::DEPTH;
    int z = from - T::DEPTH;
    load_plane<T, TOUCH>(w, p, z, ahead);
#define TCT_PLANE(phase)                                                \
    {                                                                   \
        u = ahead;                                                      \
        if (z + 1 < end) load_plane<T, TOUCH>(w, p, z + 1, ahead);      \
        _Pragma("unroll") for (int l = 0; l < T::DEPTH; l++)            \
        {                                                               \
            solid_level<T, phase>(w, edges, l, level[l], u);            \
            if (TOUCH != TCT_INSIDE) keep_sides<T>(w, p, z - 1 - l, u); \
        }                                                               \
        if (z - T::DEPTH >= from)                                       \
            store_plane<T, TOUCH>(w, p, z - T::DEPTH, u);               \
        if (++z >= end) return;                                         \
        __syncthreads();                                                \
    }
    for (;;) {
        TCT_PLANE(0)
        TCT_PLANE(1)
    }
#undef TCT_PLANE
}

/* All cells of a tile can be read as they are, and it owns what it stores. */
template <class T>
static __device__ __forceinline__ bool is_inside(const tct_step_work &w, int x,
                                                 int y)
{
    return x >= w.low[0] && x + T::WIDTH <= w.high[0] && y >= w.low[1] &&
           y + T::HEIGHT <= w.high[1] && x + T::WIDTH - T::DEPTH <= w.n[0] &&
           y + T::HEIGHT - T::DEPTH <= w.n[1];
}

template <class T>
static __global__ void __launch_bounds__(T::THREADS, 1)
    solid_kernel(const __grid_constant__ tct_step_work w,
                 const __grid_constant__ tct_cut3 cut)
{
    extern __shared__ __align__(16) char memory[];
    tct_warp_edges<T> &edges = *(tct_warp_edges<T> *)memory;
    const int flat = cut.tiles[0] * cut.tiles[1];
    const int tile = (int)blockIdx.x % flat;
    const int x = tile % cut.tiles[0] * T::VALID_X - T::DEPTH;
    const int y = tile / cut.tiles[0] * T::VALID_Y - T::DEPTH;
    const int from = (int)blockIdx.x / flat * cut.planes;
    const int to = min(w.n[2], from + cut.planes);
    const tct_place3 p =
        find_place<T>(w, x + tct_lane() * T::V, y + tct_warp() * T::ROWS);
    if (is_inside<T>(w, x, y) && from - T::DEPTH >= w.low[2] &&
        to + T::DEPTH <= w.high[2])
        solid_chunk<T, TCT_INSIDE>(w, edges, p, from, to);
    else if (!w.closes[0] && !w.closes[1] && !w.closes[2])
        solid_chunk<T, TCT_OPEN>(w, edges, p, from, to);
    else solid_chunk<T, TCT_CLOSED>(w, edges, p, from, to);
}

/* --- launches ------------------------------------------------------------- */

/* Tiles, and as many chunks of planes as fill the GPU once or several times;
 * *cost: planes of tiles that a multiprocessor computes, times their cells. */
template <class T>
static tct_cut3 cut_solid(const tct_step_work *w, int sms, double *cost)
{
    enum { WAVES = 4 };
    tct_cut3 best = {};
    *cost = 0.0;
    for (int waves = 1; waves <= WAVES; waves++) {
        tct_cut3 c = {};
        c.tiles[0] = (w->n[0] - 1) / T::VALID_X + 1;
        c.tiles[1] = (w->n[1] - 1) / T::VALID_Y + 1;
        const int64_t flat = (int64_t)c.tiles[0] * c.tiles[1];
        const int64_t chunks =
            flat < (int64_t)waves * sms ? (int64_t)waves * sms / flat : 1;
        c.planes = (int)((w->n[2] - 1) / chunks + 1);
        c.tiles[2] = (w->n[2] - 1) / c.planes + 1;
        const int64_t rounds = (flat * c.tiles[2] - 1) / sms + 1;
        const double planes = (double)rounds * (c.planes + 2 * T::DEPTH);
        const double cells = planes * T::WIDTH * T::HEIGHT;
        if (*cost > 0.0 && cells >= *cost) continue;
        *cost = cells;
        best = c;
    }
    return best;
}

template <class T>
static void launch_solid(tacit_queue *q, const tct_step_work *w,
                         const tct_cut3 *cut)
{
    const int bytes = (int)sizeof(tct_warp_edges<T>);
    const gpu_stream stream = stream_of(q);
    const unsigned blocks =
        (unsigned)(cut->tiles[0] * cut->tiles[1] * cut->tiles[2]);
    if (!tct_gpu_ok(q,
                    gpu_function_attribute((const void *)solid_kernel<T>,
                                           GPU_DYNAMIC_SHARED, bytes),
                    "shared memory of a visit"))
        return;
    solid_kernel<T><<<blocks, T::THREADS, bytes, stream>>>(*w, *cut);
    tct_gpu_ok(q, gpu_last_error(), "a visit of a grid");
}

/* The shape of tiles that computes the least twice. */
template <int WEIGHTS>
static void visit_solid(tacit_queue *q, const tct_step_work *w)
{
    constexpr bool SINGLE = sizeof(TCT_REAL) == 4;
    typedef tct_plane_tile<WEIGHTS, SINGLE ? 4 : 2, 2, 16> wide;
    typedef tct_plane_tile<WEIGHTS, 2, SINGLE ? 4 : 2, 16> high;
    double cost[2];
    const int sms = tct_gpu_of(q)->sms;
    const tct_cut3 a = cut_solid<wide>(w, sms, &cost[0]);
    const tct_cut3 b = cut_solid<high>(w, sms, &cost[1]);
    if (cost[0] < cost[1]) launch_solid<wide>(q, w, &a);
    else launch_solid<high>(q, w, &b);
}

static void visit(tacit_queue *q, const tct_step_work *w, int depth)
{
    const bool centre = w->weights == TACIT_WEIGHTS_CONSTANT;
    const bool solid = w->shape == TCT_STAR3;
    if (solid && centre) visit_solid<TACIT_WEIGHTS_CONSTANT>(q, w);
    else if (solid) visit_solid<TACIT_WEIGHTS_MEAN>(q, w);
    else if (centre) visit_flat<TACIT_WEIGHTS_CONSTANT>(q, w, depth);
    else visit_flat<TACIT_WEIGHTS_MEAN>(q, w, depth);
}

#endif
