/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/await.cuh - waits of a kernel for the cells of
 * neighbours. */
#ifndef TCT_OPERATOR_STENCIL_GPU_AWAIT_CUH
#define TCT_OPERATOR_STENCIL_GPU_AWAIT_CUH
#include "comm/link/gpu/peer.cuh"
#include "halo/put.h"
#include "operator/stencil/gpu/side_lane.h"

/* Wait for exchange `number` of all neighbours; by all threads of a block, which
 * has as many as there are directions. What they read afterwards is what the
 * neighbours have stored. */
static __device__ __forceinline__ void
tct_await_neighbours(const tct_peer_common &C, const tct_step_halo &h,
                     uint64_t number)
{
    const int i = (int)threadIdx.x;
    if (i < h.count && h.put[i].own &&
        tct_await_counter(h.put[i].own, number, limit_of(C)) == TCT_MISSED)
        give_up(C, h.put[i].peer);
    __syncthreads();
}

#endif
