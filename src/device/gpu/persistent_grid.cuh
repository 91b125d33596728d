/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_grid.cuh - how blocks that stay meet: a barrier that
 * sums, looks, the scalars of the solve, and the host's wish to end.
 *
 * The barrier is one counter: a block adds 1 when its threads have come and
 * waits until all have. Sums go along: each block leaves its own before it
 * adds, and all blocks add them up, in the same order, behind the barrier. No
 * block can be two barriers ahead of another, so two sets of sums take turns.
 * (Boxes of value and epoch that all blocks poll take 2.4 us on an H200, this
 * 1.6, and 0.95 without sums.)
 *
 * With persistent grids of other GPUs sums go without the counter, and without
 * a fence, which would wait for what was stored to a peer before: each block
 * leaves a box of value and meeting, one warp adds up those of a sum, and says
 * it to all. So nothing else that blocks have stored is seen after such a sum,
 * only after a wait. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_GRID_CUH
#define TCT_DEVICE_GPU_PERSISTENT_GRID_CUH
#include "device/gpu/clock.cuh"
#include "device/gpu/epilogue.cuh"
#include "device/gpu/persistent_grid.h"
#include "device/protocol.h"

/* What one thread of a block tells the others. */
enum {
    FLAG_MET,    /* how the last meeting ended                   */
    FLAG_WISH,   /* 1: this block wishes the end; 2: it said so  */
    FLAG_RANK,   /* a rank of several has a flag                 */
    FLAG_MISSED, /* what a peer had to say has not come          */
    FLAG_ENOUGH, /* the loop is to end, where one thread decides */
    TCT_FLAGS
};

/* What all threads of a block know of the meetings; with PEERS there are
 * persistent grids of other GPUs. */
template <bool PEERS> struct tct_persistent_grid {
    const tct_persistent_job &job;
    uint32_t epoch; /* meetings so far */
    uint32_t waits; /* ... by the counter: with PEERS not all */
    int *told;      /* shared, [TCT_FLAGS] */
    const tct_persistent_peers
        *peers; /* shared, as is what follows: with PEERS */
    const uint64_t
        *before; /* meetings of all persistent grids before this kernel */
};
/* The scalars of the solve come to `c`, which each block has to itself: thread
 * 0 does the steps, in every block the same. */
template <bool PEERS>
static __device__ inline tct_persistent_grid<PEERS>
tct_persistent_open(const tct_persistent_job &job, double *c)
{
    __shared__ int told[TCT_FLAGS];
    tct_persistent_grid<PEERS> g = {job, 0, 0, told, nullptr, nullptr};
    if (threadIdx.x < TCT_FLAGS) told[threadIdx.x] = 0;
    if constexpr (PEERS) { /* loads from memory would delay each meeting */
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
/* Thread 0: come to the meeting; what its counter is then. */
template <bool PEERS>
static __device__ inline uint64_t
tct_barrier_arrive(tct_persistent_grid<PEERS> &g)
{
    const bool end = g.told[FLAG_WISH] == 1;
    if (end) g.told[FLAG_WISH] = 2;
    return tct_barrier_arrive_at(g.job.counter, tct_counted(g), end);
}
/* ... and wait until all blocks have. */
template <bool PEERS>
static __device__ inline void tct_barrier_wait(tct_persistent_grid<PEERS> &g,
                                               uint64_t seen)
{
    g.told[FLAG_MET] = tct_await_blocks(g.job.counter, seen, gridDim.x,
                                        tct_counted(g), g.job.limit_ns);
}

/* The last warp of a block, which has no work of its own where there is a warp
 * to spare. */
static __device__ inline bool tct_is_last_warp()
{
    return threadIdx.x >= blockDim.x - GPU_WAVE;
}

/* Wait for all blocks; what they wrote before is visible after. Every thread
 * calls it. */
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

/* The number of this meeting, which grows from kernel to kernel. */
static __device__ inline uint64_t
tct_meeting(const tct_persistent_grid<true> &g)
{
    return *g.before + g.epoch;
}
/* Where rank `from` says its sum `j` of this meeting, in the slots of any
 * rank. */
static __device__ inline size_t tct_said_at(const tct_persistent_grid<true> &g,
                                            int from, int j)
{
    return tct_slot_at(TCT_PERSISTENT_PHASES, g.peers->ranks,
                       TCT_PERSISTENT_SLOTS, from, tct_meeting(g)) +
           j;
}

/* What follows is tct_say and tct_total of protocol.h once more: with their
 * text these kernels have 2 % more instructions, and spill more.
 *
 * What rank `rank` says in a slot, when it has come; else it is told to the
 * host that it is missing. */
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
        tct_active_word((uint64_t *)&g.job.outbox->mailbox->missing,
                        1 + (uint64_t)rank);
        g.told[FLAG_MISSED] = 1;
        return 0.0;
    }
}

/* What each rank says of each sum of a meeting, and of the flags behind
 * them. */
template <int WIDTH> using tct_said = double[TCT_GANGS_MOST][WIDTH];

/* Thread `i` of some: one of these. */
template <int WIDTH>
static __device__ inline void tct_listen(const tct_persistent_grid<true> &g,
                                         int i, tct_said<WIDTH> &said)
{
    const tct_persistent_peers &P = *g.peers;
    const int rank = i / WIDTH, j = i % WIDTH;
    said[rank][j] = tct_hear_rank(g, P.slot[P.rank] + tct_said_at(g, rank, j),
                                  rank, tct_meeting(g));
}
/* Over all ranks, in their order: the same bits in all blocks. */
template <int WIDTH>
static __device__ inline double tct_heard(const tct_persistent_grid<true> &g,
                                          int j, const tct_said<WIDTH> &said)
{
    double sum = said[0][j];
    for (int r = 1; r < g.peers->ranks; r++) sum += said[r][j];
    return sum;
}
/* One thread: of the flags. */
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
    __shared__ tct_said<SUMS + 1> said;
    for (int i = threadIdx.x; i < g.peers->ranks * (SUMS + 1); i += blockDim.x)
        tct_listen<SUMS + 1>(g, i, said);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < SUMS; j++) v[j] = tct_heard<SUMS + 1>(g, j, said);
    if (threadIdx.x == 0) tct_take_flags(g, tct_heard<SUMS + 1>(g, SUMS, said));
}

/* Where the blocks of this GPU leave sum `j` for other persistent grids: who
 * leaves another there has heard what came of the one before. */
static __device__ inline tct_numbered *
tct_boxes_of(const tct_persistent_grid<true> &g, int j)
{
    return (tct_numbered *)g.job.sums + j * gridDim.x;
}

/* The sum of what the `n` blocks of `from` have left, each lane's of every
 * GPU_WAVE-th; `box` [n] is shared memory, since registers are for others.
 * False: one of them did not come. */
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

/* The last warp of some block adds up sum `j` of this GPU as soon as all blocks
 * have left theirs, and says it to all ranks; where there are few blocks other
 * warps do, too. No fence: what goes to a peer is numbered, and a store that
 * waits for what was heard cannot come before a load that all had done before
 * they spoke. (As a part of the kernel it would make that spill: pipe-pr takes
 * 8 % longer.) */
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
        if (tct_ballot(!came)) return; /* all miss what is not said */
        for (int r = lane; r < P.ranks; r += GPU_WAVE)
            tct_numbered_send(P.slot[r] + tct_said_at(g, P.rank, j), sum,
                              tct_meeting(g));
    }
}

/* Has a rank failed, or does one wish to stop? All know, after the same
 * look. */
template <bool PEERS>
static __device__ inline bool tct_flagged(const tct_persistent_grid<PEERS> &g)
{
    return PEERS && g.told[FLAG_RANK] != 0;
}

struct tct_nothing {
    __device__ void operator()() const {}
};

/* What block `block` left at this meeting: [TCT_PERSISTENT_SUMS] sums, two a
 * load. */
static __device__ inline tct_two *
tct_left_by(const tct_persistent_grid<false> &g, int block)
{
    const unsigned turn = (g.epoch & 1) * gridDim.x;
    return (tct_two *)g.job.sums + (turn + block) * (TCT_PERSISTENT_SUMS / 2);
}

/* Wait for all blocks of this GPU, while sums are collected; nobody waits for
 * the warp that does. */
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

/* Thread 0: leave the sums of this block. */
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

/* Wait for all blocks of this GPU, which leave their sums of what all threads
 * bring in `v` [SUMS]. `meanwhile` is done when this block has come and waits
 * for others. It sees what the block has stored; what it stores itself others
 * see only after the next meeting, if it is not numbered. */
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

/* What all threads bring, added up from what blocks left at the meeting. */
template <int SUMS>
static __device__ inline void
tct_block_total(const tct_persistent_grid<false> &g, double (&v)[SUMS])
{
    __shared__ alignas(16) double part[TCT_WARPS_MOST][SUMS]; /* two a load */
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

/* Wait for all blocks, of all persistent grids, and add up what all threads
 * bring in `v` [SUMS]: the same bits in every thread. `meanwhile` as above. */
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

/* Instead, so that the others need not wait: after tct_grid_leave one warp adds
 * up what was left, of all persistent grids, into the block's scalars from `to`
 * on. The others know it when the block has met, or that it is FLAG_MISSED. */
template <int SUMS>
static __device__ inline void tct_warp_total(const tct_persistent_grid<true> &g,
                                             double *to)
{
    __shared__ tct_said<SUMS + 1> said;
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
    __shared__ tct_two left[AT_ONCE][PAIRS]; /* registers are for others */
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

/* Number of message `i` (from 1) of this kernel, if there are no more of them
 * than meetings: it grows from message to message and from kernel to kernel. */
static __device__ inline uint64_t
tct_message(const tct_persistent_grid<true> &g, int64_t i)
{
    return *g.before + (uint64_t)i;
}

/* Wait for all blocks, of all persistent grids. */
template <bool PEERS>
static __device__ inline tct_barrier_status
tct_barrier_all(tct_persistent_grid<PEERS> &g)
{
    const tct_barrier_status barrier = tct_grid_wait(g);
    double none[1] = {0.0};
    return PEERS && barrier != TCT_LATE ? tct_grid_sum(g, none) : barrier;
}

/* Block 0 posts looks, and leaves the scalars in memory at the end. */
template <bool PEERS>
static __device__ inline void
tct_scalars_store(const tct_persistent_grid<PEERS> &g, const double *c)
{
    if (blockIdx.x == 0 && threadIdx.x < TCT_SCALARS)
        g.job.c[threadIdx.x] = c[threadIdx.x];
}
/* Sum as tct_grid_sum, into the block's scalars from `to` on. */
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
/* The thread that posts looks: of block 0, in its last warp. */
static __device__ inline bool tct_is_speaker()
{
    return blockIdx.x == 0 && threadIdx.x == blockDim.x - GPU_WAVE;
}
/* Look `k` (from 1) of this kernel; the scalars must not change before the next
 * barrier. */
template <bool PEERS>
static __device__ inline void tct_check(const tct_persistent_grid<PEERS> &g,
                                        const double *c, int64_t k)
{
    if (tct_is_speaker())
        tct_active_as(c, g.job.outbox, g.job.looks + k, g.job.sample_batch);
}
/* The end, in time or (not `fine`) because a block did not come. */
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

/* Does the host want the loop to end? Asked by one thread, now and then since
 * the answer takes microseconds; told to all by the next meeting. */
template <bool PEERS>
static __device__ inline void tct_poll_host(tct_persistent_grid<PEERS> &g,
                                            int64_t k)
{
    if (PEERS) return; /* flags say it to all ranks */
    if (tct_is_speaker() && k % g.job.sample_batch == 0 &&
        g.told[FLAG_WISH] == 0 && g.job.outbox->mailbox->limit == 0)
        g.told[FLAG_WISH] = 1;
}

#endif
