/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/blocks.cu - blocks of iterations between their sum and the next
 * block: the small arithmetic, by one block of threads, and the update of a
 * panel in place, in one pass. */
#include "device/gpu/epilogue.cuh"

enum { THREADS = 256, BOTH_AT_LEAST = 2 /* blocks per multiprocessor */ };

static __global__ void __launch_bounds__(THREADS)
    blocks(tct_blocks_step step, tct_blocks *B, int formed, double *sums,
           double *c, const __grid_constant__ tct_ending ending)
{
    __shared__ tct_blocks_desk desk;
    tct_blocks_run(step, B, formed, sums, c, &desk);
    tct_kernel_end<0>(nullptr, ending);
}

extern "C" void tct_gpu_blocks(const tct_op *op, const tct_gpu_launch *L)
{
    blocks<<<1, THREADS, 0, L->stream>>>(op->block_step, op->blocks, op->count,
                                         op->v[0], op->out, tct_ending_of(L));
}

/* A thread has a row of X, up to K columns, in registers; the small matrix is
 * in shared memory, its last column multiplied by `sign`. */
template <int K>
static __global__ void __launch_bounds__(THREADS, BOTH_AT_LEAST)
    mix(tct_gpu_panel<double> X, int m, const double *C, double sign, double *y,
        const double *held, int64_t n,
        const __grid_constant__ tct_ending ending)
{
    __shared__ double c[TCT_COLUMNS_MOST + 1][K];
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const bool hold = *held != 0.0;
    for (int t = (int)threadIdx.x; t < (m + 1) * K; t += THREADS) {
        const int b = t / K, a = t % K;
        const double s = b < m ? 1.0 : sign;
        c[b][a] = a < X.columns ? s * C[b * X.columns + a] : 0.0;
    }
    __syncthreads();
    if (i < n && !hold) {
        double x[K];
#pragma unroll
        for (int a = 0; a < K; a++)
            x[a] = a < X.columns ? X.at[a * X.stride + i] : 0.0;
        double last = y[i];
#pragma unroll
        for (int a = 0; a < K; a++) last = fma(x[a], c[m][a], last);
        y[i] = last;
        for (int b = 0; b < m; b++) {
            double sum = 0.0;
#pragma unroll
            for (int a = 0; a < K; a++) sum = fma(x[a], c[b][a], sum);
            X.at[b * X.stride + i] = sum;
        }
    }
    tct_kernel_end<0>(nullptr, ending);
}

template <int K> static void start(const tct_op *op, const tct_gpu_launch *L)
{
    const int grid = tct_blocks_for((int64_t)op->n, THREADS, INT32_MAX);
    mix<K><<<grid, THREADS, 0, L->stream>>>(
        tct_gpu_panel_of<double>(op->x), op->y.columns, op->alpha, op->sign,
        op->v[0], op->beta, (int64_t)op->n, tct_ending_of(L));
}

extern "C" void tct_gpu_mix(const tct_op *op, const tct_gpu_launch *L)
{
    if (op->x.columns <= TCT_COLUMNS_MOST / 4)
        start<TCT_COLUMNS_MOST / 4>(op, L);
    else if (op->x.columns <= TCT_COLUMNS_MOST / 2)
        start<TCT_COLUMNS_MOST / 2>(op, L);
    else start<TCT_COLUMNS_MOST>(op, L);
}
