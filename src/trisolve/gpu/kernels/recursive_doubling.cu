/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/recursive_doubling.cu - y of rows that ranks share,
 * packed for messages between the passes, and summed. */
#include "device/gpu/lane.cuh"
#include "trisolve/gpu/kernels/solve.h"

enum { THREADS = 256, BLOCKS = 512 };

/* Call each(i, n, packed position) for the first `count` rows of all
 * columns. */
template <class EACH>
static __device__ inline void for_all(const tct_tri_pack &p, int32_t count,
                                      const EACH &each)
{
    const int64_t all = (int64_t)count * p.columns;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < all;
         e += (int64_t)gridDim.x * THREADS) {
        const int n = (int)(e / count);
        const int32_t i = (int32_t)(e % count);
        each(i, n, (int64_t)n * p.count + i);
    }
}

static __global__ void __launch_bounds__(THREADS)
    take(const __grid_constant__ tct_tri_pack p, bool back)
{
    for_all(p, p.count, [&](int32_t i, int n, int64_t at) {
        double *const y = &p.y[(int64_t)p.row[i] * p.stride + n];
        if (back) *y = p.packed[at];
        else p.packed[at] = *y;
    });
}

static __global__ void __launch_bounds__(THREADS)
    add(const __grid_constant__ tct_tri_pack p, int32_t some,
        const double *from)
{
    for_all(p, some, [&](int32_t i, int n, int64_t at) {
        p.packed[at] += from[(int64_t)n * some + i];
    });
}

static unsigned blocks_for(const tct_tri_pack *p, int32_t count)
{
    const int64_t most = BLOCKS;
    const int64_t all = ((int64_t)count * p->columns + THREADS - 1) / THREADS;
    return (unsigned)(all < 1 ? 1 : all > most ? most : all);
}

gpu_error tct_tri_take(const tct_tri_pack *p, gpu_stream stream)
{
    take<<<blocks_for(p, p->count), THREADS, 0, stream>>>(*p, false);
    return gpu_last_error();
}

gpu_error tct_tri_give(const tct_tri_pack *p, gpu_stream stream)
{
    take<<<blocks_for(p, p->count), THREADS, 0, stream>>>(*p, true);
    return gpu_last_error();
}

gpu_error tct_tri_add(const tct_tri_pack *p, int32_t some, const double *from,
                      gpu_stream stream)
{
    add<<<blocks_for(p, some), THREADS, 0, stream>>>(*p, some, from);
    return gpu_last_error();
}
