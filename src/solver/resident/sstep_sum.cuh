/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/sstep_sum.cuh - the sum of a block of iterations, (P, Z)' (A Z,
 * r): tiles on tensor cores, then over the blocks of threads. It is of too many
 * numbers for every block to add up all of them: each adds up a few, and then
 * reads what others have. */
#ifndef TCT_SOLVER_RESIDENT_SSTEP_SUM_CUH
#define TCT_SOLVER_RESIDENT_SSTEP_SUM_CUH
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/sstep_columns.cuh"

enum {
    TCT_GRAM_TILE = 8, /* columns of each panel in a tile of the sum */
    TCT_GRAM_DOWN = 2 * TCT_SSTEP_MOST / TCT_GRAM_TILE, /* tiles of (P, Z) */
    TCT_GRAM_RIGHT = 2, /* and of (A Z, r), at once                */
    TCT_GRAM_PAIR = TCT_GRAM_RIGHT * TCT_GRAM_TILE * TCT_GRAM_TILE,
    TCT_RENEWED_TOO = 2 /* sums that are of vectors: of r, of its change */
};

/* Columns (P, Z), or Z alone, and of (A Z, r) the last ones. */
struct tct_gram {
    int s, first, rows, columns;
};
static __device__ inline tct_gram gram_of(const tct_blocks &blocks, int s)
{
    const int first = blocks.moments ? blocks.most : 0;
    return {s, first, blocks.most + s - first, blocks.moments ? 2 : s + 1};
}

/* Tiles of the sum over the rows of this warp: those of `right` columns on. */
template <int B, int WALK>
static __device__ inline void
tiles_of_warp(const tct_sstep_job &W, tct_gram G, int right,
              double (&sum)[TCT_GRAM_DOWN][TCT_GRAM_RIGHT][2])
{
    const int lane = tct_tile_lane(), i = lane / 4;
    const int from = tct_lane() - lane; /* rows of this half of the warp */
    int left[TCT_GRAM_DOWN], there[TCT_GRAM_RIGHT]; /* column; < 0: none */
#pragma unroll
    for (int d = 0; d < TCT_GRAM_DOWN; d++)
        left[d] = d * TCT_GRAM_TILE + i < G.rows
                      ? G.first + d * TCT_GRAM_TILE + i
                      : -1;
#pragma unroll
    for (int e = 0; e < TCT_GRAM_RIGHT; e++) {
        const int b = right + e * TCT_GRAM_TILE + i;
        there[e] = b >= G.columns       ? -1
                   : b == G.columns - 1 ? own(W, TCT_COLUMN_R)
                                        : az(W, G.s + 1 - G.columns + b);
    }
    for (int t = 0; t < W.J.slots; t++) {
        const int mine = (int)tct_row<B, WALK>(W.J, t);
        for (int k = from + lane % 4; k < from + TCT_TILE_LANES; k += 4) {
            const int row = tct_shuffle(mine, k);
            const tct_spot s = {t, row, tct_warp() * GPU_WAVE + k};
            double v[TCT_GRAM_RIGHT];
#pragma unroll
            for (int e = 0; e < TCT_GRAM_RIGHT; e++)
                v[e] = row >= 0 && there[e] >= 0 ? *at(W, there[e], s) : 0.0;
#pragma unroll
            for (int d = 0; d < TCT_GRAM_DOWN; d++) {
                if (d * TCT_GRAM_TILE >= G.rows) break;
                const double u =
                    row >= 0 && left[d] >= 0 ? *at(W, left[d], s) : 0.0;
#pragma unroll
                for (int e = 0; e < TCT_GRAM_RIGHT; e++)
                    tct_multiply_tile(sum[d][e], u, v[e]);
            }
        }
    }
}

/* Sum the tiles of the halves of a warp of 64 lanes. */
static __device__ inline void
add_halves(double (&sum)[TCT_GRAM_DOWN][TCT_GRAM_RIGHT][2])
{
    for (int i = 0; i < TCT_GRAM_DOWN * TCT_GRAM_RIGHT * 2; i++) {
        double &v =
            sum[i / (2 * TCT_GRAM_RIGHT)][i / 2 % TCT_GRAM_RIGHT][i % 2];
        v += tct_shuffle_across(v, TCT_TILE_LANES);
    }
}

/* Sum `number` of this block, where all find it. */
static __device__ inline void leave(const tct_sstep_job &W, int number,
                                    double sum)
{
    tct_store_through(&W.many[(size_t)number * gridDim.x + blockIdx.x], sum);
}

/* The sums of this block: a pair of tiles of all warps, one after the other. */
template <int B, int WALK>
static __device__ inline void sum_block(const tct_sstep_job &W, tct_gram G)
{
    extern __shared__ double chip[];
    double *desk = chip + W.desk;
    const int lane = tct_tile_lane(), at = tct_warp() * TCT_GRAM_PAIR;
    for (int right = 0; right < G.columns;
         right += TCT_GRAM_RIGHT * TCT_GRAM_TILE) {
        double sum[TCT_GRAM_DOWN][TCT_GRAM_RIGHT][2] = {{{0.0}}};
        if (tct_warp() < W.J.tile) tiles_of_warp<B, WALK>(W, G, right, sum);
        if constexpr (TCT_TILES_OF_WARP == 2) add_halves(sum);
#pragma unroll
        for (int d = 0; d < TCT_GRAM_DOWN; d++) {
            if (d * TCT_GRAM_TILE >= G.rows) break;
#pragma unroll
            for (int e = 0; e < TCT_GRAM_RIGHT; e++)
#pragma unroll
                for (int n = 0; n < 2; n++)
                    desk[at + e * TCT_GRAM_TILE * TCT_GRAM_TILE + 2 * lane +
                         n] = sum[d][e][n];
            __syncthreads();
            TCT_EACH(i, TCT_GRAM_PAIR)
            {
                const int a =
                    d * TCT_GRAM_TILE +
                    i % (TCT_GRAM_TILE * TCT_GRAM_TILE) / TCT_GRAM_TILE;
                const int b =
                    right +
                    i / (TCT_GRAM_TILE * TCT_GRAM_TILE) * TCT_GRAM_TILE +
                    i % TCT_GRAM_TILE;
                double all = 0.0;
                for (int w = 0; w < W.J.tile; w++)
                    all += desk[w * TCT_GRAM_PAIR + i];
                if (a < G.rows && b < G.columns)
                    leave(W, SUM_GRAM + b * G.rows + a, all);
            }
            __syncthreads();
        }
    }
}

/* All sums of all blocks, as the text has them, into `sums`; `mine` are of each
 * thread. */
template <int B, int WALK>
static __device__ inline tct_barrier_status
sum_all(const tct_sstep_job &W, tct_gram G, tct_persistent_grid<false> &grid,
        double (&mine)[TCT_RENEWED_TOO], double *sums)
{
    const int count = SUM_GRAM + G.rows * G.columns, blocks = (int)gridDim.x;
    double *total = W.many + (size_t)count * gridDim.x;
    tct_block_sum_once(mine);
    if (threadIdx.x == 0)
        for (int i = 0; i < TCT_RENEWED_TOO; i++) leave(W, SUM_RR + i, mine[i]);
    sum_block<B, WALK>(W, G);
    tct_spent(TCT_ON_SUM);
    tct_barrier_status barrier = tct_grid_wait(grid);
    if (barrier == TCT_LATE) return barrier;
    const int step = (int)(blockDim.x / GPU_WAVE) * blocks;
    for (int e = tct_warp() * blocks + (int)blockIdx.x; e < count; e += step) {
        double v[1] = {0.0};
        for (int i = tct_lane(); i < blocks; i += GPU_WAVE)
            v[0] += tct_load_fresh(&W.many[(size_t)e * gridDim.x + i]);
        tct_warp_sum(v);
        if (tct_lane() == 0) tct_store_through(&total[e], v[0]);
    }
    barrier = tct_grid_wait(grid);
    TCT_EACH(e, count) sums[e] = tct_load_fresh(&total[e]);
    __syncthreads();
    tct_spent(TCT_ON_SUM);
    return barrier;
}

#endif
