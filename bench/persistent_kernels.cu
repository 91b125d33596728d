/* SPDX-License-Identifier: BSD-3-Clause
 * bench/persistent_kernels.cu - see persistent_kernels.h. */
#include "device/gpu/persistent_grid.cuh"
#include "persistent_kernels.h"

template <int SUMS, bool PEERS>
static __device__ inline tct_barrier_status
meet(tct_persistent_grid<PEERS> &grid, double &wrong)
{
    if constexpr (SUMS == 0) return tct_grid_wait(grid);
    double v[SUMS ? SUMS : 1];
    const int ranks = PEERS ? grid.peers->ranks : 1;
    for (int j = 0; j < SUMS; j++) v[j] = threadIdx.x + j;
    const tct_barrier_status met = tct_grid_sum(grid, v);
    const double n = blockDim.x, blocks = (double)ranks * gridDim.x;
    for (int j = 0; j < SUMS; j++)
        if (v[j] != blocks * (n * (n - 1) / 2 + n * j)) wrong += 1.0;
    return met;
}

template <int SUMS, bool PEERS>
static __global__ void meeting(const __grid_constant__ bench_persistent_job J)
{
    __shared__ double c[TCT_SCALARS];
    tct_persistent_grid<PEERS> grid = tct_persistent_open<PEERS>(J.grid, c);
    double wrong = 0.0;
    tct_barrier_status met = tct_barrier_all(grid);
    const uint64_t start = tct_nanoseconds();
    for (int64_t i = 0; met != TCT_LATE && i < J.times; i++)
        met = meet<SUMS>(grid, wrong);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        J.out[0] = (double)(tct_nanoseconds() - start) / (double)J.times;
        J.out[1] = wrong;
    }
    tct_conclude(grid, c, met != TCT_LATE, 0);
}

/* In a slot that sums leave free. */
static __global__ void pong(const __grid_constant__ bench_persistent_job J)
{
    __shared__ double c[TCT_SCALARS];
    tct_persistent_grid<true> grid = tct_persistent_open<true>(J.grid, c);
    const tct_persistent_peers &P = *grid.peers;
    const int slot = TCT_PERSISTENT_SLOTS - 1;
    tct_barrier_status met = tct_barrier_all(grid);
    double wrong = 0.0;
    if (threadIdx.x == 0 && P.rank < 2) {
        tct_numbered *to = P.slot[1 - P.rank] + slot;
        const uint64_t start = tct_nanoseconds();
        for (int64_t i = 1; i <= J.times && !grid.told[FLAG_MISSED]; i++) {
            const uint64_t number = tct_message(grid, i);
            if (P.rank == 0) tct_numbered_send(to, (double)i, number);
            if (tct_hear_rank(grid, P.slot[P.rank] + slot, 1 - P.rank,
                              number) != (double)i)
                wrong += 1.0;
            if (P.rank == 1) tct_numbered_send(to, (double)i, number);
        }
        J.out[0] = (double)(tct_nanoseconds() - start) / (double)J.times / 2;
        J.out[1] = wrong;
    }
    __syncthreads();
    grid.epoch += (uint32_t)J.times; /* no more messages than meetings */
    tct_conclude(grid, c, met != TCT_LATE, 0);
}

template <bool PEERS> static const void *meeting_of(int sums)
{
    switch (sums) {
    case 0: return (const void *)meeting<0, PEERS>;
    case 1: return (const void *)meeting<1, PEERS>;
    case 2: return (const void *)meeting<2, PEERS>;
    case 4: return (const void *)meeting<4, PEERS>;
    case 5: return (const void *)meeting<5, PEERS>;
    default: return nullptr;
    }
}

extern "C" const void *bench_meeting(int sums, bool peers)
{
    return peers ? meeting_of<true>(sums) : meeting_of<false>(sums);
}

extern "C" const void *bench_pong(void)
{
    return (const void *)pong;
}
