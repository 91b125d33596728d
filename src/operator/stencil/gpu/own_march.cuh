/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_march.cuh - a step of a tile of ways free and free2,
 * for the type TCT_REAL and shapes star2d1r, box2d1r and star3d1r without
 * weights by cell. A lane has FREE_V cells of a row, which it loads at once; a
 * warp marches along direction 2 with the rows around in registers, so that
 * each row is loaded once. Cells beside a lane's come by shuffles.
 *
 * A tile may begin and end within a lane's cells. What a lane then loads
 * besides is of the same row, and is not used. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_MARCH_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_MARCH_CUH
#include "operator/stencil/gpu/own_wait.cuh"
#include "operator/stencil/gpu/step.cuh"

enum {
    FREE_V = sizeof(TCT_REAL) == 4 ? 4 : 2, /* cells of a lane in a row */
    FREE_WIDTH = GPU_WAVE * FREE_V,
    FREE_WARPS = TCT_MARCH_WARPS,
    FREE_AHEAD = 8, /* rows that are loaded at once in 2D   */
    FREE_ROWS = TCT_MARCH_ROWS
};

struct alignas(FREE_V * sizeof(TCT_REAL)) tct_free_cells {
    TCT_REAL v[FREE_V];
};

/* A lane's cells of a row, as loaded; `side` is the cell before those of the first
 * lane, after those of the last one. */
typedef struct tct_free_part {
    tct_free_cells cells;
    TCT_REAL side;
} tct_free_part;

/* A lane's cells, and one more at each end. */
typedef struct tct_free_row {
    TCT_REAL v[FREE_V + 2];
} tct_free_row;

/* Buffers of a step. */
typedef struct tct_free_step {
    const tct_own_job &J;
    tct_own_place &p;
    const TCT_REAL *in;
    TCT_REAL *out;
    int step;
    bool puts; /* cells go to neighbours of other ranks, too */
} tct_free_step;

/* How warps share a tile: an item is a strip of columns, FREE_ROWS rows of a
 * plane, and a part of the planes. Of two dimensions rows are planes. */
typedef struct tct_free_march {
    tct_box box;
    int first; /* columns before the tile's first one are not used */
    int strips, groups, parts;
    int end; /* as of tct_own_end */
} tct_free_march;

/* An item, of cells from x on; its planes from z on, by 1 or -1. */
typedef struct tct_free_item {
    int x, y, z, planes, by;
    bool waits; /* for other ranks, whose plane follows the last one */
} tct_free_item;

/* --- work of a warp ------------------------------------------------------- */

static __device__ __forceinline__ int part_of(int n, int part, int parts)
{
    return n / parts * part + n % parts * part / parts;
}

static __device__ inline int ratio_up(int a, int b)
{
    return (a - 1) / b + 1;
}

/* Planes that the busiest warp reads. */
static __device__ inline int march_cost(int items, int planes, int parts)
{
    return ratio_up(items * parts, FREE_WARPS) * (ratio_up(planes, parts) + 2);
}

static __device__ inline tct_free_march march_of(const tct_box &b, int end)
{
    const int planes = b.hi[2] - b.lo[2];
    tct_free_march m = {b, b.lo[0] / FREE_V * FREE_V, 0, 0, 1, end};
    m.strips = ratio_up(b.hi[0] - m.first, FREE_WIDTH);
    m.groups = ratio_up(b.hi[1] - b.lo[1], FREE_ROWS);
    const int items = m.strips * m.groups;
    for (int parts = 2; parts <= min(planes, (int)FREE_WARPS); parts++)
        if (march_cost(items, planes, parts) <
            march_cost(items, planes, m.parts))
            m.parts = parts;
    return m;
}

/* Item k, of this lane. */
static __device__ inline tct_free_item item_of(const tct_free_march &m, int k)
{
    const int planes = m.box.hi[2] - m.box.lo[2], share = k / m.strips;
    const int part = share / m.groups;
    const int from = part_of(planes, part, m.parts);
    const int to = part_of(planes, part + 1, m.parts);
    tct_free_item item;
    item.x = m.first + k % m.strips * FREE_WIDTH + tct_lane() * FREE_V;
    item.y = m.box.lo[1] + share % m.groups * FREE_ROWS;
    item.z = m.box.lo[2] + (m.end < 0 ? to - 1 : from);
    item.planes = to - from;
    item.by = m.end < 0 ? -1 : 1;
    item.waits = m.end != 0 && (m.end < 0 ? from == 0 : to == planes);
    return item;
}

/* --- rows ----------------------------------------------------------------- */

/* A lane's cells of a row from `at` on, which is its column x; `end` columns. */
static __device__ __forceinline__ void load_from(const tct_step_work &w,
                                                 bool there, const TCT_REAL *at,
                                                 int x, int end,
                                                 tct_free_part &to)
{
    const int lane = tct_lane();
    const bool at_side =
        lane == 0 || (lane == GPU_WAVE - 1 && x + FREE_V <= end);
#pragma unroll
    for (int i = 0; i < FREE_V; i++) to.cells.v[i] = (TCT_REAL)w.boundary;
    to.side = (TCT_REAL)w.boundary;
    if (!there || x > end) return;
    to.cells = *(const tct_free_cells *)(const void *)at;
    if (at_side) to.side = at[lane == 0 ? -1 : FREE_V];
}

static __device__ __forceinline__ void load_part(const tct_free_step &s, int z,
                                                 int y, int x, int end,
                                                 tct_free_part &to)
{
    const tct_step_work &w = s.J.w;
    const TCT_REAL *row = s.in + line_of(w, place(w, 2, z), place(w, 1, y));
    load_from(w, is_there(w, 2, z) && is_there(w, 1, y), row + x, x, end, to);
}

static __device__ __forceinline__ void widen(const tct_free_part &p,
                                             tct_free_row &to)
{
    const TCT_REAL west = tct_shuffle_up(p.cells.v[FREE_V - 1], 1);
    const TCT_REAL east = tct_shuffle_down(p.cells.v[0], 1);
    to.v[0] = tct_lane() == 0 ? p.side : west;
#pragma unroll
    for (int i = 0; i < FREE_V; i++) to.v[1 + i] = p.cells.v[i];
    to.v[FREE_V + 1] = tct_lane() == GPU_WAVE - 1 ? p.side : east;
}

static __device__ __forceinline__ void load_row_of(const tct_free_step &s,
                                                   int z, int y, int x, int end,
                                                   tct_free_row &to)
{
    tct_free_part part;
    load_part(s, z, y, x, end, part);
    widen(part, to);
}

/* Are a lane's cells from column x on stored as one? Not those of other tiles,
 * and not where a row that closes has copies of its ends. */
static __device__ __forceinline__ bool is_whole(const tct_step_work &w,
                                                const tct_box &b, int x)
{
    const bool at_end = w.closes[0] && (x <= 0 || x + FREE_V >= w.n[0]);
    return x >= b.lo[0] && x + FREE_V <= b.hi[0] && !at_end;
}

/* Into the neighbours of other ranks: whole pieces, since the link takes a
 * message for each. */
static __device__ __forceinline__ void put_part(const tct_free_step &s,
                                                const tct_box &b, int z, int y,
                                                int x,
                                                const tct_free_cells &value)
{
    for (int k = 0; k < s.p.sides; k++) {
        const tct_halo_put &put = s.p.put[k];
        if (!tct_own_sends(put, z, y)) continue;
        TCT_REAL *row =
            (TCT_REAL *)(void *)tct_own_row(s.J, put, s.step, z, y) + s.J.x;
        const int64_t from = x + s.J.x - put.send[0];
        const bool aligned = (uintptr_t)(row + x) % sizeof value == 0;
        if (aligned && from >= 0 && from + FREE_V <= put.extent[0] &&
            is_whole(s.J.w, b, x)) {
            *(tct_free_cells *)(void *)(row + x) = value;
            continue;
        }
#pragma unroll
        for (int i = 0; i < FREE_V; i++)
            if (x + i >= b.lo[0] && x + i < b.hi[0] && from + i >= 0 &&
                from + i < put.extent[0])
                store_cell(s.J.w, row, x + i, value.v[i]);
    }
}

/* A lane's cells into a row of the tile. */
static __device__ __forceinline__ void store_cells(const tct_step_work &w,
                                                   const tct_box &b,
                                                   TCT_REAL *row, int x,
                                                   const tct_free_cells &value)
{
    if (is_whole(w, b, x)) *(tct_free_cells *)(void *)(row + x) = value;
    else
#pragma unroll
        for (int i = 0; i < FREE_V; i++)
            if (x + i >= b.lo[0] && x + i < b.hi[0])
                store_cell(w, row, x + i, value.v[i]);
}

static __device__ __forceinline__ void store_part(const tct_free_step &s,
                                                  const tct_box &b, int z,
                                                  int y, int x,
                                                  const tct_free_cells &value)
{
    store_cells(s.J.w, b, s.out + line_of(s.J.w, z, y), x, value);
    if (s.puts) put_part(s, b, z, y, x, value);
}

/* --- two dimensions ------------------------------------------------------- */

template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ tct_free_cells
flat_cells(const tct_step_work &w, const tct_free_row &n, const tct_free_row &c,
           const tct_free_row &s)
{
    constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    tct_free_cells value;
#pragma unroll
    for (int i = 0; i < FREE_V; i++) {
        const TCT_REAL sum = SHAPE == TCT_BOX2
                                 ? sum_box2(n.v, c.v, s.v, i + 1)
                                 : sum_star2(n.v, c.v, s.v, i + 1);
        value.v[i] = weighted(CENTRE, (TCT_REAL)w.centre, c.v[i + 1],
                              (TCT_REAL)w.neighbours, sum);
    }
    return value;
}

template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ void
march_flat(const tct_free_step &s, const tct_box &b, const tct_free_item &m)
{
    tct_free_row north, centre;
    load_row_of(s, m.z - m.by, 0, m.x, b.hi[0], north);
    load_row_of(s, m.z, 0, m.x, b.hi[0], centre);
    for (int k = 0, z = m.z; k < m.planes; k += FREE_AHEAD) {
        tct_free_part ahead[FREE_AHEAD];
        if (m.waits && s.step > 0 && k + FREE_AHEAD >= m.planes)
            tct_own_wait_warp(s.J, s.p, s.step);
#pragma unroll
        for (int i = 0; i < FREE_AHEAD; i++)
            if (k + i < m.planes)
                load_part(s, z + (i + 1) * m.by, 0, m.x, b.hi[0], ahead[i]);
#pragma unroll
        for (int i = 0; i < FREE_AHEAD; i++, z += m.by) {
            if (k + i >= m.planes) break;
            tct_free_row south;
            widen(ahead[i], south);
            store_part(s, b, z, 0, m.x,
                       flat_cells<SHAPE, WEIGHTS>(s.J.w, north, centre, south));
            north = centre;
            centre = south;
        }
    }
}

/* --- three dimensions ----------------------------------------------------- */

/* Rows [0, FREE_ROWS) of plane z, of which those past `rows` are not used. */
static __device__ __forceinline__ void
load_plane(const tct_free_step &s, int z, int y, int rows, int x, int end,
           tct_free_part (&to)[FREE_ROWS])
{
#pragma unroll
    for (int i = 0; i < FREE_ROWS; i++)
        if (i <= rows) load_part(s, z, y + i, x, end, to[i]);
}

static __device__ __forceinline__ void
widen_plane(const tct_free_part (&from)[FREE_ROWS],
            tct_free_row (&to)[FREE_ROWS])
{
#pragma unroll
    for (int i = 0; i < FREE_ROWS; i++) widen(from[i], to[i]);
}

template <int WEIGHTS>
static __device__ __forceinline__ tct_free_cells solid_cells(
    const tct_step_work &w, const tct_free_cells &down, const TCT_REAL *n,
    const tct_free_row &c, const TCT_REAL *s, const tct_free_cells &up)
{
    constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    tct_free_cells value;
#pragma unroll
    for (int i = 0; i < FREE_V; i++) {
        const TCT_REAL sum =
            sum_star3(&down.v[i], n + i, c.v + i + 1, s + i, &up.v[i], 0);
        value.v[i] = weighted(CENTRE, (TCT_REAL)w.centre, c.v[i + 1],
                              (TCT_REAL)w.neighbours, sum);
    }
    return value;
}

/* A group of rows; the row after its last one is loaded as one of the plane if
 * the group is not whole. */
template <int WEIGHTS>
static __device__ __forceinline__ void
march_solid(const tct_free_step &s, const tct_box &b, const tct_free_item &m)
{
    const int rows = min((int)FREE_ROWS, b.hi[1] - m.y);
    tct_free_part below[FREE_ROWS] = {}, next[FREE_ROWS] = {};
    tct_free_row centre[FREE_ROWS];
    load_plane(s, m.z - m.by, m.y, rows, m.x, b.hi[0], below);
    load_plane(s, m.z, m.y, rows, m.x, b.hi[0], next);
    widen_plane(next, centre);
    for (int k = 0, z = m.z; k < m.planes; k++, z += m.by) {
        tct_free_part first, last = {};
        if (m.waits && s.step > 0 && k + 1 == m.planes)
            tct_own_wait_warp(s.J, s.p, s.step);
        load_plane(s, z + m.by, m.y, rows, m.x, b.hi[0], next);
        load_part(s, z, m.y - 1, m.x, b.hi[0], first);
        if (rows == FREE_ROWS) load_part(s, z, m.y + rows, m.x, b.hi[0], last);
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++) {
            const TCT_REAL *north =
                i > 0 ? centre[i > 0 ? i - 1 : 0].v + 1 : first.cells.v;
            const TCT_REAL *south =
                i + 1 < FREE_ROWS ? centre[i + 1 < FREE_ROWS ? i + 1 : 0].v + 1
                                  : last.cells.v;
            if (i < rows)
                store_part(s, b, z, m.y + i, m.x,
                           solid_cells<WEIGHTS>(s.J.w, below[i].cells, north,
                                                centre[i], south,
                                                next[i].cells));
        }
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++)
            for (int k = 0; k < FREE_V; k++)
                below[i].cells.v[k] = centre[i].v[k + 1];
        widen_plane(next, centre);
    }
}

/* --- a tile --------------------------------------------------------------- */

template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ void march(const tct_free_step &s,
                                             const tct_free_march &m)
{
    const int items = m.strips * m.groups * m.parts;
    for (int k = tct_warp(); k < items; k += FREE_WARPS)
        if constexpr (SHAPE == TCT_STAR3)
            march_solid<WEIGHTS>(s, m.box, item_of(m, k));
        else march_flat<SHAPE, WEIGHTS>(s, m.box, item_of(m, k));
}

#endif
