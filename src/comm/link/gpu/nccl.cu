/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nccl.cu - the kernels before and after the all-gather of a sum.
 * All ranks add in rank order and get the same bits, which NCCL's all-reduce
 * does not promise; the flags travel with the scalars. */
#include "comm/link/gpu/nccl.h"
#include "device/gpu/epilogue.cuh"

enum { THREADS = 256 };

/* Scalar i of a batch: each system has TCT_SCALARS places. */
static __device__ inline double *scalar(double *out, int count, int i)
{
    return out + (i / count) * TCT_SCALARS + i % count;
}

static __global__ void __launch_bounds__(THREADS)
    collect(const __grid_constant__ tct_nccl_sums S, double *out, int count,
            int n, double flags)
{
    double *mine = S.all + (size_t)S.rank * (n + 1);
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        mine[i] = i < n ? *scalar(out, count, i) : flags + S.outbox->mine;
}

static __global__ void __launch_bounds__(THREADS)
    add(const __grid_constant__ tct_nccl_sums S, double *out, int count, int n,
        const __grid_constant__ tct_epilogue tail)
{
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
        double total = S.all[i];
        for (int r = 1; r < S.ranks; r++)
            total += S.all[(size_t)r * (n + 1) + i];
        if (i < n) {
            *scalar(out, count, i) = total;
        } else {
            S.outbox->flags = total;
            if (total != 0.0)
                tct_host_store((double *)&S.outbox->mailbox->flags, total);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) tct_epilogue_run_all(tail);
}

/* One block, of as many warps as have work. */
static int threads_of(int n)
{
    const int most = (n + GPU_WAVE) / GPU_WAVE * GPU_WAVE;
    return most < THREADS ? most : THREADS;
}

extern "C" void tct_nccl_collect(const tct_nccl_sums *S, const tct_op *op,
                                 double flags, const tct_gpu_launch *L)
{
    const int n = op->count * tct_op_batch(op);
    collect<<<1, threads_of(n), 0, L->stream>>>(*S, op->out, op->count, n,
                                                flags);
}

extern "C" void tct_nccl_add(const tct_nccl_sums *S, const tct_op *op,
                             const tct_gpu_launch *L)
{
    const int n = op->count * tct_op_batch(op);
    add<<<1, threads_of(n), 0, L->stream>>>(*S, op->out, op->count, n,
                                            L->epilogue);
}
