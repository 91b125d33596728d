/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/magnitude.cu - |A| |x|, a thread for each lane of a slice, each
 * row kept apart, each tile of csr, each ghost row. */
#include "operator/gpu/csr.h"
#include "operator/gpu/ghost.h"
#include "operator/gpu/magnitude.h"
#include "operator/gpu/slices.h"
#include "operator/layout/cells.h"

enum { THREADS = 128 };

static __device__ inline int64_t index_here()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

static __global__ void __launch_bounds__(THREADS)
    slices(const __grid_constant__ tct_gpu_arrays a, const double *x, double *y)
{
    const int64_t i = index_here();
    if (i < a.slices * GPU_LANES)
        tct_cell_magnitude(&a, i / GPU_LANES, (int)(i % GPU_LANES), x, y);
}

static __global__ void __launch_bounds__(THREADS)
    long_rows(const __grid_constant__ tct_gpu_arrays a, const double *x,
              double *y)
{
    const int64_t i = index_here();
    if (i < a.long_rows) tct_long_row_magnitude(&a, i, x, y);
}

/* The end of row `i`, which lies in tile `t`. */
static __device__ inline int64_t end_of(const tct_gpu_csr_arrays &d, int64_t t,
                                        int64_t i)
{
    return t * GPU_CSR_TILE - d.start[t] + d.end[i];
}

/* The rows that end in a tile; the first begins where the last row of an
 * earlier tile ends. */
static __global__ void __launch_bounds__(THREADS)
    tiles(const __grid_constant__ tct_gpu_csr_arrays d, const double *x,
          double *y)
{
    const int64_t t = index_here();
    if (t >= d.tiles) return;
    const int32_t first = d.start[t];
    int64_t u = t - 1, k = 0;
    while (u >= 0 && d.start[u] == first) u--;
    if (u >= 0 && first > 0) k = end_of(d, u, first - 1);
    for (int32_t i = first; i < d.start[t + 1]; i++) {
        const int64_t end = end_of(d, t, i);
        double sum = 0.0;
        for (; k < end; k++)
            sum += fabs(((const double *)d.val)[k] * x[d.col[k]]);
        y[i] = sum;
    }
}

static __global__ void __launch_bounds__(THREADS)
    ghosts(const __grid_constant__ tct_gpu_ghost_arrays d, const double *g,
           double *y)
{
    const int64_t i = index_here();
    double sum = 0.0;
    if (i >= d.rows) return;
    for (int64_t k = d.ptr[i]; k < d.ptr[i + 1]; k++)
        sum += fabs(d.val[k] * g[d.col[k]]);
    y[d.row[i]] += sum;
}

static int blocks_of(int64_t n)
{
    return (int)((n + THREADS - 1) / THREADS);
}

extern "C" void tct_gpu_magnitude(tacit_queue *q, const tct_block *B,
                                  const double *x, double *y)
{
    const tct_gpu_block *block = (const tct_gpu_block *)(const void *)B;
    tct_gpu_flush(q);
    const gpu_stream stream = tct_gpu_of(q)->stream;
    if (block->gpu == &tct_gpu_csr_ops) {
        const tct_gpu_csr_arrays &d = ((const tct_gpu_csr *)(const void *)B)->d;
        if (d.tiles > 0)
            tiles<<<blocks_of(d.tiles), THREADS, 0, stream>>>(d, x, y);
    } else {
        const tct_gpu_arrays &a = ((const tct_gpu_slices *)(const void *)B)->d;
        const int64_t lanes = a.slices * GPU_LANES;
        if (lanes > 0)
            slices<<<blocks_of(lanes), THREADS, 0, stream>>>(a, x, y);
        if (a.long_rows > 0)
            long_rows<<<blocks_of(a.long_rows), THREADS, 0, stream>>>(a, x, y);
    }
    tct_gpu_ok(q, gpu_last_error(), "summing magnitudes");
}

extern "C" void tct_gpu_add_magnitude(tacit_queue *q, const tct_block *G,
                                      const double *g, double *y)
{
    const tct_gpu_ghost_arrays &d = ((const tct_gpu_ghost *)(const void *)G)->d;
    tct_gpu_flush(q);
    if (d.rows > 0)
        ghosts<<<blocks_of(d.rows), THREADS, 0, tct_gpu_of(q)->stream>>>(d, g,
                                                                         y);
    tct_gpu_ok(q, gpu_last_error(), "summing magnitudes");
}
