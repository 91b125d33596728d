/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_peers.cuh - sums over the persistent grids of all GPUs.
 *
 * Such sums need neither the counter nor a fence, which would wait for earlier
 * stores to peers: each block stores a box of value and barrier number, one warp
 * adds up the boxes of a sum and sends the result to all ranks. So such a sum
 * makes no other stores visible; only a wait does. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_PEERS_CUH
#define TCT_DEVICE_GPU_PERSISTENT_PEERS_CUH
#include "device/gpu/persistent_barrier.cuh"

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

#endif
