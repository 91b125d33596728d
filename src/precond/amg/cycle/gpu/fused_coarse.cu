/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/gpu/fused_coarse.cu - the steps of the fused coarse levels
 * as one kernel, with a grid barrier between two steps.
 *
 * Each row has some lanes of a warp. A step should take one barrier and one
 * round of dependent loads; so data that no step writes, row starts and first
 * entries, are loaded while the barrier waits. The order of each sum depends on
 * the matrix and the device only. */
#include "device/gpu/epilogue.cuh"
#include "device/gpu/lane.cuh"
#include "device/gpu/late.h"
#include "device/protocol.h"
#include "precond/amg/cycle/gpu/fused_coarse.h"

enum {
    THREADS = TCT_FUSED_WARPS * GPU_WAVE,
    AT_ONCE = 4, /* entries of a lane loaded together */
    RING = 3,    /* steps in shared memory: current, next two */
    WORDS = sizeof(tct_amg_step) / sizeof(uint64_t)
};
static_assert(sizeof(tct_amg_step) % sizeof(uint64_t) == 0, "of whole words");
static_assert(WORDS <= THREADS, "a thread each");

typedef struct fused_job {
    const tct_amg_step *step; /* [count] */
    int count;
    uint64_t *counter; /* of the barrier; 0 at start and end */
    unsigned *ticket;
    double *x; /* result of all steps */
    tct_mailbox *mailbox;
    uint64_t limit_ns; /* barrier timeout */
} fused_job;

/* --- a row ---------------------------------------------------------------- */

/* The next entries of a lane; k < end if there are any. */
struct entries {
    int k, end;
    int col[AT_ONCE];
    double val[AT_ONCE];
};

static __device__ inline void load_entries(const tct_amg_step &s, int row,
                                           entries &e)
{
    const int from = s.columns ? row * s.columns : 0;
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) {
        const int k = e.k + q * s.lanes;
        const bool there = k < e.end;
        e.val[q] = there ? tct_read_only(s.val + k) : 0.0;
        e.col[q] = !there      ? -1
                   : s.columns ? k - from
                               : tct_read_only(s.col + k);
    }
}

/* `lane` among those of the row; `row` < 0: none. */
static __device__ inline entries open_row(const tct_amg_step &s, int row,
                                          int lane)
{
    entries e;
    e.k = e.end = 0;
    if (row >= 0 && s.entries > 0) {
        e.k = lane + (s.columns ? row * s.columns : (int)s.ptr[row]);
        e.end = s.columns ? (row + 1) * s.columns : (int)s.ptr[row + 1];
    }
    load_entries(s, row, e);
    return e;
}

/* x_j, possibly written by other blocks before the barrier. */
static __device__ inline double source(const tct_amg_step &s, int j)
{
    const double x = s.x[j];
    return s.scale ? s.scale[j] * x : x;
}

/* This lane's part of a row's sum. */
static __device__ inline double sum_row(const tct_amg_step &s, int row,
                                        entries &e)
{
    double sum = 0.0;
    while (e.k < e.end) {
        double x[AT_ONCE];
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++)
            x[q] = e.col[q] < 0 ? 0.0 : source(s, e.col[q]);
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) sum = fma(e.val[q], x[q], sum);
        e.k += AT_ONCE * s.lanes;
        if (e.k < e.end) load_entries(s, row, e);
    }
    return sum;
}

/* Sum over a power of 2 of neighbouring lanes; all get the result. */
static __device__ inline double sum_lanes(double v, int lanes)
{
    for (int d = lanes / 2; d > 0; d /= 2) v += tct_shuffle_across(v, d);
    return v;
}

/* --- a step --------------------------------------------------------------- */

/* The items of a warp: its first ones and the stride to the next. Few items are
 * spread over all multiprocessors. */
struct share {
    int first, stride;
};

static __device__ inline share share_of(const tct_amg_step &s)
{
    const int items = s.restricts ? 1 : GPU_WAVE >> s.shift;
    const int warp = (int)blockIdx.x * s.warps + tct_warp();
    return {tct_warp() < s.warps ? warp * items : s.items,
            (int)gridDim.x * s.warps * items};
}

/* The row of this thread among those of its warp. */
static __device__ inline int team_of(const tct_amg_step &s)
{
    return tct_lane() >> s.shift;
}
static __device__ inline int lane_of(const tct_amg_step &s)
{
    return tct_lane() & (s.lanes - 1);
}

/* Prefetched for the first item of a step: its row, its position in the list,
 * the end of its set. */
struct ahead {
    int row, k, end;
    entries e;
};

/* The row at position `k` of the list; none from `end` on. */
static __device__ inline int row_at(const tct_amg_step &s, int k, int end)
{
    return k < end ? tct_read_only(s.list + k) : -1;
}

static __device__ inline ahead look_ahead(const tct_amg_step &s)
{
    const share own = share_of(s);
    const int team = team_of(s), lane = lane_of(s);
    ahead a = {-1, 0, 0, {}};
    if (!s.restricts) {
        const int i = own.first + team;
        if (i < s.items) a.row = i;
    } else if (own.first < s.items) {
        a.k = tct_read_only(s.set + own.first);
        a.end = tct_read_only(s.set + own.first + 1);
        a.row = row_at(s, a.k + team, a.end);
    }
    a.e = open_row(s, a.row, lane);
    return a;
}

/* The terms of a row's value besides its sum. */
struct terms {
    double d, b, rest;
};

static __device__ inline terms terms_of(const tct_amg_step &s, int i)
{
    terms t = {s.d ? s.d[i] : 1.0, s.b ? s.b[i] : 0.0, s.add ? s.add[i] : 0.0};
    if (s.of_x != 0.0) t.rest = fma(s.of_x, source(s, i), t.rest);
    if (s.before) {
        const double scale = s.before_scale ? s.before_scale[i] : 1.0;
        t.rest = fma(s.of_before, scale * s.before[i], t.rest);
    }
    return t;
}

static __device__ inline void do_rows(const tct_amg_step &s, ahead &a)
{
    const share own = share_of(s);
    const int team = team_of(s), lane = lane_of(s);
    for (int i0 = own.first; i0 < s.items; i0 += own.stride) {
        const int i = i0 + team < s.items ? i0 + team : -1;
        if (i0 != own.first) a.e = open_row(s, i, lane);
        terms t = {0.0, 0.0, 0.0};
        int k = 0, end = 0, row = -1; /* destination of the value, by lane */
        double weight = 0.0, to = 0.0;
        if (i >= 0) {
            t = terms_of(s, i);
            if (s.to) {
                k = tct_read_only(s.set + i) + lane;
                end = tct_read_only(s.set + i + 1);
            }
            row = row_at(s, k, end);
            if (row >= 0) {
                weight = tct_read_only(s.weight + k);
                to = s.to[row];
            }
        }
        const double sum = sum_lanes(sum_row(s, i, a.e), s.lanes);
        const double v = fma(s.alpha * t.d, t.b - sum, t.rest);
        if (i >= 0 && lane == 0 && s.out) s.out[i] = v;
        while (row >= 0) {
            s.to[row] = fma(s.factor * weight, v, to);
            k += s.lanes;
            row = row_at(s, k, end);
            if (row < 0) break;
            weight = tct_read_only(s.weight + k);
            to = s.to[row];
        }
    }
}

/* A warp takes a set; its lanes take some rows of the set at a time. */
static __device__ inline void do_sets(const tct_amg_step &s, ahead &a)
{
    const share own = share_of(s);
    const int teams = GPU_WAVE >> s.shift;
    const int team = team_of(s), lane = lane_of(s);
    for (int c = own.first; c < s.items; c += own.stride) {
        double sum = 0.0;
        if (c != own.first) {
            a.k = tct_read_only(s.set + c);
            a.end = tct_read_only(s.set + c + 1);
        }
        for (int k = a.k + team; k < a.end; k += teams) {
            if (c != own.first || k != a.k + team) {
                a.row = row_at(s, k, a.end);
                a.e = open_row(s, a.row, lane);
            }
            const double w = tct_read_only(s.weight + k);
            if (lane == 0) sum = fma(w, s.b[a.row], sum);
            sum = fma(-w, sum_row(s, a.row, a.e), sum);
        }
        sum = sum_lanes(sum, GPU_WAVE);
        if (tct_lane() == 0) s.out[c] = sum;
    }
}

/* --- all of them ---------------------------------------------------------- */

/* Load step `i` into its slot of the ring; others may read it after the next
 * barrier of the block. */
static __device__ inline void bring(const fused_job &J, int i,
                                    tct_amg_step *ring)
{
    if (i < J.count && threadIdx.x < WORDS)
        ((uint64_t *)&ring[i % RING])[threadIdx.x] =
            tct_read_only((const uint64_t *)&J.step[i] + threadIdx.x);
}

/* Grid barrier number `number`; meanwhile prefetches. False on timeout. */
static __device__ inline bool meet(const fused_job &J, int number,
                                   const tct_amg_step &next, ahead &a)
{
    __shared__ bool came;
    uint64_t seen = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        seen = tct_barrier_arrive_at(J.counter, (uint32_t)number, false);
    a = look_ahead(next);
    if (threadIdx.x == 0)
        came = tct_await_blocks(J.counter, seen, gridDim.x, (uint32_t)number,
                                J.limit_ns) != TCT_LATE;
    __syncthreads();
    return came;
}

/* The last block resets the counter; after a timeout it reports to the host,
 * and the result is NaN. */
static __device__ inline void leave(const fused_job &J, bool fine)
{
    if (threadIdx.x != 0) return;
    if (!fine) {
        J.x[0] = __longlong_as_double(-1);
        tct_host_store((uint64_t *)&J.mailbox->missing, TCT_MISSING_BLOCK);
        tct_fence_all();
    }
    if (tct_is_last(J.ticket, gridDim.x)) *J.counter = 0;
}

static __global__ void __launch_bounds__(THREADS, 1)
    all_steps(const __grid_constant__ fused_job J,
              const __grid_constant__ tct_ending e)
{
    alignas(16) __shared__ tct_amg_step ring[RING];
    bool fine = true;
    bring(J, 0, ring);
    bring(J, 1, ring);
    __syncthreads();
    ahead a = look_ahead(ring[0]);
    for (int i = 0; i < J.count; i++) {
        const tct_amg_step &s = ring[i % RING];
        bring(J, i + 2, ring);
        if (s.restricts) do_sets(s, a);
        else do_rows(s, a);
        if (i + 1 == J.count) break;
        fine = meet(J, i + 1, ring[(i + 1) % RING], a);
        if (!fine) break;
    }
    leave(J, fine);
    tct_kernel_end<0>(nullptr, e);
}

/* --- the start ------------------------------------------------------------ */

extern "C" void tct_gpu_fused_multiply(const tct_gpu_block *B,
                                       const tct_gpu_launch *L, const double *x,
                                       double *y)
{
    const tct_gpu_fused *S = (const tct_gpu_fused *)(const void *)B;
    (void)x; /* the steps hold its address */
    fused_job job = {S->step,
                     S->count,
                     S->counter,
                     (unsigned *)(S->counter + 1),
                     y,
                     tct_gpu_of(S->q)->mailbox_gpu,
                     (uint64_t)(1e9 * S->q->barrier_seconds)};
    tct_ending ending = tct_ending_of(L);
    void *arguments[] = {&job, &ending};
    /* the queue checks the last error next */
    (void)gpu_launch_cooperative((const void *)all_steps,
                                 dim3((unsigned)S->blocks), dim3(THREADS),
                                 arguments, 0, L->stream);
}
