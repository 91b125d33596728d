/* SPDX-License-Identifier: BSD-3-Clause
 * bench/powers.cu - s products in a row, v_k = a A v_{k-1} + b v_{k-1} +
 * c v_{k-2}: what is saved where the matrix is read once for all of them.
 *
 *     powers [-n N,...] [-s S,...]
 *
 * A is a matrix of 7 points on a grid of N x N x N, with values of its own in
 * each row, in slices of 32 rows. Nothing here is the library's.
 *
 *     a        a launch for each product, which does the recurrence, too
 *     a_plain  the same without the recurrence, y = A x
 *     b3       one launch for all: parts of A stay in shared memory from the
 *              first product to the last; the best of a small sweep
 *
 * Microseconds a product on an H200, b3 of a: N = 200: 115 of 145 for s = 2,
 * 112 of 148 for 4, 141 of 149 for 8; N = 100: 15.5 of 20.2 for s = 4. Where
 * parts were to stay in the L2 instead, behind barriers of the grid or counters
 * of parts, in a version before this one, it did not pay.
 *
 * Prints tab-separated, under a line of names. b3 has a's bits: where not, its
 * line says so, and the exit status is 1. It is 77 without a GPU, 2 after an
 * error of CUDA. */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 8,      /* products in a row at most */
    POINTS = 7,      /* entries of a row */
    VALUES = 7 * 32, /* of a slice, which has 8 ints besides: offsets */
    VALUE_BYTES = VALUES * 8,
    OFFSET_BYTES = 8 * 4,
    SLICE_BYTES = VALUE_BYTES + OFFSET_BYTES,
    THREADS = 256,    /* of a block of a */
    WIDEST = 1024,    /* threads of a block of b3 at most */
    AHEAD = 6,        /* parts on their way at most */
    STAGES = 1 << 16, /* of b3 at most */
    RUNS = 20,        /* timed: the median counts */
    LIST = 16,
    LARGEST = 500,
    LIMIT_NS = 300000000 /* a wait on the device gives up */
};

/* What b3 finds zero before its first launch. */
struct state {
    unsigned counter[STAGES]; /* blocks that have finished the stage */
    unsigned late;            /* somebody gave up */
    unsigned wrong;           /* values that are not a's */
};

/* What kernels are given. */
struct job {
    const double *value; /* of row i of a slice at i, 32 + i ... */
    const int *offset;   /* column less row, [8] for a slice */
    int slices, s;
    double *v; /* v_k is at v + k stride */
    size_t stride;
    double a[LEVELS + 1], b[LEVELS + 1], c[LEVELS + 1];
    /* Of b3 alone. */
    int part, parts; /* slices of a part; how many there are */
    int warps;       /* of a block, for a level */
    int lag, margin, slots, ahead, rounds, stages;
    bool first;        /* what was needed last is the first to leave the L2 */
    unsigned launches; /* since the state was zero */
    state *shared;
};

#define GET(name, type, constraint, ptx)                                      \
    static __device__ inline type name(const void *p = 0, uint64_t hint = 0)  \
    {                                                                         \
        type x;                                                               \
        asm volatile(ptx : "=" constraint(x) : "l"(p), "l"(hint) : "memory"); \
        return x;                                                             \
    }
GET(load, double, "d", "ld.global.f64 %0, [%1];")
GET(load_once, double, "d",
    "ld.global.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;")
GET(normal, uint64_t, "l",
    "createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;")
GET(first, uint64_t, "l",
    "createpolicy.fractional.L2::evict_first.b64 %0, 1.0;")

#define DO(ptx, ...) asm volatile(ptx ::__VA_ARGS__ : "memory")

static __device__ inline void store(double *p, double x, uint64_t hint)
{
    DO("st.global.L2::cache_hint.f64 [%0], %1, %2;", "l"(p), "d"(x), "l"(hint));
}

static __device__ inline void gather(double *g, const double *x, int4 o, int4 p)
{
    const int offset[POINTS] = {o.x, o.y, o.z, o.w, p.x, p.y, p.z};
#pragma unroll
    for (int e = 0; e < POINTS; e++) g[e] = load(x + offset[e]);
}

static __device__ inline double recur(double a, double Av, double b, double v,
                                      double c, double before)
{
    return __fma_rn(a, Av, __fma_rn(b, v, __dmul_rn(c, before)));
}

/* a: a warp has a slice of v_k. */
template <bool PLAIN>
static __global__ void __launch_bounds__(THREADS)
    product(const __grid_constant__ job J, int k)
{
    const int lane = threadIdx.x & 31;
    const int slice = blockIdx.x * (THREADS / 32) + (threadIdx.x >> 5);
    if (slice >= J.slices) return;
    const uint64_t kept = normal(), once = first();
    const int4 *o = (const int4 *)(J.offset + (size_t)slice * 8);
    const int4 o0 = __ldg(o), o1 = __ldg(o + 1);
    const double *value = J.value + (size_t)slice * VALUES + lane;
    const double *x = J.v + (k - 1) * J.stride + slice * 32 + lane;
    double a[POINTS], g[POINTS], v = 0.0, before = 0.0, t = 0.0;
#pragma unroll
    for (int e = 0; e < POINTS; e++) a[e] = load_once(value + 32 * e, once);
    gather(g, x, o0, o1);
    if (!PLAIN) {
        v = load(x);
        before = load_once(k > 1 ? x - J.stride : x, kept);
    }
#pragma unroll
    for (int e = 0; e < POINTS; e++) t = __fma_rn(a[e], g[e], t);
    if (!PLAIN) t = recur(J.a[k], t, J.b[k], v, J.c[k], before);
    store(J.v + k * J.stride + slice * 32 + lane, t, kept);
}

/* b3: part q is of block q % G at all levels, in its round q / G. In stage i
 * round i - (k - 1) lag is at level k, at all levels at once: each has warps of
 * its own. One warp more has a thread that copies parts to shared memory, says
 * that a stage is done, and waits for other blocks.
 *
 *     stage      0   1   2   3   4   5   6       (lag 2)
 *     level 1    0   1   2   3   4   5   6       rounds
 *     level 2            0   1   2   3   4
 *     level 3                    0   1   2
 *
 * In stage i all blocks have finished stage i - margin. That is enough for rows
 * that reach over D parts, as lag = ceil(D / G) + margin. GPUs before sm_90 do
 * not have such copies. */
#if __CUDA_ARCH__ >= 900
GET(load_relaxed, unsigned, "r", "ld.relaxed.gpu.global.u32 %0, [%1];")
GET(load_acquire, unsigned, "r", "ld.acquire.gpu.global.u32 %0, [%1];")
GET(nanoseconds, uint64_t, "l", "mov.u64 %0, %%globaltimer;")

struct place {
    double *value;  /* shared: of the slots */
    int *offset;    /* ... */
    uint64_t *full; /* shared: a barrier a slot, for what was copied */
    int k, warp;    /* the thread's level, 0: none; its warp there */
    double a, b, c;
    uint64_t before_hint, hint; /* for v_{k-2}, v_k */
};

static __device__ inline unsigned address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}
static __device__ inline bool has_come(unsigned full, unsigned parity)
{
    unsigned yes;
    asm volatile("{\n .reg .pred q;\n"
                 " mbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, q;\n}"
                 : "=r"(yes)
                 : "r"(full), "r"(parity)
                 : "memory");
    return yes != 0;
}

/* Until it is `done`; false: this wait is too long, or another was. */
template <class F>
static __device__ __noinline__ bool await(F done, unsigned *late)
{
    const uint64_t start = nanoseconds();
    for (;;) {
        for (int i = 0; i < 16; i++)
            if (done()) return true;
        if (load_relaxed(late) != 0) return false;
        if (nanoseconds() - start > LIMIT_NS) {
            atomicExch(late, 1u);
            return false;
        }
    }
}

static __device__ inline void copy(void *to, const void *from, int bytes,
                                   unsigned full)
{
    DO("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
       ".L2::cache_hint [%0], [%1], %2, [%3], %4;",
       "r"(address(to)), "l"(from), "r"(bytes), "r"(full), "l"(first()));
}

/* Begin to copy the part of a round to its slot. */
static __device__ inline void fetch(const job &J, const place &P, int round)
{
    const int q = round * (int)gridDim.x + (int)blockIdx.x;
    if (round >= J.rounds || q >= J.parts) return;
    const int slot = round % J.slots, n = min(J.part, J.slices - q * J.part);
    const size_t from = (size_t)q * J.part, to = (size_t)slot * J.part;
    const unsigned full = address(P.full + slot);
    DO("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", "r"(full),
       "r"(n * SLICE_BYTES));
    copy(P.value + to * VALUES, J.value + from * VALUES, n * VALUE_BYTES, full);
    copy(P.offset + to * 8, J.offset + from * 8, n * OFFSET_BYTES, full);
}

/* One thread, in stage i. The slot that it fills was last read before: there
 * are ahead + (s - 1) lag + 1; what stage i + 1 needs from other blocks is of a
 * stage before, too, as margin > 1. */
static __device__ inline bool serve(const job &J, const place &P, int i)
{
    unsigned *counter = J.shared->counter + i - 1;
    if (i > 0) DO("red.release.gpu.global.add.u32 [%0], 1;", "l"(counter));
    fetch(J, P, i + J.ahead);
    if (i + 1 < J.margin) return true;
    const unsigned *needed = J.shared->counter + i + 1 - J.margin;
    const unsigned all = gridDim.x * J.launches;
    auto done = [=]() {
        return load_relaxed(needed) >= all && load_acquire(needed) >= all;
    };
    return load_acquire(needed) >= all || await(done, &J.shared->late);
}

/* The rows of U slices at the thread's level in stage i. */
template <int U>
static __device__ inline bool advance(const job &J, const place &P, int i)
{
    const int round = i - (P.k - 1) * J.lag, slot = round % J.slots;
    const int q = round * (int)gridDim.x + (int)blockIdx.x, from = q * J.part;
    if (round < 0 || round >= J.rounds || q >= J.parts) return true;
    if (from + P.warp >= J.slices) return true;
    const unsigned full = address(P.full + slot);
    const unsigned parity = (unsigned)(round / J.slots) & 1u;
    auto done = [=]() { return has_come(full, parity); };
    if (!done() && !await(done, &J.shared->late)) return false;
    const int lane = threadIdx.x & 31, held = slot * J.part;
    const double *x = J.v + (P.k - 1) * J.stride;
    double g[U][POINTS], v[U], before[U];
    int z[U];
    bool mine[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        mine[u] = from + P.warp + u * J.warps < J.slices;
        z[u] = mine[u] ? P.warp + u * J.warps : P.warp;
        const double *at = x + (from + z[u]) * 32 + lane;
        const int4 *o = (const int4 *)(P.offset + (held + z[u]) * 8);
        gather(g[u], at, o[0], o[1]);
        v[u] = load(at);
        before[u] = load_once(P.k > 1 ? at - J.stride : at, P.before_hint);
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
        const double *a = P.value + (held + z[u]) * VALUES + lane;
        double *y = J.v + P.k * J.stride + (from + z[u]) * 32 + lane;
        double t = 0.0;
#pragma unroll
        for (int e = 0; e < POINTS; e++) t = __fma_rn(a[32 * e], g[u][e], t);
        t = recur(P.a, t, P.b, v[u], P.c, before[u]);
        if (mine[u]) store(y, t, P.hint);
    }
    return true;
}

static __device__ inline place place_of(const job &J, unsigned char *shared)
{
    const int warp = threadIdx.x >> 5, slices = J.slots * J.part;
    const int k = warp < J.warps * J.s ? warp / J.warps + 1 : 0;
    place P;
    P.value = (double *)shared;
    P.offset = (int *)(shared + slices * VALUE_BYTES);
    P.full = (uint64_t *)(shared + slices * SLICE_BYTES);
    P.k = k;
    P.warp = warp % J.warps;
    P.a = J.a[k];
    P.b = J.b[k];
    P.c = J.c[k];
    P.before_hint = J.first ? first() : normal();
    P.hint = J.first && k == J.s ? first() : normal();
    return P;
}
#endif

template <int U>
static __global__ void __launch_bounds__(WIDEST, 1)
    powers(const __grid_constant__ job J)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char shared[];
    const place P = place_of(J, shared);
    const bool server = P.k == 0 && (threadIdx.x & 31) == 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < J.slots; i++)
            DO("mbarrier.init.shared::cta.b64 [%0], 1;",
               "r"(address(P.full + i)));
        DO("fence.mbarrier_init.release.cluster;");
        DO("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    for (int j = 0; server && j < J.ahead; j++) fetch(J, P, j);
    for (int i = 0; i < J.stages; i++) {
        bool good = true;
        if (P.k > 0) good = advance<U>(J, P, i);
        else if (server) good = serve(J, P, i);
        if (!__syncthreads_or(!good)) continue;
        const uint64_t start = nanoseconds(); /* copies on their way land */
        while (nanoseconds() - start < 1000000) continue;
        return;
    }
#endif
}

/* From 0 to 1. */
static __device__ inline double noise(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (double)(x ^ x >> 16) * (1.0 / 4294967296.0);
}

/* A thread has a row. Entries outside the grid are 0; where a slice has nothing
 * else they point at the row itself. */
static __global__ void fill(double *value, int *offset, double *v, int slices,
                            int N)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, slice = row / 32;
    if (slice >= slices) return;
    const int x = row % N, y = row / N % N, z = row / (N * N);
    const int to[POINTS] = {-N * N, -N, -1, 0, 1, N, N * N};
    const bool in[POINTS] = {z > 0,     y > 0,     x > 0,    true,
                             x < N - 1, y < N - 1, z < N - 1};
    for (int e = 0; e < POINTS; e++) {
        const double h = 0.1 * noise((unsigned)row * 7u + (unsigned)e);
        const bool there = row < N * N * N && in[e];
        const bool any = __any_sync(0xffffffffu, there);
        value[(size_t)slice * VALUES + e * 32 + row % 32] =
            there ? (to[e] ? h - 1.0 : h + 6.0) : 0.0;
        offset[slice * 8 + e] = any ? to[e] : 0;
    }
    v[row] = row < N * N * N ? 2.0 * noise((unsigned)row + 77777u) - 1.0 : 0.0;
}

/* Count values that have other bits. */
static __global__ void compare(const double *v, const double *w, size_t n,
                               unsigned *wrong)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && __double_as_longlong(v[i]) != __double_as_longlong(w[i]))
        atomicAdd(wrong, 1u);
}

struct bench {
    int sms, shared_most; /* of the GPU */
    bool b3;              /* can be, and none has been late */
    int status;
    int N;
    double us;    /* a's, of a product */
    job J;        /* a's and what b3's begins as */
    double *same; /* v as a has it, of all levels */
    cudaEvent_t event[2 * RUNS];
};

/* A variant's line. */
struct result {
    double us; /* of a product; 0: does not fit */
    char parameters[160];
    unsigned told[2]; /* late, wrong */
};

#define CHECK(call) check((call), #call, __LINE__)
static void check(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "powers: line %d, %s: %s\n", line, call,
            cudaGetErrorString(error));
    exit(2);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Microseconds of what `start` starts. */
template <class F> static double median(const bench *b, F &&start)
{
    const cudaEvent_t *e = b->event;
    float ms[RUNS];
    for (int i = -2; i < RUNS; i++) { /* two warm up */
        if (i >= 0) CHECK(cudaEventRecord(e[2 * i]));
        start();
        if (i >= 0) CHECK(cudaEventRecord(e[2 * i + 1]));
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < RUNS; i++)
        CHECK(cudaEventElapsedTime(&ms[i], e[2 * i], e[2 * i + 1]));
    qsort(ms, RUNS, sizeof *ms, ascending);
    return 1e3 * 0.5 * ((double)ms[RUNS / 2 - 1] + (double)ms[RUNS / 2]);
}

static void show(bench *b, int s, const char *variant, const result *r,
                 const char *good)
{
    printf("%d\t%d\t%s\t%s\t%.2f\t%.0f\t%.3f\t", b->N, s, variant,
           r->parameters, r->us, 1e-3 * b->J.slices * SLICE_BYTES / r->us,
           b->us / r->us);
    if (r->told[0]) puts("WRONG: too late");
    else if (r->told[1]) printf("WRONG: %u values\n", r->told[1]);
    else puts(good);
    fflush(stdout);
    if (r->told[0]) b->b3 = false;
    if (r->told[0] || r->told[1]) b->status = 1;
}

static void launch(const job *J, int k, bool plain)
{
    const int blocks = (J->slices + THREADS / 32 - 1) / (THREADS / 32);
    if (plain) product<true><<<blocks, THREADS>>>(*J, k);
    else product<false><<<blocks, THREADS>>>(*J, k);
    CHECK(cudaGetLastError());
}

static void measure_a(bench *b, int s)
{
    for (int plain = 0; plain < 2; plain++) {
        result r = {0.0, "threads=256", {0, 0}};
        auto start = [&]() {
            for (int k = 1; k <= s; k++) launch(&b->J, plain ? 1 : k, plain);
        };
        r.us = median(b, start) / s;
        if (!plain) b->us = r.us;
        show(b, s, plain ? "a_plain" : "a", &r, "-");
    }
}

/* The rest of J, which has part, warps, margin and s, for a block on each SM;
 * bytes of shared memory, 0 where it does not fit. */
static size_t plan(const bench *b, job *J, const void *code, int threads)
{
    const int G = b->sms, rows = J->part * 32;
    const size_t slot = (size_t)J->part * SLICE_BYTES + sizeof(uint64_t);
    const int D = (b->N * b->N + rows - 1) / rows;
    J->lag = (D + G - 1) / G + J->margin;
    const int need = (J->s - 1) * J->lag + 1;
    const int more = (int)(b->shared_most / slot) - need;
    J->ahead = more < AHEAD ? more : AHEAD;
    J->slots = need + J->ahead;
    J->parts = (J->slices + J->part - 1) / J->part;
    J->rounds = (J->parts + G - 1) / G;
    J->stages = J->rounds + need - 1;
    if (threads > WIDEST || threads < 96 || more < 2 || J->stages > STAGES)
        return 0;
    const int bytes = (int)(J->slots * slot);
    int fit = 0;
    CHECK(cudaFuncSetAttribute(
        code, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, code, threads,
                                                        bytes));
    return fit > 0 ? bytes : 0;
}

static void count_wrong(const bench *b, const job *J)
{
    const size_t n = J->s * J->stride + J->slices * 32; /* zeros between, too */
    compare<<<(unsigned)(n / 256 + 1), 256>>>(J->v, b->same, n,
                                              &J->shared->wrong);
    CHECK(cudaGetLastError());
}

/* J has part, margin, first and s. */
static result try_b3(const bench *b, job J, int U)
{
    void (*code)(job) = U == 1 ? powers<1> : powers<2>;
    J.warps = J.part / U;
    const int threads = (J.s * J.warps + 1) * 32;
    const size_t bytes = plan(b, &J, (const void *)code, threads);
    result r = {};
    if (!bytes) return r;
    auto start = [&]() {
        void *arguments[] = {&J};
        J.launches++;
        CHECK(cudaLaunchCooperativeKernel((const void *)code, b->sms, threads,
                                          arguments, bytes, 0));
    };
    CHECK(cudaMemset(J.shared, 0, sizeof *J.shared));
    CHECK(cudaMemset2D(J.v + J.stride, J.stride * sizeof(double), 0xff,
                       J.slices * 32 * sizeof(double), J.s));
    start();
    count_wrong(b, &J);
    r.us = median(b, start) / J.s;
    count_wrong(b, &J);
    CHECK(cudaMemcpy(r.told, &J.shared->late, sizeof r.told,
                     cudaMemcpyDeviceToHost));
    snprintf(
        r.parameters, sizeof r.parameters,
        "threads=%d U=%d part=%d margin=%d lag=%d slots=%d ahead=%d first=%d",
        threads, U, J.part * 32, J.margin, J.lag, J.slots, J.ahead, J.first);
    return r;
}

/* The best, and those that are wrong. */
static void measure_b3(bench *b, int s)
{
    result best = {};
    job J = b->J;
    J.s = s;
    for (int i = 0; b->b3 && i < 32; i++) {
        J.part = 2 << (i >> 3); /* 64 to 512 rows */
        J.margin = 2 + (i >> 2 & 1);
        J.first = i & 1;
        const result r = try_b3(b, J, 1 + (i >> 1 & 1));
        if (r.told[0] || r.told[1]) show(b, s, "b3", &r, "");
        else if (r.us > 0.0 && (best.us == 0.0 || r.us < best.us)) best = r;
    }
    if (best.us > 0.0) show(b, s, "b3", &best, "a's bits");
}

static void *zeros(size_t bytes)
{
    void *room = nullptr;
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cudaMemset(room, 0, bytes));
    return room;
}

/* Each v_k has zeros around it, as far as rows reach. */
static void measure(bench *b, int N, const int *s)
{
    const size_t slices = ((size_t)N * N * N + 31) / 32;
    const size_t guard = ((size_t)N * N + 95) / 32 * 32;
    const size_t stride = slices * 32 + 2 * guard;
    double *value = (double *)zeros(slices * VALUE_BYTES);
    int *offset = (int *)zeros(slices * OFFSET_BYTES);
    double *v[2]; /* the first: a's, of all levels */
    job *J = &b->J;
    b->N = N;
    J->value = value;
    J->offset = offset;
    J->slices = (int)slices;
    J->stride = stride;
    for (int i = 1; i >= 0; i--) {
        v[i] = (double *)zeros((LEVELS + 1) * stride * sizeof(double));
        J->v = v[i] + guard;
        fill<<<J->slices / 8 + 1, 256>>>(value, offset, J->v, J->slices, N);
        CHECK(cudaGetLastError());
    }
    for (int k = 1; k <= LEVELS; k++) launch(J, k, false);
    b->same = J->v;
    J->v = v[1] + guard;
    for (; *s; s++) {
        measure_a(b, *s);
        measure_b3(b, *s);
    }
    void *const rooms[] = {value, offset, v[0], v[1]};
    for (void *room : rooms) CHECK(cudaFree(room));
}

/* The GPU, and the polynomials of Chebyshev on [0, 12]. */
static void begin(bench *b)
{
    cudaFuncAttributes known;
    CHECK(cudaDeviceGetAttribute(&b->sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&b->shared_most,
                                 cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(cudaFuncGetAttributes(&known, (const void *)powers<1>));
    b->b3 = known.ptxVersion >= 90;
    if (!b->b3)
        fputs("powers: b3 needs sm_90, and to be compiled for it\n", stderr);
    b->J.shared = (state *)zeros(sizeof(state));
    for (cudaEvent_t &e : b->event) CHECK(cudaEventCreate(&e));
    for (int k = 1; k <= LEVELS; k++) {
        b->J.a[k] = k == 1 ? 1.0 / 6 : 2.0 / 6;
        b->J.b[k] = k == 1 ? -1.0 : -2.0;
        b->J.c[k] = k == 1 ? 0.0 : -1.0;
    }
}

/* Numbers from `least` to `most`, and a 0 behind them. */
static bool read_list(char *text, int least, int most, int *out)
{
    int n = 0;
    for (char *w = strtok(text, ","); w; w = strtok(nullptr, ",")) {
        const int x = atoi(w);
        if (n == LIST || x < least || x > most) return false;
        out[n++] = x;
    }
    out[n] = 0;
    return n > 0;
}

int main(int argc, char **argv)
{
    int N[LIST + 1] = {100, 200}, s[LIST + 1] = {2, 4, 8}, gpus = 0;
    bool good = argc % 2 == 1;
    for (int i = 1; good && i < argc; i += 2)
        if (strcmp(argv[i], "-n") == 0)
            good = read_list(argv[i + 1], 2, LARGEST, N);
        else
            good = strcmp(argv[i], "-s") == 0 &&
                   read_list(argv[i + 1], 1, LEVELS, s);
    if (!good) {
        fprintf(stderr, "powers [-n N,...] [-s S,...]: N 2 to %d, S 1 to %d\n",
                LARGEST, LEVELS);
        return 2;
    }
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        puts("powers: skipped, there is no GPU");
        return 77;
    }
    bench b = {};
    begin(&b);
    puts("N\ts\tvariant\tparameters\tus_per_product\tmatrix_GB/s\t"
         "times_as_fast_as_a\tcheck");
    for (int i = 0; N[i]; i++) measure(&b, N[i], s);
    for (cudaEvent_t e : b.event) CHECK(cudaEventDestroy(e));
    CHECK(cudaFree(b.J.shared));
    return b.status;
}
