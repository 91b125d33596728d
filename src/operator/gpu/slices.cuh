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
#include "operator/gpu/values.cuh"

/* A warp has 32 rows of a slice, one a lane. */
static_assert(GPU_LANES == GPU_WAVE, "a lane of a slice is one of a warp");

/* Most warps of a block with joined slices. */
enum { TCT_JOINED_WARPS = 768 / GPU_WAVE };

/* --- prefetch ------------------------------------------------------------- */

/* Loads of values and of x depend on two others: the slice, then its columns. A
 * warp prefetches the slice by two units, and the columns by one.
 *
 * Eight lanes load the slice's eight words, and shuffles distribute them later.
 * Past the end they are 0: width 0. */
static __device__ inline uint32_t tct_gallery_spec_at(const tct_gpu_arrays &A,
                                                      int64_t s)
{
    const int lane = tct_lane();
    static_assert(sizeof(tct_gpu_slice) == 32, "eight words");
    return s >= 0 && s < A.slices && lane < 8
               ? tct_read_only((const uint32_t *)(A.slice + s) + lane)
               : 0u;
}

static __device__ inline tct_gpu_slice tct_slice_of(uint32_t word)
{
    union {
        uint32_t word[8];
        tct_gpu_slice slice;
    } u;
#pragma unroll
    for (int i = 0; i < 7; i++) u.word[i] = tct_shuffle(word, i);
    return u.slice;
}

/* Its block columns from `from` on, `count` at most, as a slice; `from` is
 * even, since a word has two near columns. */
static __device__ inline tct_gpu_slice tct_columns_of(tct_gpu_slice s, int from,
                                                      int count)
{
    const int bytes = s.kind == SLICE_RUN     ? (int)sizeof(tct_column_run)
                      : s.kind == SLICE_CONST ? (int)sizeof(tct_gpu_const)
                      : s.kind == SLICE_NEAR  ? 2 * GPU_LANES
                                              : 4 * GPU_LANES;
    s.width = (uint16_t)min(count, s.width - from);
    s.full = (uint16_t)max(s.full - from, 0);
    s.index += bytes * from;
    s.cell += from;
    return s;
}

/* Properties of a walk: slices per part, and whether all are runs. */
template <int WALK> struct tct_walk {
    static constexpr int m = WALK == GPU_JOINED ? GPU_JOIN : 1;
    static constexpr bool runs = WALK != GPU_ANY;
};

/* Words of a run: base, mask, of SLICE_CONST the value, and with 64 lanes the
 * mask's upper half. */
enum { TCT_RUN_WORDS = 3 + TCT_MASK_WORDS };

/* First columns of a unit. With runs, lane l has run l. Else each lane has its
 * own: offsets, two a word, or columns. */
struct tct_head {
    uint32_t w[TCT_RUN_WORDS];
    tct_lanes more[GPU_JOIN - 1]; /* joined: masks of run l in the following
                                   * slices; else, first, the columns of this
                                   * lane's row */
    int group; /* the lane's group in its slice or, sorted, its window    */
};

/* With 64 lanes: load run `k`, with CONST of a value; zeros if it is not
 * `there`. */
template <bool CONST>
static __device__ inline void tct_load_wide(const uint8_t *index, int k,
                                            bool there,
                                            uint32_t (&w)[TCT_RUN_WORDS])
{
    constexpr int STEP =
        (int)(CONST ? sizeof(tct_gpu_const) : sizeof(tct_column_run)) / 8;
    const uint2 *at = (const uint2 *)index + STEP * k, none = {0, 0};
    const uint2 mask = there ? tct_read_only(at + 1) : none;
    w[0] = there ? tct_read_only(at).x : 0;
    w[1] = mask.x;
    w[TCT_RUN_WORDS - 1] = mask.y;
    if constexpr (CONST) {
        const uint2 value = there ? tct_read_only(at + 2) : none;
        w[2] = value.x;
        w[3] = value.y;
    }
}

/* Is `lane` in the run that lane `k` has? */
static __device__ inline bool tct_in_wide(const uint32_t (&w)[TCT_RUN_WORDS],
                                          int k, int lane)
{
    const uint32_t lower = tct_shuffle(w[1], k),
                   upper = tct_shuffle(w[TCT_RUN_WORDS - 1], k);
    return lane < 32 ? lower >> lane & 1 : upper >> (lane - 32) & 1;
}

/* Words of columns for a batch of U, from word k / 2 or k on. */
template <bool NEAR, int U>
static __device__ inline void
tct_fetch(const tct_gpu_arrays &A, const tct_gpu_slice &s, int g, int k,
          uint64_t policy, uint32_t (&w)[TCT_RUN_WORDS])
{
    constexpr int words = NEAR ? (U + 1) / 2 : U;
    const uint32_t *at = (const uint32_t *)(A.index + s.index) + g;
#pragma unroll
    for (int i = 0; i < words; i++) {
        const int n = NEAR ? k / 2 + i : k + i;
        w[i] = (NEAR ? 2 * n : n) < s.width
                   ? tct_load_once(at + GPU_LANES * n, policy)
                   : 0;
    }
}

/* Block columns of a batch: all its loads are issued before the first use. */
template <int B, int COLS> struct tct_load_batch {
    static constexpr int size = COLS > 2   ? (B == 1 ? 4 : 1)
                                : COLS > 1 ? (B == 1   ? 4
                                              : B <= 3 ? 2
                                                       : 1)
                                : B == 1   ? 8
                                : B <= 3   ? 4
                                           : 2;
    /* of runs: as many as registers allow (rows) */
    static constexpr int runs = size == 8 ? 7 : size;
    /* of joined slices */
    static constexpr int joined = COLS > 2 ? 2 : 4;
    /* columns per fetch: two a word (near), or at most four */
    static constexpr int near = size < 2 ? 2 : size;
    static constexpr int far = size < 4 ? size : 4;
};

/* The row of lane `lane` of unit `u` in its slice; its group. */
template <int B> static __device__ inline int tct_in_slice(int u)
{
    return (B == 1 ? 0 : u % B * GPU_LANES) + tct_lane();
}

/* Masks of run `k` in the slices after a joined one. */
static __device__ inline void tct_more_masks(const uint8_t *index, int width,
                                             int k,
                                             tct_lanes (&more)[GPU_JOIN - 1])
{
    constexpr int STEP = sizeof(tct_gpu_const) / sizeof(tct_lanes);
#pragma unroll
    for (int m = 1; m < GPU_JOIN; m++)
        more[m - 1] = tct_read_only((const tct_lanes *)index +
                                    STEP * (m * width + k) + 1);
}

template <int B, int COLS, int WALK>
static __device__ inline tct_head tct_head_of(const tct_gpu_arrays &A,
                                              const tct_gpu_slice &s, int u,
                                              uint64_t policy)
{
    typedef tct_load_batch<B, COLS> batch;
    const int64_t slice = B == 1 ? u : u / B;
    const int lane = tct_lane(), g = tct_in_slice<B>(u) / B;
    const uint8_t *index = A.index + s.index;
    tct_head h = {{0, 0, 0, 0}, {0}, g};
    if (!tct_walk<WALK>::runs && A.order && u >= 0 && slice < A.slices)
        h.group = A.order[slice * GPU_LANES + g];
    if (s.kind == SLICE_RUN) {
        if (lane >= s.width) return h;
        if constexpr (TCT_MASK_WORDS == 2) {
            tct_load_wide<false>(index, lane, true, h.w);
        } else {
            const uint2 r = tct_read_only((const uint2 *)index + lane);
            h.w[0] = r.x;
            h.w[1] = r.y;
        }
    } else if (s.kind == SLICE_CONST) {
        if (lane >= s.width) return h;
        if constexpr (TCT_MASK_WORDS == 2) {
            tct_load_wide<true>(index, lane, true, h.w);
        } else {
            const uint4 r = tct_read_only((const uint4 *)index + lane);
            h.w[0] = r.x;
            h.w[1] = r.y;
            h.w[2] = r.z;
            h.w[3] = r.w;
        }
        if (tct_walk<WALK>::m > 1 && s.joined)
            tct_more_masks(index, s.width, lane, h.more);
    } else if (!tct_walk<WALK>::runs) {
        h.more[0] =
            s.full < s.width ? A.length[slice * GPU_LANES + g] : s.width;
        if (s.kind == SLICE_NEAR)
            tct_fetch<true, batch::near>(A, s, g, 0, policy, h.w);
        else tct_fetch<false, batch::far>(A, s, g, 0, policy, h.w);
    }
    return h;
}

/* The row of this lane of unit `u`, perhaps past the last; < 0: none. Rows and
 * columns are 32-bit numbers on a GPU, which saves instructions. */
template <int B, int WALK>
static __device__ inline int64_t tct_row_of(const tct_gpu_arrays &A, int u,
                                            int group)
{
    const bool sorted = !tct_walk<WALK>::runs && A.order;
    const int s = u / B;
    const uint32_t at =
        (uint32_t)(sorted ? s & -(GPU_WINDOW / GPU_LANES) : s) * GPU_LANES +
        group;
    return at < (uint32_t)A.groups ? at * B + tct_in_slice<B>(u) % B : -1ll;
}

/* --- a row ---------------------------------------------------------------- */

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
        const tct_gpu_slice s = tct_slice_of(tct_gallery_spec_at(A, u));
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
    return tct_gallery_spec_at(
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
