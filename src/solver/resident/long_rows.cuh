/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/long_rows.cuh - rows kept apart from slices, in a persistent
 * kernel. The block that has such a row, empty, in its slices sums it too. Its
 * warps share its rows: a row a warp if there are many, all warps for a very
 * long one. */
#ifndef TCT_SOLVER_RESIDENT_LONG_ROWS_CUH
#define TCT_SOLVER_RESIDENT_LONG_ROWS_CUH
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/slices.cuh"
#include "solver/resident/job.h"

enum { TCT_FOR_A_WARP = 1024 }; /* entries, at most */

/* Those of this block, in ascending order. */
struct tct_long_rows {
    const tct_gpu_long *row;
    int count;
    bool wide; /* some exceed a warp */
};

/* Block and warp of the row at `place`, the inverse of tct_row. */
static __device__ inline int tct_block_of_place(const tct_resident_job &J,
                                                int m, int place)
{
    const int part = place / GPU_LANES / m % J.round;
    return J.warp == 1 ? part / J.block : part % J.warp;
}
static __device__ inline int tct_warp_of(const tct_resident_job &J, int part)
{
    part %= J.round;
    return J.warp == 1 ? part % J.block : part / J.warp;
}

/* Exclusive prefix sum of `mine` over the threads; called by every thread. */
static __device__ inline int tct_block_scan(int mine)
{
    __shared__ int warp[TCT_WARPS_MOST];
    const int lane = tct_lane(), w = tct_warp();
    int upto = mine;
    for (int d = 1; d < GPU_WAVE; d <<= 1) {
        const int v = tct_shuffle_up(upto, d);
        if (lane >= d) upto += v;
    }
    if (lane == GPU_WAVE - 1) warp[w] = upto;
    __syncthreads();
    int before = upto - mine;
    for (int i = 0; i < w; i++) before += warp[i];
    __syncthreads();
    return before;
}

/* Called by every thread, at the start: lists the rows of block 0, 1, ... in
 * long_own. */
template <int WALK>
static __device__ inline tct_long_rows
tct_find_long_rows(const tct_resident_job &J)
{
    __shared__ int first, count, wide;
    const int rows = (int)J.A.long_rows, m = tct_walk<WALK>::m;
    if (rows == 0) return {nullptr, 0, false};
    if (threadIdx.x == 0) first = count = wide = 0;
    __syncthreads();
    const int each = (rows + (int)blockDim.x - 1) / (int)blockDim.x;
    const int from = min(rows, (int)threadIdx.x * each);
    const int to = min(rows, from + each);
    int mine = 0, others = 0;
    for (int i = from; i < to; i++) {
        const int owner =
            tct_block_of_place(J, m, tct_read_only(&J.A.long_place[i]));
        mine += owner == (int)blockIdx.x;
        others += owner < (int)blockIdx.x;
    }
    atomicAdd(&first, others);
    atomicAdd(&count, mine);
    int at = tct_block_scan(mine); /* also a barrier */
    for (int i = from; i < to; i++) {
        const int place = tct_read_only(&J.A.long_place[i]);
        if (tct_block_of_place(J, m, place) != (int)blockIdx.x) continue;
        const int64_t k = J.A.long_ptr[i];
        const int n = (int)(J.A.long_ptr[i + 1] - k);
        J.A.long_own[first + at++] = {k, n, J.A.long_row[i], place};
        if (n > TCT_FOR_A_WARP) wide = 1;
    }
    __syncthreads();
    return {J.A.long_own + first, count, wide != 0};
}

/* Entries `k`, k + step, ... of a row, some loaded together. */
template <int COLS>
static __device__ inline void
tct_sum_entries(const tct_gpu_arrays &A, const tct_gpu_long &row, int k,
                int step, const double *const (&x)[COLS], double (&sum)[COLS])
{
    constexpr int U = COLS == 1 ? 8 : 4;
    for (; k < row.count; k += U * step) {
        double v[U];
        int col[U];
#pragma unroll
        for (int q = 0; q < U; q++) {
            const bool there = k + q * step < row.count;
            v[q] = there ? tct_read_only(A.long_val + row.first + k + q * step)
                         : 0.0;
            col[q] = there
                         ? tct_read_only(A.long_col + row.first + k + q * step)
                         : -1;
        }
#pragma unroll
        for (int q = 0; q < U; q++)
#pragma unroll
            for (int j = 0; j < COLS; j++)
                if (col[q] >= 0)
                    sum[j] = fma(v[q], tct_x<true>(x[j], col[q]), sum[j]);
    }
}

/* `take(slot, row, sums, thread)` for each such row, by any thread; the thread
 * that has the row has stored 0 for it before. */
template <int WALK, int COLS, class TAKE>
static __device__ inline void
tct_sum_long_rows(const tct_resident_job &J, const tct_long_rows &rows,
                  const double *const (&x)[COLS], const TAKE &take)
{
    constexpr int M = tct_walk<WALK>::m;
    if (rows.count == 0) return;
    __syncthreads();
    const int warps = (int)(blockDim.x / GPU_WAVE), lane = tct_lane();
    const auto give = [&](const tct_gpu_long &row, const double(&v)[COLS]) {
        const int unit = row.place / GPU_LANES, part = unit / M;
        const int round = part / J.round;
        tct_sums<COLS> sum;
        for (int j = 0; j < COLS; j++) sum.v[j] = v[j];
        take(round * M + unit % M, row.row, sum,
             tct_warp_of(J, part) * GPU_WAVE + row.place % GPU_LANES);
    };
    const int w = tct_warp(), team = warps / rows.count;
    if (team > 1) { /* all rows at once, some warps each */
        __shared__ double part[TCT_WARPS_MOST][COLS];
        const int i = w / team, first = (w % team) * GPU_WAVE + lane;
        double sum[COLS] = {0.0};
        if (i < rows.count)
            tct_sum_entries(J.A, rows.row[i], first, team * GPU_WAVE, x, sum);
        tct_warp_sum(sum);
        for (int j = 0; j < COLS && lane == 0; j++) part[w][j] = sum[j];
        __syncthreads();
        if (first == 0 && i < rows.count) {
            for (int k = 1; k < team; k++)
                for (int j = 0; j < COLS; j++) sum[j] += part[w + k][j];
            give(rows.row[i], sum);
        }
        __syncthreads();
        return;
    }
    for (int i = w; i < rows.count; i += warps) {
        const tct_gpu_long row = rows.row[i];
        if (row.count > TCT_FOR_A_WARP) continue;
        double sum[COLS] = {0.0};
        tct_sum_entries(J.A, row, lane, GPU_WAVE, x, sum);
        tct_warp_sum(sum);
        if (lane == 0) give(row, sum);
    }
    for (int i = 0; rows.wide && i < rows.count; i++) {
        const tct_gpu_long row = rows.row[i];
        if (row.count <= TCT_FOR_A_WARP) continue;
        double sum[COLS] = {0.0};
        tct_sum_entries(J.A, row, (int)threadIdx.x, (int)blockDim.x, x, sum);
        tct_block_sum(sum);
        if (threadIdx.x == 0) give(row, sum);
    }
    __syncthreads();
}

#endif
