/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/await.cu - a kernel that waits for the cells of
 * neighbours. */
#include "operator/stencil/gpu/await.cuh"

enum { THREADS = 32 };

static __global__ void __launch_bounds__(THREADS)
    await_kernel(const __grid_constant__ tct_step_halo h,
                 const __grid_constant__ tct_peer_common C)
{
    tct_await_neighbours(C, h, tct_load_fresh(h.number));
}

extern "C" void tct_step_await(tacit_queue *q, const tct_step_halo *given)
{
    tct_step_halo h = *given;
    h.waits = true;
    tct_gpu_flush(q);
    await_kernel<<<1, THREADS, 0, tct_gpu_of(q)->stream>>>(
        h, tct_await_common(q, &h));
    tct_gpu_ok(q, gpu_last_error(), "a wait for neighbours of a grid");
}
