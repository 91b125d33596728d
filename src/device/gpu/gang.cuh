/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/gang.cuh - how blocks that stay meet: a barrier that sums, looks,
 * the scalars of the solve, and the host's wish to end.
 *
 * The barrier is one counter: a block adds 1 when its threads have come and
 * waits until all have. Sums go along: each block leaves its own before it adds,
 * and all blocks add them up, in the same order, behind the barrier. No block
 * can be two barriers ahead of another, so two sets of sums take turns. (Boxes
 * of value and epoch that all blocks poll take 2.4 us on an H200, this 1.6, and
 * 0.95 without sums.) */
#ifndef TCT_GPU_GANG_CUH
#define TCT_GPU_GANG_CUH
#include "device/gpu/clock.cuh"
#include "device/gpu/gang.h"
#include "device/gpu/tail.cuh"
#include "device/protocol.h"

/* What one thread of a block tells the others. */
enum {
    TOLD_MET,    /* how the last meeting ended                   */
    TOLD_WISH,   /* 1: this block wishes the end; 2: it said so  */
    TOLD_LAST,   /* this block came to the meeting last          */
    TOLD_FLAG,   /* a rank of several has a flag                 */
    TOLD_MISSED, /* what a peer had to say has not come          */
    TOLD_ENOUGH, /* the loop is to end, where one thread decides */
    TCT_TOLD
};

/* What all threads of a block know of the meetings; with PEERS there are gangs of
 * other GPUs. */
template <bool PEERS> struct tct_gang {
    const tct_gang_job &job;
    uint32_t epoch;              /* meetings so far */
    int *told;                   /* shared, [TCT_TOLD] */
    const tct_gang_peers *peers; /* shared, as is what follows: with PEERS */
    const uint64_t *before;      /* meetings of all gangs before this kernel */
};
/* The scalars of the solve come to `c`, which each block has to itself: thread 0
 * does the steps, in every block the same. */
template <bool PEERS>
static __device__ inline tct_gang<PEERS> tct_gang_open(const tct_gang_job &job,
                                                       double *c)
{
    __shared__ int told[TCT_TOLD];
    tct_gang<PEERS> g = {job, 0, told, nullptr, nullptr};
    if (threadIdx.x < TCT_TOLD) told[threadIdx.x] = 0;
    if constexpr (PEERS) { /* loads from memory would delay each meeting */
        __shared__ tct_gang_peers peers;
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
/* Thread 0: come to the meeting; what its counter is then. */
template <bool PEERS>
static __device__ inline uint64_t tct_come(tct_gang<PEERS> &g)
{
    const bool end = g.told[TOLD_WISH] == 1;
    if (end) g.told[TOLD_WISH] = 2;
    const uint64_t seen = tct_come_to(g.job.counter, g.epoch, end);
    if (PEERS) g.told[TOLD_LAST] = tct_all_came(seen, gridDim.x, g.epoch);
    return seen;
}
/* ... and wait until all blocks have. */
template <bool PEERS>
static __device__ inline void tct_meet(tct_gang<PEERS> &g, uint64_t seen)
{
    g.told[TOLD_MET] = tct_await_blocks(g.job.counter, seen, gridDim.x, g.epoch,
                                        g.job.limit_ns);
}

/* Wait for all blocks; what they wrote before is visible after. Every thread
 * calls it. */
template <bool PEERS>
static __device__ inline tct_met tct_grid_wait(tct_gang<PEERS> &g)
{
    g.epoch++;
    __syncthreads();
    if (threadIdx.x == 0) tct_meet(g, tct_come(g));
    __syncthreads();
    tct_spent(TCT_ON_BARRIER);
    return (tct_met)g.told[TOLD_MET];
}

/* --- all gangs ------------------------------------------------------------------- */

/* What follows is tct_say and tct_total of protocol.h once more: with their text
 * these kernels have 2 % more instructions, and spill more.
 *
 * What rank `rank` says in a slot, when it has come; else it is told to the
 * host that it is missing. */
static __device__ inline double tct_hear_rank(const tct_gang<true> &g,
                                              const tct_numbered *from,
                                              int rank, uint64_t number)
{
    const tct_gang_peers &P = *g.peers;
    uint64_t start = 0;
    for (unsigned i = 1;; i++) {
        const tct_numbered got = tct_numbered_seen(from);
        if (got.number == number) return got.value;
        if (i % TCT_POLLS_PER_CLOCK) continue;
        const uint64_t now = tct_nanoseconds();
        if (start == 0) start = now;
        if (P.limit_ns == 0 || now - start <= P.limit_ns) continue;
        tct_post_word((uint64_t *)&g.job.outbox->mailbox->missing,
                      1 + (uint64_t)rank);
        g.told[TOLD_MISSED] = 1;
        return 0.0;
    }
}

/* Thread `j` <= sums of each block: the sum `mine` of this GPU becomes that of all
 * ranks, with the same bits. The block that came last speaks for the GPU, since
 * it knows first that all have come; the last slot is of the flags, which others
 * may have seen differently, so that all blocks have what it says. No fence: this gang has met, and
 * what goes to a peer is numbered; a store that waits for what was heard cannot
 * come before a load that all had done before they spoke. */
static __device__ inline double tct_rank_total(const tct_gang<true> &g,
                                               double mine, int j, int sums)
{
    const tct_gang_peers &P = *g.peers;
    const bool flags = j == sums;
    const uint64_t number = *g.before + g.epoch;
    const size_t at =
        (size_t)(number % TCT_GANG_TURNS) * P.ranks * TCT_GANG_SLOTS + j;
    for (int k = 1; g.told[TOLD_LAST] && k < P.ranks + flags; k++)
        tct_numbered_send(P.slot[(P.rank + k) % P.ranks] + at +
                              P.rank * TCT_GANG_SLOTS,
                          mine, number);
    double sum = 0.0;
    for (int r = 0; r < P.ranks; r++) {
        const double part =
            r == P.rank && !flags
                ? mine
                : tct_hear_rank(g, P.slot[P.rank] + at + r * TCT_GANG_SLOTS, r,
                                number);
        sum = r == 0 ? part : sum + part;
    }
    if (flags && sum != 0.0) {
        g.told[TOLD_FLAG] = 1;
        if (blockIdx.x == 0) g.job.outbox->flags = sum;
    }
    return sum;
}
template <int SUMS>
static __device__ inline void tct_rank_sum(const tct_gang<true> &g,
                                           double (&v)[SUMS], double flags)
{
    __shared__ double total[SUMS + 1];
    const int j = threadIdx.x;
    if (j <= SUMS) {
        double mine = flags;
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            if (i == j) mine = v[i];
        total[j] = tct_rank_total(g, mine, j, SUMS);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SUMS; i++) v[i] = total[i];
}

/* Has a rank failed, or does one wish to stop? All know, after the same look. */
template <bool PEERS>
static __device__ inline bool tct_flagged(const tct_gang<PEERS> &g)
{
    return PEERS && g.told[TOLD_FLAG] != 0;
}

struct tct_nothing {
    __device__ void operator()() const {}
};

/* What block `block` left at this meeting: [TCT_GANG_SUMS] sums, two a load. */
template <bool PEERS>
static __device__ inline tct_two *tct_left_by(const tct_gang<PEERS> &g,
                                              int block)
{
    const unsigned turn = (g.epoch & 1) * gridDim.x;
    return (tct_two *)g.job.sums + (turn + block) * (TCT_GANG_SUMS / 2);
}

/* Wait for all blocks of this GPU, which leave their sums of what all threads
 * bring in `v` [SUMS]. `meanwhile` is done when this block has come and waits for
 * others. It sees what the block has stored; what it stores itself others see
 * only after the next meeting, if it is not numbered. */
template <int SUMS, bool PEERS, class WORK>
static __device__ inline tct_met
tct_grid_leave(tct_gang<PEERS> &g, double (&v)[SUMS], const WORK &meanwhile)
{
    static_assert(SUMS <= TCT_GANG_SUMS, "there is room for no more");
    uint64_t seen = 0;
    g.epoch++;
    tct_block_sum_once(v);
    if (threadIdx.x == 0) {
        tct_two *sums = tct_left_by(g, (int)blockIdx.x);
#pragma unroll
        for (int j = 0; j < SUMS; j += 2)
            tct_store_through(&sums[j / 2],
                              {{v[j], j + 1 < SUMS ? v[j + 1] : 0.0}});
        seen = tct_come(g);
    }
    tct_spent(TCT_ON_SUM);
    meanwhile();
    tct_spent(TCT_ON_SENDING);
    if (threadIdx.x == 0) tct_meet(g, seen);
    __syncthreads();
    tct_spent(TCT_ON_BARRIER);
    return (tct_met)g.told[TOLD_MET];
}

/* Wait for all blocks, of all gangs, and add up what all threads bring in `v`
 * [SUMS]: the same bits in every thread. */
template <int SUMS, bool PEERS, class WORK = tct_nothing>
static __device__ inline tct_met tct_grid_sum(tct_gang<PEERS> &g,
                                              double (&v)[SUMS],
                                              const WORK &meanwhile = WORK())
{
    __shared__ alignas(16) double part[TCT_WARPS_MOST][SUMS]; /* two a load */
    const int lane = tct_lane(), w = tct_warp();
    const int blocks = gridDim.x;
    double flags = 0.0; /* of this rank; loaded while others add up */
    if (PEERS && threadIdx.x == SUMS)
        flags = tct_load_fresh(&g.job.outbox->mine);
    const tct_met met = tct_grid_leave(g, v, meanwhile);
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
    tct_spent(TCT_ON_SUM);
    if constexpr (PEERS) {
        if (met != TCT_LATE) tct_rank_sum(g, v, flags);
        tct_spent(TCT_ON_RANKS);
        if (g.told[TOLD_MISSED]) return TCT_LATE;
    }
    return met;
}

/* Instead, so that the others need not wait: after tct_grid_leave one warp adds up
 * what was left, of all gangs, into the block's scalars from `to` on. The others
 * know it when the block has met, or that it is TOLD_MISSED. */
template <int SUMS, bool PEERS>
static __device__ inline void tct_warp_total(const tct_gang<PEERS> &g,
                                             double *to)
{
    constexpr int PAIRS = (SUMS + 1) / 2, AT_ONCE = 288 / PAIRS;
    __shared__ tct_two left[AT_ONCE][PAIRS]; /* registers are for others */
    const int blocks = gridDim.x, lane = tct_lane();
    double v[SUMS] = {0.0}, flags = 0.0;
    if (PEERS && lane == SUMS) flags = tct_load_fresh(&g.job.outbox->mine);
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
    if constexpr (PEERS) {
        const double mine = lane < SUMS ? to[lane] : flags;
        if (lane <= SUMS) {
            const double total = tct_rank_total(g, mine, lane, SUMS);
            if (lane < SUMS) to[lane] = total;
        }
        tct_warp_sync();
    }
}

/* Number of message `i` (from 1) of this kernel, if there are no more of them than
 * meetings: it grows from message to message and from kernel to kernel. */
static __device__ inline uint64_t tct_message(const tct_gang<true> &g,
                                              int64_t i)
{
    return *g.before + (uint64_t)i;
}

/* Wait for all blocks, of all gangs. */
template <bool PEERS>
static __device__ inline tct_met tct_meet_all(tct_gang<PEERS> &g)
{
    if (!PEERS) return tct_grid_wait(g);
    double none[1] = {0.0};
    return tct_grid_sum(g, none);
}

/* Block 0 posts looks, and leaves the scalars in memory at the end. */
template <bool PEERS>
static __device__ inline void tct_scalars_store(const tct_gang<PEERS> &g,
                                                const double *c)
{
    if (blockIdx.x == 0 && threadIdx.x < TCT_SCALARS)
        g.job.c[threadIdx.x] = c[threadIdx.x];
}
/* Sum as tct_grid_sum, into the block's scalars from `to` on. */
template <int SUMS, bool PEERS, class WORK = tct_nothing>
static __device__ inline tct_met tct_scalars_sum(tct_gang<PEERS> &g,
                                                 double (&v)[SUMS], double *to,
                                                 const WORK &meanwhile = WORK())
{
    const tct_met met = tct_grid_sum(g, v, meanwhile);
    if (met == TCT_LATE) return met;
    if (threadIdx.x == 0)
        for (int i = 0; i < SUMS; i++) to[i] = v[i];
    __syncthreads();
    return met;
}
/* The last warp of a block, which has no work of its own where there is a warp to
 * spare. */
static __device__ inline bool tct_is_last_warp()
{
    return threadIdx.x >= blockDim.x - GPU_WAVE;
}
/* The thread that posts looks: of block 0, in its last warp. */
static __device__ inline bool tct_is_speaker()
{
    return blockIdx.x == 0 && threadIdx.x == blockDim.x - GPU_WAVE;
}
/* Look `k` (from 1) of this kernel; the scalars must not change before the next
 * barrier. */
template <bool PEERS>
static __device__ inline void tct_look(const tct_gang<PEERS> &g,
                                       const double *c, int64_t k)
{
    if (tct_is_speaker())
        tct_post_as(c, g.job.outbox, g.job.looks + k, g.job.batch);
}
/* The end, in time or (not `fine`) because a block did not come. */
template <bool PEERS>
static __device__ inline void tct_conclude(const tct_gang<PEERS> &g, double *c,
                                           bool fine, int64_t looks)
{
    __syncthreads();
    tct_clock_stop(g.job.sums + 2 * TCT_GANG_SUMS * gridDim.x);
    if (!fine && threadIdx.x == 0) c[C_BAD] = BAD_TIME;
    __syncthreads();
    if (!fine) tct_look(g, c, ++looks);
    if (tct_is_speaker()) g.job.outbox->looks = g.job.looks + looks;
    if (PEERS && blockIdx.x == 0 && threadIdx.x == 0)
        *g.job.peers->number = *g.before + g.epoch;
    tct_scalars_store(g, c);
}

/* Does the host want the loop to end? Asked by one thread, now and then since
 * the answer takes microseconds; told to all by the next meeting. */
template <bool PEERS>
static __device__ inline void tct_ask(tct_gang<PEERS> &g, int64_t k)
{
    if (PEERS) return; /* flags say it to all ranks */
    if (tct_is_speaker() && k % g.job.batch == 0 && g.told[TOLD_WISH] == 0 &&
        g.job.outbox->mailbox->limit == 0)
        g.told[TOLD_WISH] = 1;
}

#endif
