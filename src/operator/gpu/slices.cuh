/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices.cuh - one row of a product with gpu/slices.h, a thread
 * each: for product kernels and persistent kernels.
 *
 * A slice is 32 groups, or 64 in a HIP build, one a lane, a group B rows, and a
 * column of the slice as many blocks of B x B. Here B = 3, and the slice is 4
 * block columns wide:
 *
 *     group        0       1       2             31
 *              +-------+-------+-------+     +-------+
 *     column 0 | 3 x 3 | 3 x 3 | 3 x 3 | ... | 3 x 3 |   a cell: 32 blocks,
 *            1 |       |       |       |     |       |   column after column
 *            2 |       |       |       |     |  none |   of them, 96 rows each
 *            3 |       |  none |       |     |  none |
 *              +-------+-------+-------+     +-------+
 *     rows      0  1  2 3  4  5 6  7  8 ...   93 94 95
 *              |---- rows 0 to 31 -----|-- to 63 --|-- to 95 --|
 *                      unit 0              unit 1      unit 2
 *
 * A unit is a warp's share of a slice: 32 rows, one a lane; B units a slice. A
 * part is a warp's step: a unit or, of joined slices (B = 1), GPU_JOIN
 * consecutive slices. A round is a part for each warp:
 *
 *     part     0   1   2   3   4   5   6   7   8   9  10 ...
 *     warp     0   1   2   3   0   1   2   3   0   1   2 ...    of all blocks
 *             |-- round 0 ---|-- round 1 ---|-- round 2 ... */
#ifndef TCT_OPERATOR_GPU_SLICES_CUH
#define TCT_OPERATOR_GPU_SLICES_CUH
#include "operator/gpu/grid.cuh"
#include "operator/gpu/slices_sum.cuh"

/* The sums of this lane's row of unit `u` in slice `s`, in column order. Called
 * by the whole warp. */
template <int B, int COLS, bool WRITTEN, int WALK, int STORE, bool CHIP>
static __device__ inline tct_sums<COLS>
tct_row_sum(const tct_gpu_arrays &A, const tct_gpu_slice &s, const tct_head &h,
            int u, const tct_values<STORE, CHIP> &value,
            const double *const (&x)[COLS])
{
    tct_sums<COLS> sum;
    for (int j = 0; j < COLS; j++) sum.v[j] = 0.0;
    const int i = tct_in_slice<B>(u), g = i / B;
    const int64_t at = s.cell * (B * B * GPU_LANES) + i;
    if (B == 1 && s.kind == SLICE_CONST)
        tct_sum_const<COLS, WRITTEN>(A, s, h, x, sum);
    else if (tct_walk<WALK>::runs || s.kind == SLICE_RUN)
        tct_sum_runs<B, COLS, WRITTEN>(A, s, h, g, at, value, x, sum);
    else if (s.kind == SLICE_NEAR)
        tct_sum_columns<B, COLS, WRITTEN, true>(A, s, h, g, at, value, x, sum);
    else
        tct_sum_columns<B, COLS, WRITTEN, false>(A, s, h, g, at, value, x, sum);
    return sum;
}

/* The rows of a part, a unit or two joined slices: `take(m, row, sums)` gets
 * the sums of this lane's rows. `s` and `h` are of its unit or its first
 * slice. */
template <int B, int COLS, bool WRITTEN, int WALK, int STORE, bool CHIP,
          class TAKE>
static __device__ inline void
tct_part_sum(const tct_gpu_arrays &A, const tct_gpu_slice &s, const tct_head &h,
             int part, const tct_values<STORE, CHIP> &value,
             const double *const (&x)[COLS], const TAKE &take)
{
    constexpr int M = tct_walk<WALK>::m;
    if constexpr (WALK == GPU_GRID) {
        const int64_t row = tct_row_of<B, WALK>(A, part, tct_lane());
        if (row >= 0)
            take(0, row, tct_cell_sum<COLS, WRITTEN>(A.grid, (int)row, x));
    } else if constexpr (M == 1) {
        const tct_sums<COLS> sum =
            tct_row_sum<B, COLS, WRITTEN, WALK>(A, s, h, part, value, x);
        const int64_t row = tct_row_of<B, WALK>(A, part, h.group);
        if (row >= 0) take(0, row, sum);
    } else if (s.joined) {
        tct_sums<COLS> sum[M];
        for (int m = 0; m < M; m++)
            for (int j = 0; j < COLS; j++) sum[m].v[j] = 0.0;
        tct_sum_joined<COLS, WRITTEN>(A, s, h, x, sum);
        const int row = part * M * GPU_LANES + tct_lane();
#pragma unroll
        for (int m = 0; m < M; m++) take(m, row + GPU_LANES * m, sum[m]);
    }
}

/* Slices that are not joined follow in a loop of their own, to save registers
 * in the main loop. Bit l: is part `part` of lane l such a slice? */
static __device__ inline tct_lanes tct_unjoined(const tct_gpu_arrays &A,
                                                int part, bool there)
{
    const int64_t s = (int64_t)part * GPU_JOIN;
    return tct_ballot(there && s < A.slices &&
                      tct_read_only(&A.slice[s].joined) == 0);
}
template <int COLS, bool WRITTEN, int STORE, bool CHIP, class TAKE>
static __device__ inline void
tct_two_apart(const tct_gpu_arrays &A, int part,
              const tct_values<STORE, CHIP> &value,
              const double *const (&x)[COLS], const TAKE &take)
{
    for (int m = 0; m < GPU_JOIN; m++) {
        const int u = part * GPU_JOIN + m;
        const tct_gpu_slice s = tct_slice_of(tct_slice_word_at(A, u));
        const tct_head h =
            tct_head_of<1, COLS, GPU_RUNS>(A, s, u, value.policy);
        const tct_sums<COLS> sum =
            tct_row_sum<1, COLS, WRITTEN, GPU_RUNS>(A, s, h, u, value, x);
        const int64_t row = tct_row_of<1, GPU_RUNS>(A, u, h.group);
        if (row >= 0) take(m, row, sum);
    }
}

/* The slice of a part, or its first; past the end: none. */
template <int B, int WALK>
static __device__ inline uint32_t tct_part_words(const tct_gpu_arrays &A,
                                                 int part)
{
    if constexpr (WALK == GPU_GRID) return 0;
    return tct_slice_word_at(
        A, part < 0 ? -1 : (int64_t)part * tct_walk<WALK>::m / B);
}
template <int WALK>
static __device__ inline tct_gpu_slice tct_part_slice(uint32_t word)
{
    if constexpr (WALK == GPU_GRID) return {};
    else return tct_slice_of(word);
}
template <int B, int COLS, int WALK>
static __device__ inline tct_head
tct_part_head(const tct_gpu_arrays &A, uint32_t word, int part, uint64_t policy)
{
    if constexpr (WALK == GPU_GRID) return {};
    else
        return tct_head_of<B, COLS, WALK>(A, tct_slice_of(word),
                                          part * tct_walk<WALK>::m, policy);
}

#endif
