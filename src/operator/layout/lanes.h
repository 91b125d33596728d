/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/lanes.h - the work of a warp in one text: on a GPU each
 * thread has one lane and they exchange values; on the host a loop has all
 * lanes. A value of each lane is an array of TCT_OWN_LANES elements. All lanes
 * take the same branches around these functions.
 *
 * A GPU's file includes device/gpu/lane.cuh first. */
#ifndef TCT_OPERATOR_LAYOUT_LANES_H
#define TCT_OPERATOR_LAYOUT_LANES_H
#include "device/steps.h"
#include "device/wave.h"
#include <stdbool.h>
#include <stdint.h>

/* For each lane `l` of this thread, the `k`-th of its own: with both numbers, or
 * one of them. */
#if TCT_ON_GPU
#define TCT_OWN_LANES       1
#define TCT_EACH_LANE(l, k) for (int k = 0, l = tct_lane(); k < 1; k++)
#define TCT_EACH_NUMBER(l) \
    for (int l = tct_lane(), of_##l = 0; of_##l < 1; of_##l++)
#else
#define TCT_OWN_LANES       GPU_WAVE
#define TCT_EACH_LANE(l, k) for (int k = 0, l = 0; k < GPU_WAVE; l = ++k)
#define TCT_EACH_NUMBER(l)  for (int l = 0; l < GPU_WAVE; l++)
#endif
#define TCT_EACH_OWN(k) for (int k = 0; k < TCT_OWN_LANES; k++)

/* Is this the thread that writes what a warp has once? */
TCT_BOTH bool tct_leads(void)
{
#if TCT_ON_GPU
    return tct_lane() == 0;
#else
    return true;
#endif
}

/* Lanes then see what others stored. */
TCT_BOTH void tct_lanes_barrier(void)
{
#if TCT_ON_GPU
    tct_warp_sync();
#endif
}

TCT_BOTH int32_t tct_lanes_least(const int32_t *v)
{
    int32_t least = v[0];
#if TCT_ON_GPU
    for (int d = GPU_WAVE / 2; d > 0; d /= 2)
        least = min(least, tct_shuffle_across(least, d));
#else
    for (int l = 1; l < GPU_WAVE; l++)
        if (v[l] < least) least = v[l];
#endif
    return least;
}

TCT_BOTH int32_t tct_lanes_most(const int32_t *v)
{
    int32_t most = v[0];
#if TCT_ON_GPU
    for (int d = GPU_WAVE / 2; d > 0; d /= 2)
        most = max(most, tct_shuffle_across(most, d));
#else
    for (int l = 1; l < GPU_WAVE; l++)
        if (v[l] > most) most = v[l];
#endif
    return most;
}

/* Modulo 2^64. */
TCT_BOTH int64_t tct_lanes_total(const int64_t *v)
{
    uint64_t sum = (uint64_t)v[0];
#if TCT_ON_GPU
    for (int d = GPU_WAVE / 2; d > 0; d /= 2)
        sum += tct_shuffle_across((unsigned long long)sum, d);
#else
    for (int l = 1; l < GPU_WAVE; l++) sum += (uint64_t)v[l];
#endif
    return (int64_t)sum;
}

/* The lanes of which `is` is true. */
TCT_BOTH tct_lanes tct_lanes_which(const bool *is)
{
#if TCT_ON_GPU
    return tct_ballot(is[0]);
#else
    tct_lanes some = 0;
    for (int l = 0; l < GPU_WAVE; l++) some |= (tct_lanes)is[l] << l;
    return some;
#endif
}

/* The first of a non-empty set of lanes. */
TCT_BOTH int tct_lanes_first(tct_lanes some)
{
#if TCT_ON_GPU
    return tct_first_lane(some);
#else
    return tct_least_lane(some);
#endif
}

TCT_BOTH int tct_lanes_count(tct_lanes some)
{
#if TCT_ON_GPU
    return __popcll((unsigned long long)some);
#else
    return __builtin_popcountll(some);
#endif
}

/* The value of lane `l`. */
TCT_BOTH uint64_t tct_lanes_get(const uint64_t *v, int l)
{
#if TCT_ON_GPU
    return (uint64_t)tct_shuffle((unsigned long long)v[0], l);
#else
    return v[l];
#endif
}

/* --- what several threads change ------------------------------------------ */

/* Returns the value before. */
TCT_BOTH int64_t tct_shared_add(int64_t *to, int64_t v)
{
#if TCT_ON_GPU
    return (int64_t)atomicAdd((unsigned long long *)to, (unsigned long long)v);
#else
    return __atomic_fetch_add(to, v, __ATOMIC_RELAXED);
#endif
}

/* Replace 0 by `v`; returns the value before. */
TCT_BOTH uint64_t tct_shared_claim(uint64_t *to, uint64_t v)
{
#if TCT_ON_GPU
    return (uint64_t)atomicCAS((unsigned long long *)to, 0ull,
                               (unsigned long long)v);
#else
    uint64_t was = 0;
    (void)__atomic_compare_exchange_n(to, &was, v, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return was;
#endif
}

/* The claimed value, or 0, which may be old. */
TCT_BOTH uint64_t tct_shared_peek(const uint64_t *from)
{
#if TCT_ON_GPU
    return *from;
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

/* A value that another thread may have changed meanwhile. */
TCT_BOTH int64_t tct_shared_read(const int64_t *from)
{
#if TCT_ON_GPU
    return *(const volatile int64_t *)from;
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

/* Raise to `v` if that is more; neither is negative. */
TCT_BOTH void tct_shared_raise(int64_t *to, int64_t v)
{
    int64_t was = tct_shared_read(to);
#if TCT_ON_GPU
    if (was < v)
        (void)atomicMax((unsigned long long *)to, (unsigned long long)v);
#else
    while (was < v &&
           !__atomic_compare_exchange_n(to, &was, v, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
#endif
}

/* A byte, a number of 32 bits: the same. */
TCT_BOTH uint8_t tct_shared_byte(const uint8_t *from)
{
#if TCT_ON_GPU
    return *(const volatile uint8_t *)from;
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}
TCT_BOTH void tct_shared_put_byte(uint8_t *to, int v)
{
#if TCT_ON_GPU
    *(volatile uint8_t *)to = (uint8_t)v;
#else
    __atomic_store_n(to, (uint8_t)v, __ATOMIC_RELAXED);
#endif
}
TCT_BOTH int32_t tct_shared_number(const int32_t *from)
{
#if TCT_ON_GPU
    return *(const volatile int32_t *)from;
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}
TCT_BOTH void tct_shared_put_number(int32_t *to, int32_t v)
{
#if TCT_ON_GPU
    *(volatile int32_t *)to = v;
#else
    __atomic_store_n(to, v, __ATOMIC_RELAXED);
#endif
}

/* Set to 1. */
TCT_BOTH void tct_shared_set(int64_t *to)
{
#if TCT_ON_GPU
    *(volatile int64_t *)to = 1;
#else
    __atomic_store_n(to, 1, __ATOMIC_RELAXED);
#endif
}

#endif
