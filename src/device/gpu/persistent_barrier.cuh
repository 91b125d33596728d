/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_barrier.cuh - the state of a block of a persistent grid,
 * and the barrier of the blocks of one GPU. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_BARRIER_CUH
#define TCT_DEVICE_GPU_PERSISTENT_BARRIER_CUH
#include "device/gpu/clock.cuh"
#include "device/gpu/epilogue.cuh"
#include "device/gpu/persistent_grid.h"
#include "device/protocol.h"

/* Flags that one thread sets for its block. */
enum {
    FLAG_MET,    /* status of the last barrier */
    FLAG_WISH,   /* 1: ask for the end; 2: asked */
    FLAG_RANK,   /* a rank has a flag */
    FLAG_MISSED, /* timeout of a peer */
    FLAG_ENOUGH, /* one thread has decided to end the loop */
    TCT_FLAGS
};

/* The block's state of grid barriers; PEERS: there are persistent grids of
 * other GPUs. */
template <bool PEERS> struct tct_persistent_grid {
    const tct_persistent_job &job;
    uint32_t epoch; /* barriers so far */
    uint32_t waits; /* ... by the counter: with PEERS not all */
    int *told;      /* shared, [TCT_FLAGS] */
    const tct_persistent_peers *peers; /* shared, as `before`; with PEERS */
    const uint64_t *before;            /* barriers of earlier kernels */
};
/* Copy the scalars of the solve to `c`, private to each block: thread 0 of
 * every block does the same steps. */
template <bool PEERS>
static __device__ inline tct_persistent_grid<PEERS>
tct_persistent_open(const tct_persistent_job &job, double *c)
{
    __shared__ int told[TCT_FLAGS];
    tct_persistent_grid<PEERS> g = {job, 0, 0, told, nullptr, nullptr};
    if (threadIdx.x < TCT_FLAGS) told[threadIdx.x] = 0;
    if constexpr (PEERS) { /* loads from memory would delay each barrier */
        __shared__ tct_persistent_peers peers;
        __shared__ uint64_t before;
        g.peers = &peers;
        g.before = &before;
        if (threadIdx.x == 0) {
            peers = *job.peers;
            before = *job.peers->number;
        }
    }
    if (threadIdx.x < TCT_SCALARS) c[threadIdx.x] = job.c[threadIdx.x];
    if constexpr (TCT_BARRIERS_IN_MEMORY) tct_open_barriers();
    __syncthreads();
    tct_clock_start();
    return g;
}
template <bool PEERS>
static __device__ inline uint32_t
tct_counted(const tct_persistent_grid<PEERS> &g)
{
    return PEERS ? g.waits : g.epoch;
}
/* Thread 0: arrive at the barrier; returns the counter. */
template <bool PEERS>
static __device__ inline uint64_t
tct_barrier_arrive(tct_persistent_grid<PEERS> &g)
{
    const bool end = g.told[FLAG_WISH] == 1;
    if (end) g.told[FLAG_WISH] = 2;
    return tct_barrier_arrive_at(g.job.counter, tct_counted(g), end);
}
/* ... and wait until all blocks have arrived. */
template <bool PEERS>
static __device__ inline void tct_barrier_wait(tct_persistent_grid<PEERS> &g,
                                               uint64_t seen)
{
    g.told[FLAG_MET] = tct_await_blocks(g.job.counter, seen, gridDim.x,
                                        tct_counted(g), g.job.limit_ns);
}

/* The last warp of a block, which has no other work if a warp is spare. */
static __device__ inline bool tct_is_last_warp()
{
    return threadIdx.x >= blockDim.x - GPU_WAVE;
}

/* Wait for all blocks; their earlier stores are then visible. All threads call
 * it. */
template <bool PEERS>
static __device__ inline tct_barrier_status
tct_grid_wait(tct_persistent_grid<PEERS> &g)
{
    g.epoch++;
    g.waits++;
    __syncthreads();
    if (threadIdx.x == 0) tct_barrier_wait(g, tct_barrier_arrive(g));
    __syncthreads();
    tct_spent(TCT_ON_BARRIER);
    return (tct_barrier_status)g.told[FLAG_MET];
}

#endif
