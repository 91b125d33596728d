/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/boxes.cuh - a step of some boxes of a block, for the type
 * TCT_REAL: the edges, which read ghosts and which neighbours have as ghosts,
 * and the inner cells.
 *
 * Thread blocks of edges may wait for the neighbours' signals before they read
 * ghosts, may store cells into the neighbours' ghosts as well, and may signal
 * when all edges are done. A neighbour that sees the signal sees the cells; it
 * also knows that this step reads no ghost any more, so that two buffers need
 * no acknowledgement. */
#ifndef TCT_OPERATOR_STENCIL_GPU_BOXES_CUH
#define TCT_OPERATOR_STENCIL_GPU_BOXES_CUH
#include "comm/link/gpu/peer.cuh"
#include "operator/stencil/gpu/step.cuh"

/* --- signals -------------------------------------------------------------- */

static __device__ __forceinline__ tct_limit
signal_limit(const tct_step_signals &s)
{
    return {s.limit_ns, s.gone};
}

/* Wait for all neighbours; by all threads. */
static __device__ __forceinline__ void
await_neighbours(const tct_step_signals &s)
{
    const int i = (int)threadIdx.x;
    if (i < s.count) {
        const tct_wait_status status =
            tct_await_counter(s.own[i], s.awaited, signal_limit(s));
        if (status == TCT_MISSED) give_up(s, s.peer[i]);
    }
    __syncthreads();
}

/* By all threads; `parts` thread blocks call it. */
static __device__ __forceinline__ void tell_neighbours(const tct_step_signals &s,
                                                       unsigned parts)
{
    __syncthreads();
    if (threadIdx.x != 0 || !tct_all_done(s.ticket, parts)) return;
    for (int i = 0; i < s.count; i++) tct_signal_send(s.other[i], s.number);
}

#endif
