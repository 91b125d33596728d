/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/product.cuh - the kernels of products with sliced ELL: a warp
 * takes parts of 32 rows in turn. Rows kept apart follow in two small
 * kernels. */
#ifndef TCT_OPERATOR_GPU_PRODUCT_CUH
#define TCT_OPERATOR_GPU_PRODUCT_CUH
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/slices.cuh"

enum { TCT_PRODUCT_THREADS = 256, TCT_PRODUCT_PER_SM = 2 };

template <int COLS> struct tct_product_vectors {
    const double *x[COLS];
    double *y[COLS];
    const double *r; /* of multiply_dots */
    int columns;     /* asked for; used if COLS > 2 */

    __device__ void put(int64_t row, int j, double sum) const
    {
        if (COLS <= 2 || j < columns) y[j][row] = sum;
    }
};

/* (x, y), and with DOTS 3 (r, y), (y, y), of a thread's rows. */
template <int DOTS>
static __device__ inline void add_dots(const tct_product_vectors<1> &V,
                                       int64_t row, double y,
                                       double (&dot)[DOTS])
{
    dot[0] = fma(tct_read_only(V.x[0] + row), y, dot[0]);
    if constexpr (DOTS == 3) {
        dot[1] = fma(tct_read_only(V.r + row), y, dot[1]);
        dot[2] = fma(y, y, dot[2]);
    }
}

/* Most warps of a block: blocks of entries, slices of any kind, and several
 * columns take more registers. */
template <int B, int WALK, int COLS> struct most {
    static constexpr int warps = COLS > 4          ? 8
                                 : COLS > 2        ? 12
                                 : WALK == GPU_ANY ? 12
                                                   : 16;
    static constexpr int threads = warps * GPU_WAVE;
};

/* Kernels of rows come in the walks that matrices of a store are measured to
 * have: constant runs leave few values, which a dictionary holds; and few
 * matrices of 16-bit dictionaries or 48 bits are runs. Others take the next
 * more general walk. */
static constexpr bool tct_has_walk(int store, int walk)
{
    if (walk == GPU_GRID) return store == GPU_F64;
    if (walk == GPU_JOINED) return store == GPU_DICT8;
    if (walk == GPU_RUNS)
        return store == GPU_DICT8 || store == GPU_F64 || store == GPU_F32;
    return true;
}

/* Two blocks a multiprocessor stay for the whole product: a warp has the parts
 * `step` apart. `take(m, row, sum)` is told each row's sums. */
template <int B, int STORE, int WALK, int COLS, class TAKE>
static __device__ inline void all_parts(const tct_gpu_arrays &A,
                                        const double *const (&x)[COLS],
                                        int parts, float keep, TAKE &&take)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    const double *dict = tct_dict<STORE>(A, table);
    const uint64_t policy = tct_policy(keep);
    const auto value = tct_values_of<STORE, false>(A, dict, policy);
    const int warps = (int)(blockDim.x / GPU_WAVE);
    const int step = (int)gridDim.x * warps;
    const int first = (int)blockIdx.x * warps + tct_warp();
    uint32_t word = tct_part_words<B, WALK>(A, first);
    uint32_t next = tct_part_words<B, WALK>(A, first + step);
    tct_head head = tct_part_head<B, COLS, WALK>(A, word, first, policy);
    for (int u = first; u < parts; u += step) {
        const tct_gpu_slice s = tct_part_slice<WALK>(word);
        const tct_head h = head;
        word = next;
        next = tct_part_words<B, WALK>(A, u + 2 * step);
        head = tct_part_head<B, COLS, WALK>(A, word, u + step, policy);
        tct_part_sum<B, COLS, false, WALK>(A, s, h, u, value, x, take);
    }
    if constexpr (WALK == GPU_JOINED)
        for (int u0 = first; u0 < parts; u0 += GPU_WAVE * step) {
            const int mine = u0 + tct_lane() * step;
            tct_lanes apart = tct_unjoined(A, mine, mine < parts);
            for (; apart; apart &= apart - 1)
                tct_two_apart<COLS, false>(A, u0 + tct_first_lane(apart) * step,
                                           value, x, take);
        }
}

template <int B, int STORE, int WALK, int DOTS, int COLS>
static __global__ void __launch_bounds__((most<B, WALK, COLS>::threads),
                                         TCT_PRODUCT_PER_SM)
    product(tct_gpu_arrays A, tct_product_vectors<COLS> V, int parts,
            float keep, const __grid_constant__ tct_ending e)
{
    double dot[DOTS] = {0.0};
    const bool wants = COLS == 1 && e.out;
    all_parts<B, STORE, WALK, COLS>(
        A, V.x, parts, keep, [&](int, int64_t row, const tct_sums<COLS> &sum) {
#pragma unroll
            for (int j = 0; j < COLS; j++) V.put(row, j, sum.v[j]);
            if constexpr (COLS == 1)
                if (wants) add_dots(V, row, sum.v[0], dot);
        });
    tct_kernel_end_if<DOTS>(wants, dot, e);
}

/* --- rows kept apart ------------------------------------------------------ */

template <int COLS>
static __global__ void __launch_bounds__(TCT_PRODUCT_THREADS)
    segments(tct_gpu_arrays A, tct_product_vectors<COLS> V)
{
    const int64_t first = A.segment_first[blockIdx.x];
    const int count = A.segment_count[blockIdx.x];
    double sum[COLS] = {0.0};
    for (int k = threadIdx.x; k < count; k += TCT_PRODUCT_THREADS) {
        const int64_t at = first + k;
        const double v = tct_read_only(A.long_val + at);
        const int col = tct_read_only(A.long_col + at);
#pragma unroll
        for (int j = 0; j < COLS; j++)
            sum[j] = fma(v, tct_read_only(V.x[j] + col), sum[j]);
    }
    tct_block_sum(sum);
    if (threadIdx.x == 0)
        for (int j = 0; j < COLS; j++)
            A.segment_sum[j * A.segments + blockIdx.x] = sum[j];
}

/* One thread per column of a row kept apart. */
template <int DOTS, int COLS>
static __global__ void __launch_bounds__(TCT_PRODUCT_THREADS)
    join(tct_gpu_arrays A, const __grid_constant__ tct_product_vectors<COLS> V,
         const __grid_constant__ tct_ending e)
{
    double dot[DOTS] = {0.0};
    for (int64_t i = threadIdx.x; i < COLS * A.long_rows;
         i += TCT_PRODUCT_THREADS) {
        const int64_t l = i / COLS;
        const int j = (int)(i % COLS), row = A.long_row[l];
        double sum = 0.0;
        for (int64_t k = A.long_segment[l]; k < A.long_segment[l + 1]; k++)
            sum += A.segment_sum[j * A.segments + k];
        V.put(row, j, sum);
        if constexpr (COLS == 1) add_dots(V, row, sum, dot);
    }
    tct_block_sum(dot);
    if (threadIdx.x != 0) return;
    for (int j = 0; COLS == 1 && e.out && j < DOTS; j++) e.out[j] += dot[j];
    tct_epilogue_run(e.epilogue);
}

template <int DOTS, int COLS>
static void long_rows(const tct_gpu_arrays &A,
                      const tct_product_vectors<COLS> &V,
                      const tct_gpu_launch *L)
{
    segments<<<(unsigned)A.segments, TCT_PRODUCT_THREADS, 0, L->stream>>>(A, V);
    join<DOTS>
        <<<1, TCT_PRODUCT_THREADS, 0, L->stream>>>(A, V, tct_ending_of(L));
}

/* --- launch --------------------------------------------------------------- */

struct product_grid {
    int parts;
    unsigned blocks, threads;
};

template <int B, int WALK, int COLS>
static product_grid grid_of(const tct_gpu_arrays &A, const tct_gpu_launch *L)
{
    constexpr int m = tct_walk<WALK>::m, limit = most<B, WALK, COLS>::warps;
    const int blocks = L->sms * TCT_PRODUCT_PER_SM;
    const int parts = (int)((A.slices * B + m - 1) / m);
    /* a warp per part if there are few, but at least four a block */
    int warps = (parts + blocks - 1) / blocks;
    warps = warps < 4 ? 4 : warps < limit ? warps : limit;
    return {parts, (unsigned)tct_blocks_for(parts, warps, blocks),
            (unsigned)warps * GPU_WAVE};
}

template <int B, int STORE, int WALK, int DOTS, int COLS>
static void start_with(const tct_gpu_slices *S, const tct_gpu_launch *L,
                       const tct_product_vectors<COLS> &V)
{
    const tct_gpu_arrays &A = S->d;
    tct_ending e = tct_ending_of(L);
    if (A.long_rows > 0) e.epilogue.count = 0; /* `join` does it */
    const float keep = tct_l2_share(S->base.base.matrix_bytes, L->l2_bytes);
    const product_grid g = grid_of<B, WALK, COLS>(A, L);
    product<B, STORE, WALK, DOTS>
        <<<g.blocks, g.threads, 0, L->stream>>>(A, V, g.parts, keep, e);
    if (A.long_rows > 0) long_rows<DOTS>(A, V, L);
}

/* The kernel of rows in the walk of `S`, or the next more general one. */
template <int STORE, int DOTS, int COLS>
static void start_rows(const tct_gpu_slices *S, const tct_gpu_launch *L,
                       const tct_product_vectors<COLS> &V)
{
    if constexpr (tct_has_walk(STORE, GPU_GRID))
        if (S->d.walk == GPU_GRID)
            return start_with<1, STORE, GPU_GRID, DOTS>(S, L, V);
    if constexpr (tct_has_walk(STORE, GPU_JOINED))
        if (S->d.walk == GPU_JOINED)
            return start_with<1, STORE, GPU_JOINED, DOTS>(S, L, V);
    if constexpr (tct_has_walk(STORE, GPU_RUNS))
        if (S->d.walk != GPU_ANY)
            return start_with<1, STORE, GPU_RUNS, DOTS>(S, L, V);
    start_with<1, STORE, GPU_ANY, DOTS>(S, L, V);
}

#endif
