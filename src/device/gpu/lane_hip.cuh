/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/lane_hip.cuh - the machine operations of lane.cuh on AMD: each has
 * the meaning of the one of its name in lane.cuh. All lanes of a wave execute
 * together. Scopes: an agent is a GPU, the system is all GPUs and processors.
 *
 * These compile for gfx90a and gfx942, and have never run. tests/hip/signals.py
 * finds the scopes in the assembly. */
#ifndef TCT_DEVICE_GPU_LANE_HIP_CUH
#define TCT_DEVICE_GPU_LANE_HIP_CUH

#define TCT_OF_GPU __HIP_MEMORY_SCOPE_AGENT
#ifndef TCT_OF_ALL /* a test sets a wrong one */
#define TCT_OF_ALL __HIP_MEMORY_SCOPE_SYSTEM
#endif

/* --- lanes ---------------------------------------------------------------- */

template <class T> static __device__ inline T tct_shuffle(T v, int from)
{
    return __shfl(v, from);
}
template <class T> static __device__ inline T tct_shuffle_up(T v, int d)
{
    return __shfl_up(v, (unsigned)d);
}
template <class T> static __device__ inline T tct_shuffle_down(T v, int d)
{
    return __shfl_down(v, (unsigned)d);
}
template <class T> static __device__ inline T tct_shuffle_across(T v, int d)
{
    return __shfl_xor(v, d);
}
static __device__ inline tct_lanes tct_ballot(bool yes)
{
    return __ballot(yes);
}
static __device__ inline void tct_warp_sync()
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}

/* Barriers of some waves are counters in shared memory: the last wave to arrive
 * resets the counter and begins the next round. */
struct tct_barrier_words {
    unsigned arrived, round;
};
enum { TCT_BARRIERS = 4 };
static __device__ inline tct_barrier_words *tct_barriers_here()
{
    __shared__ tct_barrier_words barrier[TCT_BARRIERS];
    return barrier;
}
static __device__ inline void tct_open_barriers()
{
    if (threadIdx.x < TCT_BARRIERS) tct_barriers_here()[threadIdx.x] = {0, 0};
}
/* One lane of each wave: arrive; returns the round. */
static __device__ inline unsigned tct_arrive(tct_barrier_words *b, int threads)
{
    const int scope = __HIP_MEMORY_SCOPE_WORKGROUP;
    const unsigned round =
        __hip_atomic_load(&b->round, __ATOMIC_RELAXED, scope);
    const unsigned before = __hip_atomic_fetch_add(
        &b->arrived, (unsigned)GPU_WAVE, __ATOMIC_ACQ_REL, scope);
    if (before + GPU_WAVE == (unsigned)threads) {
        __hip_atomic_store(&b->arrived, 0u, __ATOMIC_RELAXED, scope);
        __hip_atomic_store(&b->round, round + 1, __ATOMIC_RELEASE, scope);
    }
    return round;
}
static __device__ inline void tct_arrive_some(int number, int threads)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (tct_lane() == 0) tct_arrive(&tct_barriers_here()[number], threads);
}
static __device__ inline void tct_sync_some(int number, int threads)
{
    tct_barrier_words *b = &tct_barriers_here()[number];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (tct_lane() == 0) {
        const unsigned round = tct_arrive(b, threads);
        while (__hip_atomic_load(&b->round, __ATOMIC_ACQUIRE,
                                 __HIP_MEMORY_SCOPE_WORKGROUP) == round)
            __builtin_amdgcn_s_sleep(1);
    }
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static __device__ inline int tct_first_lane(tct_lanes some)
{
    return __ffsll((unsigned long long)some) - 1;
}
static __device__ inline int tct_last_lane(tct_lanes some)
{
    return GPU_WAVE - 1 - __clzll((long long)some);
}

/* Without the machine's own instruction: each half of the wave has a tile. */
static __device__ inline void tct_multiply_tile(double (&c)[2], double a,
                                                double b)
{
    const int lane = tct_tile_lane(), half = tct_lane() - lane;
    for (int k = 0; k < 4; k++) {
        const double x = tct_shuffle(a, half + lane / 4 * 4 + k);
        for (int n = 0; n < 2; n++)
            c[n] += x * tct_shuffle(b, half + (lane % 4 * 2 + n) * 4 + k);
    }
}

/* --- loads and stores ----------------------------------------------------- */

template <class T> static __device__ inline T tct_read_only(const T *p)
{
    return *p;
}
template <class T> static __device__ inline T tct_read_once(const T *p)
{
    return __builtin_nontemporal_load(p);
}
template <class T> static __device__ inline T tct_load_fresh(const T *p)
{
    return __hip_atomic_load(p, __ATOMIC_RELAXED, TCT_OF_GPU);
}
template <class T> static __device__ inline void tct_store_through(T *p, T v)
{
    __hip_atomic_store(p, v, __ATOMIC_RELAXED, TCT_OF_GPU);
}
struct alignas(16) tct_two {
    double v[2];
};
static __device__ inline tct_two tct_load_fresh(const tct_two *p)
{
    return {{tct_load_fresh(&p->v[0]), tct_load_fresh(&p->v[1])}};
}
static __device__ inline void tct_store_through(tct_two *p, tct_two v)
{
    for (int i = 0; i < 2; i++) tct_store_through(&p->v[i], v.v[i]);
}

/* In two halves, the upper one first: see tct_numbered_send. */
static __device__ inline void tct_copy(void *to, const void *from)
{
    const uint64_t *word = (const uint64_t *)from;
    ((uint64_t *)to)[1] =
        __hip_atomic_load(word + 1, __ATOMIC_ACQUIRE, TCT_OF_ALL);
    ((uint64_t *)to)[0] = __hip_atomic_load(word, __ATOMIC_RELAXED, TCT_OF_ALL);
}
static __device__ inline void tct_await_copies() {}
template <int BYTES>
static __device__ inline void tct_copy_ahead(void *to, const void *from)
{
    __builtin_memcpy(__builtin_assume_aligned(to, BYTES),
                     __builtin_assume_aligned(from, BYTES), BYTES);
}
static __device__ inline void tct_copies_end() {}
template <int COUNT> static __device__ inline void tct_await_copies_but() {}
static __device__ inline void tct_prefetch(const void *) {}
static __device__ inline void tct_prefetch_near(const void *) {}

/* Without a policy of caches. */
static __device__ inline uint64_t tct_policy(float)
{
    return 0;
}
template <class T>
static __device__ inline auto tct_load_once(const T *p, uint64_t)
{
    return *p;
}
static __device__ inline uint32_t tct_load_once(const uint8_t *p, uint64_t)
{
    return *p;
}

/* --- fences and signals --------------------------------------------------- */

static __device__ inline void tct_fence()
{
    __threadfence();
}
static __device__ inline uint64_t tct_signal_add(uint64_t *signal, uint64_t v)
{
    return __hip_atomic_fetch_add(signal, v, __ATOMIC_ACQ_REL, TCT_OF_GPU);
}
static __device__ inline void tct_signal_set(uint64_t *signal, uint64_t v)
{
    __hip_atomic_store(signal, v, __ATOMIC_RELEASE, TCT_OF_GPU);
}
static __device__ inline uint64_t tct_signal_read(const uint64_t *signal)
{
    return __hip_atomic_load(signal, __ATOMIC_ACQUIRE, TCT_OF_GPU);
}

static __device__ inline void tct_await_earlier() {}
static __device__ inline void tct_let_later_begin() {}

/* --- between GPUs --------------------------------------------------------- */

static __device__ inline void tct_signal_send(uint64_t *signal, uint64_t v)
{
    __hip_atomic_store(signal, v, __ATOMIC_RELEASE, TCT_OF_ALL);
}
static __device__ inline uint64_t tct_signal_value(const uint64_t *signal)
{
    return __hip_atomic_load(signal, __ATOMIC_ACQUIRE, TCT_OF_ALL);
}
static __device__ inline void tct_fence_all()
{
    __threadfence_system();
}

/* The machine promises no atomic store of 16 bytes. So the number is stored
 * after the value and loaded before it: whoever reads the awaited number reads
 * its value, since a slot is stored to again only after that. */
static __device__ inline void tct_numbered_send(tct_numbered *to, double value,
                                                uint64_t number)
{
    __hip_atomic_store(&to->value, value, __ATOMIC_RELAXED, TCT_OF_ALL);
    __hip_atomic_store(&to->number, number, __ATOMIC_RELEASE, TCT_OF_ALL);
}
static __device__ inline tct_numbered tct_numbered_value(const tct_numbered *of)
{
    const uint64_t number =
        __hip_atomic_load(&of->number, __ATOMIC_ACQUIRE, TCT_OF_ALL);
    return {__hip_atomic_load(&of->value, __ATOMIC_RELAXED, TCT_OF_ALL),
            number};
}

static __device__ inline unsigned tct_draw(unsigned *ticket)
{
    return atomicAdd(ticket, 1u);
}
static __device__ inline void tct_renew(unsigned *ticket)
{
    *ticket = 0;
}
template <class T> static __device__ inline void tct_host_store(T *to, T v)
{
    __hip_atomic_store(to, v, __ATOMIC_RELAXED, TCT_OF_ALL);
}
/* Two, at a multiple of 16 bytes. */
static __device__ inline void tct_host_store_pair(double *to, double a,
                                                  double b)
{
    tct_host_store(to, a);
    tct_host_store(to + 1, b);
}

/* --- the clock ------------------------------------------------------------ */

static __device__ inline void tct_between_checks()
{
    __builtin_amdgcn_s_sleep(1);
}
/* Of 100 MHz. */
static __device__ inline uint64_t tct_nanoseconds()
{
    return 10 * (uint64_t)__builtin_amdgcn_s_memrealtime();
}
static __device__ inline uint64_t tct_cycles()
{
    return (uint64_t)clock64();
}

#endif
