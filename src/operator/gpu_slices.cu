/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu_slices.cu - products with sliced ELL: a warp takes 32 rows, and
 * more of them in turn. Rows kept apart follow in two small kernels. */
#include "device/gpu/tail.cuh"
#include "operator/gpu_slices.cuh"

enum { THREADS = 256, WARPS = THREADS / 32, WAVES = 24 };

template <int COLS> struct vectors {
    const double *x[COLS];
    double *y[COLS];
};

/* What is stored of a row that has been summed. */
template <int COLS>
static __device__ inline void put(const vectors<COLS> &V, int64_t row,
                                  const tct_sums<COLS> &sum, bool wants,
                                  double &dot)
{
    if (row < 0) return;
#pragma unroll
    for (int j = 0; j < COLS; j++) V.y[j][row] = sum.v[j];
    if (wants) dot = fma(__ldg(V.x[0] + row), sum.v[0], dot);
}

/* A warp's part: a unit of 32 rows, or (M = 4) four slices of them. */
template <int B, int STORE, int COLS, int M>
static __device__ inline void
multiply_part(const tct_gpu_arrays &A, const vectors<COLS> &V,
              const tct_values<STORE, false> &value, const tct_gpu_slice &s,
              const tct_runs &runs, int64_t part, bool wants, double &dot)
{
    if (M == 1) {
        const tct_gpu_row r = tct_row_of<B>(A, part, s.sorted);
        put(V, r.row,
            tct_row_sum<B, COLS, false>(A, s, runs.first, part, r.group, value,
                                        V.x),
            wants, dot);
        return;
    }
    if (s.joined) {
        const tct_joined<COLS> sum =
            tct_joined_sum<COLS, false>(A, s, runs, value, V.x);
        const int64_t row = part * M * 32 + (threadIdx.x & 31);
#pragma unroll
        for (int m = 0; m < GPU_JOIN; m++)
            put(V, row + 32 * m, sum.row[m], wants, dot);
        return;
    }
    for (int64_t u = part * M; u < part * M + M && u < A.slices; u++) {
        const tct_gpu_slice one = tct_slice_at(A, u);
        const tct_gpu_row r = tct_row_of<1>(A, u, one.sorted);
        put(V, r.row,
            tct_row_sum<1, COLS, false>(A, one, tct_runs_at(A, one, 0), u,
                                        r.group, value, V.x),
            wants, dot);
    }
}

/* A block has `rounds` times WARPS parts, one after the other. */
template <int B, int STORE, int COLS, int M>
static __global__ void __launch_bounds__(THREADS, M > 1 ? 3 : 4)
    product(tct_gpu_arrays A, vectors<COLS> V, int rounds, float keep,
            const __grid_constant__ tct_ending e)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    const double *dict = tct_dict<STORE>(A, table);
    const auto value = tct_values_of<STORE>(A, dict, tct_policy(keep));
    const int64_t parts = M == 1 ? A.slices * B : (A.slices + M - 1) / M;
    const int64_t block = (int64_t)rounds * WARPS;
    double dot[1] = {0.0};
    const bool wants = COLS == 1 && e.out;
    int64_t u = blockIdx.x * block + (threadIdx.x >> 5);
    const int64_t left = parts - blockIdx.x * block;
    const int64_t end = blockIdx.x * block + (left < block ? left : block);
    tct_gpu_slice next = {}; /* loaded while the part before is multiplied */
    tct_runs runs = {};
    if (u < end) next = tct_slice_at(A, M > 1 ? u * M : B == 1 ? u : u / B);
    if (u < end) runs = tct_part_runs<M>(A, next, 0);
    for (; u < end; u += WARPS) {
        const tct_gpu_slice now = next;
        const tct_runs now_runs = runs;
        const int64_t after = u + WARPS;
        if (after < end)
            next = tct_slice_at(A, M > 1    ? after * M
                                   : B == 1 ? after
                                            : after / B);
        multiply_part<B, STORE, COLS, M>(A, V, value, now, now_runs, u, wants,
                                         dot[0]);
        if (after < end) runs = tct_part_runs<M>(A, next, 0);
    }
    if (wants) tct_end<1>(dot, e);
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
            sum[j] = fma(__ldg(A.long_val + at),
                         __ldg(V.x[j] + __ldg(A.long_col + at)), sum[j]);
    }
    tct_block_sum(sum);
    if (threadIdx.x == 0)
        for (int j = 0; j < COLS; j++)
            A.segment_sum[j * A.segments + blockIdx.x] = sum[j];
}

template <int COLS>
static __global__ void __launch_bounds__(THREADS)
    join(tct_gpu_arrays A, vectors<COLS> V,
         const __grid_constant__ tct_ending e)
{
    double dot[1] = {0.0};
    for (int64_t l = threadIdx.x; l < A.long_rows; l += THREADS)
        for (int j = 0; j < COLS; j++) {
            double sum = 0.0;
            for (int64_t k = A.long_segment[l]; k < A.long_segment[l + 1]; k++)
                sum += A.segment_sum[j * A.segments + k];
            const int row = A.long_row[l];
            V.y[j][row] = sum;
            if (j == 0) dot[0] = fma(V.x[0][row], sum, dot[0]);
        }
    tct_block_sum(dot);
    if (threadIdx.x != 0) return;
    if (COLS == 1 && e.out) *e.out += dot[0];
    tct_tail_run(e.tail);
}

template <int COLS>
static void long_rows(const tct_gpu_arrays &A, const vectors<COLS> &V,
                      const tct_gpu_launch *L)
{
    segments<COLS><<<(unsigned)A.segments, THREADS, 0, L->stream>>>(A, V);
    join<COLS><<<1, THREADS, 0, L->stream>>>(A, V, tct_ending_of(L));
}

/* --- launch ----------------------------------------------------------------------- */

template <int B, int STORE, int COLS, int M>
static void start_with(const tct_gpu_slices *S, const tct_gpu_launch *L,
                       const vectors<COLS> &V)
{
    const tct_gpu_arrays &A = S->d;
    tct_ending e = tct_ending_of(L);
    if (A.long_rows > 0) e.tail.count = 0; /* done by `join` */
    const float keep = tct_keep(S->base.base.matrix_bytes, L->l2_bytes);
    /* enough blocks to fill the device several times, few enough to sum */
    const int64_t parts = M == 1 ? A.slices * B : (A.slices + M - 1) / M;
    const int64_t blocks = (parts + WARPS - 1) / WARPS;
    int rounds = 1;
    while (rounds < 4 && blocks / (2 * rounds) >= L->sms * WAVES) rounds *= 2;
    while (blocks / rounds >= TCT_BLOCKS_MOST) rounds *= 2;
    const int grid = tct_grid(blocks, rounds, TCT_BLOCKS_MOST);
    product<B, STORE, COLS, M>
        <<<grid, THREADS, 0, L->stream>>>(A, V, rounds, keep, e);
    if (A.long_rows > 0) long_rows<COLS>(A, V, L);
}

/* Four slices a warp only where that leaves every multiprocessor enough. */
template <int B, int STORE, int COLS>
static void start(const tct_gpu_slices *S, const tct_gpu_launch *L,
                  const vectors<COLS> &V)
{
    if constexpr (B == 1 && COLS == 1) {
        if (S->d.slices >= (int64_t)L->sms * GPU_JOIN * 24) {
            start_with<B, STORE, COLS, GPU_JOIN>(S, L, V);
            return;
        }
    }
    start_with<B, STORE, COLS, 1>(S, L, V);
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
    const vectors<1> V = {{x}, {y}};
    switch (S->d.b) {
    case 1: multiply_of<1>(S, L, V); break;
    case 2: multiply_of<2>(S, L, V); break;
    case 3: multiply_of<3>(S, L, V); break;
    case 4: multiply_of<4>(S, L, V); break;
    case 5: multiply_of<5>(S, L, V); break;
    case 6: multiply_of<6>(S, L, V); break;
    }
}

/* Two vectors in one pass: rows in every store, blocks where values are fp64.
 * The others take two passes. */
static void multiply_pair(const tct_gpu_block *block, const tct_gpu_launch *L,
                          const double *x0, double *y0, const double *x1,
                          double *y1)
{
    const tct_gpu_slices *S = slices_of(block);
    const vectors<2> V = {{x0, x1}, {y0, y1}};
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

extern "C" const tct_gpu_block_ops tct_gpu_slices_ops = {multiply,
                                                         multiply_pair};
