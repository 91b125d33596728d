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
 * Sums with other GPUs: persistent_peers.cuh. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_GRID_CUH
#define TCT_DEVICE_GPU_PERSISTENT_GRID_CUH
#include "device/gpu/persistent_peers.cuh"

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
