/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/gpu/fused_coarse.cu - the steps of the last levels as one
 * kernel: blocks that are all on the device at once and meet between two steps.
 *
 * A row has some threads of a warp, its lanes, and a step is done in one go
 * where the rows allow: what it takes is a meeting and the loads that wait for
 * one another. So what no step writes, where rows begin and their first
 * entries, is loaded while the blocks come together. The order of each sum
 * depends on the matrix and the device alone. */
#include "device/gpu/epilogue.cuh"
#include "device/gpu/lane.cuh"
#include "device/gpu/late.h"
#include "device/protocol.h"
#include "precond/amg/cycle/gpu/fused_coarse.h"

enum {
    THREADS = TCT_FUSED_WARPS * GPU_WAVE,
    AT_ONCE = 4, /* entries of a lane whose loads are under way together */
    RING = 3,    /* steps in shared memory: the one at hand, and two to come */
    WORDS = sizeof(tct_amg_step) / sizeof(uint64_t)
};
static_assert(sizeof(tct_amg_step) % sizeof(uint64_t) == 0, "of whole words");
static_assert(WORDS <= THREADS, "a thread each");

typedef struct fused_job {
    const tct_amg_step *step; /* [count] */
    int count;
    uint64_t *counter; /* of meetings: 0 at the start, and again at the end */
    unsigned *ticket;
    double *x; /* what all steps come to */
    tct_mailbox *mailbox;
    uint64_t limit_ns; /* of a wait */
} fused_job;

/* --- a row ---------------------------------------------------------------- */

/* What a lane has of a row: its next entries, of which there are some where
 * k < end. */
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

/* `lane`: of those that share the row; `row` < 0: none. */
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

/* x_j, which blocks may have written before they met. */
static __device__ inline double source(const tct_amg_step &s, int j)
{
    const double x = s.x[j];
    return s.scale ? s.scale[j] * x : x;
}

/* This lane's part of the row's sum. */
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

/* Over as many neighbouring lanes, a power of 2; all have it. */
static __device__ inline double sum_lanes(double v, int lanes)
{
    for (int d = lanes / 2; d > 0; d /= 2) v += tct_shuffle_across(v, d);
    return v;
}

/* --- a step --------------------------------------------------------------- */

/* Of a warp: its first items, side by side, and how far it is to the next. Few
 * items are on all multiprocessors. */
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

/* Which of the rows side by side a thread has, and which lane of it is its. */
static __device__ inline int team_of(const tct_amg_step &s)
{
    return tct_lane() >> s.shift;
}
static __device__ inline int lane_of(const tct_amg_step &s)
{
    return tct_lane() & (s.lanes - 1);
}

/* What is known of a step before it begins, of the first item: its row, where
 * in the list it is, and where the set ends. */
struct ahead {
    int row, k, end;
    entries e;
};

/* Place `k` of the list, up to `end`: a row, or none. */
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

/* What a row's value is made of besides its sum. */
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
        int k = 0, end = 0, row = -1; /* where the value goes, lane by lane */
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

/* A warp has a set, its lanes some rows of it at a time. */
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

/* Step number `i` into its place of the ring; others may read it behind the
 * next barrier of the block. */
static __device__ inline void bring(const fused_job &J, int i,
                                    tct_amg_step *ring)
{
    if (i < J.count && threadIdx.x < WORDS)
        ((uint64_t *)&ring[i % RING])[threadIdx.x] =
            tct_read_only((const uint64_t *)&J.step[i] + threadIdx.x);
}

/* Wait for all blocks, the `number`-th time, and look ahead meanwhile; false:
 * one did not come. */
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

/* The last block leaves the counter as it was; where one was late the host is
 * told, and what came out is no number. */
static __device__ inline void leave(const fused_job &J, bool fine)
{
    if (threadIdx.x != 0) return;
    if (!fine) {
        J.x[0] = __longlong_as_double(-1);
        tct_active_word((uint64_t *)&J.mailbox->missing, TCT_MISSING_BLOCK);
        tct_fence_all();
    }
    if (tct_is_last(J.ticket, gridDim.x)) *J.counter = 0;
}

static __global__ void __launch_bounds__(THREADS, 1)
    all_steps(const __grid_constant__ fused_job J,
              const __grid_constant__ tct_ending e)
{
    __shared__ alignas(16) tct_amg_step ring[RING];
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
    (void)x; /* steps know where it is */
    fused_job job = {S->step,
                     S->count,
                     S->counter,
                     (unsigned *)(S->counter + 1),
                     y,
                     tct_gpu_of(S->q)->mailbox_gpu,
                     (uint64_t)(1e9 * S->q->barrier_seconds)};
    tct_ending ending = tct_ending_of(L);
    void *arguments[] = {&job, &ending};
    /* what it says is what the queue asks for next */
    (void)gpu_launch_cooperative((const void *)all_steps,
                                 dim3((unsigned)S->blocks), dim3(THREADS),
                                 arguments, 0, L->stream);
}
