/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu_slices.cuh - one row of a product with gpu_slices.h, a thread
 * each: what product kernels and resident kernels share. */
#ifndef TCT_GPU_SLICES_CUH
#define TCT_GPU_SLICES_CUH
#include "operator/gpu_slices.h"

/* --- loads -------------------------------------------------------------------- */

/* Matrix lines are read once a product and pass by the L1. In the L2 a share
 * `keep` of them is the last to go, so that it is there for the next product;
 * the rest is the first. */
static __device__ inline uint64_t tct_policy(float keep)
{
    uint64_t policy;
    if (keep > 0.0f)
        asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;"
            : "=l"(policy)
            : "f"(keep));
    else
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;"
            : "=l"(policy));
    return policy;
}

#define TCT_LOAD "ld.global.nc.L1::no_allocate.L2::cache_hint"
static __device__ inline double tct_load(const double *p, uint64_t policy)
{
    double v;
    asm(TCT_LOAD ".f64 %0, [%1], %2;" : "=d"(v) : "l"(p), "l"(policy));
    return v;
}
static __device__ inline float tct_load(const float *p, uint64_t policy)
{
    float v;
    asm(TCT_LOAD ".f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy));
    return v;
}
static __device__ inline uint32_t tct_load(const uint32_t *p, uint64_t policy)
{
    uint32_t v;
    asm(TCT_LOAD ".u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(policy));
    return v;
}
static __device__ inline uint32_t tct_load(const uint16_t *p, uint64_t policy)
{
    uint16_t v;
    asm(TCT_LOAD ".u16 %0, [%1], %2;" : "=h"(v) : "l"(p), "l"(policy));
    return v;
}
static __device__ inline uint32_t tct_load(const uint8_t *p, uint64_t policy)
{
    uint32_t v;
    asm(TCT_LOAD ".u8 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(policy));
    return v;
}

/* What the values of a store are in memory; GPU_F48 has a second array. */
template <int STORE> struct tct_stored {
    typedef double type;
};
template <> struct tct_stored<GPU_F32> {
    typedef float type;
};
template <> struct tct_stored<GPU_DICT8> {
    typedef uint8_t type;
};
template <> struct tct_stored<GPU_DICT16> {
    typedef uint16_t type;
};
template <> struct tct_stored<GPU_F48> {
    typedef uint32_t type;
};

/* Where values are: in memory, or (CHIP) a copy of them in shared memory such
 * that chip[at] is value `at`. `dict` is in shared memory for GPU_DICT8. */
template <int STORE, bool CHIP> struct tct_values {
    const typename tct_stored<STORE>::type *value;
    const uint16_t *low;
    const double *dict;
    uint64_t policy;

    __device__ double operator[](int64_t at) const
    {
        if constexpr (STORE == GPU_F64 || STORE == GPU_F32)
            return CHIP ? value[at] : tct_load(value + at, policy);
        const uint32_t code = CHIP ? value[at] : tct_load(value + at, policy);
        if constexpr (STORE == GPU_DICT8) return dict[code];
        if constexpr (STORE == GPU_DICT16) return __ldg(dict + code);
        const uint64_t high = code, rest = tct_load(low + at, policy);
        return __longlong_as_double((long long)(high << 32 | rest << 16));
    }
};

template <int STORE>
static __device__ inline tct_values<STORE, false>
tct_values_of(const tct_gpu_arrays &A, const double *dict, uint64_t policy)
{
    return {(const typename tct_stored<STORE>::type *)A.value, A.value_low,
            dict, policy};
}

/* A vector that other blocks write while the kernel runs must not come from a
 * cache that does not know. */
template <bool WRITTEN>
static __device__ inline double tct_x(const double *x, int64_t i)
{
    return WRITTEN ? x[i] : __ldg(x + i);
}

/* --- a row --------------------------------------------------------------------- */

/* The row of lane `lane` of unit `u`: a unit is a warp's share of a slice. */
struct tct_gpu_row {
    int64_t row; /* < 0: none */
    int group;   /* lane of the group in its slice */
};

template <int B>
static __device__ inline tct_gpu_row tct_row_of(const tct_gpu_arrays &A,
                                                int64_t u, bool sorted)
{
    const int64_t s = B == 1 ? u : u / B;
    const int i = (B == 1 ? 0 : (int)(u % B) * 32) + (threadIdx.x & 31);
    const int g = i / B;
    int64_t group = s * 32 + g;
    if (sorted) group = (s & ~(int64_t)7) * 32 + A.order[s * 32 + g];
    return {group < A.groups ? group * B + i % B : -1, g};
}

template <int COLS> struct tct_sums {
    double v[COLS];
};

/* Block columns whose loads are all under way before the first is used. */
template <int B, int COLS> struct tct_batch {
    static constexpr int size = COLS > 1 ? (B == 1 ? 4 : 1)
                                : B == 1 ? 8
                                : B == 2 ? 4
                                : B <= 4 ? 2
                                         : 1;
};

/* A batch of block columns, in their order: U of them from cell `at` on, times
 * x at `col`, where they are `there`. Every cell of the batch is in memory, and
 * is 0 where it is not `there`, unless LENGTHS differ: then it may be beyond. */
template <int B, int COLS, bool WRITTEN, int U, bool LENGTHS, class VALUES>
static __device__ inline void
tct_cells(const VALUES &value, int64_t at, const int (&col)[U],
          const bool (&there)[U], const double *const (&x)[COLS],
          tct_sums<COLS> &sum)
{
    double v[U][B], xv[U][B][COLS];
#pragma unroll
    for (int q = 0; q < U; q++)
#pragma unroll
        for (int c = 0; c < B; c++) {
            v[q][c] =
                !LENGTHS || there[q] ? value[at + (q * B + c) * 32 * B] : 0.0;
#pragma unroll
            for (int j = 0; j < COLS; j++)
                xv[q][c][j] =
                    there[q] ? tct_x<WRITTEN>(x[j], col[q] * B + c) : 0.0;
        }
#pragma unroll
    for (int q = 0; q < U; q++)
#pragma unroll
        for (int c = 0; c < B; c++)
#pragma unroll
            for (int j = 0; j < COLS; j++)
                sum.v[j] = fma(v[q][c], xv[q][c][j], sum.v[j]);
}

/* Columns of runs that one load of a warp brings: lane l has column k + l: base,
 * mask, and of GPU_CONST the value. */
static __device__ inline uint4 tct_runs_at(const tct_gpu_arrays &A,
                                           const tct_gpu_slice &s, int k)
{
    const int at = k + (int)(threadIdx.x & 31);
    if (s.kind > GPU_CONST || at >= s.width) return make_uint4(0, 0, 0, 0);
    if (s.kind == GPU_CONST)
        return __ldg((const uint4 *)(A.index + s.index) + at);
    const uint2 r = __ldg((const uint2 *)(A.index + s.index) + at);
    return make_uint4(r.x, r.y, 0, 0);
}

/* The same for a part: with the masks of the slices behind, if they are joined
 * and M says that one warp takes all. */
struct tct_runs {
    uint4 first;
    uint32_t mask[GPU_JOIN - 1];
};
template <int M>
static __device__ inline tct_runs tct_part_runs(const tct_gpu_arrays &A,
                                                const tct_gpu_slice &s, int k)
{
    tct_runs r = {tct_runs_at(A, s, k), {0, 0, 0}};
    if (M == 1 || !s.joined) return r;
    const int at = k + (int)(threadIdx.x & 31);
    const int size = s.kind == GPU_CONST ? 16 : 8;
    const int step = (size * s.width + 15) & ~15;
#pragma unroll
    for (int m = 1; m < GPU_JOIN; m++)
        if (at < s.width)
            r.mask[m - 1] = __ldg(
                (const uint32_t *)(A.index + s.index + m * step + at * size) +
                1);
    return r;
}

/* Runs: a lane's column is the base of the run and its number. U columns from
 * k on. */
template <int B, int COLS, bool WRITTEN, int U, class VALUES>
static __device__ inline void
tct_some_runs(uint4 runs, int k, int g, int64_t at, const VALUES &value,
              const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    int col[U];
    bool there[U];
#pragma unroll
    for (int q = 0; q < U; q++) {
        col[q] = (int)__shfl_sync(0xffffffffu, runs.x, k + q) + g;
        there[q] = __shfl_sync(0xffffffffu, runs.y, k + q) >> g & 1;
    }
    tct_cells<B, COLS, WRITTEN, U, false>(value, at, col, there, x, sum);
}
template <int B, int COLS, bool WRITTEN, class VALUES>
static __device__ inline void
tct_sum_runs(const tct_gpu_arrays &A, const tct_gpu_slice &s, uint4 runs, int g,
             int64_t at, const VALUES &value, const double *const (&x)[COLS],
             tct_sums<COLS> &sum)
{
    constexpr int U = tct_batch<B, COLS>::size, STEP = B * B * 32;
    for (int k0 = 0; k0 < s.width; k0 += 32) {
        const int most = s.width - k0 < 32 ? s.width - k0 : 32;
        if (k0 > 0) runs = tct_runs_at(A, s, k0);
        int k = 0;
        for (; k + U <= most; k += U, at += U * STEP)
            tct_some_runs<B, COLS, WRITTEN, U>(runs, k, g, at, value, x, sum);
        if (U >= 4 && k + U / 2 <= most) {
            tct_some_runs<B, COLS, WRITTEN, U >= 4 ? U / 2 : 1>(runs, k, g, at,
                                                                value, x, sum);
            k += U / 2;
            at += U / 2 * STEP;
        }
        for (; k < most; k++, at += STEP)
            tct_some_runs<B, COLS, WRITTEN, 1>(runs, k, g, at, value, x, sum);
    }
}

/* The same, one value a run. */
template <int COLS, bool WRITTEN>
static __device__ inline void
tct_sum_const(const tct_gpu_arrays &A, const tct_gpu_slice &s, uint4 runs,
              int g, const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    constexpr int U = tct_batch<1, COLS>::size;
    for (int k = 0; k < s.width; k += U) {
        double v[U], xv[U][COLS];
        if (k > 0 && k % 32 == 0) runs = tct_runs_at(A, s, k);
#pragma unroll
        for (int q = 0; q < U; q++) {
            const int col = (int)__shfl_sync(0xffffffffu, runs.x, k + q) + g;
            const bool there = __shfl_sync(0xffffffffu, runs.y, k + q) >> g & 1;
            v[q] =
                __hiloint2double((int)__shfl_sync(0xffffffffu, runs.w, k + q),
                                 (int)__shfl_sync(0xffffffffu, runs.z, k + q));
            for (int j = 0; j < COLS; j++)
                xv[q][j] = there ? tct_x<WRITTEN>(x[j], col) : 0.0;
        }
#pragma unroll
        for (int q = 0; q < U; q++)
            for (int j = 0; j < COLS; j++)
                sum.v[j] = fma(v[q], xv[q][j], sum.v[j]);
    }
}

/* Columns one by one, loaded a batch ahead; a lane has `length` of them. */
template <int B, int COLS, bool WRITTEN, bool NEAR, class VALUES>
static __device__ inline void
tct_sum_columns(const tct_gpu_arrays &A, const tct_gpu_slice &s, int length,
                int g, int64_t at, const VALUES &value,
                const double *const (&x)[COLS], tct_sums<COLS> &sum)
{
    constexpr int U = tct_batch<B, COLS>::size;
    const uint16_t *near_col = (const uint16_t *)(A.index + s.index) + g;
    const uint32_t *far_col = (const uint32_t *)(A.index + s.index) + g;
    const int base = NEAR ? s.base : 0;
    uint32_t next[U];
#pragma unroll
    for (int q = 0; q < U; q++) {
        next[q] = 0;
        if (q < length)
            next[q] = NEAR ? tct_load(near_col + 32 * q, value.policy)
                           : tct_load(far_col + 32 * q, value.policy);
    }
    for (int k = 0; k < length; k += U) {
        int col[U];
        bool there[U];
#pragma unroll
        for (int q = 0; q < U; q++) {
            col[q] = base + (int)next[q];
            there[q] = k + q < length;
            if (k + U + q < length)
                next[q] =
                    NEAR ? tct_load(near_col + 32 * (k + U + q), value.policy)
                         : tct_load(far_col + 32 * (k + U + q), value.policy);
        }
        tct_cells<B, COLS, WRITTEN, U, true>(value, at, col, there, x, sum);
        at += U * B * B * 32;
    }
}

/* Four slices at once, where they are joined: the sums of rows lane, lane + 32,
 * lane + 64 and lane + 96. */
template <int COLS> struct tct_joined {
    tct_sums<COLS> row[GPU_JOIN];
};

/* U columns from k on; ONE value for all rows of each (GPU_CONST), or cells from
 * `at` on, those of the next slice `slice` values behind. */
template <int COLS, bool WRITTEN, bool ONE, int U, class VALUES>
static __device__ inline void
tct_joined_runs(const tct_runs &runs, int k, int64_t at, int64_t slice,
                const VALUES &value, const double *const (&x)[COLS],
                tct_joined<COLS> &sum)
{
    const int lane = (int)(threadIdx.x & 31);
    double v[U][GPU_JOIN], xv[U][GPU_JOIN][COLS];
#pragma unroll
    for (int q = 0; q < U; q++) {
        const int col =
            (int)__shfl_sync(0xffffffffu, runs.first.x, k + q) + lane;
        double one = 0.0;
        if (ONE)
            one = __hiloint2double(
                (int)__shfl_sync(0xffffffffu, runs.first.w, k + q),
                (int)__shfl_sync(0xffffffffu, runs.first.z, k + q));
#pragma unroll
        for (int m = 0; m < GPU_JOIN; m++) {
            const uint32_t mask =
                __shfl_sync(0xffffffffu,
                            m ? runs.mask[m ? m - 1 : 0] : runs.first.y, k + q);
            if (ONE) v[q][m] = one;
            else v[q][m] = value[at + q * 32 + m * slice];
#pragma unroll
            for (int j = 0; j < COLS; j++)
                xv[q][m][j] =
                    mask >> lane & 1 ? tct_x<WRITTEN>(x[j], col + 32 * m) : 0.0;
        }
    }
#pragma unroll
    for (int q = 0; q < U; q++)
#pragma unroll
        for (int m = 0; m < GPU_JOIN; m++)
#pragma unroll
            for (int j = 0; j < COLS; j++)
                sum.row[m].v[j] = fma(v[q][m], xv[q][m][j], sum.row[m].v[j]);
}

template <int COLS, bool WRITTEN, bool ONE, class VALUES>
static __device__ inline tct_joined<COLS>
tct_joined_of(const tct_gpu_arrays &A, const tct_gpu_slice &s, tct_runs runs,
              const VALUES &value, const double *const (&x)[COLS])
{
    constexpr int U = ONE ? 4 : 2;
    const int64_t slice = (int64_t)s.width * 32;
    int64_t at = s.cell * 32 + (threadIdx.x & 31);
    tct_joined<COLS> sum;
    for (int m = 0; m < GPU_JOIN; m++)
        for (int j = 0; j < COLS; j++) sum.row[m].v[j] = 0.0;
    for (int k0 = 0; k0 < s.width; k0 += 32) {
        const int most = s.width - k0 < 32 ? s.width - k0 : 32;
        if (k0 > 0) runs = tct_part_runs<GPU_JOIN>(A, s, k0);
        int k = 0;
#pragma unroll 2
        for (; k + U <= most; k += U, at += U * 32)
            tct_joined_runs<COLS, WRITTEN, ONE, U>(runs, k, at, slice, value, x,
                                                   sum);
        for (; k < most; k++, at += 32)
            tct_joined_runs<COLS, WRITTEN, ONE, 1>(runs, k, at, slice, value, x,
                                                   sum);
    }
    return sum;
}

template <int COLS, bool WRITTEN, class VALUES>
static __device__ inline tct_joined<COLS>
tct_joined_sum(const tct_gpu_arrays &A, const tct_gpu_slice &s,
               const tct_runs &runs, const VALUES &value,
               const double *const (&x)[COLS])
{
    return s.kind == GPU_CONST
               ? tct_joined_of<COLS, WRITTEN, true>(A, s, runs, value, x)
               : tct_joined_of<COLS, WRITTEN, false>(A, s, runs, value, x);
}

/* The sums of this lane's row of unit `u` in slice `s`, in column order. `runs`
 * is tct_runs_at(A, s, 0), loaded ahead. The whole warp calls it. */
template <int B, int COLS, bool WRITTEN, class VALUES>
static __device__ inline tct_sums<COLS>
tct_row_sum(const tct_gpu_arrays &A, const tct_gpu_slice &s, uint4 runs,
            int64_t u, int g, const VALUES &value,
            const double *const (&x)[COLS])
{
    tct_sums<COLS> sum;
    for (int j = 0; j < COLS; j++) sum.v[j] = 0.0;
    const int i = (B == 1 ? 0 : (int)(u % B) * 32) + (threadIdx.x & 31);
    const int64_t at = s.cell * (B * B * 32) + i;
    if (s.kind == GPU_RUN) {
        tct_sum_runs<B, COLS, WRITTEN>(A, s, runs, g, at, value, x, sum);
    } else if (B == 1 && s.kind == GPU_CONST) {
        tct_sum_const<COLS, WRITTEN>(A, s, runs, g, x, sum);
    } else {
        const int64_t slice = B == 1 ? u : u / B;
        const int length =
            s.full < s.width ? A.length[slice * 32 + g] : s.width;
        if (s.kind == GPU_NEAR)
            tct_sum_columns<B, COLS, WRITTEN, true>(A, s, length, g, at, value,
                                                    x, sum);
        else
            tct_sum_columns<B, COLS, WRITTEN, false>(A, s, length, g, at, value,
                                                     x, sum);
    }
    return sum;
}

static __device__ inline tct_gpu_slice tct_slice_at(const tct_gpu_arrays &A,
                                                    int64_t s)
{
    union {
        int4 word[2];
        tct_gpu_slice slice;
    } u;
    static_assert(sizeof(tct_gpu_slice) == 32, "two loads of 16 bytes");
    u.word[0] = __ldg((const int4 *)(A.slice + s));
    u.word[1] = __ldg((const int4 *)(A.slice + s) + 1);
    return u.slice;
}

/* The table of a dictionary, into shared memory where it is small. Every
 * thread of the block calls it. */
template <int STORE>
static __device__ inline const double *tct_dict(const tct_gpu_arrays &A,
                                                double *shared)
{
    if constexpr (STORE != GPU_DICT8) {
        (void)shared;
        return A.dict;
    } else {
        for (int i = threadIdx.x; i < A.dict_count; i += blockDim.x)
            shared[i] = A.dict[i];
        __syncthreads();
        return shared;
    }
}

#endif
