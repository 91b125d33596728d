/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/lanes.cuh - what tiles of two and of three dimensions
 * share, for the type TCT_REAL: the cells that a lane holds of a row, their way
 * from memory through a ring of copies ahead, and their way back. A lane reads
 * only what it copied itself, so that rings need no barrier. */
#ifndef TCT_OPERATOR_STENCIL_GPU_LANES_CUH
#define TCT_OPERATOR_STENCIL_GPU_LANES_CUH
#include "device/gpu/lane.cuh"
#include "operator/stencil/device_steps.h"
#ifndef TCT_CELL
#define TCT_CELL static __device__ __forceinline__
#endif
#include "operator/stencil/cell.h"

/* Cells of a lane: 16 bytes. Rows or planes that are copied ahead. */
enum { TCT_LANE_CELLS = 16 / sizeof(TCT_REAL), TCT_ROWS_AHEAD = 3 };

/* The grid as tiles see it. Cell i of direction d is stored at its own place if
 * low[d] <= i < high[d]; other cells are those of a direction that closes, or
 * have the boundary value at all times. */
typedef struct tct_tile_grid {
    const TCT_REAL *in; /* cell (0, 0, 0) */
    TCT_REAL *out;
    int64_t pitch, plane; /* cells from row to row and from plane to plane */
    int n[3];             /* cells to write */
    int low[3], high[3];
    bool closes[3];
    TCT_REAL boundary, centre, neighbours;
} tct_tile_grid;

static inline tct_tile_grid tct_tile_grid_of(const tct_step_work *w)
{
    tct_tile_grid g = {};
    g.in = (const TCT_REAL *)w->in;
    g.out = (TCT_REAL *)w->out;
    g.pitch = w->pitch;
    g.plane = w->plane;
    for (int d = 0; d < 3; d++) {
        g.n[d] = w->n[d];
        g.low[d] = w->low[d];
        g.high[d] = w->high[d];
        g.closes[d] = w->closes[d];
    }
    g.boundary = (TCT_REAL)w->boundary;
    g.centre = (TCT_REAL)w->centre;
    g.neighbours = (TCT_REAL)w->neighbours;
    return g;
}

struct alignas(16) tct_lane_cells {
    TCT_REAL v[TCT_LANE_CELLS];
};

static __device__ __forceinline__ bool stored(const tct_tile_grid &g, int d,
                                              int i)
{
    return i >= g.low[d] && i < g.high[d];
}

static __device__ __forceinline__ bool within(const tct_tile_grid &g, int d,
                                              int i)
{
    return g.closes[d] || stored(g, d, i);
}

/* Where cell i is stored that is within the grid. */
static __device__ __forceinline__ int place_of(const tct_tile_grid &g, int d,
                                               int i)
{
    if (stored(g, d, i) || !g.closes[d]) return i;
    const int rest = i % g.n[d];
    return rest < 0 ? rest + g.n[d] : rest;
}

/* --- columns -------------------------------------------------------------- */

/* A lane's columns, x to x + V - 1. In a direction that does not close, cells
 * outside are copied with those within: they are the boundary value next to the
 * grid, and further away no cell of the grid depends on them. */
typedef struct tct_lane_columns {
    int x, at;       /* the first one, and where it is stored       */
    unsigned inside; /* a bit for each that is within the grid      */
    bool whole;      /* stored side by side from `at` on, on 16 bytes */
} tct_lane_columns;

static __device__ __forceinline__ tct_lane_columns
find_columns(const tct_tile_grid &g, int x)
{
    enum { V = TCT_LANE_CELLS };
    tct_lane_columns c = {x, place_of(g, 0, x), 0, false};
#pragma unroll
    for (int i = 0; i < V; i++)
        if (within(g, 0, x + i)) c.inside |= 1u << i;
    c.whole = g.closes[0] ? c.at % V == 0 && c.at + V <= g.n[0] : c.inside != 0;
    return c;
}

/* Lanes of columns [x, x + width), of which all but `edge` at each end are
 * stored, copy and store 16 bytes or nothing: neither a lane of both ends of a
 * row that closes, nor ghost cells of one, nor cells of another rank. */
static __device__ __forceinline__ bool is_simple(const tct_tile_grid &g, int x,
                                                 int width, int edge)
{
    const int n = g.n[0], end = x + width - edge;
    if (g.closes[0]) return n % TCT_LANE_CELLS == 0 && x + edge > 0 && end < n;
    return n % TCT_LANE_CELLS == 0 || g.high[0] == n || end <= n;
}

/* A row with a cell more at each end, from the lanes beside this one. */
static __device__ __forceinline__ void
widen(const TCT_REAL (&cell)[TCT_LANE_CELLS],
      TCT_REAL (&row)[TCT_LANE_CELLS + 2])
{
    enum { V = TCT_LANE_CELLS };
    row[0] = tct_shuffle_up(cell[V - 1], 1);
#pragma unroll
    for (int i = 0; i < V; i++) row[1 + i] = cell[i];
    row[V + 1] = tct_shuffle_down(cell[0], 1);
}

/* --- rows in and out ------------------------------------------------------ */

static __device__ __forceinline__ void set_all(TCT_REAL value,
                                               tct_lane_cells *cells)
{
#pragma unroll
    for (int i = 0; i < TCT_LANE_CELLS; i++) cells->v[i] = value;
}

/* Start to copy a lane's cells of a row, whose cell 0 is at `row`; without
 * cells within the grid `to` keeps what it has. */
static __device__ __forceinline__ void fetch_cells(const tct_tile_grid &g,
                                                   const tct_lane_columns &c,
                                                   const TCT_REAL *row,
                                                   tct_lane_cells *to)
{
    if (c.whole) tct_copy_ahead<16>(to, row + c.at);
    else if (c.inside != 0) {
#pragma unroll 1
        for (int i = 0; i < TCT_LANE_CELLS; i++)
            tct_copy_ahead<sizeof(TCT_REAL)>(&to->v[i],
                                             row + (c.at + i) % g.n[0]);
    }
}

static __device__ __forceinline__ void
load_all(const TCT_REAL *from, TCT_REAL (&cell)[TCT_LANE_CELLS])
{
    const tct_lane_cells all = *(const tct_lane_cells *)from;
#pragma unroll
    for (int i = 0; i < TCT_LANE_CELLS; i++) cell[i] = all.v[i];
}

/* Load what fetch_cells copies. */
static __device__ __forceinline__ void
load_cells(const tct_tile_grid &g, const tct_lane_columns &c,
           const TCT_REAL *row, TCT_REAL (&cell)[TCT_LANE_CELLS])
{
    if (c.whole) load_all(row + c.at, cell);
    else if (c.inside != 0) {
#pragma unroll
        for (int i = 0; i < TCT_LANE_CELLS; i++)
            cell[i] = row[(c.at + i) % g.n[0]];
    }
}

static __device__ __forceinline__ void
store_all(TCT_REAL *to, const TCT_REAL (&cell)[TCT_LANE_CELLS])
{
    tct_lane_cells all;
#pragma unroll
    for (int i = 0; i < TCT_LANE_CELLS; i++) all.v[i] = cell[i];
    *(tct_lane_cells *)to = all;
}

/* Ghost cells of a row that closes are copies of its other end. */
static __device__ __forceinline__ void
store_some(const tct_tile_grid &g, TCT_REAL *row, int x,
           const TCT_REAL (&cell)[TCT_LANE_CELLS])
{
#pragma unroll
    for (int i = 0; i < TCT_LANE_CELLS; i++) {
        if (x + i < 0 || x + i >= g.n[0]) continue;
        row[x + i] = cell[i];
        if (g.closes[0] && x + i == 0) row[g.n[0]] = cell[i];
        if (g.closes[0] && x + i == g.n[0] - 1) row[-1] = cell[i];
    }
}

#endif
