/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/tasks.cuh - the solve kernel: blocks take tasks from the
 * queue (trisolve/gpu/task_queue.h), and between the passes sum y of shared
 * rows by recursive doubling (trisolve/gpu/recursive_doubling.h). Each JOB type
 * defines how a solve begins, waits for a task's dependency, signals and
 * ends. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_TASKS_CUH
#define TCT_TRISOLVE_GPU_KERNELS_TASKS_CUH
#include "trisolve/gpu/kernels/node.cuh"

/* --- synchronization on one GPU ------------------------------------------- */

static __device__ inline bool d_begin(const tct_tri_job &)
{
    return true;
}
static __device__ inline bool
d_await(const tct_tri_job &J, const tct_worker_state &hand, const tct_task &t)
{
    return tct_task_queue_await(&J.round, &hand, &t);
}
static __device__ inline void
d_done(const tct_tri_job &J, const tct_worker_state &, const tct_task &t)
{
    tct_task_queue_done(&J.round, &t);
}
static __device__ inline void d_end(const tct_tri_job &J,
                                    const tct_worker_state &hand)
{
    (void)tct_task_queue_end(&J.round, &hand, gridDim.x);
}
/* One GPU: the sums stay in y. */
template <int STRIDE>
static __device__ inline void d_put_sums(const tct_tri_job &, int32_t, int32_t)
{
}

/* --- tasks ---------------------------------------------------------------- */

/* The first nodes of a branch, prefetched by a block. */
struct tct_nodes_ahead {
    static constexpr int MOST = 64;
    tct_node node[MOST];
};

/* Node `k` of `order`, in the branch that starts at `first`. */
static __device__ inline tct_node d_node_of(const tct_tri_job &J, int32_t first,
                                            int32_t k,
                                            const tct_nodes_ahead &ahead)
{
    return k - first < tct_nodes_ahead::MOST ? ahead.node[k - first]
                                             : J.a.node[J.a.order[k]];
}

/* All nodes of a branch by level: small nodes by one warp each, then large ones
 * by the block. */
template <int TILES, class JOB>
static __device__ void d_branch(const JOB &J, const tct_branch &B, bool up,
                                const tct_nodes_ahead &ahead, double *room)
{
    const int32_t first = J.a.level[B.from].from;
    tct_tri_level L = J.a.level[up ? B.to - 1 : B.from];
    for (int32_t l = B.from; l < B.to; l++) {
        tct_tri_level next = L;
        if (l + 1 < B.to)
            next = J.a.level[up ? B.to - 2 - (l - B.from) : l + 1];
        for (int32_t k = L.from + tct_warp(); k < L.alone; k += TCT_SOLVE_WARPS)
            d_node<tct_warp_team, TILES>(J, d_node_of(J, first, k, ahead), up,
                                         room);
        __syncthreads();
        for (int32_t k = L.alone; k < L.to; k++)
            d_node<tct_block_team, TILES>(J, d_node_of(J, first, k, ahead), up,
                                          room);
        L = next;
    }
}

static __device__ inline void d_expect_branch(const tct_tri_job &J,
                                              const tct_branch &B, bool up,
                                              tct_nodes_ahead &ahead)
{
    const int32_t first = J.a.level[B.from].from, end = J.a.level[B.to - 1].to;
    for (int32_t k = first + tct_warp(); k < end; k += TCT_SOLVE_WARPS) {
        const tct_node N = J.a.node[J.a.order[k]];
        if (tct_lane() == 0 && k - first < tct_nodes_ahead::MOST)
            ahead.node[k - first] = N;
        d_expect<tct_warp_team>(J, N, up, 0, up ? N.w : N.h);
    }
}

/* Run a task, which thread 0 has; false: its wait failed. */
template <int TILES, class JOB>
static __device__ inline bool d_task(const JOB &J, const tct_worker_state &hand,
                                     const tct_task &t, bool up, double *room)
{
    __shared__ bool fine;
    __shared__ tct_nodes_ahead ahead;
    constexpr int STRIDE = TILES == 0 ? 1 : TILES * TCT_SOLVE_TILE;
    tct_node N;
    tct_branch B;
    if (t.what < 0) {
        B = J.a.branch[-1 - t.what];
        d_expect_branch(J, B, up, ahead);
    } else {
        N = J.a.node[t.what];
        d_expect<tct_block_team>(J, N, up, t.from, t.to);
    }
    if (threadIdx.x == 0) fine = d_await(J, hand, t);
    __syncthreads();
    if (!fine) return false;
    if (t.what < 0) d_branch<TILES>(J, B, up, ahead, room);
    else if (t.from < 0) d_put_together<STRIDE>(J, N, -1 - t.from, t.to);
    else
        d_part<tct_block_team, TILES>(J, N, up, t.from, t.to,
                                      t.wait >= J.together, room);
    return true;
}

/* --- recursive doubling --------------------------------------------------- */

/* All steps of one piece, in order. */
template <int STRIDE, class JOB>
static __device__ bool d_doubling(const JOB &J, const tct_worker_state &hand,
                                  const tct_task &t)
{
    __shared__ bool fine;
    __shared__ uint64_t number;
    const tct_doubling &S = J.doubling;
    const auto y = [&](int e) -> double & {
        const int64_t row = tct_read_only(&S.row[t.from + e / STRIDE]);
        return J.a.y[row * STRIDE + e % STRIDE];
    };
    if (threadIdx.x == 0) {
        number = hand.down;
        fine = d_await(J, hand, t);
        if (t.what == 0) J.stamp[TCT_STAMP_ROOTS] = tct_nanoseconds();
    }
    __syncthreads();
    for (int k = 0; fine && k < S.steps && S.count[k] > t.from; k++) {
        const int64_t at = (int64_t)t.from * STRIDE;
        const int values = (min(t.to, S.count[k]) - t.from) * STRIDE;
        double *const to = tct_doubling_buffer(&S, S.there[k], number) + at;
        for (int e = threadIdx.x; e < values; e += TCT_SOLVE_THREADS)
            to[e] = y(e);
        __syncthreads();
        if (threadIdx.x == 0) {
            tct_doubling_signal(&S, k, t.what, number);
            fine = tct_doubling_await(&J.round, &S, k, t.what, number);
        }
        __syncthreads();
        const double *const from =
            tct_doubling_buffer(&S, S.here[k], number) + at;
        for (int e = threadIdx.x; fine && e < values; e += TCT_SOLVE_THREADS)
            y(e) += tct_load_fresh(&from[e]);
    }
    if (fine) d_put_sums<STRIDE>(J, t.from, t.to);
    if (threadIdx.x == 0) J.stamp[TCT_STAMPS + t.what] = tct_nanoseconds();
    return fine;
}

/* --- all ------------------------------------------------------------------ */

/* The whole kernel; thread 0 synchronizes for its block. */
template <int TILES, bool SHARED, class JOB>
static __device__ inline void d_solve(const JOB &J)
{
    alignas(16) __shared__ double room[TCT_ROOM];
    __shared__ tct_task task;
    __shared__ int32_t number;
    const tct_round &R = J.round;
    tct_worker_state hand = {0, 0, 0};
    bool begins = true;
    const int32_t up = SHARED ? J.down + J.between : J.down;
    if (threadIdx.x == 0) {
        hand = tct_task_queue_begin(&R);
        if (SHARED && hand.next == 0)
            J.stamp[TCT_STAMP_BEGIN] = tct_nanoseconds();
        begins = d_begin(J);
    }
    for (;;) {
        if (threadIdx.x == 0)
            number = begins ? tct_task_queue_next(&R, &hand, &task) : -1;
        __syncthreads();
        const int32_t k = number;
        if (k < 0) break;
        const tct_task t = task;
        if (SHARED && k >= J.down && k < up) {
            if (!d_doubling < TILES == 0
                    ? 1
                    : TILES * TCT_SOLVE_TILE > (J, hand, t))
                break;
        } else if (!d_task<TILES>(J, hand, t, k >= up, room)) {
            break;
        }
        __syncthreads();
        if (threadIdx.x == 0) d_done(J, hand, t);
    }
    if (threadIdx.x != 0) return;
    if (SHARED)
        J.stamp[TCT_STAMPS + J.between + blockIdx.x] = tct_nanoseconds();
    d_end(J, hand);
}

#endif
