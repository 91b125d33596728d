/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/grid.cuh - one row of a product with a stencil, a thread each,
 * for product kernels and persistent kernels: nothing is loaded but x. Where a
 * neighbour is missing 0 is added, in the order of columns, so that bits are
 * those of the stored formats. */
#ifndef TCT_OPERATOR_GPU_GRID_CUH
#define TCT_OPERATOR_GPU_GRID_CUH
#include "operator/gpu/values.cuh"

template <int COLS> struct tct_sums {
    double v[COLS];
};

/* Points `first` to `first` + U: all loads are issued before the first use. */
template <int COLS, bool WRITTEN, int U, int N>
static __device__ inline void
tct_cell_batch(const int (&at)[N], const double (&k)[N], int first,
               const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    double v[U][COLS];
#pragma unroll
    for (int i = 0; i < U; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            v[i][j] =
                at[first + i] >= 0 ? tct_x<WRITTEN>(x[j], at[first + i]) : 0.0;
#pragma unroll
    for (int i = 0; i < U; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            sum.v[j] = fma(k[first + i], v[i][j], sum.v[j]);
}

/* Of more than two columns registers hold a few points at a time. */
template <int COLS, bool WRITTEN, int N>
static __device__ inline void
tct_cell_add(const int (&at)[N], const double (&k)[N],
             const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    constexpr int U = COLS > 2 ? 3 : N, REST = N % U;
#pragma unroll
    for (int first = 0; first + U <= N; first += U)
        tct_cell_batch<COLS, WRITTEN, U>(at, k, first, x, sum);
    if constexpr (REST > 0)
        tct_cell_batch<COLS, WRITTEN, REST>(at, k, N - REST, x, sum);
}

template <int COLS, bool WRITTEN>
static __device__ inline void
tct_cell_star(const tct_grid_rows &g, const tct_grid_cell &c,
              const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    int at[TCT_GRID_STAR];
    double k[TCT_GRID_STAR];
#pragma unroll
    for (int i = 0; i < TCT_GRID_STAR; i++) {
        const int p = tct_star_point(i);
        at[i] = tct_grid_neighbour(&g, c, p / 3, p % 3 - 1);
        k[i] = g.k[p];
    }
    tct_cell_add<COLS, WRITTEN>(at, k, x, sum);
}

/* A plane of a box, lines 3 z to 3 z + 2. */
template <int COLS, bool WRITTEN, int Z>
static __device__ inline void
tct_cell_plane(const tct_grid_rows &g, const tct_grid_cell &c,
               const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    int at[TCT_GRID_LINES];
    double k[TCT_GRID_LINES];
#pragma unroll
    for (int i = 0; i < TCT_GRID_LINES; i++) {
        at[i] = tct_grid_neighbour(&g, c, 3 * Z + i / 3, i % 3 - 1);
        k[i] = g.k[TCT_GRID_LINES * Z + i];
    }
    tct_cell_add<COLS, WRITTEN>(at, k, x, sum);
}

template <int COLS, bool WRITTEN>
static __device__ inline tct_sums<COLS>
tct_cell_sum(const tct_grid_rows &g, int row, const double *const (&x)[COLS])
{
    tct_sums<COLS> sum;
    for (int j = 0; j < COLS; j++) sum.v[j] = 0.0;
    const tct_grid_cell c = tct_grid_cell_of(&g, row);
    if (!g.box) {
        tct_cell_star<COLS, WRITTEN>(g, c, x, sum);
        return sum;
    }
    if (!g.flat) tct_cell_plane<COLS, WRITTEN, 0>(g, c, x, sum);
    tct_cell_plane<COLS, WRITTEN, 1>(g, c, x, sum);
    if (!g.flat) tct_cell_plane<COLS, WRITTEN, 2>(g, c, x, sum);
    return sum;
}

#endif
