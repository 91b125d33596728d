/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_meet.cuh - how blocks that stay wait for those
 * around them. A flag is set by a release and read by an acquire, both with a
 * barrier of the block, so that plain loads after it see plain stores before
 * it. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_MEET_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_MEET_CUH
#include "device/gpu/lane.cuh"
#include "device/gpu/late.h"
#include "device/protocol.h"
#include "operator/stencil/gpu/own_job.h"

/* A block's part in meetings. */
typedef struct tct_own_place {
    int tile, others;     /* tiles that it waits for                    */
    const int *other;     /* ... their numbers                          */
    const uint64_t *mine; /* the flag that this thread reads, or NULL   */
    int *late;            /* shared: a wait was in vain                 */
} tct_own_place;

static __device__ inline tct_own_place tct_own_open(const tct_own_job &J)
{
    __shared__ int late;
    const int tile = J.tile + (int)blockIdx.x;
    const int first = J.first[tile];
    tct_own_place p = {tile, J.first[tile + 1] - first, J.others + first,
                       nullptr, &late};
    if ((int)threadIdx.x < p.others)
        p.mine = J.flag + (size_t)p.other[threadIdx.x] * TCT_FLAG_WORDS;
    if (threadIdx.x == 0) late = 0;
    __syncthreads();
    return p;
}

/* Wait until the tiles around have made `visits` visits of this kernel. False:
 * one did not come in time; all threads then end. */
static __device__ inline bool tct_own_meet(const tct_own_job &J,
                                           const tct_own_place &p, int visits)
{
    const uint64_t number = J.visited + (uint64_t)visits;
    const tct_limit limit = {J.limit_ns, nullptr};
    bool came = !p.mine || tct_await_counter(p.mine, number, limit) == TCT_CAME;
    for (int i = (int)(threadIdx.x + blockDim.x); came && i < p.others;
         i += (int)blockDim.x)
        came = tct_await_counter(J.flag + (size_t)p.other[i] * TCT_FLAG_WORDS,
                                 number, limit) == TCT_CAME;
    if (!came) {
        *p.late = 1;
        tct_host_store(J.missing, TCT_MISSING_BLOCK);
        tct_fence_all();
    }
    __syncthreads();
    return *p.late == 0;
}

/* This tile has made `visits` visits. */
static __device__ inline void tct_own_done(const tct_own_job &J,
                                           const tct_own_place &p, int visits)
{
    __syncthreads();
    if (threadIdx.x == 0)
        tct_signal_set(J.flag + (size_t)p.tile * TCT_FLAG_WORDS,
                       J.visited + (uint64_t)visits);
}

#endif
