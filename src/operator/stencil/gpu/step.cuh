/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/step.cuh - kernels of a step, and of changes, for the
 * type TCT_REAL of the file that includes this. A thread computes some cells of
 * a row; neighbours come through the caches. No result depends on how cells are
 * dealt out, since each has its own order of additions (cell.h). */
#ifndef TCT_OPERATOR_STENCIL_GPU_STEP_CUH
#define TCT_OPERATOR_STENCIL_GPU_STEP_CUH
#include "device/gpu/epilogue.cuh"
#include "device/gpu/gpu.h"
#include "device/gpu/lane.cuh"
#include "operator/stencil/device_steps.h"
#define TCT_CELL static __device__ __forceinline__
#include "operator/stencil/cell.h"

enum {
    STEP_THREADS = 128,
    STEP_CELLS = 4,  /* of a row, by a thread */
    STEP_PLANES = 4, /* by a thread           */
    FILL_THREADS = 256
};

#ifndef TCT_CELLS_ONLY /* of a file with other kernels */
static gpu_stream stream_of(tacit_queue *q)
{
    tct_gpu_flush(q);
    return tct_gpu_of(q)->stream;
}
#endif

/* --- rows ----------------------------------------------------------------- */

/* Cell `i` of direction d has a value of the grid. */
static __device__ __forceinline__ bool is_there(const tct_step_work &w, int d,
                                                int i)
{
    return w.closes[d] || (i >= w.low[d] && i < w.high[d]);
}

/* Where a neighbour in direction d is stored. */
static __device__ __forceinline__ int place(const tct_step_work &w, int d,
                                            int i)
{
    if (!w.closes[d] || (i >= 0 && i < w.n[d])) return i;
    return i < 0 ? w.n[d] - 1 : 0;
}

/* Cells from cell (0, 0, 0) to row y of plane z. */
static __device__ __forceinline__ int64_t line_of(const tct_step_work &w, int z,
                                                  int y)
{
    return (int64_t)z * w.plane + y * w.pitch;
}

static __device__ __forceinline__ const TCT_REAL *row_of(const tct_step_work &w,
                                                         int z, int y)
{
    if (!is_there(w, 2, z) || !is_there(w, 1, y))
        return (const TCT_REAL *)w.outside;
    return (const TCT_REAL *)w.in + line_of(w, place(w, 2, z), place(w, 1, y));
}

/* Rows in the numbering of tct_point. */
template <int DIM> struct tct_near_rows {
    const TCT_REAL *row[DIM == 2 ? 3 : 9];
};

template <int DIM>
static __device__ __forceinline__ tct_near_rows<DIM>
rows_of(const tct_step_work &w, int z, int y)
{
    tct_near_rows<DIM> r;
#pragma unroll
    for (int i = 0; i < (DIM == 2 ? 3 : 9); i++)
        r.row[i] = DIM == 2 ? row_of(w, z + i - 1, 0)
                            : row_of(w, z + i / 3 - 1, y + i % 3 - 1);
    return r;
}

template <int SHAPE>
static __device__ __forceinline__ TCT_REAL
neighbours_of(const tct_near_rows<(SHAPE < TCT_STAR3 ? 2 : 3)> &r, int x)
{
    const TCT_REAL *const *in = r.row;
    if constexpr (SHAPE == TCT_STAR2) return sum_star2(in[0], in[1], in[2], x);
    else if constexpr (SHAPE == TCT_BOX2)
        return sum_box2(in[0], in[1], in[2], x);
    else if constexpr (SHAPE == TCT_STAR3)
        return sum_star3(in[1], in[3], in[4], in[5], in[7], x);
    else
        return TCT_ADD(TCT_ADD(plane_p(in[0], in[1], in[2], x),
                               plane_p(in[6], in[7], in[8], x)),
                       TCT_ADD(TCT_ADD(row_q(in[3], x), row_q(in[5], x)),
                               row_p(in[4], x)));
}

/* --- a step --------------------------------------------------------------- */

/* Weights by cell: the points in their order, `first` is the cell's. */
template <int SHAPE>
static __device__ __forceinline__ TCT_REAL by_cell(
    const tct_step_work &w, const tct_near_rows<(SHAPE < TCT_STAR3 ? 2 : 3)> &r,
    int64_t first, int x)
{
    constexpr int DIM = SHAPE < TCT_STAR3 ? 2 : 3, ROWS = DIM == 2 ? 3 : 9;
    constexpr bool BOX = SHAPE == TCT_BOX2 || SHAPE == TCT_BOX3;
    const TCT_REAL *k = (const TCT_REAL *)w.coefficient + first;
    TCT_REAL sum = TCT_MUL(k[0], r.row[ROWS / 2][x]);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int far = DIM == 2 ? i != 1 : (i / 3 != 1) + (i % 3 != 1);
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            const int all = far + (dx != 0);
            if (all == 0 || (!BOX && all > 1)) continue;
            k += w.cells;
            sum = TCT_FMA(k[0], r.row[i][x + dx], sum);
        }
    }
    return sum;
}

/* Ghost cells of a row that closes are copies of its other end. */
static __device__ __forceinline__ void
store_cell(const tct_step_work &w, TCT_REAL *row, int x, TCT_REAL value)
{
    row[x] = value;
    if (!w.closes[0]) return;
    if (x == 0) row[w.n[0]] = value;
    if (x == w.n[0] - 1) row[-1] = value;
}

#ifndef TCT_CELLS_ONLY
template <int SHAPE, int WEIGHTS>
static __global__ void __launch_bounds__(STEP_THREADS)
    step_kernel(const __grid_constant__ tct_step_work w, unsigned strips)
{
    constexpr int DIM = SHAPE < TCT_STAR3 ? 2 : 3;
    const int number = (int)(blockIdx.x / strips);
    const int x0 = (int)(blockIdx.x % strips) * STEP_THREADS * STEP_CELLS;
    const int y = DIM == 2 ? 0 : number % w.n[1];
    const int z0 = number / w.n[1] * STEP_PLANES;
    for (int z = z0; z < z0 + STEP_PLANES && z < w.n[2]; z++) {
        const int64_t line = (int64_t)z * w.n[1] + y;
        const tct_near_rows<DIM> r = rows_of<DIM>(w, z, y);
        TCT_REAL *out = (TCT_REAL *)w.out + line_of(w, z, y);
#pragma unroll
        for (int i = 0; i < STEP_CELLS; i++) {
            const int x = x0 + i * STEP_THREADS + (int)threadIdx.x;
            if (x >= w.n[0]) break;
            TCT_REAL value;
            if constexpr (WEIGHTS == TACIT_WEIGHTS_CELLS)
                value = by_cell<SHAPE>(w, r, line * w.n[0] + x, x);
            else
                value = weighted(WEIGHTS == TACIT_WEIGHTS_CONSTANT,
                                 (TCT_REAL)w.centre, r.row[DIM == 2 ? 1 : 4][x],
                                 (TCT_REAL)w.neighbours,
                                 neighbours_of<SHAPE>(r, x));
            store_cell(w, out, x, value);
        }
    }
}

typedef void (*tct_step_kernel)(const tct_step_work, unsigned);

template <int SHAPE> static tct_step_kernel step_of(int weights)
{
    switch (weights) {
    case TACIT_WEIGHTS_MEAN: return step_kernel<SHAPE, TACIT_WEIGHTS_MEAN>;
    case TACIT_WEIGHTS_CONSTANT:
        return step_kernel<SHAPE, TACIT_WEIGHTS_CONSTANT>;
    default: return step_kernel<SHAPE, TACIT_WEIGHTS_CELLS>;
    }
}

static tct_step_kernel find_step(const tct_step_work *w)
{
    switch (w->shape) {
    case TCT_STAR2: return step_of<TCT_STAR2>(w->weights);
    case TCT_BOX2: return step_of<TCT_BOX2>(w->weights);
    case TCT_STAR3: return step_of<TCT_STAR3>(w->weights);
    default: return step_of<TCT_BOX3>(w->weights);
    }
}

static void step(tacit_queue *q, const tct_step_work *w)
{
    const int wide = STEP_THREADS * STEP_CELLS;
    const unsigned strips = (unsigned)((w->n[0] - 1) / wide + 1);
    const unsigned planes = (unsigned)((w->n[2] - 1) / STEP_PLANES + 1);
    const unsigned blocks = strips * planes * (unsigned)w->n[1];
    const gpu_stream stream = stream_of(q);
    find_step(w)<<<blocks, STEP_THREADS, 0, stream>>>(*w, strips);
    tct_gpu_ok(q, gpu_last_error(), "a step of a grid");
}

/* --- fills and changes ---------------------------------------------------- */

static __global__ void __launch_bounds__(FILL_THREADS)
    fill_kernel(TCT_REAL *cells, int64_t count, TCT_REAL value)
{
    const int64_t all = (int64_t)gridDim.x * FILL_THREADS;
    for (int64_t i = (int64_t)blockIdx.x * FILL_THREADS + threadIdx.x;
         i < count; i += all)
        cells[i] = value;
}

static void fill(tacit_queue *q, void *cells, int64_t count, double value)
{
    const gpu_stream stream = stream_of(q);
    const int blocks = tct_blocks_for(count, FILL_THREADS, 65535);
    fill_kernel<<<blocks, FILL_THREADS, 0, stream>>>((TCT_REAL *)cells, count,
                                                     (TCT_REAL)value);
    tct_gpu_ok(q, gpu_last_error(), "filling a grid");
}

/* Eight threads a block of a row, with the sums of host_text.h. */
enum { SUM_LANES = 8 };

static __global__ void __launch_bounds__(FILL_THREADS)
    change_kernel(const __grid_constant__ tct_step_work w, int64_t block,
                  int64_t blocks, int64_t all, double *changes)
{
    const int lane = (int)threadIdx.x % SUM_LANES;
    const int64_t i =
        ((int64_t)blockIdx.x * FILL_THREADS + threadIdx.x) / SUM_LANES;
    const int64_t row = i / blocks, from = i % blocks * block;
    const int64_t to = from + block < w.n[0] ? from + block : w.n[0];
    const int64_t line = line_of(w, (int)(row / w.n[1]), (int)(row % w.n[1]));
    const TCT_REAL *in = (const TCT_REAL *)w.in + line;
    const TCT_REAL *out = (const TCT_REAL *)w.out + line;
    double sum = 0.0;
    for (int64_t x = from + lane; i < all && x < to; x += SUM_LANES) {
        const double d = __dsub_rn((double)out[x], (double)in[x]);
        sum = __dadd_rn(sum, __dmul_rn(d, d));
    }
    for (int d = SUM_LANES / 2; d > 0; d /= 2)
        sum = __dadd_rn(sum, tct_shuffle_across(sum, d));
    if (lane == 0 && i < all) changes[i] = sum;
}

static void change(tacit_queue *q, const tct_step_work *w, int64_t block,
                   double *changes)
{
    const int64_t blocks = (w->n[0] + block - 1) / block;
    const int64_t all = blocks * w->n[1] * w->n[2];
    const gpu_stream stream = stream_of(q);
    const int grid = tct_blocks_for(all * SUM_LANES, FILL_THREADS, INT32_MAX);
    change_kernel<<<grid, FILL_THREADS, 0, stream>>>(*w, block, blocks, all,
                                                     changes);
    tct_gpu_ok(q, gpu_last_error(), "a change of a grid");
}

#endif
#endif
