/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_grid.cuh - the kernel's part of persistent grids: a
 * grid barrier with sums, samples, the scalars of the solve, and the host's
 * request to end.
 *
 * The barrier is one counter: a block adds 1 when all its threads have arrived
 * and waits until all blocks have. Each block stores its sums before it adds,
 * and after the barrier all blocks add up all sums in the same order. No block
 * can be two barriers ahead of another, so sums are double-buffered. (1.6 us on
 * an H200, 0.95 without sums; boxes of value and epoch that all blocks poll
 * take 2.4.)
 *
 * With persistent grids of other GPUs sums need neither the counter nor a
 * fence, which would wait for earlier stores to peers: each block stores a box
 * of value and barrier number, one warp adds up the boxes of a sum and sends
 * the result to all ranks. So such a sum makes no other stores visible; only a
 * wait does. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_GRID_CUH
#define TCT_DEVICE_GPU_PERSISTENT_GRID_CUH
#include "device/gpu/clock.cuh"
#include "device/gpu/epilogue.cuh"
#include "device/gpu/persistent_grid.h"
#include "device/protocol.h"

/* Flags that one thread sets for its block. */
enum {
    FLAG_MET,    /* status of the last barrier */
    FLAG_WISH,   /* 1: ask for the end; 2: asked */
    FLAG_RANK,   /* a rank has a flag */
    FLAG_MISSED, /* timeout of a peer */
    FLAG_ENOUGH, /* one thread has decided to end the loop */
    TCT_FLAGS
};

/* The block's state of grid barriers; PEERS: there are persistent grids of
 * other GPUs. */
template <bool PEERS> struct tct_persistent_grid {
    const tct_persistent_job &job;
    uint32_t epoch; /* barriers so far */
    uint32_t waits; /* ... by the counter: with PEERS not all */
    int *told;      /* shared, [TCT_FLAGS] */
    const tct_persistent_peers *peers; /* shared, as `before`; with PEERS */
    const uint64_t *before;            /* barriers of earlier kernels */
};
/* Copy the scalars of the solve to `c`, private to each block: thread 0 of
 * every block does the same steps. */
template <bool PEERS>
static __device__ inline tct_persistent_grid<PEERS>
tct_persistent_open(const tct_persistent_job &job, double *c)
{
    __shared__ int told[TCT_FLAGS];
    tct_persistent_grid<PEERS> g = {job, 0, 0, told, nullptr, nullptr};
    if (threadIdx.x < TCT_FLAGS) told[threadIdx.x] = 0;
    if constexpr (PEERS) { /* loads from memory would delay each barrier */
        __shared__ tct_persistent_peers peers;
        __shared__ uint64_t before;
        g.peers = &peers;
        g.before = &before;
        if (threadIdx.x == 0) {
            peers = *job.peers;
            before = *job.peers->number;
        }
    }
    if (threadIdx.x < TCT_SCALARS) c[threadIdx.x] = job.c[threadIdx.x];
    if constexpr (TCT_BARRIERS_IN_MEMORY) tct_open_barriers();
    __syncthreads();
    tct_clock_start();
    return g;
}
template <bool PEERS>
static __device__ inline uint32_t
tct_counted(const tct_persistent_grid<PEERS> &g)
{
    return PEERS ? g.waits : g.epoch;
}
/* Thread 0: arrive at the barrier; returns the counter. */
template <bool PEERS>
static __device__ inline uint64_t
tct_barrier_arrive(tct_persistent_grid<PEERS> &g)
{
    const bool end = g.told[FLAG_WISH] == 1;
    if (end) g.told[FLAG_WISH] = 2;
    return tct_barrier_arrive_at(g.job.counter, tct_counted(g), end);
}
/* ... and wait until all blocks have arrived. */
template <bool PEERS>
static __device__ inline void tct_barrier_wait(tct_persistent_grid<PEERS> &g,
                                               uint64_t seen)
{
    g.told[FLAG_MET] = tct_await_blocks(g.job.counter, seen, gridDim.x,
                                        tct_counted(g), g.job.limit_ns);
}

/* The last warp of a block, which has no other work if a warp is spare. */
static __device__ inline bool tct_is_last_warp()
{
    return threadIdx.x >= blockDim.x - GPU_WAVE;
}

/* Wait for all blocks; their earlier stores are then visible. All threads call
 * it. */
template <bool PEERS>
static __device__ inline tct_barrier_status
tct_grid_wait(tct_persistent_grid<PEERS> &g)
{
    g.epoch++;
    g.waits++;
    __syncthreads();
    if (threadIdx.x == 0) tct_barrier_wait(g, tct_barrier_arrive(g));
    __syncthreads();
    tct_spent(TCT_ON_BARRIER);
    return (tct_barrier_status)g.told[FLAG_MET];
}

/* --- all persistent grids ------------------------------------------------- */

/* The number of this barrier, which grows from kernel to kernel. */
static __device__ inline uint64_t
tct_meeting(const tct_persistent_grid<true> &g)
{
    return *g.before + g.epoch;
}
/* The index of sum `j` of rank `from` at this barrier, in the slots of any
 * rank. */
static __device__ inline size_t tct_said_at(const tct_persistent_grid<true> &g,
                                            int from, int j)
{
    return tct_slot_at(TCT_PERSISTENT_PHASES, g.peers->ranks,
                       TCT_PERSISTENT_SLOTS, from, tct_meeting(g)) +
           j;
}

/* A second text of tct_slot_send and tct_total of protocol.h: with those these
 * kernels have 2 % more instructions, and spill more.
 *
 * Wait for the value in a slot of rank `rank`; after a timeout tell the host
 * that the rank is missing. */
static __device__ inline double
tct_hear_rank(const tct_persistent_grid<true> &g, const tct_numbered *from,
              int rank, uint64_t number)
{
    const tct_persistent_peers &P = *g.peers;
    uint64_t start = 0;
    for (unsigned i = 1;; i++) {
        const tct_numbered got = tct_numbered_value(from);
        if (got.number == number) return got.value;
        if (i % TCT_POLLS_PER_CLOCK) continue;
        const uint64_t now = tct_nanoseconds();
        if (start == 0) start = now;
        if (P.limit_ns == 0 || now - start <= P.limit_ns) continue;
        tct_host_store((uint64_t *)&g.job.outbox->mailbox->missing,
                       1 + (uint64_t)rank);
        g.told[FLAG_MISSED] = 1;
        return 0.0;
    }
}

/* The sums, then the flags, of each rank at a barrier. */
template <int WIDTH> using tct_slot_sums = double[TCT_GRIDS_MOST][WIDTH];

/* Thread `i`: wait for one of these. */
template <int WIDTH>
static __device__ inline void tct_listen(const tct_persistent_grid<true> &g,
                                         int i, tct_slot_sums<WIDTH> &said)
{
    const tct_persistent_peers &P = *g.peers;
    const int rank = i / WIDTH, j = i % WIDTH;
    said[rank][j] = tct_hear_rank(g, P.slot[P.rank] + tct_said_at(g, rank, j),
                                  rank, tct_meeting(g));
}
/* Sum over all ranks, in rank order: the same bits in all blocks. */
template <int WIDTH>
static __device__ inline double tct_heard(const tct_persistent_grid<true> &g,
                                          int j,
                                          const tct_slot_sums<WIDTH> &said)
{
    double sum = said[0][j];
    for (int r = 1; r < g.peers->ranks; r++) sum += said[r][j];
    return sum;
}
/* One thread: note the flags. */
static __device__ inline void tct_take_flags(const tct_persistent_grid<true> &g,
                                             double flags)
{
    if (flags == 0.0) return;
    g.told[FLAG_RANK] = 1;
    if (blockIdx.x == 0) g.job.outbox->flags = flags;
}

template <int SUMS>
static __device__ inline void tct_rank_sum(const tct_persistent_grid<true> &g,
                                           double (&v)[SUMS])
{
    __shared__ tct_slot_sums<SUMS + 1> said;
    for (int i = threadIdx.x; i < g.peers->ranks * (SUMS + 1); i += blockDim.x)
        tct_listen<SUMS + 1>(g, i, said);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < SUMS; j++) v[j] = tct_heard<SUMS + 1>(g, j, said);
    if (threadIdx.x == 0) tct_take_flags(g, tct_heard<SUMS + 1>(g, SUMS, said));
}

/* The boxes in which blocks of this GPU store sum `j`. A block that stores the
 * next one has read the total of this one. */
static __device__ inline tct_numbered *
tct_boxes_of(const tct_persistent_grid<true> &g, int j)
{
    return (tct_numbered *)g.job.sums + j * gridDim.x;
}

/* Add up the boxes `from` of `n` blocks, every GPU_WAVE-th in a lane; `box` [n]
 * is in shared memory, to save registers. False: timeout. */
static __device__ inline bool
tct_hear_blocks(const tct_persistent_grid<true> &g, const tct_numbered *from,
                int n, tct_numbered *box, double *sum)
{
    tct_wait w = {0, 0};
    for (;;) {
        bool all = true;
        double v = 0.0;
        for (int i = tct_lane(); i < n; i += GPU_WAVE)
            tct_copy(&box[i], &from[i]);
        tct_await_copies();
        for (int i = tct_lane(); i < n; i += GPU_WAVE) {
            all = all && box[i].number == g.epoch;
            v += box[i].value;
        }
        if (all) *sum += v;
        if (all) return true;
        if (tct_poll(&w, {g.peers->limit_ns, nullptr}) == TCT_MISSED)
            return false;
    }
}

/* The last warp of a block adds up sum `j` of this GPU as soon as all blocks
 * have stored theirs, and sends it to all ranks; with few blocks other warps do
 * so, too. No fence is needed: values are numbered, and a store that depends on
 * a received value cannot precede loads made before that value was sent.
 * (Inlined, it makes kernels spill: pipe-pr takes 8 % longer.) */
template <int SUMS>
static __device__ __noinline__ void
tct_collect(const tct_persistent_grid<true> &g)
{
    enum { AT_ONCE = (TCT_PERSISTENT_SUMS + 1) * GPU_WAVE };
    __shared__ tct_numbered box[AT_ONCE];
    const tct_persistent_peers &P = *g.peers;
    const int blocks = gridDim.x, lane = tct_lane();
    const int warps = blocks > GPU_WAVE ? 1 : (int)blockDim.x / GPU_WAVE;
    const int w = (int)blockDim.x / GPU_WAVE - 1 - tct_warp();
    if (w >= warps) return;
    for (int j = (int)blockIdx.x + w * blocks; j <= SUMS; j += blocks * warps) {
        double v[1] = {0.0};
        bool came = true;
        if (j == SUMS && lane == 0) v[0] = tct_load_fresh(&g.job.outbox->mine);
        for (int b = 0; j < SUMS && b < blocks; b += AT_ONCE)
            came = came && tct_hear_blocks(g, tct_boxes_of(g, j) + b,
                                           min(AT_ONCE, blocks - b),
                                           box + w * GPU_WAVE, v);
        tct_warp_sum(v);
        const double sum = tct_shuffle(v[0], 0);
        if (tct_ballot(!came)) return; /* all ranks then time out */
        for (int r = lane; r < P.ranks; r += GPU_WAVE)
            tct_numbered_send(P.slot[r] + tct_said_at(g, P.rank, j), sum,
                              tct_meeting(g));
    }
}

/* Has a rank failed, or asked to stop? All ranks know after the same sample. */
template <bool PEERS>
static __device__ inline bool tct_flagged(const tct_persistent_grid<PEERS> &g)
{
    return PEERS && g.told[FLAG_RANK] != 0;
}

struct tct_nothing {
    __device__ void operator()() const {}
};

/* The sums of block `block` at this barrier: [TCT_PERSISTENT_SUMS], two a
 * load. */
static __device__ inline tct_two *
tct_left_by(const tct_persistent_grid<false> &g, int block)
{
    const unsigned turn = (g.epoch & 1) * gridDim.x;
    return (tct_two *)g.job.sums + (turn + block) * (TCT_PERSISTENT_SUMS / 2);
}

/* Wait for all blocks of this GPU, while one warp collects sums; no thread
 * waits for that warp. */
template <int SUMS>
static __device__ inline void
tct_barrier_and_collect(tct_persistent_grid<true> &g, uint64_t seen)
{
    enum { OTHERS = 2, THIS = 3 };
    const int threads = blockDim.x;
    const bool apart =
        gridDim.x > SUMS && blockIdx.x <= SUMS && threads > GPU_WAVE;
    tct_collect<SUMS>(g);
    if (threadIdx.x == 0) tct_barrier_wait(g, seen);
    if (!apart) {
        __syncthreads();
    } else if (tct_is_last_warp()) {
        tct_sync_some(THIS, 2 * GPU_WAVE);
    } else {
        tct_sync_some(OTHERS, threads - GPU_WAVE);
        if (threadIdx.x < GPU_WAVE) tct_arrive_some(THIS, 2 * GPU_WAVE);
    }
}

/* Thread 0: store the sums of this block. */
template <int SUMS, bool PEERS>
static __device__ inline void
tct_leave_sums(const tct_persistent_grid<PEERS> &g, const double (&v)[SUMS])
{
    if constexpr (PEERS) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            tct_numbered_send(&tct_boxes_of(g, j)[blockIdx.x], v[j], g.epoch);
    } else {
        tct_two *sums = tct_left_by(g, (int)blockIdx.x);
#pragma unroll
        for (int j = 0; j < SUMS; j += 2)
            tct_store_through(&sums[j / 2],
                              {{v[j], j + 1 < SUMS ? v[j + 1] : 0.0}});
    }
}

/* Wait for all blocks of this GPU; each stores the sums of its threads' `v`
 * [SUMS]. `meanwhile` runs between arrival and wait. It sees this block's
 * stores; its own, unless numbered, are visible only after the next barrier. */
template <int SUMS, bool PEERS, class WORK>
static __device__ inline tct_barrier_status
tct_grid_leave(tct_persistent_grid<PEERS> &g, double (&v)[SUMS],
               const WORK &meanwhile)
{
    static_assert(SUMS <= TCT_PERSISTENT_SUMS, "there is room for no more");
    uint64_t seen = 0;
    g.epoch++;
    g.waits++;
    tct_block_sum_once(v);
    if (threadIdx.x == 0) {
        tct_leave_sums(g, v);
        seen = tct_barrier_arrive(g);
    }
    tct_spent(TCT_ON_SUM);
    meanwhile();
    tct_spent(TCT_ON_SENDING);
    if constexpr (PEERS) {
        tct_barrier_and_collect<SUMS>(g, seen);
    } else {
        if (threadIdx.x == 0) tct_barrier_wait(g, seen);
        __syncthreads();
    }
    tct_spent(TCT_ON_BARRIER);
    return (tct_barrier_status)g.told[FLAG_MET];
}

/* The totals of the sums that blocks have stored. */
template <int SUMS>
static __device__ inline void
tct_block_total(const tct_persistent_grid<false> &g, double (&v)[SUMS])
{
    alignas(16) __shared__ double part[TCT_WARPS_MOST][SUMS]; /* two a load */
    const int lane = tct_lane(), w = tct_warp();
    const int blocks = gridDim.x;
    if (w * GPU_WAVE < blocks) {
        const tct_two *sums = tct_left_by(g, (int)threadIdx.x);
#pragma unroll
        for (int j = 0; j < SUMS; j += 2) {
            tct_two left = {{0.0, 0.0}};
            if (threadIdx.x < blocks) left = tct_load_fresh(&sums[j / 2]);
            v[j] = left.v[0];
            if (j + 1 < SUMS) v[j + 1] = left.v[1];
        }
        tct_warp_sum(v);
        if (lane == 0)
            for (int j = 0; j < SUMS; j++) part[w][j] = v[j];
    }
    __syncthreads();
    const int parts = (int)((gridDim.x + GPU_WAVE - 1) / GPU_WAVE);
#pragma unroll
    for (int j = 0; j < SUMS; j++) {
        v[j] = part[0][j];
        for (int k = 1; k < parts; k++) v[j] += part[k][j];
    }
}

/* Wait for all blocks of all persistent grids, and sum `v` [SUMS] over all
 * threads: the same bits in every thread. `meanwhile` as above. */
template <int SUMS, class WORK = tct_nothing>
static __device__ inline tct_barrier_status
tct_grid_sum(tct_persistent_grid<false> &g, double (&v)[SUMS],
             const WORK &meanwhile = WORK())
{
    const tct_barrier_status barrier = tct_grid_leave(g, v, meanwhile);
    tct_block_total(g, v);
    tct_spent(TCT_ON_SUM);
    return barrier;
}
template <int SUMS, class WORK = tct_nothing>
static __device__ inline tct_barrier_status
tct_grid_sum(tct_persistent_grid<true> &g, double (&v)[SUMS],
             const WORK &meanwhile = WORK())
{
    g.epoch++;
    tct_block_sum_once(v);
    if (threadIdx.x == 0) tct_leave_sums(g, v);
    tct_spent(TCT_ON_SUM);
    meanwhile();
    tct_spent(TCT_ON_SENDING);
    tct_collect<SUMS>(g);
    tct_rank_sum(g, v);
    tct_spent(TCT_ON_RANKS);
    return g.told[FLAG_MISSED] ? TCT_LATE : TCT_GO;
}

/* A form in which other warps need not wait: after tct_grid_leave one warp adds
 * up the sums of all persistent grids into the block's scalars at `to`. Others
 * see them, or FLAG_MISSED, after the next barrier of the block. */
template <int SUMS>
static __device__ inline void tct_warp_total(const tct_persistent_grid<true> &g,
                                             double *to)
{
    __shared__ tct_slot_sums<SUMS + 1> said;
    const int lane = tct_lane();
    for (int i = lane; i < g.peers->ranks * (SUMS + 1); i += GPU_WAVE)
        tct_listen<SUMS + 1>(g, i, said);
    tct_warp_sync();
    if (lane < SUMS) to[lane] = tct_heard<SUMS + 1>(g, lane, said);
    if (lane == 0) tct_take_flags(g, tct_heard<SUMS + 1>(g, SUMS, said));
    tct_warp_sync();
}
template <int SUMS>
static __device__ inline void
tct_warp_total(const tct_persistent_grid<false> &g, double *to)
{
    constexpr int PAIRS = (SUMS + 1) / 2, AT_ONCE = 288 / PAIRS;
    __shared__ tct_two left[AT_ONCE][PAIRS]; /* to save registers */
    const int blocks = gridDim.x, lane = tct_lane();
    double v[SUMS] = {0.0};
    for (int first = 0; first < blocks; first += AT_ONCE) {
        const int n = min(AT_ONCE, blocks - first);
        for (int i = lane; i < n * PAIRS; i += GPU_WAVE)
            tct_copy(&left[i / PAIRS][i % PAIRS],
                     tct_left_by(g, first + i / PAIRS) + i % PAIRS);
        tct_await_copies();
        tct_warp_sync();
        for (int i = lane; i < n; i += GPU_WAVE)
#pragma unroll
            for (int j = 0; j < SUMS; j++) v[j] += left[i][j / 2].v[j % 2];
        tct_warp_sync();
    }
    tct_warp_sum(v);
    if (lane == 0)
#pragma unroll
        for (int j = 0; j < SUMS; j++) to[j] = v[j];
    tct_warp_sync();
}

/* The number of message `i` (from 1) of this kernel; it grows from kernel to
 * kernel, if messages are no more than barriers. */
static __device__ inline uint64_t
tct_message(const tct_persistent_grid<true> &g, int64_t i)
{
    return *g.before + (uint64_t)i;
}

/* Wait for all blocks of all persistent grids. */
template <bool PEERS>
static __device__ inline tct_barrier_status
tct_barrier_all(tct_persistent_grid<PEERS> &g)
{
    const tct_barrier_status barrier = tct_grid_wait(g);
    double none[1] = {0.0};
    return PEERS && barrier != TCT_LATE ? tct_grid_sum(g, none) : barrier;
}

/* Block 0 stores the scalars at the end. */
template <bool PEERS>
static __device__ inline void
tct_scalars_store(const tct_persistent_grid<PEERS> &g, const double *c)
{
    if (blockIdx.x == 0 && threadIdx.x < TCT_SCALARS)
        g.job.c[threadIdx.x] = c[threadIdx.x];
}
/* As tct_grid_sum, into the block's scalars at `to`. */
template <int SUMS, bool PEERS, class WORK = tct_nothing>
static __device__ inline tct_barrier_status
tct_scalars_sum(tct_persistent_grid<PEERS> &g, double (&v)[SUMS], double *to,
                const WORK &meanwhile = WORK())
{
    const tct_barrier_status barrier = tct_grid_sum(g, v, meanwhile);
    if (barrier == TCT_LATE) return barrier;
    if (threadIdx.x == 0)
        for (int i = 0; i < SUMS; i++) to[i] = v[i];
    __syncthreads();
    return barrier;
}
/* The thread that posts samples: in block 0, last warp. */
static __device__ inline bool tct_is_speaker()
{
    return blockIdx.x == 0 && threadIdx.x == blockDim.x - GPU_WAVE;
}
/* Post sample `k` (from 1) of this kernel; the scalars must not change before
 * the next barrier. */
template <bool PEERS>
static __device__ inline void tct_check(const tct_persistent_grid<PEERS> &g,
                                        const double *c, int64_t k)
{
    if (tct_is_speaker())
        tct_sample_store(c, g.job.outbox, g.job.looks + k, g.job.sample_batch);
}
/* The end of the kernel; not `fine`: by a timeout of a block. */
template <bool PEERS>
static __device__ inline void tct_conclude(const tct_persistent_grid<PEERS> &g,
                                           double *c, bool fine, int64_t looks)
{
    __syncthreads();
    tct_clock_stop(g.job.sums + 2 * TCT_PERSISTENT_SUMS * gridDim.x);
    if (!fine && threadIdx.x == 0) c[C_BAD] = BAD_TIME;
    __syncthreads();
    if (!fine) tct_check(g, c, ++looks);
    if (tct_is_speaker()) g.job.outbox->looks = g.job.looks + looks;
    if (PEERS && blockIdx.x == 0 && threadIdx.x == 0)
        *g.job.peers->number = *g.before + g.epoch;
    tct_scalars_store(g, c);
}

/* Does the host ask for the end? One thread reads this at times, since it takes
 * microseconds; the next barrier tells all. */
template <bool PEERS>
static __device__ inline void tct_poll_host(tct_persistent_grid<PEERS> &g,
                                            int64_t k)
{
    if (PEERS) return; /* flags tell all ranks */
    if (tct_is_speaker() && k % g.job.sample_batch == 0 &&
        g.told[FLAG_WISH] == 0 && g.job.outbox->mailbox->limit == 0)
        g.told[FLAG_WISH] = 1;
}

#endif
