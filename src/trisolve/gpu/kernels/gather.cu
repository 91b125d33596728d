/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/gather.cu - right-hand sides of a factor whose rows are
 * not in the order of its columns. */
#include "device/gpu/lane.cuh"
#include "trisolve/gpu/kernels/solve.h"

enum { THREADS = 256, BLOCKS = 1024 };

static __global__ void __launch_bounds__(THREADS)
    gather(const __grid_constant__ tct_tri_gathered g)
{
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < g.rows;
         k += (int64_t)gridDim.x * THREADS) {
        const int32_t to = g.place[k], from = g.from[k];
        if (to < 0) continue;
        for (int n = 0; n < g.columns; n++)
            g.to[to + n * g.ld] = g.B[from + n * g.ldb];
    }
}

gpu_error tct_tri_gather(const tct_tri_gathered *g, gpu_stream stream)
{
    const int64_t most = BLOCKS, blocks = (g->rows + THREADS - 1) / THREADS;
    if (blocks == 0) return gpu_last_error();
    gather<<<(unsigned)(blocks < most ? blocks : most), THREADS, 0, stream>>>(
        *g);
    return gpu_last_error();
}
