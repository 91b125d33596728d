/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/clock.cuh - timing of persistent kernels: with TACIT_CLOCKS thread
 * 0 of each block adds up the time between calls of tct_spent by phase; other
 * builds have empty functions. */
#ifndef TCT_DEVICE_GPU_CLOCK_CUH
#define TCT_DEVICE_GPU_CLOCK_CUH
#include "device/gpu/clock.h"
#include "device/gpu/lane.cuh"

#if TCT_CLOCKS
struct tct_clock {
    uint64_t last, begun;
    tct_spending spending;
};
/* Of this block. */
static __device__ inline tct_clock &tct_clock_here()
{
    __shared__ tct_clock clock;
    return clock;
}
static __device__ inline void tct_clock_start()
{
    tct_clock &c = tct_clock_here();
    if (threadIdx.x != 0) return;
    c.spending = {};
    c.begun = tct_nanoseconds();
    c.last = tct_cycles();
}
static __device__ inline void tct_spent(tct_phase on)
{
    tct_clock &c = tct_clock_here();
    if (threadIdx.x != 0) return;
    const uint64_t now = tct_cycles();
    c.spending.cycles[on] += now - c.last;
    c.spending.rounds += on == TCT_ON_PRODUCT;
    c.last = now;
}
/* Store the times of this block. */
static __device__ inline void tct_clock_stop(void *blocks)
{
    tct_clock &c = tct_clock_here();
    if (threadIdx.x != 0) return;
    c.spending.ns = tct_nanoseconds() - c.begun;
    ((tct_spending *)blocks)[blockIdx.x] = c.spending;
}
#else
static __device__ inline void tct_clock_start() {}
static __device__ inline void tct_spent(tct_phase) {}
static __device__ inline void tct_clock_stop(void *) {}
#endif

#endif
