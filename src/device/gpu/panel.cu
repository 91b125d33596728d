/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/panel.cu - products of panels. Kernels work by tiles of the small
 * matrix; the tiles of a stretch of rows run concurrently and share loads of
 * the panels through the L2.
 *
 * A sum has the same bits in every run: a block adds its stretch as
 * epilogue.cuh does, and a second kernel adds the stretches in a fixed
 * order. */
#include "device/gpu/epilogue.cuh"

enum {
    THREADS = 256,
    TILE = 4,      /* columns of each panel in a tile of gram */
    COLUMNS = 8,   /* columns of Y in a tile of combine */
    PER_SM = 4,    /* blocks of gram */
    STRETCH = 512, /* least rows of a block with sums */
    PARTS = 8,     /* parts of the stretches, added in parallel */
    ENTRIES = THREADS / PARTS
};

/* The tile and stretch of a block: the tiles of a stretch are adjacent. */
struct place {
    int tile, stretch, stretches;
};

static __device__ inline place place_of(int tiles)
{
    return {(int)blockIdx.x % tiles, (int)blockIdx.x / tiles,
            (int)gridDim.x / tiles};
}

static __host__ __device__ inline int tiles_of(int columns, int size)
{
    return (columns + size - 1) / size;
}

/* A tile of a stretch; beyond the last column it repeats that column, and drops
 * the result. */
static __global__ void __launch_bounds__(THREADS)
    gram(tct_gpu_panel<double> Z, tct_gpu_panel<double> W, int64_t n,
         double *partial)
{
    const int down = tiles_of(Z.columns, TILE);
    const place at = place_of(down * tiles_of(W.columns, TILE));
    const int a0 = at.tile % down * TILE, b0 = at.tile / down * TILE;
    const double *z[TILE], *w[TILE];
    double sum[TILE * TILE] = {0.0};
#pragma unroll
    for (int t = 0; t < TILE; t++) {
        z[t] = Z.at + min(a0 + t, Z.columns - 1) * Z.stride;
        w[t] = W.at + min(b0 + t, W.columns - 1) * W.stride;
    }
    const int64_t stride = (int64_t)at.stretches * THREADS;
    for (int64_t i = (int64_t)at.stretch * THREADS + threadIdx.x; i < n;
         i += stride) {
        double u[TILE], v[TILE];
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            u[t] = z[t][i];
            v[t] = w[t][i];
        }
#pragma unroll
        for (int b = 0; b < TILE; b++)
#pragma unroll
            for (int a = 0; a < TILE; a++)
                sum[b * TILE + a] = fma(u[a], v[b], sum[b * TILE + a]);
    }
    tct_block_sum(sum);
    if (threadIdx.x != 0) return;
    double *out = partial + (int64_t)at.stretch * Z.columns * W.columns;
#pragma unroll
    for (int b = 0; b < TILE; b++)
#pragma unroll
        for (int a = 0; a < TILE; a++)
            if (a0 + a < Z.columns && b0 + b < W.columns)
                out[(b0 + b) * Z.columns + a0 + a] = sum[b * TILE + a];
}

/* Each entry of the small matrix: every PARTS-th stretch in order, then these
 * parts. */
static __global__ void __launch_bounds__(THREADS)
    add_stretches(const double *partial, int entries, int stretches,
                  double *out, const __grid_constant__ tct_ending ending)
{
    __shared__ double part[PARTS][ENTRIES];
    const int at = (int)threadIdx.x % ENTRIES, p = (int)threadIdx.x / ENTRIES;
    const int j = (int)blockIdx.x * ENTRIES + at;
    double total = 0.0;
    for (int s = p; s < stretches && j < entries; s += PARTS)
        total += partial[(int64_t)s * entries + j];
    part[p][at] = total;
    __syncthreads();
    if (p == 0 && j < entries) {
        for (int k = 1; k < PARTS; k++) total += part[k][at];
        out[j] = total;
    }
    tct_kernel_end<0>(nullptr, ending);
}

extern "C" void tct_gpu_gram(const tct_op *op, const tct_gpu_launch *L)
{
    const int k = op->x.columns, m = op->y.columns, entries = k * m;
    const int each = tiles_of(k, TILE) * tiles_of(m, TILE);
    int64_t most = tiles_of(L->sms * PER_SM, each);
    const int64_t room = (int64_t)TCT_BLOCKS_MOST * TCT_OP_SUMS / entries;
    if (most > room) most = room;
    const int stretches = tct_blocks_for((int64_t)op->n, STRETCH, most);
    gram<<<each * stretches, THREADS, 0, L->stream>>>(
        tct_gpu_panel_of<double>(op->x), tct_gpu_panel_of<double>(op->y),
        (int64_t)op->n, L->partial);
    add_stretches<<<tiles_of(entries, ENTRIES), THREADS, 0, L->stream>>>(
        L->partial, entries, stretches, op->out, tct_ending_of(L));
}

/* A row of COLUMNS columns of Y; coefficients in shared memory. */
static __global__ void __launch_bounds__(THREADS)
    combine(tct_gpu_panel<double> X, tct_gpu_panel<double> Y, const double *C,
            double sign, int64_t n, const __grid_constant__ tct_ending ending)
{
    __shared__ double c[TCT_COLUMNS_MOST][COLUMNS];
    const place at = place_of(tiles_of(Y.columns, COLUMNS));
    const int first = at.tile * COLUMNS;
    const int there = min(COLUMNS, Y.columns - first);
    for (int t = (int)threadIdx.x; t < X.columns * COLUMNS; t += THREADS) {
        const int a = t / COLUMNS, b = t % COLUMNS;
        c[a][b] = b < there ? sign * C[(first + b) * X.columns + a] : 0.0;
    }
    __syncthreads();
    const int64_t stride = (int64_t)at.stretches * THREADS;
    double *y = Y.at + first * Y.stride;
    for (int64_t i = (int64_t)at.stretch * THREADS + threadIdx.x; i < n;
         i += stride) {
        double sum[COLUMNS];
#pragma unroll
        for (int b = 0; b < COLUMNS; b++)
            sum[b] = b < there ? y[b * Y.stride + i] : 0.0;
        for (int a = 0; a < X.columns; a++) {
            const double x = X.at[a * X.stride + i];
#pragma unroll
            for (int b = 0; b < COLUMNS; b++) sum[b] = fma(x, c[a][b], sum[b]);
        }
#pragma unroll
        for (int b = 0; b < COLUMNS; b++)
            if (b < there) y[b * Y.stride + i] = sum[b];
    }
    tct_kernel_end<0>(nullptr, ending);
}

extern "C" void tct_gpu_combine(const tct_op *op, const tct_gpu_launch *L)
{
    const int each = tiles_of(op->y.columns, COLUMNS);
    const int stretches =
        tct_blocks_for((int64_t)op->n, THREADS, INT32_MAX / each);
    combine<<<each * stretches, THREADS, 0, L->stream>>>(
        tct_gpu_panel_of<double>(op->x), tct_gpu_panel_of<double>(op->y),
        op->alpha, op->sign, (int64_t)op->n, tct_ending_of(L));
}
