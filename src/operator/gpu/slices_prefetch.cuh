/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices_prefetch.cuh - a warp loads slices and their first columns
 * ahead of the products with them: see slices.cuh. */
#ifndef TCT_OPERATOR_GPU_SLICES_PREFETCH_CUH
#define TCT_OPERATOR_GPU_SLICES_PREFETCH_CUH
#include "operator/gpu/values.cuh"

/* A warp has 32 rows of a slice, one a lane. */
static_assert(GPU_LANES == GPU_WAVE, "a lane of a slice is one of a warp");

/* Most warps of a block with joined slices. */
enum { TCT_JOINED_WARPS = 768 / GPU_WAVE };

/* Loads of values and of x depend on two others: the slice, then its columns. A
 * warp prefetches the slice by two units, and the columns by one.
 *
 * Eight lanes load the slice's eight words, and shuffles distribute them later.
 * Past the end they are 0: width 0. */
static __device__ inline uint32_t tct_slice_word_at(const tct_gpu_arrays &A,
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

#endif
