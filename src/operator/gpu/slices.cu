/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices.cu - products with sliced ELL: a warp takes 32 rows, and
 * others in turn. Rows kept apart follow in two small kernels. */
#include "device/gpu/tail.cuh"
#include "operator/gpu/slices.cuh"

enum { THREADS = 256, PER_SM = 2 };

template <int COLS> struct vectors {
    const double *x[COLS];
    double *y[COLS];
    const double *r; /* of multiply_dots */
};

/* (x, y), and with DOTS 3 (r, y), (y, y), of what a thread has. */
template <int DOTS, int COLS>
static __device__ inline void add_dots(const vectors<COLS> &V, int64_t row,
                                       double y, double (&dot)[DOTS])
{
    dot[0] = fma(tct_read_only(V.x[0] + row), y, dot[0]);
    if constexpr (DOTS == 3) {
        dot[1] = fma(tct_read_only(V.r + row), y, dot[1]);
        dot[2] = fma(y, y, dot[2]);
    }
}

/* Warps of a block at most: those of blocks of entries, and those that must be
 * ready for any kind of slice, take more registers. */
template <int WALK> struct most {
    static constexpr int warps = WALK == GPU_ANY ? 12 : 16;
    static constexpr int threads = warps * GPU_WAVE;
};

/* Two blocks a multiprocessor stay for the whole product: a warp has the parts
 * `step` apart. */
template <int B, int STORE, int COLS, int WALK, int DOTS>
static __global__ void __launch_bounds__(most<WALK>::threads, PER_SM)
    product(tct_gpu_arrays A, vectors<COLS> V, int parts, float keep,
            const __grid_constant__ tct_ending e)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    const double *dict = tct_dict<STORE>(A, table);
    const uint64_t policy = tct_policy(keep);
    const auto value = tct_values_of<STORE, false>(A, dict, policy);
    const int warps = (int)(blockDim.x / GPU_WAVE);
    const int step = (int)gridDim.x * warps;
    const int first = (int)blockIdx.x * warps + tct_warp();
    double dot[DOTS] = {0.0};
    const bool wants = COLS == 1 && e.out;
    const auto take = [&](int, int64_t row, const tct_sums<COLS> &sum) {
#pragma unroll
        for (int j = 0; j < COLS; j++) V.y[j][row] = sum.v[j];
        if (wants) add_dots(V, row, sum.v[0], dot);
    };
    uint32_t word = tct_part_words<B, WALK>(A, first);
    uint32_t next = tct_part_words<B, WALK>(A, first + step);
    tct_head head = tct_part_head<B, COLS, WALK>(A, word, first, policy);
    for (int u = first; u < parts; u += step) {
        const tct_gpu_slice s = tct_slice_of(word);
        const tct_head h = head;
        word = next;
        next = tct_part_words<B, WALK>(A, u + 2 * step);
        head = tct_part_head<B, COLS, WALK>(A, word, u + step, policy);
        tct_part_sum<B, COLS, false, WALK>(A, s, h, u, value, V.x, take);
    }
    if constexpr (WALK == GPU_JOINED)
        for (int u0 = first; u0 < parts; u0 += GPU_WAVE * step) {
            const int mine = u0 + tct_lane() * step;
            tct_lanes apart = tct_apart(A, mine, mine < parts);
            for (; apart; apart &= apart - 1)
                tct_two_apart<COLS, false>(A, u0 + tct_first_lane(apart) * step,
                                           value, V.x, take);
        }
    if (wants) tct_end<DOTS>(dot, e);
    else tct_end<0>(dot, e);
}

/* --- rows kept apart ----------------------------------------------------------- */

template <int COLS>
static __global__ void __launch_bounds__(THREADS)
    segments(tct_gpu_arrays A, vectors<COLS> V)
{
    const int64_t first = A.segment_first[blockIdx.x];
    const int count = A.segment_count[blockIdx.x];
    double sum[COLS] = {0.0};
    for (int k = threadIdx.x; k < count; k += THREADS) {
        const int64_t at = first + k;
        for (int j = 0; j < COLS; j++)
            sum[j] = fma(tct_read_only(A.long_val + at),
                         tct_read_only(V.x[j] + tct_read_only(A.long_col + at)),
                         sum[j]);
    }
    tct_block_sum(sum);
    if (threadIdx.x == 0)
        for (int j = 0; j < COLS; j++)
            A.segment_sum[j * A.segments + blockIdx.x] = sum[j];
}

template <int COLS, int DOTS>
static __global__ void __launch_bounds__(THREADS)
    join(tct_gpu_arrays A, vectors<COLS> V,
         const __grid_constant__ tct_ending e)
{
    double dot[DOTS] = {0.0};
    for (int64_t l = threadIdx.x; l < A.long_rows; l += THREADS)
        for (int j = 0; j < COLS; j++) {
            double sum = 0.0;
            for (int64_t k = A.long_segment[l]; k < A.long_segment[l + 1]; k++)
                sum += A.segment_sum[j * A.segments + k];
            const int row = A.long_row[l];
            V.y[j][row] = sum;
            if (COLS == 1) add_dots(V, row, sum, dot);
        }
    tct_block_sum(dot);
    if (threadIdx.x != 0) return;
    for (int j = 0; COLS == 1 && e.out && j < DOTS; j++) e.out[j] += dot[j];
    tct_tail_run(e.tail);
}

template <int COLS, int DOTS>
static void long_rows(const tct_gpu_arrays &A, const vectors<COLS> &V,
                      const tct_gpu_launch *L)
{
    segments<COLS><<<(unsigned)A.segments, THREADS, 0, L->stream>>>(A, V);
    join<COLS, DOTS><<<1, THREADS, 0, L->stream>>>(A, V, tct_ending_of(L));
}

/* --- launch ----------------------------------------------------------------------- */

template <int B, int STORE, int COLS, int WALK, int DOTS>
static void start_with(const tct_gpu_slices *S, const tct_gpu_launch *L,
                       const vectors<COLS> &V)
{
    const tct_gpu_arrays &A = S->d;
    tct_ending e = tct_ending_of(L);
    if (A.long_rows > 0) e.tail.count = 0; /* done by `join` */
    const float keep = tct_keep(S->base.base.matrix_bytes, L->l2_bytes);
    const int m = tct_walk<WALK>::m, blocks = L->sms * PER_SM;
    const int parts = (int)((A.slices * B + m - 1) / m);
    /* a warp for each part, where there are few; but four a block */
    int warps = (parts + blocks - 1) / blocks;
    warps = warps < 4                   ? 4
            : warps < most<WALK>::warps ? warps
                                        : most<WALK>::warps;
    product<B, STORE, COLS, WALK, DOTS>
        <<<tct_grid(parts, warps, blocks), (unsigned)warps * GPU_WAVE, 0,
           L->stream>>>(A, V, parts, keep, e);
    if (A.long_rows > 0) long_rows<COLS, DOTS>(A, V, L);
}

template <int B, int STORE, int COLS, int DOTS = 1>
static void start(const tct_gpu_slices *S, const tct_gpu_launch *L,
                  const vectors<COLS> &V)
{
    if constexpr (B == 1) {
        if (S->d.walk == GPU_JOINED)
            return start_with<B, STORE, COLS, GPU_JOINED, DOTS>(S, L, V);
        if (S->d.walk == GPU_RUNS)
            return start_with<B, STORE, COLS, GPU_RUNS, DOTS>(S, L, V);
    }
    start_with<B, STORE, COLS, GPU_ANY, DOTS>(S, L, V);
}

template <int B>
static void multiply_of(const tct_gpu_slices *S, const tct_gpu_launch *L,
                        const vectors<1> &V)
{
    switch (S->d.store) {
    case GPU_F64: start<B, GPU_F64, 1>(S, L, V); break;
    case GPU_F32: start<B, GPU_F32, 1>(S, L, V); break;
    case GPU_DICT8: start<B, GPU_DICT8, 1>(S, L, V); break;
    case GPU_DICT16: start<B, GPU_DICT16, 1>(S, L, V); break;
    case GPU_F48: start<B, GPU_F48, 1>(S, L, V); break;
    }
}

static const tct_gpu_slices *slices_of(const tct_gpu_block *B)
{
    return (const tct_gpu_slices *)(const void *)B;
}

static void multiply(const tct_gpu_block *block, const tct_gpu_launch *L,
                     const double *x, double *y)
{
    const tct_gpu_slices *S = slices_of(block);
    const vectors<1> V = {{x}, {y}, nullptr};
    switch (S->d.b) {
    case 1: multiply_of<1>(S, L, V); break;
    case 2: multiply_of<2>(S, L, V); break;
    case 3: multiply_of<3>(S, L, V); break;
    case 4: multiply_of<4>(S, L, V); break;
    case 5: multiply_of<5>(S, L, V); break;
    case 6: multiply_of<6>(S, L, V); break;
    }
}

/* Three dots along with the product, for the usual blocks and stores: more
 * kernels for it would not pay. */
static bool multiply_dots(const tct_gpu_block *block, const tct_gpu_launch *L,
                          const double *p, const double *r, double *s)
{
    const tct_gpu_slices *S = slices_of(block);
    const vectors<1> V = {{p}, {s}, r};
    const int b = S->d.b, store = S->d.store;
    if (b == 1 && store == GPU_F64) start<1, GPU_F64, 1, 3>(S, L, V);
    else if (b == 1 && store == GPU_DICT8) start<1, GPU_DICT8, 1, 3>(S, L, V);
    else if (b == 3 && store == GPU_F64) start<3, GPU_F64, 1, 3>(S, L, V);
    else return false;
    return true;
}

/* Two vectors in one pass: rows in every store, blocks where values are fp64.
 * The others take two passes. */
static void multiply_pair(const tct_gpu_block *block, const tct_gpu_launch *L,
                          const double *x0, double *y0, const double *x1,
                          double *y1)
{
    const tct_gpu_slices *S = slices_of(block);
    const vectors<2> V = {{x0, x1}, {y0, y1}, nullptr};
    const int b = S->d.b, store = S->d.store;
    if (b == 1 && store == GPU_F64) start<1, GPU_F64, 2>(S, L, V);
    else if (b == 1 && store == GPU_F32) start<1, GPU_F32, 2>(S, L, V);
    else if (b == 1 && store == GPU_DICT8) start<1, GPU_DICT8, 2>(S, L, V);
    else if (b == 1 && store == GPU_DICT16) start<1, GPU_DICT16, 2>(S, L, V);
    else if (b == 2 && store == GPU_F64) start<2, GPU_F64, 2>(S, L, V);
    else if (b == 3 && store == GPU_F64) start<3, GPU_F64, 2>(S, L, V);
    else if (b == 3 && store == GPU_F32) start<3, GPU_F32, 2>(S, L, V);
    else if (b == 6 && store == GPU_F64) start<6, GPU_F64, 2>(S, L, V);
    else {
        tct_gpu_launch first = *L;
        first.tail.count = 0;
        multiply(block, &first, x0, y0);
        multiply(block, L, x1, y1);
    }
}

extern "C" const tct_gpu_block_ops tct_gpu_slices_ops = {
    multiply, multiply_dots, multiply_pair, nullptr};
