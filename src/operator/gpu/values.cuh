/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/values.cuh - how kernels load values of slices, in any store,
 * and elements of x. */
#ifndef TCT_OPERATOR_GPU_VALUES_CUH
#define TCT_OPERATOR_GPU_VALUES_CUH
#include "device/gpu/lane.cuh"
#include "operator/gpu/slices.h"

/* The memory type of a store; GPU_F48 has a second array. */
template <int STORE> struct tct_store_type {
    typedef double type;
};
template <> struct tct_store_type<GPU_F32> {
    typedef float type;
};
template <> struct tct_store_type<GPU_DICT8> {
    typedef uint8_t type;
};
template <> struct tct_store_type<GPU_DICT16> {
    typedef uint16_t type;
};
template <> struct tct_store_type<GPU_F48> {
    typedef uint32_t type;
};

/* Values of a part: in memory and, for its first `columns` block columns, in
 * shared memory (CHIP). `dict` is in shared memory for GPU_DICT8. */
template <int STORE, bool CHIP> struct tct_values {
    typedef typename tct_store_type<STORE>::type type;
    const type *value;
    const uint16_t *low;
    const double *dict;
    uint64_t policy;
    const type *chip; /* this lane's first value of the part */
    int columns;

    __device__ double of(uint32_t code, int64_t at) const
    {
        if constexpr (STORE == GPU_DICT8) return dict[code];
        if constexpr (STORE == GPU_DICT16) return tct_read_only(dict + code);
        const uint64_t high = code, rest = tct_load_once(low + at, policy);
        return __longlong_as_double((long long)(high << 32 | rest << 16));
    }
    __device__ double operator[](int64_t at) const
    {
        if constexpr (STORE == GPU_F64 || STORE == GPU_F32)
            return tct_load_once(value + at, policy);
        else return of(tct_load_once(value + at, policy), at);
    }
    /* line `line` of the part: value `at` */
    __device__ double on_chip(int line, int64_t at) const
    {
        if constexpr (STORE == GPU_F64 || STORE == GPU_F32)
            return chip[line * GPU_LANES];
        else return of(chip[line * GPU_LANES], at);
    }
};

template <int STORE, bool CHIP>
static __device__ inline tct_values<STORE, CHIP>
tct_values_of(const tct_gpu_arrays &A, const double *dict, uint64_t policy)
{
    typedef typename tct_store_type<STORE>::type type;
    return {(const type *)A.value, A.value_low, dict, policy, nullptr, 0};
}

/* Vectors that other blocks write meanwhile must bypass incoherent caches. */
template <bool WRITTEN>
static __device__ inline double tct_x(const double *x, int64_t i)
{
    return WRITTEN ? x[i] : tct_read_only(x + i);
}

/* Copy a small dictionary to shared memory. Called by every thread of the
 * block. */
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
