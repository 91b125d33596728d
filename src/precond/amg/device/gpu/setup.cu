/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/gpu/setup.cu - set-up of multigrid on a GPU: tasks with a
 * thread for each index; prefix sums; rows of aggregates by a warp or a block.
 * No block waits for another, and loops are bounded by row lengths.
 *
 * Compiled without fused multiply-adds, so that results have the bits of the
 * host. */
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/fill.h"
#include "operator/gpu/store.h"
#include "operator/operator.h"
#include "precond/amg/device/setup_kernels.h"

enum {
    THREADS = 256,
    WIDE = 1024,
    WARPS = 8,  /* of a block, one row each               */
    GROUPS = 4, /* of a warp, if there are MANY aggregates */
    MANY = 100000,
    PER_SM = 16,  /* blocks for load balance */
    AT_ONCE = 4,  /* entries whose weights are loaded together   */
    WEIGHED = 5,  /* blocks of them on a multiprocessor          */
    LONGS = 1024, /* blocks for long rows                     */
    LEAST = 4096, /* least indices of a chunk                  */
    SLIM = 6,     /* blocks of slim tasks on a multiprocessor   */
    FEW = 64      /* threads of a block, for tasks of systems: there are few
                   * aggregates */
};

static gpu_stream stream_of(tacit_queue *q)
{
    tct_gpu_flush(q);
    return tct_gpu_of(q)->stream;
}

/* --- tasks ---------------------------------------------------------------- */

/* All tasks are one kernel: the driver loads a kernel on first use, which takes
 * as long as the task on a large level. */
static __global__ void __launch_bounds__(THREADS, SLIM)
    do_task(const __grid_constant__ tct_amg_work g, tct_amg_task task,
            int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    switch (task) {
#define X(name) \
    case TCT_AMG_##name: tct_amg_task_##name(&g, i); break;
        TCT_AMG_SLIM_TASKS(X)
#undef X
    default: break;
    }
}

static __global__ void __launch_bounds__(THREADS)
    look(const __grid_constant__ tct_amg_work g, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) tct_amg_task_look(&g, i);
}

static __global__ void __launch_bounds__(FEW)
    do_system_task(const __grid_constant__ tct_amg_work g, tct_amg_task task,
                   int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * FEW + threadIdx.x;
    if (i >= n) return;
    switch (task) {
#define X(name) \
    case TCT_AMG_##name: tct_amg_task_##name(&g, i); break;
        TCT_AMG_SYSTEM_TASKS(X)
#undef X
    default: break;
    }
}

static void run_each(tacit_queue *q, tct_amg_task task, int64_t n,
                     const tct_amg_work *g)
{
    const gpu_stream stream = stream_of(q);
    const int blocks = tct_blocks_for(n, THREADS, INT32_MAX);
    if (task == TCT_AMG_look) look<<<blocks, THREADS, 0, stream>>>(*g, n);
    else if (task > TCT_AMG_look)
        do_system_task<<<tct_blocks_for(n, FEW, INT32_MAX), FEW, 0, stream>>>(
            *g, task, n);
    else do_task<<<blocks, THREADS, 0, stream>>>(*g, task, n);
    tct_gpu_ok(q, gpu_last_error(), "a task of multigrid's set-up");
}

/* --- rounds of matching --------------------------------------------------- */

/* A task of a round, whose threads are those of the block. */
static __device__ void round_task(const tct_amg_work *g, tct_amg_task task)
{
    const tct_amg_state *s = g->state;
    const int64_t n = s->listed ? (int64_t)s->count : g->A.rows;
    for (int64_t k = threadIdx.x; k < n; k += WIDE) switch (task) {
        case TCT_AMG_look: tct_amg_task_look(g, k); break;
        case TCT_AMG_link: tct_amg_task_link(g, k); break;
        case TCT_AMG_jump: tct_amg_task_jump(g, k); break;
        case TCT_AMG_pair: tct_amg_task_pair(g, k); break;
        case TCT_AMG_keep: tct_amg_task_keep(g, k); break;
        default: break;
        }
    __syncthreads();
}

/* Ends the round in one thread. */
static __device__ void end_round(tct_amg_work *g)
{
    int32_t *const open = g->open;
    tct_amg_task_decide(g, 0);
    g->open = g->other;
    g->other = open;
}

/* `g` is shared by the threads of the block. */
static __device__ void do_round(tct_amg_work *g)
{
    round_task(g, TCT_AMG_look);
    round_task(g, TCT_AMG_link);
    for (int step = 0; step < TCT_AMG_JUMPS; step++) {
        if (threadIdx.x == 0) g->step = step;
        __syncthreads();
        if (step > 0 && !g->state->far[step]) break;
        round_task(g, TCT_AMG_jump);
    }
    round_task(g, TCT_AMG_pair);
    round_task(g, TCT_AMG_keep);
    if (threadIdx.x == 0) end_round(g);
    __syncthreads();
}

/* One block: a barrier of its threads takes less time than a kernel. */
static __global__ void __launch_bounds__(WIDE)
    do_rounds(const __grid_constant__ tct_amg_work g, int64_t most)
{
    __shared__ tct_amg_work work;
    if (threadIdx.x == 0) work = g;
    __syncthreads();
    for (; most > 0 && !work.state->done; most--) do_round(&work);
}

static void rounds(tacit_queue *q, int64_t most, const tct_amg_work *g)
{
    const gpu_stream stream = stream_of(q);
    do_rounds<<<1, WIDE, 0, stream>>>(*g, most);
    tct_gpu_ok(q, gpu_last_error(), "rounds of multigrid's set-up");
}

/* --- sums ----------------------------------------------------------------- */

/* Prefix sum of `v` over the threads of a block of WIDE, and the total. */
static __device__ int64_t before_in_block(int64_t v, int64_t *all)
{
    __shared__ int64_t of_warp[TCT_WARPS_MOST];
    int64_t up_to = v, before = 0;
    for (int d = 1; d < GPU_WAVE; d *= 2) {
        const int64_t other = tct_shuffle_up(up_to, d);
        if (tct_lane() >= d) up_to += other;
    }
    if (tct_lane() == GPU_WAVE - 1) of_warp[tct_warp()] = up_to;
    __syncthreads();
    *all = 0;
    for (int w = 0; w < WIDE / GPU_WAVE; w++) {
        if (w < tct_warp()) before += of_warp[w];
        *all += of_warp[w];
    }
    __syncthreads(); /* shared memory is reused */
    return before + up_to - v;
}

/* Block b has indices [stretch_from(b), stretch_from(b + 1)). */
static __device__ inline int64_t stretch_from(int64_t n, int64_t block)
{
    return n / gridDim.x * block + n % gridDim.x * block / gridDim.x;
}

static __global__ void __launch_bounds__(WIDE)
    add_stretches(const __grid_constant__ tct_amg_work g, int64_t n)
{
    const int64_t end = stretch_from(n, blockIdx.x + 1);
    int64_t mine = 0, all;
    for (int64_t k = stretch_from(n, blockIdx.x) + threadIdx.x; k < end;
         k += WIDE)
        mine += g.count[k];
    before_in_block(mine, &all);
    if (threadIdx.x == 0) g.partial[blockIdx.x] = all;
}

static __global__ void __launch_bounds__(WIDE)
    sum_stretches(const __grid_constant__ tct_amg_work g, int64_t n,
                  int stretches)
{
    const bool mine = (int)threadIdx.x < stretches;
    int64_t all;
    const int64_t before =
        before_in_block(mine ? g.partial[threadIdx.x] : 0, &all);
    if (mine) g.partial[threadIdx.x] = before;
    if (threadIdx.x == 0) {
        g.sum[n] = all;
        g.state->total = (uint64_t)all;
    }
}

static __global__ void __launch_bounds__(WIDE)
    sum_numbers(const __grid_constant__ tct_amg_work g, int64_t n)
{
    const int64_t end = stretch_from(n, blockIdx.x + 1);
    int64_t so_far = g.partial[blockIdx.x];
    for (int64_t k = stretch_from(n, blockIdx.x); k < end; k += WIDE) {
        const int64_t i = k + threadIdx.x;
        int64_t all;
        const int64_t before = before_in_block(i < end ? g.count[i] : 0, &all);
        if (i < end) g.sum[i] = so_far + before;
        so_far += all;
    }
}

static void sum_up(tacit_queue *q, int64_t n, const tct_amg_work *g)
{
    static_assert((int)TCT_AMG_STRETCHES <= (int)WIDE,
                  "one block has them all");
    const gpu_stream stream = stream_of(q);
    const int stretches = tct_blocks_for(n, LEAST, TCT_AMG_STRETCHES);
    add_stretches<<<stretches, WIDE, 0, stream>>>(*g, n);
    sum_stretches<<<1, WIDE, 0, stream>>>(*g, n, stretches);
    sum_numbers<<<stretches, WIDE, 0, stream>>>(*g, n);
    tct_gpu_ok(q, gpu_last_error(), "a sum of multigrid's set-up");
}

/* --- rows of aggregates --------------------------------------------------- */

/* Room of a warp, for rows of GROUPS aggregates at a time or of one with up to
 * SHORT entries. The rooms of groups begin in other banks. */
template <int GROUPS> struct merging {
    enum {
        LANES = GPU_WAVE / GROUPS,
        MOST = TCT_AMG_SHORT / GROUPS,
        STRIDE = MOST + 32 / GROUPS,
        ROOM = GROUPS * STRIDE
    };
    double val[ROOM];
    int32_t col[ROOM];
    uint16_t head[ROOM];
    int32_t heads[GROUPS];
};

/* The rows of aggregate `n` by LANES threads; `length` 0: only take part in what
 * the warp does together. */
template <bool WRITE, int LANES>
static __device__ void merge_rows(const tct_amg_work *g, int64_t n,
                                  int32_t length, const tct_amg_entries *e)
{
    const int lane = tct_lane() % LANES;
    if (lane == 0) *e->heads = 0;
    if (length > 0) tct_amg_gather(g, n, lane, LANES, e);
    tct_warp_sync();
    tct_amg_mark(length, lane, LANES, e);
    tct_warp_sync();
    if (WRITE) tct_amg_emit(g, n, length, lane, LANES, e);
    else if (lane == 0 && length > 0) g->count[n] = *e->heads;
    tct_warp_sync(); /* shared memory is reused */
}

template <bool WRITE, int GROUPS>
static __global__ void __launch_bounds__(WARPS *GPU_WAVE)
    merge_short(const __grid_constant__ tct_amg_work g)
{
    typedef merging<GROUPS> room;
    __shared__ room rooms[WARPS];
    room *const r = &rooms[tct_warp()];
    const int group = tct_lane() / room::LANES, at = group * room::STRIDE;
    const tct_amg_entries mine = {r->col + at, r->val + at, r->head + at,
                                  r->heads + group};
    const tct_amg_entries all = {r->col, r->val, r->head, r->heads};
    const int64_t step = (int64_t)gridDim.x * WARPS * GROUPS;
    int64_t n = ((int64_t)blockIdx.x * WARPS + tct_warp()) * GROUPS;
    for (; n < g.coarse; n += step) {
        const int32_t length = n + group < g.coarse ? g.length[n + group] : 0;
        const bool fits = length <= room::MOST;
        merge_rows<WRITE, room::LANES>(&g, n + group, fits ? length : 0, &mine);
        for (int k = 0; k < GROUPS && GROUPS > 1; k++) {
            const int32_t other = tct_shuffle(length, k * room::LANES);
            if (other > room::MOST && other <= TCT_AMG_SHORT)
                merge_rows<WRITE, GPU_WAVE>(&g, n + k, other, &all);
        }
    }
}

template <bool WRITE>
static __global__ void __launch_bounds__(THREADS)
    merge_long(const __grid_constant__ tct_amg_work g)
{
    __shared__ double val[TCT_AMG_LONG];
    __shared__ int32_t col[TCT_AMG_LONG];
    __shared__ uint16_t head[TCT_AMG_LONG];
    __shared__ int32_t heads;
    const int thread = (int)threadIdx.x;
    const tct_amg_entries e = {col, val, head, &heads};
    const int64_t longs = (int64_t)g.state->longs;
    for (int64_t k = blockIdx.x; k < longs; k += gridDim.x) {
        const int64_t n = g.longs[k];
        if (thread == 0) heads = 0;
        tct_amg_gather(&g, n, thread, THREADS, &e);
        __syncthreads();
        tct_amg_mark(g.length[n], thread, THREADS, &e);
        __syncthreads();
        if (WRITE) tct_amg_emit(&g, n, g.length[n], thread, THREADS, &e);
        else if (thread == 0) g.count[n] = heads;
        __syncthreads(); /* shared memory is reused */
    }
}

/* Several aggregates a warp, where there are enough for all warps: a row of 14
 * entries would leave most of its threads idle. */
template <bool WRITE>
static void merge_all(tacit_queue *q, const tct_amg_work *g)
{
    const gpu_stream stream = stream_of(q);
    const bool many = g->coarse > MANY;
    const int blocks = tct_blocks_for(g->coarse, many ? WARPS * GROUPS : WARPS,
                                      (int64_t)PER_SM * tct_gpu_of(q)->sms);
    if (many)
        merge_short<WRITE, GROUPS><<<blocks, WARPS * GPU_WAVE, 0, stream>>>(*g);
    else merge_short<WRITE, 1><<<blocks, WARPS * GPU_WAVE, 0, stream>>>(*g);
    merge_long<WRITE><<<LONGS, THREADS, 0, stream>>>(*g);
    tct_gpu_ok(q, gpu_last_error(), "rows of multigrid's set-up");
}

static void merge(tacit_queue *q, bool write, const tct_amg_work *g)
{
    if (write) merge_all<true>(q, g);
    else merge_all<false>(q, g);
}

/* --- products in blocks --------------------------------------------------- */

/* Add the first AT_ONCE entries of `some`, staged from `base` on; returns the
 * others. Their weights are loaded before the first is added. */
static __device__ tct_lanes add_some(const tct_amg_work *g, int32_t base,
                                     tct_lanes some, const tct_amg_stage *e,
                                     tct_amg_column *s)
{
    double part[AT_ONCE];
    bool has[AT_ONCE];
    for (int c = 0; c < AT_ONCE; c++) {
        const int32_t k = some != 0 ? base + tct_first_lane(some) : -1;
        part[c] = tct_amg_column_part(g, k, e, s, &has[c]);
        some &= some - 1;
    }
    for (int c = 0; c < AT_ONCE; c++) tct_amg_column_add(part[c], has[c], s);
    return some;
}

/* Add the staged entries of the blocks of this warp, in their order. */
static __device__ void add_staged(const tct_amg_work *g, int32_t count,
                                  const tct_amg_stage *e, tct_amg_column *s)
{
    const int32_t first = tct_shuffle(s->block, 0);
    const int32_t last = tct_shuffle(s->block, GPU_WAVE - 1);
    if (first < 0) return; /* the whole warp */
    for (int32_t base = 0; base < count; base += GPU_WAVE) {
        const int32_t k = base + tct_lane();
        const int32_t place = k < count ? e->place[k] : -1;
        tct_lanes some =
            tct_ballot(place >= first && (last < 0 || place <= last));
        while (some != 0) some = add_some(g, base, some, e, s);
    }
}

/* Columns [base, base + THREADS) of the rows of aggregate `n`; the loops are the
 * same in all threads. */
static __device__ void multiply_columns(const tct_amg_work *g, int64_t n,
                                        int64_t base, const tct_amg_stage *e)
{
    const int thread = (int)threadIdx.x;
    tct_amg_column s = tct_amg_column_open(g, n, base + thread);
    for (int32_t m = g->ptr[n]; m < g->ptr[n + 1]; m++) {
        const int64_t i = g->list[m], end = g->A.ptr[i + 1];
        for (int64_t from = g->A.ptr[i]; from < end; from += TCT_AMG_STAGE) {
            const int64_t left = end - from;
            const int32_t count =
                left < TCT_AMG_STAGE ? (int32_t)left : TCT_AMG_STAGE;
            tct_amg_stage_entries(g, n, from, count, thread, THREADS, e);
            __syncthreads();
            add_staged(g, count, e, &s);
            __syncthreads(); /* shared memory is reused */
        }
        tct_amg_column_row(g, i, &s);
    }
    tct_amg_column_close(g, n, &s);
}

static __global__ void __launch_bounds__(THREADS, WEIGHED)
    multiply_blocks(const __grid_constant__ tct_amg_work g)
{
    __shared__ double val[TCT_AMG_STAGE];
    __shared__ int32_t col[TCT_AMG_STAGE];
    __shared__ int32_t place[TCT_AMG_STAGE];
    tct_amg_stage e;
    e.val = val;
    e.col = col;
    e.place = place;
    for (int64_t n = blockIdx.x; n < g.coarse; n += gridDim.x) {
        const int64_t columns = (g.blocks.ptr[n + 1] - g.blocks.ptr[n]) * g.k;
        for (int64_t base = 0; base < columns; base += THREADS)
            multiply_columns(&g, n, base, &e);
    }
}

static void multiply(tacit_queue *q, const tct_amg_work *g)
{
    const gpu_stream stream = stream_of(q);
    const int blocks =
        tct_blocks_for(g->coarse, 1, (int64_t)PER_SM * tct_gpu_of(q)->sms);
    multiply_blocks<<<blocks, THREADS, 0, stream>>>(*g);
    tct_gpu_ok(q, gpu_last_error(), "blocks of multigrid's set-up");
}

/* --- the inverse ---------------------------------------------------------- */

/* One block. */
static __global__ void __launch_bounds__(TCT_AMG_PIVOT_LANES)
    invert_pivots(const __grid_constant__ tct_amg_work g)
{
    __shared__ double own[TCT_AMG_PIVOT_LANES];
    const int lane = (int)threadIdx.x;
    if (g.state->bad) return; /* the same in all threads, as are pivots */
    tct_amg_pivots_open(&g, lane, own);
    __syncthreads();
    for (int32_t k = 0; k < g.dense.block; k++) {
        const double pivot = tct_amg_pivots_next(&g, k, own);
        const double v = tct_amg_pivots_step(&g, k, pivot, lane, own);
        __syncthreads();
        if (!(pivot > 0.0)) {
            if (lane == 0) g.state->bad = 1;
            return;
        }
        own[lane] = v;
        __syncthreads();
    }
    tct_amg_pivots_close(&g, lane, own);
}

static void pivots(tacit_queue *q, const tct_amg_work *g)
{
    const gpu_stream stream = stream_of(q);
    invert_pivots<<<1, TCT_AMG_PIVOT_LANES, 0, stream>>>(*g);
    tct_gpu_ok(q, gpu_last_error(), "pivots of multigrid's set-up");
}

/* --- operators ------------------------------------------------------------ */

static bool count(const tacit_operator *A, int32_t *count)
{
    const tct_gpu_arrays *d = tct_rows_of_operator(A);
    if (d) tct_gpu_count_rows(A->q, d, count);
    return d != nullptr;
}

static void read(const tacit_operator *A, const tct_amg_csr *out)
{
    tct_gpu_read_rows(A->q, tct_rows_of_operator(A), out->ptr, out->col,
                      out->val);
}

static tacit_status store(const tacit_operator *finest, const tct_amg_csr *A,
                          int block, double norm, bool floats,
                          tacit_operator **out)
{
    const tct_device_rows rows = {A->rows, A->entries, A->ptr, A->col,
                                  A->val,  floats,     block};
    return tct_operator_of_device_rows(finest, &rows, norm, out);
}

static tacit_status send(tacit_queue *q, const tct_csr *A,
                         const tct_amg_csr *to)
{
    if (12.0 * (double)to->entries < (double)TCT_GPU_STAGED || A->col64)
        return TACIT_UNSUPPORTED;
    tct_local from = {};
    tct_store_rows rows = {};
    from.rows = from.cols = rows.rows = rows.cols = A->rows;
    from.ptr = A->ptr;
    from.col = A->col32;
    from.val = A->val;
    rows.q = q;
    rows.entries = to->entries;
    rows.ptr = to->ptr;
    rows.col = to->col;
    rows.val = to->val;
    return tct_gpu_rows_send(q, &from, &rows);
}

static const tct_amg_kernels kernels = {
    20000, 2000, 128,   run_each, sum_up, merge,  multiply, pivots,
    count, read, store, send,     0,      rounds, 2048};

extern "C" const tct_amg_kernels *tct_amg_kernels_on(const tacit_queue *q)
{
    return q->device == &tct_device_cuda ? &kernels : nullptr;
}
