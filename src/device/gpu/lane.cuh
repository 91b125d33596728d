/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/lane.cuh - what kernels ask of the machine: lanes of a warp,
 * fences, loads and stores that caches treat in a way of their own, the clock,
 * signals. Nothing else names PTX or the intrinsics that stand for it:
 * scripts/lint/lanes. */
#ifndef TCT_DEVICE_GPU_LANE_CUH
#define TCT_DEVICE_GPU_LANE_CUH
#include "device/gpu/runtime.h"
#include "device/numbered.h"
#include <stdint.h>

/* --- lanes ---------------------------------------------------------------- */

/* A bit for each lane of a warp. */
typedef uint32_t tct_lanes;
static_assert(8 * sizeof(tct_lanes) == GPU_WAVE, "a bit a lane");

#define TCT_ALL_LANES ((tct_lanes)-1)

/* Warps of a block at most. */
enum { TCT_WARPS_MOST = 1024 / GPU_WAVE };

/* This thread's lane, and its warp in the block. */
static __device__ inline int tct_lane()
{
    return (int)(threadIdx.x % GPU_WAVE);
}
static __device__ inline int tct_warp()
{
    return (int)(threadIdx.x / GPU_WAVE);
}

/* The `v` of lane `from`; of the lane `d` before or behind this one, and this
 * one's own where there is none. All lanes call these, as what follows. */
template <class T> static __device__ inline T tct_shuffle(T v, int from)
{
    return __shfl_sync(TCT_ALL_LANES, v, from);
}
template <class T> static __device__ inline T tct_shuffle_up(T v, int d)
{
    return __shfl_up_sync(TCT_ALL_LANES, v, (unsigned)d);
}
template <class T> static __device__ inline T tct_shuffle_down(T v, int d)
{
    return __shfl_down_sync(TCT_ALL_LANES, v, (unsigned)d);
}

/* The `v` of the lane whose number differs in the bits `d`. */
template <class T> static __device__ inline T tct_shuffle_across(T v, int d)
{
    return __shfl_xor_sync(TCT_ALL_LANES, v, d);
}

/* The lanes for which `yes` is true. */
static __device__ inline tct_lanes tct_ballot(bool yes)
{
    return __ballot_sync(TCT_ALL_LANES, yes);
}

/* Wait for all lanes: they see what each has written to shared memory. */
static __device__ inline void tct_warp_sync()
{
    __syncwarp();
}

/* Wait for `threads` threads of the block, whole warps, at barrier `number`
 * (from 1 on): they see what each has stored. */
static __device__ inline void tct_sync_some(int number, int threads)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* The same without a wait: those who do wait see what this thread has
 * stored. */
static __device__ inline void tct_arrive_some(int number, int threads)
{
    asm volatile("barrier.arrive %0, %1;" ::"r"(number), "r"(threads)
                 : "memory");
}

/* The first and the last of some lanes, of which there is one at least. */
static __device__ inline int tct_first_lane(tct_lanes some)
{
    return __ffs((int)some) - 1;
}
static __device__ inline int tct_last_lane(tct_lanes some)
{
    return GPU_WAVE - 1 - __clz((int)some);
}

/* C += A B of 8 x 4 and 4 x 8 numbers: lane l has row l / 4 of A in column l %
 * 4, row l % 4 of B in column l / 4, and of C row l / 4 in columns 2 (l % 4)
 * and the next one. */
static __device__ inline void tct_multiply_tile(double (&c)[2], double a,
                                                double b)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
        "{%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
#else
    const int lane = tct_lane();
    for (int k = 0; k < 4; k++) {
        const double x = tct_shuffle(a, lane / 4 * 4 + k);
        for (int n = 0; n < 2; n++)
            c[n] += x * tct_shuffle(b, (lane % 4 * 2 + n) * 4 + k);
    }
#endif
}

/* --- loads and stores ----------------------------------------------------- */

/* What nobody writes while the kernel runs. */
template <class T> static __device__ inline T tct_read_only(const T *p)
{
    return __ldg(p);
}

/* The same where it is read once, and caches need not keep it. */
template <class T> static __device__ inline T tct_read_once(const T *p)
{
    return __ldcs(p);
}

/* Past the L1: what other blocks write, or are to read. */
template <class T> static __device__ inline T tct_load_fresh(const T *p)
{
    return __ldcg(p);
}
template <class T> static __device__ inline void tct_store_through(T *p, T v)
{
    __stcg(p, v);
}

/* The same of two numbers, which go at once. */
struct alignas(16) tct_two {
    double v[2];
};
static __device__ inline tct_two tct_load_fresh(const tct_two *p)
{
    const double2 d = __ldcg((const double2 *)p);
    return {{d.x, d.y}};
}
static __device__ inline void tct_store_through(tct_two *p, tct_two v)
{
    __stcg((double2 *)p, make_double2(v.v[0], v.v[1]));
}

/* Begin to copy 16 bytes, at once, past the L1 to shared memory, while the
 * thread goes on; it has its copies after it has waited for them. */
static __device__ inline void tct_copy(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from)
                 : "memory");
}
static __device__ inline void tct_await_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Have the line of `p` come to the L2, and go on. */
static __device__ inline void tct_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

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

/* --- fences, signals, posts ----------------------------------------------- */

/* What this thread wrote before is seen before what it writes after, by all of
 * the GPU. */
static __device__ inline void tct_fence()
{
    __threadfence();
}

/* A signal is a counter in memory that blocks wait for. Who sees what was added
 * sees what the thread (and its block, if it waited for it) wrote before; of
 * one GPU. What it was before is seen likewise. */
static __device__ inline uint64_t tct_signal_add(uint64_t *signal, uint64_t v)
{
    uint64_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(signal), "l"(v)
                 : "memory");
    return before;
}
static __device__ inline uint64_t tct_signal_read(const uint64_t *signal)
{
    uint64_t v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                 : "=l"(v)
                 : "l"(signal)
                 : "memory");
    return v;
}

/* --- between GPUs --------------------------------------------------------- */

/* The same, of all GPUs and processors that reach the memory. */
static __device__ inline void tct_signal_send(uint64_t *signal, uint64_t v)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(signal), "l"(v)
                 : "memory");
}
static __device__ inline uint64_t tct_signal_value(const uint64_t *signal)
{
    uint64_t v;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(v)
                 : "l"(signal)
                 : "memory");
    return v;
}
static __device__ inline void tct_fence_all()
{
    __threadfence_system();
}

/* A value and the number of the message that it is: stored and read at once,
 * so that who sees the number has the value, without a fence: between two H200
 * in 0.8 us, where values, a fence and a signal take 2.0. It orders nothing
 * else. */
static __device__ inline void tct_numbered_send(tct_numbered *to, double value,
                                                uint64_t number)
{
    asm volatile("{\n"
                 ".reg .b128 both;\n"
                 "mov.b128 both, {%1, %2};\n"
                 "st.relaxed.sys.global.b128 [%0], both;\n"
                 "}" ::"l"(to),
                 "l"(__double_as_longlong(value)), "l"(number)
                 : "memory");
}
static __device__ inline tct_numbered tct_numbered_value(const tct_numbered *of)
{
    uint64_t value, number;
    asm volatile("{\n"
                 ".reg .b128 both;\n"
                 "ld.relaxed.sys.global.b128 both, [%2];\n"
                 "mov.b128 {%0, %1}, both;\n"
                 "}"
                 : "=l"(value), "=l"(number)
                 : "l"(of)
                 : "memory");
    return {__longlong_as_double((long long)value), number};
}

/* A ticket: how many have drawn it before, which orders nothing else; and a new
 * one. */
static __device__ inline unsigned tct_draw(unsigned *ticket)
{
    return atomicAdd(ticket, 1u);
}
static __device__ inline void tct_renew(unsigned *ticket)
{
    *ticket = 0;
}

/* Store a word for the host, without a fence: at once, but in any order with
 * others as the host sees them. */
template <class T> static __device__ inline void tct_active_word(T *to, T v)
{
    *(volatile T *)to = v;
}

/* --- the clock ------------------------------------------------------------ */

/* A processor would be given to others here. */
static __device__ inline void tct_between_checks() {}

static __device__ inline uint64_t tct_nanoseconds()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}
/* Of this multiprocessor. */
static __device__ inline uint64_t tct_cycles()
{
    return (uint64_t)clock64();
}

#endif
