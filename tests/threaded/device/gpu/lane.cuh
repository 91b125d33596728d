/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/device/gpu/lane.cuh - takes the place of src/device/gpu/
 * lane.cuh where a C++ compiler builds kernels for threads of the host. A
 * process is a block, so that its static variables are the block's shared
 * memory; threads are threads, and signals those of device/signals.h. */
#ifndef TESTS_THREADED_DEVICE_GPU_LANE_CUH
#define TESTS_THREADED_DEVICE_GPU_LANE_CUH
#include "device/gpu/gpu.h"
#include "device/signals.h"

#define __global__
#define __device__
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static

extern thread_local dim3 threadIdx;
extern dim3 blockIdx, blockDim, gridDim;

void __syncthreads();
int __syncthreads_or(int yes);

static inline unsigned tct_load_fresh(const unsigned *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
/* Data, of which a signal says that they are there. */
struct alignas(16) tct_two {
    double v[2];
};
static inline tct_two tct_load_fresh(const tct_two *p)
{
    return *p;
}
static inline unsigned char tct_load_fresh(const unsigned char *p)
{
    return *p;
}
template <class T> static inline void tct_host_store(T *to, T v)
{
    *(volatile T *)to = v;
}
/* Of a number in the block's shared memory. */
static inline void atomicAdd(int *to, int v)
{
    __atomic_fetch_add(to, v, __ATOMIC_RELAXED);
}
static inline void atomicMin(int *to, int v)
{
    int seen = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (seen > v &&
           !__atomic_compare_exchange_n(to, &seen, v, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

static inline uint64_t tct_cycles()
{
    return tct_nanoseconds();
}
static inline void tct_await_earlier() {}
static inline void tct_let_later_begin() {}

#endif
