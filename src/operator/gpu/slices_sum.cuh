/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices_sum.cuh - the sum of a row of a slice, by the kind of its
 * columns: runs, constant runs, joined ones, columns one by one. See
 * slices.cuh. */
#ifndef TCT_OPERATOR_GPU_SLICES_SUM_CUH
#define TCT_OPERATOR_GPU_SLICES_SUM_CUH
#include "operator/gpu/slices_prefetch.cuh"

/* The values of a batch: see tct_cells. */
template <int B, int U, bool LENGTHS, bool ON_CHIP, int STORE, bool CHIP>
static __device__ inline void
tct_cell_values(const tct_values<STORE, CHIP> &value, int k, int64_t at,
                const bool (&there)[U], double (&v)[U][B])
{
#pragma unroll
    for (int q = 0; q < U; q++)
#pragma unroll
        for (int c = 0; c < B; c++) {
            const int64_t i = at + (q * B + c) * GPU_LANES * B;
            if (LENGTHS && !there[q]) v[q][c] = 0.0;
            else if constexpr (ON_CHIP)
                v[q][c] = value.on_chip((k + q) * B + c, i);
            else v[q][c] = value[i];
        }
}

/* A batch of block columns from number `k` on, in order: U of them from value
 * `at` on, times x at `col`, if they are `there`. Every cell of the batch is in
 * memory, and 0 if it is not `there`; with LENGTHS it may be past the end. */
template <int B, int COLS, bool WRITTEN, int U, bool LENGTHS, int STORE,
          bool CHIP>
static __device__ inline void
tct_cells(const tct_values<STORE, CHIP> &value, int k, int64_t at,
          const int (&col)[U], const bool (&there)[U],
          const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    double v[U][B], xv[U][B][COLS];
    if (CHIP && k + U <= value.columns)
        tct_cell_values<B, U, LENGTHS, true>(value, k, at, there, v);
    else tct_cell_values<B, U, LENGTHS, false>(value, k, at, there, v);
#pragma unroll
    for (int q = 0; q < U; q++)
#pragma unroll
        for (int c = 0; c < B; c++)
#pragma unroll
            for (int j = 0; j < COLS; j++)
                xv[q][c][j] =
                    there[q] ? tct_x<WRITTEN>(x[j], col[q] * B + c) : 0.0;
#pragma unroll
    for (int q = 0; q < U; q++)
#pragma unroll
        for (int c = 0; c < B; c++)
            for (int j = 0; j < COLS; j++)
                sum.v[j] = fma(v[q][c], xv[q][c][j], sum.v[j]);
}

/* Runs: a lane's column is the run's base plus the lane. U columns from k on;
 * the head's first run is number `k0`. */
template <int B, int COLS, bool WRITTEN, int U, int STORE, bool CHIP>
static __device__ inline void
tct_some_runs(const uint32_t (&w)[TCT_RUN_WORDS], int k0, int k, int g,
              int64_t at, const tct_values<STORE, CHIP> &value,
              const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    int col[U];
    bool there[U];
#pragma unroll
    for (int q = 0; q < U; q++) {
        col[q] = (int)tct_shuffle(w[0], k - k0 + q) + g;
        if constexpr (TCT_MASK_WORDS == 2)
            there[q] = tct_in_wide(w, k - k0 + q, g);
        else there[q] = tct_shuffle(w[1], k - k0 + q) >> g & 1;
    }
    tct_cells<B, COLS, WRITTEN, U, false>(value, k, at, col, there, x, sum);
}

/* The last `left` columns, at most U, as one batch. */
template <int B, int COLS, bool WRITTEN, int U, int STORE, bool CHIP>
static __device__ inline void
tct_last_runs(const uint32_t (&w)[TCT_RUN_WORDS], int k0, int k, int left,
              int g, int64_t at, const tct_values<STORE, CHIP> &value,
              const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    if constexpr (U > 0) {
        if (left == U)
            tct_some_runs<B, COLS, WRITTEN, U>(w, k0, k, g, at, value, x, sum);
        else
            tct_last_runs<B, COLS, WRITTEN, U - 1>(w, k0, k, left, g, at, value,
                                                   x, sum);
    }
}

template <int B, int COLS, bool WRITTEN, int STORE, bool CHIP>
static __device__ inline void
tct_sum_runs(const tct_gpu_arrays &A, const tct_gpu_slice &s, const tct_head &h,
             int g, int64_t at, const tct_values<STORE, CHIP> &value,
             const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    constexpr int U = tct_load_batch<B, COLS>::runs, STEP = B * B * GPU_LANES;
    uint32_t w[TCT_RUN_WORDS] = {h.w[0], h.w[1], 0, 0};
    if constexpr (TCT_MASK_WORDS == 2)
        w[TCT_RUN_WORDS - 1] = h.w[TCT_RUN_WORDS - 1];
    for (int k0 = 0; k0 < s.width; k0 += GPU_WAVE) {
        const int end = s.width - k0 < GPU_WAVE ? s.width : k0 + GPU_WAVE;
        const int mine = k0 + tct_lane();
        if (TCT_MASK_WORDS == 2 && k0 > 0) {
            tct_load_wide<false>(A.index + s.index, mine, mine < end, w);
        } else if (k0 > 0) {
            const uint2 r =
                mine < end
                    ? tct_read_only((const uint2 *)(A.index + s.index) + mine)
                    : make_uint2(0, 0);
            w[0] = r.x;
            w[1] = r.y;
        }
        int k = k0;
        for (; k + U <= end; k += U, at += U * STEP)
            tct_some_runs<B, COLS, WRITTEN, U>(w, k0, k, g, at, value, x, sum);
        tct_last_runs<B, COLS, WRITTEN, U - 1>(w, k0, k, end - k, g, at, value,
                                               x, sum);
        at += (end - k) * STEP;
    }
}

/* The same with one value per run. */
template <int COLS, bool WRITTEN>
static __device__ inline void
tct_sum_const(const tct_gpu_arrays &A, const tct_gpu_slice &s,
              const tct_head &h, const double *const (&x)[COLS],
              tct_sums<COLS> &sum)
{
    constexpr int U = 4;
    const int lane = tct_lane();
    uint32_t w[TCT_RUN_WORDS] = {h.w[0], h.w[1], h.w[2], h.w[3]};
    if constexpr (TCT_MASK_WORDS == 2)
        w[TCT_RUN_WORDS - 1] = h.w[TCT_RUN_WORDS - 1];
    for (int k = 0; k < s.width; k += U) {
        double v[U], xv[U][COLS];
        if (TCT_MASK_WORDS == 2 && k > 0 && k % GPU_WAVE == 0) {
            tct_load_wide<true>(A.index + s.index, k + lane, k + lane < s.width,
                                w);
        } else if (k > 0 && k % GPU_WAVE == 0) {
            const uint4 *run = (const uint4 *)(A.index + s.index) + k + lane;
            const uint4 r = k + lane < s.width ? tct_read_only(run)
                                               : make_uint4(0, 0, 0, 0);
            w[0] = r.x;
            w[1] = r.y;
            w[2] = r.z;
            w[3] = r.w;
        }
#pragma unroll
        for (int q = 0; q < U; q++) { /* past the end masks are 0 */
            const int col = (int)tct_shuffle(w[0], k + q) + lane;
            const bool there = TCT_MASK_WORDS == 2
                                   ? tct_in_wide(w, k + q, lane)
                                   : tct_shuffle(w[1], k + q) >> lane & 1;
            v[q] = __hiloint2double((int)tct_shuffle(w[3], k + q),
                                    (int)tct_shuffle(w[2], k + q));
            for (int j = 0; j < COLS; j++)
                xv[q][j] = there ? tct_x<WRITTEN>(x[j], col) : 0.0;
        }
#pragma unroll
        for (int q = 0; q < U; q++)
            for (int j = 0; j < COLS; j++)
                sum.v[j] = fma(v[q], xv[q][j], sum.v[j]);
    }
}

/* Runs of joined slices, in shared memory: one a lane for each warp. */
struct tct_joined_runs {
    uint4 run[GPU_WAVE]; /* its first words */
#if GPU_WAVE == 64
    uint32_t upper[GPU_WAVE]; /* and its last one */
#endif
    tct_lanes more[GPU_JOIN - 1][GPU_WAVE];
};

/* The lanes of run `k`, whose mask begins with the word `low`. */
static __device__ inline tct_lanes tct_joined_mask(const tct_joined_runs &runs,
                                                   int k, uint32_t low)
{
#if GPU_WAVE == 64
    return (tct_lanes)runs.upper[k] << 32 | low;
#else
    return low;
#endif
}

/* U runs from k on; sums of rows lane, lane + GPU_WAVE. */
template <int COLS, bool WRITTEN, int U>
static __device__ inline void
tct_some_joined(const tct_joined_runs &runs, int k,
                const double *const (&x)[COLS], tct_sums<COLS> (&sum)[GPU_JOIN])
{
    const int lane = tct_lane();
    double xv[U][GPU_JOIN][COLS];
#pragma unroll
    for (int q = 0; q < U; q++) {
        const uint2 r = *(const uint2 *)&runs.run[k + q];
        const int col = (int)r.x + lane;
#pragma unroll
        for (int m = 0; m < GPU_JOIN; m++) {
            const tct_lanes mask = m ? runs.more[m ? m - 1 : 0][k + q]
                                     : tct_joined_mask(runs, k + q, r.y);
#pragma unroll
            for (int j = 0; j < COLS; j++)
                xv[q][m][j] = mask >> lane & 1
                                  ? tct_x<WRITTEN>(x[j], col + GPU_LANES * m)
                                  : 0.0;
        }
    }
#pragma unroll
    for (int q = 0; q < U; q++) {
        const double v = ((const double *)&runs.run[k + q])[1];
#pragma unroll
        for (int m = 0; m < GPU_JOIN; m++)
#pragma unroll
            for (int j = 0; j < COLS; j++)
                sum[m].v[j] = fma(v, xv[q][m][j], sum[m].v[j]);
    }
}
template <int COLS, bool WRITTEN, int U>
static __device__ inline void
tct_last_joined(const tct_joined_runs &runs, int k, int left,
                const double *const (&x)[COLS], tct_sums<COLS> (&sum)[GPU_JOIN])
{
    if constexpr (U > 0) {
        if (left == U) tct_some_joined<COLS, WRITTEN, U>(runs, k, x, sum);
        else tct_last_joined<COLS, WRITTEN, U - 1>(runs, k, left, x, sum);
    }
}

/* The same, of slices that are joined. */
template <int COLS, bool WRITTEN>
static __device__ inline void
tct_sum_joined(const tct_gpu_arrays &A, const tct_gpu_slice &s,
               const tct_head &h, const double *const (&x)[COLS],
               tct_sums<COLS> (&sum)[GPU_JOIN])
{
    typedef tct_load_batch<1, COLS> batch;
    constexpr int U = WRITTEN ? batch::runs : batch::joined;
    __shared__ tct_joined_runs of_warp[TCT_JOINED_WARPS];
    tct_joined_runs &runs = of_warp[tct_warp()];
    const int lane = tct_lane();
    uint4 run = make_uint4(h.w[0], h.w[1], h.w[2], h.w[3]);
#if GPU_WAVE == 64
    uint32_t upper = h.w[TCT_RUN_WORDS - 1];
#endif
    tct_lanes more[GPU_JOIN - 1] = {h.more[0]};
    for (int k0 = 0; k0 < s.width; k0 += GPU_WAVE) {
        const int most = s.width - k0 < GPU_WAVE ? s.width - k0 : GPU_WAVE;
        if (k0 > 0 && lane < most) {
#if GPU_WAVE == 64
            uint32_t w[TCT_RUN_WORDS];
            tct_load_wide<true>(A.index + s.index, k0 + lane, true, w);
            run = make_uint4(w[0], w[1], w[2], w[3]);
            upper = w[TCT_RUN_WORDS - 1];
#else
            run = tct_read_only((const uint4 *)(A.index + s.index) + k0 + lane);
#endif
            tct_more_masks(A.index + s.index, s.width, k0 + lane, more);
        }
        tct_warp_sync(); /* all have read the last runs */
        runs.run[lane] = run;
#if GPU_WAVE == 64
        runs.upper[lane] = upper;
#endif
        for (int m = 1; m < GPU_JOIN; m++) runs.more[m - 1][lane] = more[m - 1];
        tct_warp_sync();
        int k = 0;
        for (; k + U <= most; k += U)
            tct_some_joined<COLS, WRITTEN, U>(runs, k, x, sum);
        tct_last_joined<COLS, WRITTEN, U - 1>(runs, k, most - k, x, sum);
    }
}

/* Columns one by one, prefetched by a batch; a lane has `length` of them. */
template <int B, int COLS, bool WRITTEN, bool NEAR, int STORE, bool CHIP>
static __device__ inline void
tct_sum_columns(const tct_gpu_arrays &A, const tct_gpu_slice &s,
                const tct_head &h, int g, int64_t at,
                const tct_values<STORE, CHIP> &value,
                const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    typedef tct_load_batch<B, COLS> batch;
    constexpr int F = NEAR ? batch::near : batch::far; /* columns per fetch */
    constexpr int U = F < batch::size ? F : batch::size;
    const int length = (int)h.more[0], base = NEAR ? s.base : 0;
    uint32_t w[TCT_RUN_WORDS] = {h.w[0], h.w[1], h.w[2], h.w[3]};
    for (int k = 0; k < s.width; k += F) {
        int col[F];
        bool there[F];
#pragma unroll
        for (int q = 0; q < F; q++) {
            col[q] = NEAR ? base + (int)(w[q / 2] >> q % 2 * 16 & 0xffff)
                          : (int)w[NEAR ? 0 : q];
            there[q] = k + q < length;
        }
        tct_fetch<NEAR, F>(A, s, g, k + F, value.policy, w);
#pragma unroll
        for (int part = 0; part < F; part += U) {
            int c[U];
            bool t[U];
#pragma unroll
            for (int q = 0; q < U; q++) {
                c[q] = col[part + q];
                t[q] = there[part + q];
            }
            tct_cells<B, COLS, WRITTEN, U, true>(value, k + part, at, c, t, x,
                                                 sum);
            at += U * B * B * GPU_LANES;
        }
    }
}

#endif
