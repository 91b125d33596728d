/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/cells.cu - small messages of queues on a GPU, in numbered cells
 * (triggered/cells.h): a kernel starts them, waits for them, or both. It has no
 * signal, fence, or trip through memory between its threads: a thread stores
 * the cells that it sends and polls those that it waits for.
 *
 * What never changes of an end is in the arguments. A thread an end reads the
 * number of its message, and at once whether there is room for it. Then all
 * threads store the sends that have room; the last warp clears the receives; a
 * kernel that waits goes on with sends that had none, and then with receives.
 * Receives of a kernel need nothing of each other, and end no wait of a peer.
 *
 * A kernel has few blocks, each with a part of all cells. Only one that starts
 * and waits has more than one: what is started alone may stay pending as a
 * whole. Blocks store all their cells before they wait for others. */
#include "device/gpu/lane.cuh"
#include "triggered/gpu/late.cuh"

enum {
    THREADS_MOST = TCT_WAIT_THREADS,
    BLOCKS_MOST = 8,
    FEW = 4,
    MANY_AHEAD = 4
};

/* Room for so many ends; a thread has so many cells on their way at once. */
template <int MOST, int CELLS> struct cell_ends {
    static constexpr int ENDS = MOST, AHEAD = CELLS;
    int32_t count, sends, sent, received;
    bool starts, waits;
    tct_cell_end end[ENDS];
};

/* Of the ends of a kernel, in shared memory. */
template <class R> struct cell_state {
    uint64_t number[R::ENDS]; /* of the message */
    bool now[R::ENDS];        /* a send: its cells are to be stored */
    bool stored[R::ENDS];
    int missing; /* an end of a wait in vain, or < 0 */
};

/* --- the ends ------------------------------------------------------------- */

/* Thread k has end k: the number of its message. Is it a send that is not
 * stored, for want of room? The loads are on their way at once. */
template <class R>
static __device__ inline bool open_end(const R &ends, cell_state<R> &S, int k)
{
    const tct_cell_end &e = ends.end[k];
    const tct_part_state *p = &e.parted->part[0];
    const bool sends = k < ends.sends;
    const uint64_t begun = tct_load_fresh(&p->begun);
    const uint64_t done = tct_load_fresh(&p->done);
    const uint64_t seen = sends ? tct_cells_cleared(e.cleared) : 0;
    const uint64_t number = begun + (ends.starts ? 1 : 0);
    const bool before = !ends.starts && done == begun;
    S.number[k] = number;
    S.now[k] = sends && !before && tct_cells_fit(&e.cells, seen, number);
    S.stored[k] = before || S.now[k];
    return sends && !S.stored[k];
}

/* Is there room by now? */
template <class R>
static __device__ inline bool find_room(const R &ends, cell_state<R> &S, int k)
{
    const tct_cell_end &e = ends.end[k];
    S.now[k] = tct_cells_room(&e.cells, e.cleared, S.number[k]);
    S.stored[k] = S.now[k];
    return S.now[k];
}

/* Its message is over, or stored, or begun. */
template <class R>
static __device__ inline void close_end(const R &ends, const cell_state<R> &S,
                                        int k)
{
    tct_part_state *p = &ends.end[k].parted->part[0];
    const bool over = ends.waits && S.missing < 0;
    if (ends.starts) p->begun = S.number[k];
    if (over || (k < ends.sends && S.stored[k])) p->done = S.number[k];
    if (over) p->waited = S.number[k];
}

/* --- cells ---------------------------------------------------------------- */

/* The end with cell `i` of the ends from `k` to `last`. */
template <class R>
static __device__ inline int end_with(const R &ends, int k, int last, int i)
{
#pragma unroll 1
    while (k + 1 < last && i >= ends.end[k + 1].first) k++;
    return k;
}

/* The cells of this thread begin here, and are so far apart. */
static __device__ inline int first_cell()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}
static __device__ inline int next_cell()
{
    return (int)(gridDim.x * blockDim.x);
}

/* A cell to be sent. */
struct leaving {
    double value;
    int end, at; /* its end, or < 0, and its place in the message */
};

template <class R>
static __device__ inline leaving load_cell(const R &ends, int i)
{
    leaving c = {0.0, -1, 0};
    if (i >= ends.sent) return c;
    c.end = end_with(ends, 0, ends.sends, i);
    const tct_cell_end &e = ends.end[c.end];
    c.at = i - e.first;
    const int64_t byte = (int64_t)TCT_CELL_BYTES * c.at;
    c.value = tct_cell_load(e.data + byte, e.bytes - byte);
    return c;
}

template <class R>
static __device__ inline void load_some(const R &ends, int i,
                                        leaving (&c)[R::AHEAD])
{
#pragma unroll
    for (int a = 0; a < R::AHEAD; a++)
        c[a] = load_cell(ends, i + a * next_cell());
}

/* Those of sends that have room now. */
template <class R>
static __device__ inline void store_some(const R &ends, const cell_state<R> &S,
                                         const leaving (&c)[R::AHEAD])
{
#pragma unroll
    for (int a = 0; a < R::AHEAD; a++) {
        if (c[a].end < 0 || !S.now[c[a].end]) continue;
        const uint64_t number = S.number[c[a].end];
        tct_numbered *const slot =
            tct_cells_slot(&ends.end[c[a].end].cells, number);
        tct_numbered_send(slot + c[a].at, c[a].value, number);
    }
}

/* All of them; the first ones are loaded. */
template <class R>
static __device__ inline void store_all(const R &ends, const cell_state<R> &S,
                                        const leaving (&first)[R::AHEAD])
{
    const int step = R::AHEAD * next_cell();
    store_some(ends, S, first);
#pragma unroll 1
    for (int i = first_cell() + step; i < ends.sent; i += step) {
        leaving c[R::AHEAD];
        load_some(ends, i, c);
        store_some(ends, S, c);
    }
}

/* A cell that is waited for: NULL once it has come. */
struct awaited {
    const tct_numbered *cell;
    char *to;
    uint64_t number;
    int left, end; /* bytes of the message from it on; of that end */
};

template <class R>
static __device__ inline awaited await_cell(const R &ends,
                                            const cell_state<R> &S, int i)
{
    awaited c = {nullptr, nullptr, 0, 0, 0};
    if (i >= ends.received) return c;
    c.end = end_with(ends, ends.sends, ends.count, i);
    const tct_cell_end &e = ends.end[c.end];
    const int at = i - e.first;
    c.number = S.number[c.end];
    c.cell = tct_cells_slot(&e.cells, c.number) + at;
    c.to = e.data + (int64_t)TCT_CELL_BYTES * at;
    c.left = e.bytes - TCT_CELL_BYTES * at;
    return c;
}

/* A look at all; returns the end of one that is left, or < 0. */
template <int AHEAD> static __device__ inline int take_some(awaited (&c)[AHEAD])
{
    tct_numbered got[AHEAD] = {};
    int end = -1;
#pragma unroll
    for (int a = 0; a < AHEAD; a++)
        if (c[a].cell) got[a] = tct_numbered_value(c[a].cell);
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
        if (!c[a].cell) continue;
        if (got[a].number < c[a].number) {
            end = c[a].end;
        } else {
            tct_cell_store(c[a].to, got[a].value, c[a].left);
            c[a].cell = nullptr;
        }
    }
    return end;
}

/* Poll some cells until they have come; false: in vain. */
template <class R>
static __device__ inline bool await_some(const R &ends, const tct_wait_job &J,
                                         cell_state<R> &S, int i)
{
    awaited c[R::AHEAD];
    tct_wait w = {0, 0};
#pragma unroll
    for (int a = 0; a < R::AHEAD; a++)
        c[a] = await_cell(ends, S, i + a * next_cell());
    for (int k; (k = take_some(c)) >= 0;) {
        if (tct_wait_goes_on(J, &w, ends.end[k].parted, S.number[k], false))
            continue;
        S.missing = k;
        return false;
    }
    return true;
}

template <class R>
static __device__ inline void take_all(const R &ends, const tct_wait_job &J,
                                       cell_state<R> &S)
{
    bool goes_on = S.missing < 0;
#pragma unroll 1
    for (int i = first_cell(); i < ends.received && goes_on;
         i += R::AHEAD * next_cell())
        goes_on = await_some(ends, J, S, i);
}

/* --- steps ---------------------------------------------------------------- */

/* The last warp clears the receives: of all threads only these have a fence. */
template <class R>
static __device__ inline void clear_receives(const R &ends,
                                             const cell_state<R> &S)
{
    const int lane = (int)threadIdx.x - (int)(blockDim.x - GPU_WAVE);
    const int k = ends.sends + lane;
    if (blockIdx.x > 0 || lane < 0 || k >= ends.count || !ends.end[k].cleared)
        return;
    tct_signal_send(ends.end[k].cleared, S.number[k]);
}

/* A look whether this thread's send has room by now; false: it still has none. */
template <class R>
static __device__ inline bool retry(const R &ends, const tct_wait_job &J,
                                    cell_state<R> &S, int k, tct_wait *w)
{
    if (find_room(ends, S, k)) return true;
    if (!tct_wait_goes_on(J, w, ends.end[k].parted, S.number[k], false))
        S.missing = k;
    return false;
}

/* Store the sends; a wait goes on until all had room, in the order in which
 * they get it. `pending`: that of this thread has none. By all threads. */
template <class R>
static __device__ inline void send_all(const R &ends, const tct_wait_job &J,
                                       cell_state<R> &S, bool pending,
                                       const leaving (&first)[R::AHEAD])
{
    const int k = (int)threadIdx.x;
    tct_wait w = {0, 0};
    for (bool again = false;; again = true) {
        const bool left =
            __syncthreads_or(pending && (!again || S.missing < 0));
        store_all(ends, S, first);
        if (!again && ends.starts) clear_receives(ends, S);
        if (!left || !ends.waits) return;
        __syncthreads(); /* all have read `now` */
        if (k < ends.sends) S.now[k] = false;
        if (pending) pending = !retry(ends, J, S, k, &w);
    }
}

/* A synchronous send is over when its receiver has started. */
template <class R>
static __device__ inline void await_start(const R &ends, const tct_wait_job &J,
                                          cell_state<R> &S, int k)
{
    tct_wait w = {0, 0};
    if (k >= ends.sends || !ends.end[k].sync) return;
    while (S.missing < 0 && tct_signal_value(ends.end[k].cleared) < S.number[k])
        if (!tct_wait_goes_on(J, &w, ends.end[k].parted, S.number[k], true))
            S.missing = k;
}

/* The last block to come here ends all. By all threads, which are done. */
static __device__ inline bool is_last_block(const tct_wait_job &J)
{
    __shared__ bool last;
    __syncthreads();
    if (gridDim.x == 1) return true;
    if (threadIdx.x == 0)
        last = tct_part_last_start(&J.turn[0], (int)gridDim.x);
    __syncthreads();
    return last;
}

template <class R>
static __global__ void __launch_bounds__(THREADS_MOST)
    run_cells(const __grid_constant__ R ends,
              const __grid_constant__ tct_wait_job J)
{
    __shared__ cell_state<R> S;
    const int k = (int)threadIdx.x;
    leaving first[R::AHEAD];
    tct_await_earlier();
    load_some(ends, first_cell(), first);
    if (k == GPU_WAVE) S.missing = tct_load_fresh(J.claim) == 0 ? -1 : 0;
    const bool pending = k < ends.count && open_end(ends, S, k);
    send_all(ends, J, S, pending, first);
    if (ends.waits) {
        await_start(ends, J, S, k);
        take_all(ends, J, S);
    }
    const bool last = is_last_block(J);
    if (last && k < ends.count) close_end(ends, S, k);
}

/* --- launches ------------------------------------------------------------- */

/* Threads for so many cells, and a warp at least that has none of one. */
static unsigned threads_of(int cells)
{
    unsigned threads = 2 * GPU_WAVE;
    while (threads < THREADS_MOST && (int)threads < cells + GPU_WAVE)
        threads *= 2;
    return threads;
}

/* A thread has some cells before there is another block. */
static unsigned blocks_of(const tct_cell_job *job, int cells)
{
    const int each = MANY_AHEAD * THREADS_MOST;
    const int blocks =
        job->starts && job->waits ? (cells + each - 1) / each : 1;
    return (unsigned)(blocks < 1             ? 1
                      : blocks < BLOCKS_MOST ? blocks
                                             : BLOCKS_MOST);
}

template <class R>
static gpu_error launch(const tct_cell_job *job, int cells,
                        const tct_wait_job *wait, bool early, gpu_stream stream)
{
    tct_wait_job J = *wait;
    R ends = {job->count,  job->sends, job->sent, job->received,
              job->starts, job->waits, {}};
    for (int k = 0; k < job->count; k++) ends.end[k] = job->end[k];
    void *arguments[] = {&ends, &J};
    return gpu_launch_early((const void *)run_cells<R>, blocks_of(job, cells),
                            threads_of(cells), arguments, stream, early);
}

typedef cell_ends<FEW, 1> few_ends;
typedef cell_ends<TCT_CELL_ENDS, 1> some_ends;
typedef cell_ends<TCT_CELL_ENDS, MANY_AHEAD> many_cells;

/* Few cells take a kernel of few instructions. */
extern "C" gpu_error tct_cells_run(const tct_cell_job *job,
                                   const tct_wait_job *wait, bool early,
                                   gpu_stream stream)
{
    const int cells = job->sent > job->received ? job->sent : job->received;
    if (cells > THREADS_MOST)
        return launch<many_cells>(job, cells, wait, early, stream);
    return job->count <= FEW
               ? launch<few_ends>(job, cells, wait, early, stream)
               : launch<some_ends>(job, cells, wait, early, stream);
}

extern "C" gpu_error tct_cells_load(void)
{
    const void *const kernels[] = {(const void *)run_cells<few_ends>,
                                   (const void *)run_cells<some_ends>,
                                   (const void *)run_cells<many_cells>};
    gpu_function_attributes a;
    for (const void *k : kernels) {
        const gpu_error error = gpu_function_get(&a, k);
        if (error != GPU_OK) return error;
    }
    return GPU_OK;
}
