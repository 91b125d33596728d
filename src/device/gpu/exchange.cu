/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/exchange.cu - pack and unpack; in messages the columns of an
 * element are contiguous. */
#include "device/gpu/epilogue.cuh"

enum { THREADS = 256 };

/* In a failed queue x may be NULL; messages still go out. */
template <class T>
static __global__ void __launch_bounds__(THREADS)
    pack(tct_gpu_panel<T> x, const int32_t *index, int64_t n, T *to,
         const __grid_constant__ tct_ending ending)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        for (int j = 0; j < x.columns; j++)
            to[i * x.columns + j] = x.at ? x.at[j * x.stride + index[i]] : T(0);
    tct_kernel_end<0>(nullptr, ending);
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    unpack(const T *landing, int columns, int64_t n, T *ghost,
           const __grid_constant__ tct_ending ending)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        for (int j = 0; j < columns; j++)
            ghost[j * n + i] = landing[i * columns + j];
    tct_kernel_end<0>(nullptr, ending);
}

template <class T>
static void start_pack(const tct_op *op, double *to, const tct_gpu_launch *L)
{
    const tct_exchange *e = op->exchange;
    const int blocks = tct_blocks_for(e->values, THREADS, INT32_MAX);
    pack<T><<<blocks, THREADS, 0, L->stream>>>(tct_gpu_panel_of<T>(op->x),
                                               e->index, e->values, (T *)to,
                                               tct_ending_of(L));
}

template <class T>
static void start_unpack(const tct_op *op, const double *from,
                         const tct_gpu_launch *L)
{
    const tct_exchange *e = op->exchange;
    const int blocks = tct_blocks_for(e->ghosts, THREADS, INT32_MAX);
    unpack<T><<<blocks, THREADS, 0, L->stream>>>((const T *)from, op->x.columns,
                                                 e->ghosts, (T *)e->ghost,
                                                 tct_ending_of(L));
}

extern "C" void tct_gpu_pack(const tct_op *op, double *to,
                             const tct_gpu_launch *L)
{
    if (op->element == TACIT_F32) start_pack<float>(op, to, L);
    else start_pack<double>(op, to, L);
}

extern "C" void tct_gpu_unpack(const tct_op *op, const double *from,
                               const tct_gpu_launch *L)
{
    if (op->element == TACIT_F32) start_unpack<float>(op, from, L);
    else start_unpack<double>(op, from, L);
}
