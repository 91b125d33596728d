/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_march.cuh - a step of a tile of ways free and free2,
 * for the type TCT_REAL and shapes star2d1r, box2d1r and star3d1r without
 * weights by cell. A lane has FREE_V cells of a row, which it loads at once; a
 * warp marches along direction 2 with the rows around in registers, so that each
 * row is loaded once. Cells beside a lane's come by shuffles.
 *
 * A tile may begin and end within a lane's cells. What a lane then loads besides
 * is of the same row, and is not used. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_MARCH_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_MARCH_CUH
#include "operator/stencil/gpu/own_wait.cuh"
#include "operator/stencil/gpu/step.cuh"

enum {
    FREE_V = sizeof(TCT_REAL) == 4 ? 4 : 2, /* cells of a lane in a row */
    FREE_WIDTH = GPU_WAVE * FREE_V,
    FREE_WARPS = TCT_MARCH_THREADS / GPU_WAVE,
    FREE_AHEAD = 8, /* rows that are loaded at once in 2D   */
    FREE_ROWS = 4   /* rows of a plane of a warp in 3D      */
};

struct alignas(FREE_V * sizeof(TCT_REAL)) tct_free_cells {
    TCT_REAL v[FREE_V];
};

/* What a lane has loaded of a row; `side` is the cell before those of the first
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
    const tct_own_place &p;
    const TCT_REAL *in;
    TCT_REAL *out;
    int step;
    bool puts; /* cells go to neighbours of other ranks, too */
} tct_free_step;

/* A warp's part of the tile: strips of columns, from the first on; groups of
 * FREE_ROWS rows of a plane; planes. Of two dimensions rows are planes. */
typedef struct tct_free_march {
    int x, next;     /* a lane's first cell in the first strip, in the next */
    int begin, end;  /* columns of the tile                                 */
    int row, to_row; /* rows: from one on, to that of the tile's end        */
    int step_row;    /* groups of rows that this warp takes                 */
    int z, to_z;
} tct_free_march;

/* --- work of a warp ------------------------------------------------------- */

static __device__ __forceinline__ int part_of(int n, int part, int parts)
{
    return n / parts * part + n % parts * part / parts;
}

static __device__ inline int most_of(int a, int b)
{
    return a > b ? a : b;
}

/* Warps share strips, then groups of rows, then planes. */
static __device__ inline tct_free_march march_of(const tct_box &b)
{
    const int first = b.lo[0] / FREE_V * FREE_V;
    const int strips = (b.hi[0] - first - 1) / FREE_WIDTH + 1;
    const int groups = (b.hi[1] - b.lo[1] - 1) / FREE_ROWS + 1;
    const int planes = b.hi[2] - b.lo[2];
    const int sharing = most_of(1, FREE_WARPS / strips);
    const int of_rows = min(sharing, groups);
    const int of_planes = min(planes, sharing / of_rows);
    const int share = tct_warp() / strips, part = share / of_rows;
    tct_free_march m;
    m.x = first + tct_warp() % strips * FREE_WIDTH + tct_lane() * FREE_V;
    m.next = min(strips, (int)FREE_WARPS) * FREE_WIDTH;
    m.begin = b.lo[0];
    m.end = b.hi[0];
    m.row = b.lo[1] + share % of_rows * FREE_ROWS;
    m.step_row = of_rows * FREE_ROWS;
    m.to_row = b.hi[1];
    m.z = b.lo[2] + part_of(planes, min(part, of_planes), of_planes);
    m.to_z = b.lo[2] + part_of(planes, min(part + 1, of_planes), of_planes);
    return m;
}

/* --- rows ----------------------------------------------------------------- */

static __device__ __forceinline__ void load_part(const tct_free_step &s, int z,
                                                 int y, int x, int end,
                                                 tct_free_part &to)
{
    const tct_step_work &w = s.J.w;
    const int lane = tct_lane();
    const bool there = x <= end && is_there(w, 2, z) && is_there(w, 1, y);
    const bool at_side =
        lane == 0 || (lane == GPU_WAVE - 1 && x + FREE_V <= end);
    const TCT_REAL *row = s.in + line_of(w, place(w, 2, z), place(w, 1, y)) + x;
#pragma unroll
    for (int i = 0; i < FREE_V; i++) to.cells.v[i] = (TCT_REAL)w.boundary;
    to.side = (TCT_REAL)w.boundary;
    if (there) to.cells = *(const tct_free_cells *)(const void *)row;
    if (there && at_side) to.side = row[lane == 0 ? -1 : FREE_V];
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

/* Of the neighbours of other ranks. */
static __device__ __forceinline__ void put_part(const tct_free_step &s,
                                                const tct_free_march &m, int z,
                                                int y, int x,
                                                const tct_free_cells &value)
{
    for (int k = 0; k < s.p.sides; k++) {
        const tct_halo_put &put = s.p.put[k];
        if (!tct_own_sends(put, z, y)) continue;
        TCT_REAL *row =
            (TCT_REAL *)(void *)tct_own_row(s.J, put, s.step, z, y) + s.J.x;
#pragma unroll
        for (int i = 0; i < FREE_V; i++) {
            const int64_t at = x + i + s.J.x - put.send[0];
            if (x + i >= m.begin && x + i < m.end && at >= 0 &&
                at < put.extent[0])
                store_cell(s.J.w, row, x + i, value.v[i]);
        }
    }
}

static __device__ __forceinline__ void store_part(const tct_free_step &s,
                                                  const tct_free_march &m,
                                                  int z, int y, int x,
                                                  const tct_free_cells &value)
{
    const tct_step_work &w = s.J.w;
    TCT_REAL *row = s.out + line_of(w, z, y);
    const bool at_end = w.closes[0] && (x <= 0 || x + FREE_V >= w.n[0]);
    if (x >= m.begin && x + FREE_V <= m.end && !at_end)
        *(tct_free_cells *)(void *)(row + x) = value;
    else
#pragma unroll
        for (int i = 0; i < FREE_V; i++)
            if (x + i >= m.begin && x + i < m.end)
                store_cell(w, row, x + i, value.v[i]);
    if (s.puts) put_part(s, m, z, y, x, value);
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
march_flat(const tct_free_step &s, const tct_free_march &m, int x)
{
    tct_free_row north, centre;
    load_row_of(s, m.z - 1, 0, x, m.end, north);
    load_row_of(s, m.z, 0, x, m.end, centre);
    for (int z = m.z; z < m.to_z; z += FREE_AHEAD) {
        tct_free_part ahead[FREE_AHEAD];
#pragma unroll
        for (int i = 0; i < FREE_AHEAD; i++)
            if (z + i < m.to_z) load_part(s, z + i + 1, 0, x, m.end, ahead[i]);
#pragma unroll
        for (int i = 0; i < FREE_AHEAD; i++) {
            if (z + i >= m.to_z) break;
            tct_free_row south;
            widen(ahead[i], south);
            store_part(s, m, z + i, 0, x,
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
march_solid(const tct_free_step &s, const tct_free_march &m, int y, int x)
{
    const int rows = min((int)FREE_ROWS, m.to_row - y);
    tct_free_part below[FREE_ROWS] = {}, next[FREE_ROWS] = {};
    tct_free_row centre[FREE_ROWS];
    load_plane(s, m.z - 1, y, rows, x, m.end, below);
    load_plane(s, m.z, y, rows, x, m.end, next);
    widen_plane(next, centre);
    for (int z = m.z; z < m.to_z; z++) {
        tct_free_part first, last = {};
        load_plane(s, z + 1, y, rows, x, m.end, next);
        load_part(s, z, y - 1, x, m.end, first);
        if (rows == FREE_ROWS) load_part(s, z, y + rows, x, m.end, last);
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++) {
            const TCT_REAL *north =
                i > 0 ? centre[i > 0 ? i - 1 : 0].v + 1 : first.cells.v;
            const TCT_REAL *south =
                i + 1 < FREE_ROWS ? centre[i + 1 < FREE_ROWS ? i + 1 : 0].v + 1
                                  : last.cells.v;
            if (i < rows)
                store_part(s, m, z, y + i, x,
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
    if (m.z >= m.to_z) return; /* a warp to spare */
    for (int x = m.x; x - tct_lane() * FREE_V < m.end; x += m.next)
        if constexpr (SHAPE == TCT_STAR3)
            for (int y = m.row; y < m.to_row; y += m.step_row)
                march_solid<WEIGHTS>(s, m, y, x);
        else march_flat<SHAPE, WEIGHTS>(s, m, x);
}

#endif
