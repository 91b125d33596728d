/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/tiles3_box.cuh - tiles3.cuh for box3d1r, of two steps.
 *
 * A plane of a box has sums P and Q (cell.h), which need the rows of other
 * groups; these have them one plane later. So a level is two planes behind the
 * one before it, and keeps P of two planes, Q of one and the cells of one. */
#ifndef TCT_OPERATOR_STENCIL_GPU_TILES3_BOX_CUH
#define TCT_OPERATOR_STENCIL_GPU_TILES3_BOX_CUH
#include "operator/stencil/gpu/tiles3.cuh"

template <int WEIGHTS, int GROUP> struct tct_box_tile {
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr int DEPTH = 2, V = TCT_LANE_CELLS, ROWS = 2;
    static constexpr int MARGIN = V > DEPTH ? V : DEPTH;
    static constexpr int THREADS = 512, LANES_X = GROUP;
    static constexpr int GROUPS = THREADS / LANES_X;
    static constexpr int WIDTH = LANES_X * V, HEIGHT = GROUPS * ROWS;
    static constexpr int VALID_X = WIDTH - 2 * MARGIN;
    static constexpr int VALID_Y = HEIGHT - 2 * DEPTH;
};

/* A level when its plane z has come: the cells of plane z - 1 and, with a
 * centre, z - 2; P of z - 3 and z - 2, Q of z - 2. */
template <class T> struct tct_box_level {
    tct_plane<T> cells, centre, p[2], q;
};

/* p and q of a row. */
template <class T>
static __device__ __forceinline__ void
box_sums(const TCT_REAL (&cell)[T::V], TCT_REAL (&p)[T::V], TCT_REAL (&q)[T::V])
{
    TCT_REAL row[T::V + 2];
    widen(cell, row);
#pragma unroll
    for (int i = 0; i < T::V; i++) {
        p[i] = row_p(row, i + 1);
        q[i] = TCT_ADD(p[i], row[i + 1]);
    }
}

/* P and Q of the plane `cells`, whose edges groups have given. */
template <class T>
static __device__ __forceinline__ void
box_plane(const tct_block_tile<T> &t, int l, const tct_plane<T> &cells,
          tct_plane<T> &plane_p, tct_plane<T> &plane_q)
{
    TCT_REAL p[T::ROWS + 2][T::V], q[T::ROWS + 2][T::V];
    const tct_lane_cells above = edge_at(t, l, t.above);
    const tct_lane_cells below = edge_at(t, l, t.below);
    box_sums<T>(above.v, p[0], q[0]);
    box_sums<T>(below.v, p[T::ROWS + 1], q[T::ROWS + 1]);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
        box_sums<T>(cells.cell[r], p[r + 1], q[r + 1]);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
#pragma unroll
        for (int i = 0; i < T::V; i++) {
            const TCT_REAL around = TCT_ADD(q[r][i], q[r + 2][i]);
            plane_p.cell[r][i] = TCT_ADD(around, q[r + 1][i]);
            plane_q.cell[r][i] = TCT_ADD(around, p[r + 1][i]);
        }
}

/* Plane `to` of the level after `l`, whose plane to + 2 is `next`; `there`:
 * it is within the grid. */
template <class T>
static __device__ __forceinline__ void
box_level(const tct_block_tile<T> &t, int l, const tct_plane<T> &next,
          bool there, tct_box_level<T> &u, tct_plane<T> &out)
{
    tct_plane<T> p, q;
    box_plane<T>(t, l, u.cells, p, q);
    give_rows(t, l, next);
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
#pragma unroll
        for (int i = 0; i < T::V; i++) {
            const TCT_REAL sum = TCT_ADD(
                TCT_ADD(u.p[0].cell[r][i], p.cell[r][i]), u.q.cell[r][i]);
            const bool inside = there && (t.inside >> (r * T::V + i) & 1);
            const TCT_REAL value =
                weighted(T::CENTRE, t.g.centre, u.centre.cell[r][i],
                         t.g.neighbours, sum);
            out.cell[r][i] = inside ? value : t.g.boundary;
        }
    u.p[0] = u.p[1];
    u.p[1] = p;
    u.q = q;
    u.centre = u.cells;
    u.cells = next;
}

/* Planes [from, to) of a tile: plane z of level 0 comes, plane z - 2 DEPTH of
 * the last one is stored. */
template <class T>
static __device__ __forceinline__ void box_chunk(tct_block_tile<T> t)
{
    tct_box_level<T> level[T::DEPTH] = {};
    tct_plane<T> next;
    load_plane(t, t.from - T::DEPTH, next);
#pragma unroll 1
    for (int z = t.from - T::DEPTH; z < t.to + 2 * T::DEPTH; z++) {
        tct_plane<T> plane = next, out;
        load_plane(t, z + 1, next);
#pragma unroll
        for (int l = 0; l < T::DEPTH; l++) {
            const int to = z - 2 * l - 2;
            box_level<T>(t, l, plane, within(t.g, 2, to), level[l], out);
            plane = out;
        }
        const int to = z - 2 * T::DEPTH;
        if (to >= t.from)
            store_rows(t, t.g.out + to * t.g.plane, t.g.pitch, plane);
        turn(t);
    }
}

template <class T>
static __global__ void __launch_bounds__(T::THREADS, 1)
    box_kernel(const __grid_constant__ tct_tile_grid g,
               const __grid_constant__ tct_cut3 cut)
{
    extern __shared__ __align__(16) char tct_tile_memory[];

    const int flat = cut.tiles[0] * cut.tiles[1];
    const int from = (int)blockIdx.x / flat * cut.planes;
    const int to = min(g.n[2], from + cut.planes);
    box_chunk(
        tile_of<T>(g, cut, (int)blockIdx.x % flat, from, to, tct_tile_memory));
}

#endif
