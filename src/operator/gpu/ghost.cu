/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/ghost.cu - y += B g, or -= alpha d (B g), and its share of
 * (x, y). */
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/ghost.h"

enum { THREADS = 256 };

/* The old *out goes into the sum first: it is written only at the end. */
template <int SUMS>
static __global__ void __launch_bounds__(THREADS)
    add(const __grid_constant__ tct_gpu_ghost_arrays B, const double *g,
        double *y, const double *x, const double *d, const double *alpha,
        const __grid_constant__ tct_ending ending)
{
    double dot[1] = {0.0};
    const double a = d ? -*alpha : 1.0;
    const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (SUMS && first == 0) dot[0] = *ending.out;
    for (int64_t i = first; i < B.rows; i += (int64_t)gridDim.x * THREADS) {
        double sum = 0.0;
        for (int64_t k = B.ptr[i]; k < B.ptr[i + 1]; k++)
            sum = fma(B.val[k], g[B.col[k]], sum);
        if (d) sum *= a * d[B.row[i]];
        y[B.row[i]] += sum;
        if (SUMS) dot[0] = fma(x[B.row[i]], sum, dot[0]);
    }
    tct_kernel_end<SUMS>(dot, ending);
}

static void multiply_add(const tct_gpu_block *block, const tct_gpu_launch *L,
                         const tct_op *op)
{
    const tct_gpu_ghost *B = (const tct_gpu_ghost *)block;
    const int blocks = tct_blocks_for(B->d.rows, THREADS, (int64_t)L->sms * 4);
    double *const *v = op->v;
    const auto kernel = L->out ? add<1> : add<0>;
    kernel<<<blocks, THREADS, 0, L->stream>>>(B->d, v[2], v[0], v[1], v[3],
                                              op->alpha, tct_ending_of(L));
}

extern "C" const tct_gpu_block_ops tct_gpu_ghost_ops = {
    nullptr, nullptr, nullptr, nullptr, TCT_HOST(multiply_add)};
