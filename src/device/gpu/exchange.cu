/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/exchange.cu - what is sent is packed, what has landed is unpacked:
 * in messages the columns of an element stand side by side. */
#include "device/gpu/tail.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    pack(tct_panel x, const int32_t *index, int64_t n, double *to,
         const __grid_constant__ tct_ending ending)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        for (int j = 0; j < x.columns; j++)
            to[i * x.columns + j] = x.at[j * x.stride + index[i]];
    tct_end<0>(nullptr, ending);
}

static __global__ void __launch_bounds__(THREADS)
    unpack(const double *landing, int columns, int64_t n, double *ghost,
           const __grid_constant__ tct_ending ending)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        for (int j = 0; j < columns; j++)
            ghost[j * n + i] = landing[i * columns + j];
    tct_end<0>(nullptr, ending);
}

extern "C" void tct_gpu_exchange(const tct_op *op, const tct_gpu_launch *L)
{
    const tct_exchange *e = op->exchange;
    const int64_t n = (int64_t)op->n;
    const int blocks = tct_grid(n, THREADS, INT32_MAX);
    if (op->code == TCT_PACK)
        pack<<<blocks, THREADS, 0, L->stream>>>(op->x, e->index, n, e->pack,
                                                tct_ending_of(L));
    else
        unpack<<<blocks, THREADS, 0, L->stream>>>(tct_landing(e, op->x.columns),
                                                  op->x.columns, n, e->ghost,
                                                  tct_ending_of(L));
}
