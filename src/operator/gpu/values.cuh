/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/values.cuh - how kernels load values of slices, of any store, and
 * elements of x. */
#ifndef TCT_GPU_VALUES_CUH
#define TCT_GPU_VALUES_CUH
#include "operator/gpu/slices.h"

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

/* tct_load_once(p, policy): what is at `p`, in a REGISTER. */
#define TCT_LOAD(STORED, REGISTER, ptx, constraint)                  \
    static __device__ inline REGISTER tct_load_once(const STORED *p, \
                                                    uint64_t policy) \
    {                                                                \
        REGISTER v;                                                  \
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint." ptx       \
            " %0, [%1], %2;"                                         \
            : "=" constraint(v)                                      \
            : "l"(p), "l"(policy));                                  \
        return v;                                                    \
    }
TCT_LOAD(double, double, "f64", "d")
TCT_LOAD(float, float, "f32", "f")
TCT_LOAD(uint32_t, uint32_t, "u32", "r")
TCT_LOAD(uint16_t, uint16_t, "u16", "h")
TCT_LOAD(uint8_t, uint32_t, "u8", "r")
#undef TCT_LOAD

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

/* Where values are: in memory and, of the first `columns` block columns of a
 * part, in shared memory (CHIP). `dict` is in shared memory for GPU_DICT8. */
template <int STORE, bool CHIP> struct tct_values {
    typedef typename tct_stored<STORE>::type type;
    const type *value;
    const uint16_t *low;
    const double *dict;
    uint64_t policy;
    const type *chip; /* this lane's first value of the part */
    int columns;

    __device__ double of(uint32_t code, int64_t at) const
    {
        if constexpr (STORE == GPU_DICT8) return dict[code];
        if constexpr (STORE == GPU_DICT16) return __ldg(dict + code);
        const uint64_t high = code, rest = tct_load_once(low + at, policy);
        return __longlong_as_double((long long)(high << 32 | rest << 16));
    }
    __device__ double operator[](int64_t at) const
    {
        if constexpr (STORE == GPU_F64 || STORE == GPU_F32)
            return tct_load_once(value + at, policy);
        else return of(tct_load_once(value + at, policy), at);
    }
    /* line `line` of the part, which is value `at` */
    __device__ double on_chip(int line, int64_t at) const
    {
        if constexpr (STORE == GPU_F64 || STORE == GPU_F32)
            return chip[line * 32];
        else return of(chip[line * 32], at);
    }
};

template <int STORE, bool CHIP>
static __device__ inline tct_values<STORE, CHIP>
tct_values_of(const tct_gpu_arrays &A, const double *dict, uint64_t policy)
{
    typedef typename tct_stored<STORE>::type type;
    return {(const type *)A.value, A.value_low, dict, policy, nullptr, 0};
}

/* A vector that other blocks write while the kernel runs must not come from a
 * cache that does not know. */
template <bool WRITTEN>
static __device__ inline double tct_x(const double *x, int64_t i)
{
    return WRITTEN ? x[i] : __ldg(x + i);
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
