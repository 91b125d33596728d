/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/device/gpu/lane.cuh - takes the place of src/device/gpu/
 * lane.cuh where a C++ compiler builds kernels for the emulator. Threads of a
 * block are fibres of one thread of the host; lanes of a warp switch where they
 * exchange values, warps at barriers. Copies ahead are made as late as they may
 * be, and until then their target is NaN. */
#ifndef TESTS_EMULATED_DEVICE_GPU_LANE_CUH
#define TESTS_EMULATED_DEVICE_GPU_LANE_CUH
#include "device/wave.h"
#include "emulator.h"
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__
#define __align__(n)    __attribute__((aligned(n)))
#define threadIdx       (*emulator_thread())
#define blockIdx        (*emulator_block())
#define blockDim        (*emulator_threads())
#define TCT_ALL_LANES   ((tct_lanes)-1)
#define __syncthreads() emulator_barrier()

/* Enumerators are ints here. */
template <class A, class B> static inline A min(A a, B b)
{
    return a < (A)b ? a : (A)b;
}
template <class A, class B> static inline A max(A a, B b)
{
    return a > (A)b ? a : (A)b;
}

static inline int tct_lane()
{
    return (int)(threadIdx.x % GPU_WAVE);
}
static inline int tct_warp()
{
    return (int)(threadIdx.x / GPU_WAVE);
}

template <class T> static inline T emulated_shuffle(T v, int from)
{
    uint64_t word = 0;
    memcpy(&word, &v, sizeof v);
    word = emulator_exchange(word, from);
    memcpy(&v, &word, sizeof v);
    return v;
}
template <class T> static inline T tct_shuffle_up(T v, int d)
{
    const int from = tct_lane() - d;
    return emulated_shuffle(v, from < 0 ? tct_lane() : from);
}
template <class T> static inline T tct_shuffle_down(T v, int d)
{
    const int from = tct_lane() + d;
    return emulated_shuffle(v, from >= GPU_WAVE ? tct_lane() : from);
}

static inline void tct_warp_sync()
{
    (void)emulator_exchange(0, tct_lane());
}

template <class T> static inline void tct_host_store(T *to, T v)
{
    *to = v;
}

template <int BYTES>
static inline void tct_copy_ahead(void *to, const void *from)
{
    emulator_copy(to, from, BYTES);
}
static inline void tct_copies_end()
{
    emulator_copies_end();
}
template <int COUNT> static inline void tct_await_copies_but()
{
    emulator_await_copies(COUNT);
}

#endif
