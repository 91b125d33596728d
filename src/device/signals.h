/* SPDX-License-Identifier: BSD-3-Clause
 * device/signals.h - the memory operations of protocol.h on the CPU; each has
 * the meaning of the one of its name in device/gpu/lane.cuh. */
#ifndef TCT_DEVICE_SIGNALS_H
#define TCT_DEVICE_SIGNALS_H
#include "device/numbered.h"
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__)
#define TCT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TCT_TSAN 1
#endif
#endif
#ifndef TCT_TSAN
#define TCT_TSAN 0
#endif

/* --- counters ------------------------------------------------------------- */

/* Release and acquire: a reader of the counter sees earlier stores of its
 * sender. */
static inline void tct_signal_send(uint64_t *signal, uint64_t v)
{
    __atomic_store_n(signal, v, __ATOMIC_RELEASE);
}
static inline uint64_t tct_signal_value(const uint64_t *signal)
{
    return __atomic_load_n(signal, __ATOMIC_ACQUIRE);
}
/* The same within a GPU. */
static inline void tct_signal_set(uint64_t *signal, uint64_t v)
{
    __atomic_store_n(signal, v, __ATOMIC_RELEASE);
}
/* Returns the old value; the caller sees earlier stores of all that added
 * before. */
static inline uint64_t tct_signal_add(uint64_t *signal, uint64_t v)
{
    return __atomic_fetch_add(signal, v, __ATOMIC_ACQ_REL);
}
static inline uint64_t tct_signal_read(const uint64_t *signal)
{
    return __atomic_load_n(signal, __ATOMIC_ACQUIRE);
}
/* A relaxed load of a word that others change. */
static inline uint64_t tct_load_fresh(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* --- tickets and fences --------------------------------------------------- */

/* A ticket by itself orders nothing; as in a kernel, fences around it do.
 * ThreadSanitizer knows no fences and would report races. So a fence before a
 * store makes it a release, up to the next load of others' stores, and a fence
 * after a ticket makes it an acquire. */
typedef struct tct_fenced {
    bool before;
    const unsigned *drawn;
} tct_fenced;

static inline tct_fenced *tct_fenced_here(void)
{
    static _Thread_local tct_fenced here;
    return &here;
}

static inline void tct_fence_all(void)
{
    tct_fenced *f = tct_fenced_here();
    f->before = true;
#if TCT_TSAN
    if (f->drawn) (void)__atomic_load_n(f->drawn, __ATOMIC_ACQUIRE);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
    f->drawn = NULL;
}

static inline unsigned tct_draw(unsigned *ticket)
{
    tct_fenced *f = tct_fenced_here();
    const bool fenced = f->before;
    f->before = false;
    f->drawn = ticket;
    return fenced ? __atomic_fetch_add(ticket, 1, __ATOMIC_RELEASE)
                  : __atomic_fetch_add(ticket, 1, __ATOMIC_RELAXED);
}
static inline void tct_renew(unsigned *ticket)
{
    __atomic_store_n(ticket, 0, __ATOMIC_RELAXED);
}

/* --- numbered values ------------------------------------------------------ */

/* A reader that sees the number has the value. */
#if TCT_TSAN && defined(__clang__) /* at once, as on a GPU */
#include <sanitizer/tsan_interface_atomic.h>
#include <string.h>

static inline void tct_numbered_send(struct tct_numbered *to, double value,
                                     uint64_t number)
{
    const struct tct_numbered both = {value, number};
    __tsan_atomic128 bits;
    memcpy(&bits, &both, sizeof bits);
    __tsan_atomic128_store((void *)to, bits,
                           tct_fenced_here()->before
                               ? __tsan_memory_order_release
                               : __tsan_memory_order_relaxed);
}
static inline struct tct_numbered
tct_numbered_value(const struct tct_numbered *of)
{
    struct tct_numbered both;
    const __tsan_atomic128 bits =
        __tsan_atomic128_load((const void *)of, __tsan_memory_order_acquire);
    memcpy(&both, &bits, sizeof both);
    tct_fenced_here()->before = false;
    return both;
}
#else /* the number last: no C store is wide enough */
static inline void tct_numbered_send(struct tct_numbered *to, double value,
                                     uint64_t number)
{
    __atomic_store(&to->value, &value, __ATOMIC_RELAXED);
    __atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}
static inline struct tct_numbered
tct_numbered_value(const struct tct_numbered *of)
{
    struct tct_numbered got;
    got.number = __atomic_load_n(&of->number, __ATOMIC_ACQUIRE);
    __atomic_load(&of->value, &got.value, __ATOMIC_RELAXED);
    return got;
}
#endif

/* --- waiting -------------------------------------------------------------- */

static inline void tct_between_checks(void)
{
    sched_yield();
}
static inline uint64_t tct_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
