/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/epilogue.cuh - the end of a kernel: sums in a fixed tree, then the
 * scalar work that follows, by the block that finishes last.
 *
 * A sum has the same bits in every run: each thread adds its elements in order,
 * threads are added in a tree over a warp and then over warps, and the last
 * block adds the blocks in order. The number of blocks depends only on the
 * device and the matrix. */
#ifndef TCT_DEVICE_GPU_EPILOGUE_CUH
#define TCT_DEVICE_GPU_EPILOGUE_CUH
#include "device/gpu/gpu.h"
#include "device/gpu/lane.cuh"

/* The part of a launch that a kernel's end needs. */
struct tct_ending {
    double *partial;
    unsigned *ticket;
    double *out;
    bool keeps; /* keep sums of held systems; other ranks clear them */
    tct_epilogue epilogue;
};

static inline tct_ending tct_ending_of(const tct_gpu_launch *L)
{
    return {L->partial, L->ticket, L->out, L->keeps, L->epilogue};
}

/* A sample to the host: its words go in pairs. */
static __device__ inline void tct_sample_send(const tct_posted &p,
                                              tct_posted *to)
{
    tct_host_store_pair(&to->rr, p.rr, p.bad);
    tct_host_store_pair(&to->bad_value, p.bad_value, p.flags);
    tct_host_store_pair(&to->updates, p.updates, p.alpha);
    tct_host_store_pair(&to->beta, p.beta,
                        __longlong_as_double((long long)p.check));
}
/* Samples `first` to `last` to the host. Each waits for memory of the device,
 * and so all are asked for first. */
static __device__ inline void tct_samples_send(const tct_outbox *o,
                                               uint64_t first, uint64_t last)
{
    tct_posted *const to = o->mailbox->posted;
    for (uint64_t i = first; i < last; i++)
        tct_prefetch_near(&o->posted[i % TCT_SAMPLES]);
    for (uint64_t i = first; i <= last; i++)
        tct_sample_send(o->posted[i % TCT_SAMPLES], &to[i % TCT_SAMPLES]);
}
/* Post a sample; a batch goes to the host when it is full, or at once when the
 * scalars are at rest. */
static __device__ inline void tct_sample_store(const double *c, tct_outbox *o,
                                               uint64_t number,
                                               uint64_t sample_batch)
{
    const double flags = o->flags;
    const double w[TCT_POSTED_WORDS] = {c[C_RR],  c[C_BAD],     c[C_BAD_VALUE],
                                        flags,    c[C_UPDATES], c[C_ALPHA],
                                        c[C_BETA]};
    const tct_posted now = {w[0], w[1], w[2], w[3],
                            w[4], w[5], w[6], tct_posted_check(number, w)};
    const bool rest = tct_at_rest(c) || flags != 0.0;
    o->posted[number % TCT_SAMPLES] = now;
    const uint64_t in_batch = number & (sample_batch - 1);
    if (!rest && in_batch != 0) return;
    const uint64_t before = in_batch ? in_batch : sample_batch;
    tct_samples_send(o, number - before + 1, number);
}
static __device__ inline void tct_sample_next(const double *c, tct_outbox *o)
{
    tct_sample_store(c, o, ++o->looks, o->sample_batch);
}

static __device__ inline void tct_epilogue_run(const tct_epilogue &t)
{
    for (int i = 0; i < t.count; i++)
        if (t.action[i].kind == EPILOGUE_STEP)
            tct_step_run(t.action[i].step, t.c);
        else tct_sample_next(t.c, t.outbox);
}
/* The same for system `j` of a batch, which has no samples. */
static __device__ inline void tct_epilogue_run_of(const tct_epilogue &t, int j)
{
    for (int i = 0; i < t.count; i++)
        tct_step_counted(t.action[i].step, t.c + j * TCT_SCALARS);
}
/* Either, by one thread. */
static __device__ inline void tct_epilogue_run_all(const tct_epilogue &t)
{
    if (t.batch == 0) tct_epilogue_run(t);
    for (int j = 0; j < t.batch; j++) tct_epilogue_run_of(t, j);
}

/* The sums of `v` over the warp, in lane 0, all SUMS at each step. */
template <int SUMS>
static __device__ inline void tct_warp_sum(double (&v)[SUMS])
{
#pragma unroll
    for (int d = GPU_WAVE / 2; d > 0; d >>= 1)
#pragma unroll
        for (int j = 0; j < SUMS; j++) v[j] += tct_shuffle_down(v[j], d);
}

/* The sums of `v` over the block, in thread 0. All threads call it, and need a
 * barrier before the next call. */
template <int SUMS>
static __device__ inline void tct_block_sum_once(double (&v)[SUMS])
{
    __shared__ double warp[TCT_WARPS_MOST][SUMS];
    const int lane = tct_lane(), w = tct_warp();
    tct_warp_sum(v);
    if (lane == 0)
        for (int j = 0; j < SUMS; j++) warp[w][j] = v[j];
    __syncthreads();
    if (w == 0) {
        const int warps = (blockDim.x + GPU_WAVE - 1) / GPU_WAVE;
        for (int j = 0; j < SUMS; j++)
            v[j] = lane < warps ? warp[lane][j] : 0.0;
        tct_warp_sum(v);
    }
}
/* The same, with this barrier. */
template <int SUMS>
static __device__ inline void tct_block_sum(double (&v)[SUMS])
{
    tct_block_sum_once(v);
    __syncthreads();
}

/* The sums of all blocks, whose threads hold `v` [SUMS]; SUMS 0: no sums. Every
 * thread of every block calls it, once: true in the one thread that comes last,
 * which is to finish the kernel. With `held` the sums stay as they were. With
 * SYSTEMS the blocks of a row of the grid are those of a system. */
template <int SUMS, bool SYSTEMS = false>
static __device__ inline bool tct_kernel_sums(double *v_, const tct_ending &e,
                                              bool held = false)
{
    const int system = SYSTEMS ? (int)blockIdx.y : 0;
    double *const partial = e.partial + (size_t)system * gridDim.x * SUMS;
    __shared__ bool last;
    if (SUMS == 0 && e.epilogue.count == 0) return false;
    double v[SUMS ? SUMS : 1] = {0.0};
    for (int j = 0; j < SUMS; j++) v[j] = v_[j];
    if (SUMS) tct_block_sum(v);
    else __syncthreads();
    if (threadIdx.x == 0) {
        for (int j = 0; j < SUMS; j++) partial[blockIdx.x * SUMS + j] = v[j];
        tct_fence();
        last = atomicAdd(e.ticket + system, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return false;
    if (SUMS) {
        tct_fence();
        for (int j = 0; j < SUMS; j++) v[j] = 0.0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
#pragma unroll
            for (int j = 0; j < SUMS; j++)
                v[j] += tct_load_fresh(&partial[b * SUMS + j]);
        tct_block_sum(v);
    }
    if (threadIdx.x != 0) return false;
    if (!held || !e.keeps)
        for (int j = 0; j < SUMS; j++)
            e.out[system * TCT_SCALARS + j] = held ? 0.0 : v[j];
    return true;
}

/* The scalar work that follows, by that thread. */
template <bool SYSTEMS = false>
static __device__ inline void tct_kernel_finish(const tct_ending &e)
{
    const int system = SYSTEMS ? (int)blockIdx.y : 0;
    if (SYSTEMS) tct_epilogue_run_of(e.epilogue, system);
    else tct_epilogue_run(e.epilogue);
    e.ticket[system] = 0;
}

/* Both. */
template <int SUMS, bool SYSTEMS = false>
static __device__ inline void tct_kernel_end(double *v, const tct_ending &e,
                                             bool held = false)
{
    if (tct_kernel_sums<SUMS, SYSTEMS>(v, e, held))
        tct_kernel_finish<SYSTEMS>(e);
}

/* The same, where only a launch with an `out` wants the sums: one text of what
 * follows them, which is larger than most kernels. */
template <int SUMS>
static __device__ inline void tct_kernel_end_if(bool wanted, double *v,
                                                const tct_ending &e)
{
    const bool last =
        wanted ? tct_kernel_sums<SUMS>(v, e) : tct_kernel_sums<0>(nullptr, e);
    if (last) tct_kernel_finish(e);
}

/* A launch of `blocks` blocks at most, each element or warp visited in turn. */
static inline int tct_blocks_for(int64_t work, int per_block, int64_t most)
{
    const int64_t blocks = (work + per_block - 1) / per_block;
    return (int)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

#endif
