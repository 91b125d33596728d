/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/kernels.cu - messages of queues on a GPU, by the steps of
 * parts.h. A start has a row of blocks for each end. A wait has a block for
 * each part, which serves that part of all ends: a thread polls an end, and all
 * threads copy. So it needs no more blocks at once than a message has parts,
 * however many ends there are. An exchange begins as a start, and the last
 * blocks of it go on as a wait. */
#include "device/gpu/lane.cuh"
#include "triggered/gpu/late.cuh"

enum { THREADS = TCT_WAIT_THREADS, NONE = INT32_MAX };

/* Rows of a few ends, as most are: less to be sent with a launch. */
struct few_rows {
    int32_t count, waited;
    tct_parted *const *list;
    tct_parted *end[16];
};

template <class Rows>
static __device__ inline tct_parted *end_of(const Rows &R, int k)
{
    return R.list ? R.list[k] : R.end[k];
}

/* --- copies --------------------------------------------------------------- */

static __device__ inline bool fits(const tct_part_copy &c, uintptr_t width)
{
    return ((uintptr_t)c.to | (uintptr_t)c.from) % width == 0;
}

/* Copy elements of type T, several on their way at once; returns the bytes. By
 * all threads. */
template <class T>
static __device__ inline int64_t copy_as(const tct_part_copy &c)
{
    enum { AHEAD = 4 };
    const T *const from = (const T *)(const void *)c.from;
    T *const to = (T *)(void *)c.to;
    const int64_t n = c.bytes / (int64_t)sizeof(T);
    int64_t i = threadIdx.x;
    for (; i + (AHEAD - 1) * THREADS < n; i += AHEAD * THREADS) {
        T v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            v[k] = tct_load_fresh(from + i + k * THREADS);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) to[i + k * THREADS] = v[k];
    }
    for (; i < n; i += THREADS) to[i] = tct_load_fresh(from + i);
    return n * (int64_t)sizeof(T);
}

/* The bytes that elements of type T cover; the rest is left in `c`. */
template <class T> static __device__ inline void copy_whole(tct_part_copy &c)
{
    if (!fits(c, sizeof(T))) return;
    const int64_t done = copy_as<T>(c);
    c.to += done;
    c.from += done;
    c.bytes -= done;
}

/* Cells of a message whose receiver has room. */
static __device__ inline void send_cells(const tct_part_copy &c)
{
    for (int i = (int)threadIdx.x; i < c.count; i += THREADS)
        tct_cell_send(c.cells, i, c.number, c.from, c.bytes);
}

/* Cells of a message of `e` whose first one has come: a sender stores all of
 * them without waiting for anything, so that they come soon, if it lives. */
static __device__ inline void
take_cells(const tct_wait_job &J, const tct_parted *e, const tct_part_copy &c)
{
    tct_wait w = {0, 0};
    for (int i = (int)threadIdx.x; i < c.count; i += THREADS)
        while (!tct_cell_take(c.cells, i, c.number, c.to, c.bytes))
            if (!tct_wait_goes_on(J, &w, e, c.number, false)) return;
}

static __device__ inline void copy(tct_part_copy c)
{
    if (c.cells) {
        send_cells(c);
        return;
    }
    copy_whole<tct_two>(c);
    copy_whole<uint64_t>(c);
    copy_as<unsigned char>(c);
}

/* --- starts --------------------------------------------------------------- */

/* May a send be stored, now or within so many cycles? */
static __device__ inline bool may_send(const tct_parted *e, int s,
                                       uint64_t cycles, tct_part_copy *c)
{
    const uint64_t begin = tct_cycles();
    do
        if (tct_part_try(e, s, c) == TCT_PART_COPY) return true;
    while (tct_cycles() - begin < cycles);
    return false;
}

/* Part s of an end, by a block. */
static __device__ inline void start_part(tct_parted *e, int s, uint64_t cycles)
{
    __shared__ tct_part_copy c;
    __shared__ bool copies;
    if (s >= e->parts) return;
    if (threadIdx.x == 0) {
        tct_part_begin(e, s);
        copies = e->sends && may_send(e, s, cycles, &c);
    }
    __syncthreads();
    if (!copies) return;
    copy(c);
    __syncthreads();
    if (threadIdx.x == 0) tct_part_finish(e, s);
}

template <class Rows>
static __global__ void __launch_bounds__(THREADS)
    start(const __grid_constant__ Rows R)
{
    tct_await_earlier();
    start_part(end_of(R, (int)blockIdx.y), (int)blockIdx.x, 0);
}

/* --- waits ---------------------------------------------------------------- */

/* A thread of a wait has every THREADS-th end. */
struct watcher {
    uint64_t over; /* bit k: its end k */
    int left;      /* ends that the wait is for */
    int copies;    /* an end with bytes to be copied, or NONE */
    const tct_parted *missing;
    tct_part_copy copy; /* of that end */
    tct_part_hint hint; /* of its first end */
};

/* One look at an end; false: there is nothing to do for it any more. */
static __device__ inline bool look(watcher &w, tct_parted *e, int s, int k,
                                   bool waited)
{
    tct_part_copy c;
    tct_part_step step = tct_part_try(e, s, &c);
    if (step == TCT_PART_COPY && c.bytes == 0 && !c.cells) {
        tct_part_finish(e, s);
        step = TCT_PART_OVER;
    }
    if (step == TCT_PART_COPY && w.copies == NONE) {
        w.copies = k;
        w.copy = c;
    }
    if (step != TCT_PART_OVER) return true;
    return waited && !tct_part_waited(e, s, gridDim.x > 1);
}

template <class Rows>
static __device__ inline void look_at_all(watcher &w, const Rows &R, int s)
{
    const bool pending = R.count > R.waited;
    w.left = 0;
    w.copies = NONE;
    for (int k = (int)threadIdx.x, bit = 0; k < R.count; k += THREADS, bit++) {
        if (w.over >> bit & 1) continue;
        tct_parted *const e = end_of(R, k);
        const bool waited = k < R.waited;
        const bool more =
            bit == 0 && !tct_part_may_go_on(&w.hint) ? true
            : s < e->parts                           ? look(w, e, s, k, waited)
                           : waited && pending && !tct_part_waited_elsewhere(e);
        if (!more) {
            w.over |= (uint64_t)1 << bit;
        } else if (waited) {
            w.left++;
            w.missing = e;
        }
    }
}

template <class Rows>
static __device__ inline watcher watch(const Rows &R, const tct_wait_job &J,
                                       int s)
{
    watcher w = {0, 0, NONE, nullptr, {}, {nullptr, 0}};
    if (tct_load_fresh(J.claim) != 0) w.over = ~(uint64_t)0; /* given up */
    const int first = (int)threadIdx.x;
    if (first >= R.count) return w;
    const tct_parted *e = end_of(R, first);
    if (s < e->parts) w.hint = tct_part_hint_of(e, s);
    return w;
}

/* Wait for part s of all ends, by a block. */
template <class Rows>
static __device__ inline void wait_all(const Rows &R, const tct_wait_job &J,
                                       int s)
{
    __shared__ int chosen[2], left[2]; /* in turn */
    __shared__ tct_part_copy c;
    watcher w = watch(R, J, s);
    tct_wait patience = {0, 0};
    if (threadIdx.x < 2) {
        chosen[threadIdx.x] = NONE;
        left[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int turn = 0;; turn ^= 1) {
        look_at_all(w, R, s);
        if (w.copies != NONE) atomicMin(&chosen[turn], w.copies);
        if (w.left > 0) atomicAdd(&left[turn], w.left);
        __syncthreads();
        const int now = chosen[turn];
        const bool ends = now == NONE && left[turn] == 0;
        if (now != NONE && now == w.copies) c = w.copy;
        __syncthreads();
        if (threadIdx.x == 0) {
            chosen[turn] = NONE;
            left[turn] = 0;
        }
        if (ends) return;
        if (now != NONE) {
            if (c.cells && !c.sends) take_cells(J, end_of(R, now), c);
            else copy(c);
            __syncthreads();
            if (now % THREADS == (int)threadIdx.x)
                tct_part_finish(end_of(R, now), s);
            patience = {0, 0};
        } else if (w.left > 0) {
            const tct_part_state *p = &w.missing->part[s];
            if (!tct_wait_goes_on(J, &patience, w.missing, p->begun,
                                  p->done == p->begun))
                w.over = ~(uint64_t)0;
        }
    }
}

template <class Rows>
static __global__ void __launch_bounds__(THREADS)
    wait(const __grid_constant__ Rows R, const __grid_constant__ tct_wait_job J)
{
    tct_await_earlier();
    wait_all(R, J, (int)blockIdx.x);
}

/* --- both ----------------------------------------------------------------- */

/* Cycles, some microseconds, in which a send has blocks of its own, if its
 * receiver is about to start: pending sends are copied one after the other. Not
 * where blocks wait for others to end. */
enum { SOON = 5000, AT_ONCE = 256 };

template <class Rows>
static __global__ void __launch_bounds__(THREADS)
    exchange(const __grid_constant__ Rows R,
             const __grid_constant__ tct_wait_job J)
{
    __shared__ bool last;
    const int s = (int)blockIdx.x;
    tct_await_earlier();
    start_part(end_of(R, (int)blockIdx.y), s,
               gridDim.x * gridDim.y <= AT_ONCE ? SOON : 0);
    __syncthreads();
    if (threadIdx.x == 0) last = tct_part_last_start(&J.turn[s], R.waited);
    __syncthreads();
    if (last) wait_all(R, J, s);
}

static __global__ void fill(const __grid_constant__ tct_trigger_rows R,
                            tct_parted **list)
{
    if ((int)threadIdx.x < R.count) list[threadIdx.x] = R.end[threadIdx.x];
}

/* --- launches ------------------------------------------------------------- */

/* Are they few, or in a list? */
static bool are_few(const tct_trigger_rows *rows, few_rows *out)
{
    const int most = (int)(sizeof out->end / sizeof *out->end);
    if (rows->count > most && !rows->list) return false;
    *out = few_rows{rows->count, rows->waited, rows->list, {nullptr}};
    for (int k = 0; k < rows->count && k < most; k++)
        out->end[k] = rows->end[k];
    return true;
}

/* By value: rows, and a job if the kernel waits. */
template <class Rows>
static gpu_error launch(const void *kernel, dim3 grid, Rows rows,
                        const tct_wait_job *job, bool early, gpu_stream stream)
{
    tct_wait_job J = {};
    if (job) J = *job;
    void *arguments[] = {&rows, &J};
    return gpu_launch_early(kernel, grid, THREADS, arguments, stream, early);
}

extern "C" gpu_error tct_parts_start(const tct_trigger_rows *rows, int parts,
                                     bool early, gpu_stream stream)
{
    const dim3 grid((unsigned)parts, (unsigned)rows->count);
    few_rows few;
    if (are_few(rows, &few))
        return launch((const void *)start<few_rows>, grid, few, nullptr, early,
                      stream);
    return launch((const void *)start<tct_trigger_rows>, grid, *rows, nullptr,
                  early, stream);
}

extern "C" gpu_error tct_parts_wait(const tct_trigger_rows *rows, int parts,
                                    const tct_wait_job *job, bool early,
                                    gpu_stream stream)
{
    const dim3 grid((unsigned)parts);
    few_rows few;
    if (are_few(rows, &few))
        return launch((const void *)wait<few_rows>, grid, few, job, early,
                      stream);
    return launch((const void *)wait<tct_trigger_rows>, grid, *rows, job, early,
                  stream);
}

extern "C" gpu_error tct_parts_exchange(const tct_trigger_rows *rows, int parts,
                                        const tct_wait_job *job, bool early,
                                        gpu_stream stream)
{
    const dim3 grid((unsigned)parts, (unsigned)rows->waited);
    few_rows few;
    if (are_few(rows, &few))
        return launch((const void *)exchange<few_rows>, grid, few, job, early,
                      stream);
    return launch((const void *)exchange<tct_trigger_rows>, grid, *rows, job,
                  early, stream);
}

extern "C" gpu_error tct_parts_list(const tct_trigger_rows *rows,
                                    tct_parted **list, int at,
                                    gpu_stream stream)
{
    tct_trigger_rows R = *rows;
    tct_parted **to = list + at;
    void *arguments[] = {&R, &to};
    return gpu_launch_early((const void *)fill, 1, TCT_ROWS_MOST, arguments,
                            stream, false);
}

extern "C" gpu_error tct_parts_load(void)
{
    const void *const kernels[] = {(const void *)start<few_rows>,
                                   (const void *)start<tct_trigger_rows>,
                                   (const void *)wait<few_rows>,
                                   (const void *)wait<tct_trigger_rows>,
                                   (const void *)exchange<few_rows>,
                                   (const void *)exchange<tct_trigger_rows>,
                                   (const void *)fill};
    gpu_function_attributes a;
    for (const void *k : kernels) {
        const gpu_error error = gpu_function_get(&a, k);
        if (error != GPU_OK) return error;
    }
    return GPU_OK;
}
