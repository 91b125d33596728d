/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/csr.cu - the product along the merge path: a tile per block of
 * threads, a few steps per thread. */
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/csr.h"

enum {
    THREADS = GPU_CSR_THREADS,
    ITEMS = GPU_CSR_ITEMS,
    TILE = GPU_CSR_TILE,
    WARPS = THREADS / GPU_WAVE,
    PER_SM = 6,         /* blocks to fit on a multiprocessor */
    CARRIES_PER_SM = 8, /* blocks that add carries                    */
    NO_END = UINT16_MAX /* of the row that ends in a later tile       */
};
static_assert(TILE < NO_END, "ends of rows take 16 bits");

/* Shared memory of a block: products, then sums of rows, a step of the tile
 * each. */
struct tile_memory {
    double work[TILE];
    uint16_t end[TILE + 1];
    double open[WARPS]; /* sum that each warp passes to the next */
    bool ended[WARPS];  /* whether a row has ended in it       */
};

struct tile {
    int64_t entry;   /* its first entry              */
    int32_t row;     /* its first row                */
    int rows, count; /* ends of rows, entries        */
};

static __device__ inline tile tile_of(const tct_gpu_csr_arrays &A, int64_t t)
{
    const int64_t first = t * TILE, left = A.rows + A.nonzeros - first;
    tile T;
    T.row = tct_read_only(A.start + t);
    T.rows = tct_read_only(A.start + t + 1) - T.row;
    T.entry = first - T.row;
    T.count = (int)(left < TILE ? left : TILE) - T.rows;
    return T;
}

/* A matrix that fits is kept in cache, a larger one is streamed. */
template <bool STREAM, class T> static __device__ inline T load(const T *p)
{
    return STREAM ? tct_read_once(p) : tct_read_only(p);
}

/* Load products and ends of rows, in the order of memory. */
template <class VALUE, bool STREAM>
static __device__ inline void load_tile(const tct_gpu_csr_arrays &A,
                                        const tile &T, const double *x,
                                        tile_memory &M)
{
    const int32_t *col = A.col + T.entry;
    const VALUE *val = (const VALUE *)A.val + T.entry;
    const uint16_t *end = A.end + T.row;
    int32_t c[ITEMS];
    VALUE v[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        const int k = j * THREADS + threadIdx.x;
        c[j] = k < T.count ? load<STREAM>(col + k) : 0;
        v[j] = k < T.count ? load<STREAM>(val + k) : (VALUE)0;
    }
    for (int i = threadIdx.x; i < T.rows; i += THREADS)
        M.end[i] = load<STREAM>(end + i);
    if (threadIdx.x == 0) M.end[T.rows] = NO_END;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        const int k = j * THREADS + threadIdx.x;
        if (k < T.count) M.work[k] = (double)v[j] * tct_read_only(x + c[j]);
    }
}

/* The number of row ends in the first `step` steps of the tile. */
static __device__ inline int rows_before(const uint16_t *end, const tile &T,
                                         int step)
{
    int low = step > T.count ? step - T.count : 0;
    int high = step < T.rows ? step : T.rows;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (end[mid] < step - mid) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* A thread's part of the path. */
struct part {
    int first;   /* row that ends first, -1: none               */
    double head; /* its share of that row                       */
    double open; /* its share of the row that goes on           */
};

/* Rows that begin and end in the part are finished at once. */
static __device__ inline part walk(const tile &T, tile_memory &M)
{
    const int steps = T.rows + T.count, step = threadIdx.x * ITEMS;
    part P = {-1, 0.0, 0.0};
    int i = rows_before(M.end, T, step < steps ? step : steps);
    int k = step - i, end = M.end[i];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        if (step + j >= steps) break;
        if (k < end) {
            P.open += M.work[k++];
            continue;
        }
        if (P.first < 0) {
            P.first = i;
            P.head = P.open;
        } else {
            M.work[T.count + i] = P.open;
        }
        P.open = 0.0;
        end = M.end[++i];
    }
    return P;
}

/* Finish the first row of each thread with the shares of the threads before it.
 * Returns, in the last thread, the tile's share of the row that goes on. */
static __device__ inline double join(const tile &T, const part &P,
                                     tile_memory &M)
{
    const int lane = tct_lane(), w = tct_warp();
    const tct_lanes ends = tct_ballot(P.first >= 0);
    const tct_lanes upto = ends & (TCT_ALL_LANES >> (GPU_WAVE - 1 - lane));
    const tct_lanes before = upto & ~((tct_lanes)1 << lane);
    const int from = upto ? tct_last_lane(upto) : 0;
    double open = P.open;
    for (int d = 1; d < GPU_WAVE; d *= 2) {
        const double left = tct_shuffle_up(open, d);
        if (lane - d >= from) open = left + open;
    }
    if (lane == GPU_WAVE - 1) {
        M.open[w] = open;
        M.ended[w] = ends != 0;
    }
    double left = tct_shuffle_up(open, 1);
    __syncthreads();
    double warps = 0.0; /* of earlier warps */
    for (int j = 0; j < w; j++)
        warps = M.ended[j] ? M.open[j] : warps + M.open[j];
    if (lane == 0) left = warps;
    else if (!before) left += warps;
    if (P.first >= 0) M.work[T.count + P.first] = left + P.head;
    return ends ? open : warps + open;
}

template <class VALUE, bool STREAM, bool DOT>
static __global__ void __launch_bounds__(THREADS, PER_SM)
    multiply_tiles(tct_gpu_csr_arrays A, const double *__restrict__ x,
                   double *__restrict__ y)
{
    __shared__ tile_memory M;
    const tile T = tile_of(A, blockIdx.x);
    load_tile<VALUE, STREAM>(A, T, x, M);
    __syncthreads();
    const double open = join(T, walk(T, M), M);
    if (threadIdx.x == THREADS - 1) A.carry[blockIdx.x] = open;
    __syncthreads();
    double dot[1] = {0.0};
    for (int i = threadIdx.x; i < T.rows; i += THREADS) {
        const double sum = M.work[T.count + i];
        y[T.row + i] = sum;
        if (DOT) dot[0] = fma(tct_read_only(x + T.row + i), sum, dot[0]);
    }
    if (!DOT) return;
    tct_block_sum(dot);
    if (threadIdx.x == 0) A.dot[blockIdx.x] = dot[0];
}

/* y[row] += carry; returns the change of (x, y). */
template <int DOT>
static __device__ inline double add_carry(int32_t row, double carry,
                                          const double *x, double *y)
{
    y[row] = carry + y[row];
    return DOT ? x[row] * carry : 0.0;
}

template <int DOT>
static __global__ void __launch_bounds__(THREADS)
    add_carries(tct_gpu_csr_arrays A, const double *__restrict__ x,
                double *__restrict__ y, tct_ending e)
{
    const int64_t id = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    double dot[1] = {0.0};
    for (int64_t t = id; DOT && t < A.tiles; t += stride) dot[0] += A.dot[t];
    for (int64_t n = id; n < A.shorts; n += stride) {
        const tct_gpu_csr_carry c = A.row[n];
        double sum = 0.0;
        for (int j = 0; j < c.count; j++) sum += A.carry[c.tile + j];
        dot[0] += add_carry<DOT>(c.row, sum, x, y);
    }
    for (int64_t n = A.shorts + blockIdx.x; n < A.carries; n += gridDim.x) {
        const tct_gpu_csr_carry c = A.row[n];
        double sum[1] = {0.0};
        for (int j = threadIdx.x; j < c.count; j += THREADS)
            sum[0] += A.carry[c.tile + j];
        tct_block_sum(sum);
        if (threadIdx.x == 0) dot[0] += add_carry<DOT>(c.row, sum[0], x, y);
    }
    tct_kernel_end<DOT>(dot, e);
}

template <class VALUE>
static void start_tiles(const tct_gpu_csr *B, const tct_gpu_launch *L,
                        const double *x, double *y)
{
    const bool stream = B->base.base.matrix_bytes > (double)L->l2_bytes;
    void (*kernel)(tct_gpu_csr_arrays, const double *, double *) =
        L->out   ? stream ? multiply_tiles<VALUE, true, true>
                          : multiply_tiles<VALUE, false, true>
          : stream ? multiply_tiles<VALUE, true, false>
                 : multiply_tiles<VALUE, false, false>;
    kernel<<<B->d.tiles, THREADS, 0, L->stream>>>(B->d, x, y);
}

static void multiply(const tct_gpu_block *block, const tct_gpu_launch *L,
                     const double *x, double *y)
{
    const tct_gpu_csr *B = (const tct_gpu_csr *)(const void *)block;
    const tct_gpu_csr_arrays &d = B->d;
    if (d.tiles > 0 && d.floats) start_tiles<float>(B, L, x, y);
    else if (d.tiles > 0) start_tiles<double>(B, L, x, y);
    if (!L->out && L->epilogue.count == 0 && d.carries == 0) return;
    const int64_t longs = d.carries - d.shorts;
    const int64_t work = d.tiles + longs * THREADS;
    const int grid =
        tct_blocks_for(work, THREADS, (int64_t)L->sms * CARRIES_PER_SM);
    const auto kernel = L->out ? add_carries<1> : add_carries<0>;
    kernel<<<grid, THREADS, 0, L->stream>>>(d, x, y, tct_ending_of(L));
}

extern "C" const tct_gpu_block_ops tct_gpu_csr_ops = {
    TCT_HOST(multiply), nullptr, nullptr, nullptr, nullptr};
