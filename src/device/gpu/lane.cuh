/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/lane.cuh - machine operations of kernels: lanes of a warp, fences,
 * loads and stores with cache hints, the clock, signals. No other file has PTX
 * or these intrinsics: scripts/lint/lanes. */
#ifndef TCT_DEVICE_GPU_LANE_CUH
#define TCT_DEVICE_GPU_LANE_CUH
#include "device/gpu/runtime.h"
#include "device/numbered.h"
#include <stdint.h>

/* --- lanes ---------------------------------------------------------------- */

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

/* A warp of 64 lanes has two tiles of tct_multiply_tile, one a half: this
 * thread's lane in its tile, and the number of that. */
enum { TCT_TILE_LANES = 32, TCT_TILES_OF_WARP = GPU_WAVE / TCT_TILE_LANES };
static __device__ inline int tct_tile_lane()
{
    return TCT_TILES_OF_WARP == 1 ? tct_lane() : tct_lane() % TCT_TILE_LANES;
}
static __device__ inline int tct_tile_of_lane()
{
    return TCT_TILES_OF_WARP == 1 ? 0 : tct_lane() / TCT_TILE_LANES;
}

/* Are barriers of some warps words in shared memory, for tct_open_barriers to
 * set by all threads before the block's first barrier? */
#if TCT_HIP
static constexpr bool TCT_BARRIERS_IN_MEMORY = true;
#else
static constexpr bool TCT_BARRIERS_IN_MEMORY = false;
static __device__ inline void tct_open_barriers() {}
#endif

#if TCT_HIP
#include "device/gpu/lane_hip.cuh"
#else

/* The `v` of lane `from`, or of the lane `d` before or after this one (its own
 * at the edge). All lanes call these and the following. */
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

/* Barrier of all lanes, which then see each other's stores to shared memory. */
static __device__ inline void tct_warp_sync()
{
    __syncwarp();
}

/* Barrier `number` (from 1) of `threads` threads of the block, whole warps,
 * which then see each other's stores. */
static __device__ inline void tct_sync_some(int number, int threads)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Arrive at this barrier without waiting: those that wait see this thread's
 * stores. */
static __device__ inline void tct_arrive_some(int number, int threads)
{
    asm volatile("barrier.arrive %0, %1;" ::"r"(number), "r"(threads)
                 : "memory");
}

/* The first and the last of a non-empty set of lanes. */
static __device__ inline int tct_first_lane(tct_lanes some)
{
    return __ffs((int)some) - 1;
}
static __device__ inline int tct_last_lane(tct_lanes some)
{
    return GPU_WAVE - 1 - __clz((int)some);
}

/* C += A B of 8 x 4 and 4 x 8 numbers: lane l has element (l / 4, l % 4) of A,
 * (l % 4, l / 4) of B, and (l / 4, 2 (l % 4)) and the next one of C. */
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

/* Load data that nothing writes while the kernel runs. */
template <class T> static __device__ inline T tct_read_only(const T *p)
{
    return __ldg(p);
}

/* The same for data read once, which caches need not keep. */
template <class T> static __device__ inline T tct_read_once(const T *p)
{
    return __ldcs(p);
}

/* Bypass the L1: data that other blocks write, or will read. */
template <class T> static __device__ inline T tct_load_fresh(const T *p)
{
    return __ldcg(p);
}
template <class T> static __device__ inline void tct_store_through(T *p, T v)
{
    __stcg(p, v);
}

/* The same for two numbers at once. */
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

/* Start to copy 16 bytes, atomically, past the L1 to shared memory; the copy is
 * complete after tct_await_copies. */
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

/* Start to copy BYTES (4, 8, 16) that nothing writes meanwhile; copies up to
 * tct_copies_end are a batch. tct_await_copies_but waits until at most COUNT of
 * this thread's last batches are on their way. */
template <int BYTES>
static __device__ inline void tct_copy_ahead(void *to, const void *from)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
                     "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at),
                     "l"(from), "n"(BYTES)
                     : "memory");
}
static __device__ inline void tct_copies_end()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int COUNT> static __device__ inline void tct_await_copies_but()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}

/* Prefetch the line of `p` to the L2. */
static __device__ inline void tct_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}
/* To the L1, too. */
static __device__ inline void tct_prefetch_near(const void *p)
{
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}

/* Cache policy of matrix lines, which bypass the L1: in the L2 a fraction
 * `keep` is evicted last, to be there for the next product, and the rest
 * first. */
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

/* tct_load_once(p, policy): the value at `p`, in a REGISTER. */
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

/* --- fences and signals --------------------------------------------------- */

/* This thread's earlier stores become visible before its later ones, to the
 * whole GPU. */
static __device__ inline void tct_fence()
{
    __threadfence();
}

/* A signal is a counter that blocks wait for. Acquire and release within the
 * GPU: a block that sees the added value sees earlier stores of the adding
 * thread (and of its block, after a barrier). Returns the old value. */
static __device__ inline uint64_t tct_signal_add(uint64_t *signal, uint64_t v)
{
    uint64_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(signal), "l"(v)
                 : "memory");
    return before;
}
/* Set a signal that one thread alone changes: release within the GPU. */
static __device__ inline void tct_signal_set(uint64_t *signal, uint64_t v)
{
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(signal), "l"(v)
                 : "memory");
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

/* --- kernels in a row ------------------------------------------------------ */

/* In a kernel that is launched early (gpu_launch_early), before anything that an
 * earlier kernel of the stream has to do with: wait for the end of all of these.
 * And let the next kernel, if it is launched so, become resident; for blocks
 * that wait for nobody any more. */
static __device__ inline void tct_await_earlier()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
static __device__ inline void tct_let_later_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* --- between GPUs --------------------------------------------------------- */

/* The same for all GPUs and processors that reach the memory. */
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

/* A value with its message number, stored and read at once, so that no fence is
 * needed: 0.8 us between two H200, where values, a fence and a signal take 2.0.
 * It orders no other store. */
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

/* Draw a ticket: returns the number of earlier draws, and orders nothing; reset
 * it. */
static __device__ inline unsigned tct_draw(unsigned *ticket)
{
    return atomicAdd(ticket, 1u);
}
static __device__ inline void tct_renew(unsigned *ticket)
{
    *ticket = 0;
}

/* Store a word for the host, without a fence: soon, but in no defined order
 * with others. */
template <class T> static __device__ inline void tct_host_store(T *to, T v)
{
    *(volatile T *)to = v;
}
/* Two, at a multiple of 16 bytes. */
static __device__ inline void tct_host_store_pair(double *to, double a,
                                                  double b)
{
    asm volatile("st.volatile.v2.f64 [%0], {%1, %2};"
                 :
                 : "l"(to), "d"(a), "d"(b)
                 : "memory");
}

/* --- the clock ------------------------------------------------------------ */

/* The CPU yields its processor here. */
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

#endif /* TCT_HIP */
#endif
