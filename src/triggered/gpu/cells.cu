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

enum { AHEAD = 4, THREADS_MOST = 512, BLOCKS_MOST = 8, FEW = 4 };

template <int ENDS> struct cell_ends {
    int32_t count, sends, sent, received;
    bool starts, waits;
    tct_cell_end end[ENDS];
};

/* Of the ends of a kernel, in shared memory. */
template <int ENDS> struct cell_state {
    uint64_t number[ENDS]; /* of the message */
    bool now[ENDS];        /* a send: its cells are to be stored */
    bool stored[ENDS];
    int missing; /* an end of a wait in vain, or < 0 */
};

/* --- the ends ------------------------------------------------------------- */

/* Thread k has end k: the number of its message. Is it a send that is not
 * stored, for want of room? The loads are on their way at once. */
template <int ENDS>
static __device__ inline bool open_end(const cell_ends<ENDS> &R,
                                       cell_state<ENDS> &S, int k)
{
    const tct_part_state *p = &R.end[k].parted->part[0];
    const bool sends = k < R.sends;
    const uint64_t begun = tct_load_fresh(&p->begun);
    const uint64_t done = tct_load_fresh(&p->done);
    const uint64_t seen = sends ? tct_cells_seen(R.end[k].cleared) : 0;
    const uint64_t number = begun + (R.starts ? 1 : 0);
    const bool before = !R.starts && done == begun;
    S.number[k] = number;
    S.now[k] = sends && !before && tct_cells_fit(&R.end[k].cells, seen, number);
    S.stored[k] = before || S.now[k];
    return sends && !S.stored[k];
}

/* Is there room by now? */
template <int ENDS>
static __device__ inline bool find_room(const cell_ends<ENDS> &R,
                                        cell_state<ENDS> &S, int k)
{
    S.now[k] = tct_cells_room(&R.end[k].cells, R.end[k].cleared, S.number[k]);
    S.stored[k] = S.now[k];
    return S.now[k];
}

/* Its message is over, or stored, or begun. */
template <int ENDS>
static __device__ inline void close_end(const cell_ends<ENDS> &R,
                                        const cell_state<ENDS> &S, int k)
{
    tct_part_state *p = &R.end[k].parted->part[0];
    const bool over = R.waits && S.missing < 0;
    if (R.starts) p->begun = S.number[k];
    if (over || (k < R.sends && S.stored[k])) p->done = S.number[k];
    if (over) p->waited = S.number[k];
}

/* --- cells ---------------------------------------------------------------- */

/* The end with cell `i` of the ends from `k` to `last`. */
template <int ENDS>
static __device__ inline int end_with(const cell_ends<ENDS> &R, int k, int last,
                                      int i)
{
    while (k + 1 < last && i >= R.end[k + 1].first) k++;
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

/* AHEAD cells from `i` on, whose loads are on their way at once. */
struct some {
    double value[AHEAD];
};

template <int ENDS>
static __device__ inline some load_some(const cell_ends<ENDS> &R, int i)
{
    some out;
#pragma unroll
    for (int a = 0; a < AHEAD; a++, i += next_cell()) {
        const tct_cell_end &e = R.end[end_with(R, 0, R.sends, i)];
        const int64_t at = (int64_t)TCT_CELL_BYTES * (i - e.first);
        out.value[a] =
            i < R.sent ? tct_cell_load(e.data + at, e.bytes - at) : 0;
    }
    return out;
}

/* Those of sends that have room now. */
template <int ENDS>
static __device__ inline void store_some(const cell_ends<ENDS> &R,
                                         const cell_state<ENDS> &S, int i,
                                         const some &cells)
{
#pragma unroll
    for (int a = 0; a < AHEAD; a++, i += next_cell()) {
        const int k = end_with(R, 0, R.sends, i);
        if (i >= R.sent || !S.now[k]) continue;
        const tct_cell_end &e = R.end[k];
        tct_numbered *const slot = tct_cells_slot(&e.cells, S.number[k]);
        tct_numbered_send(slot + (i - e.first), cells.value[a], S.number[k]);
    }
}

/* All of them from `i` on. */
template <int ENDS>
static __device__ inline void store_all(const cell_ends<ENDS> &R,
                                        const cell_state<ENDS> &S, int i)
{
    for (; i < R.sent; i += AHEAD * next_cell())
        store_some(R, S, i, load_some(R, i));
}

/* A look at those of AHEAD cells from `i` on that are left: bit a. Returns
 * what is left after it. */
template <int ENDS>
static __device__ inline unsigned take_some(const cell_ends<ENDS> &R,
                                            const cell_state<ENDS> &S, int i,
                                            unsigned left)
{
    tct_numbered got[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
        const int j = i + a * next_cell();
        const int k = end_with(R, R.sends, R.count, j);
        if (left >> a & 1)
            got[a] = tct_numbered_value(
                tct_cells_slot(&R.end[k].cells, S.number[k]) + j -
                R.end[k].first);
    }
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
        const int j = i + a * next_cell();
        const int k = end_with(R, R.sends, R.count, j);
        const tct_cell_end &e = R.end[k];
        const int64_t at = (int64_t)TCT_CELL_BYTES * (j - e.first);
        if (!(left >> a & 1) || got[a].number < S.number[k]) continue;
        tct_cell_store(e.data + at, got[a].value, e.bytes - at);
        left &= ~(1u << a);
    }
    return left;
}

/* The end of the first cell that is left. */
template <int ENDS>
static __device__ inline int missing_of(const cell_ends<ENDS> &R, int i,
                                        unsigned left)
{
    while (!(left & 1)) {
        left >>= 1;
        i += next_cell();
    }
    return end_with(R, R.sends, R.count, i);
}

/* Poll up to AHEAD cells until they have come; false: in vain. */
template <int ENDS>
static __device__ inline bool await_some(const cell_ends<ENDS> &R,
                                         const tct_wait_job &J,
                                         cell_state<ENDS> &S, int i)
{
    unsigned left = 0;
    tct_wait w = {0, 0};
    for (int a = 0; a < AHEAD; a++)
        if (i + a * next_cell() < R.received) left |= 1u << a;
    while ((left = take_some(R, S, i, left)) != 0) {
        const int k = missing_of(R, i, left);
        if (tct_wait_goes_on(J, &w, R.end[k].parted, S.number[k], false))
            continue;
        S.missing = k;
        return false;
    }
    return true;
}

template <int ENDS>
static __device__ inline void
take_all(const cell_ends<ENDS> &R, const tct_wait_job &J, cell_state<ENDS> &S)
{
    bool goes_on = S.missing < 0;
    for (int i = first_cell(); i < R.received && goes_on;
         i += AHEAD * next_cell())
        goes_on = await_some(R, J, S, i);
}

/* --- steps ---------------------------------------------------------------- */

/* The last warp clears the receives: of all threads only these have a fence. */
template <int ENDS>
static __device__ inline void clear_receives(const cell_ends<ENDS> &R,
                                             const cell_state<ENDS> &S)
{
    const int lane = (int)threadIdx.x - (int)(blockDim.x - GPU_WAVE);
    const int k = R.sends + lane;
    if (blockIdx.x > 0 || lane < 0 || k >= R.count || !R.end[k].cleared) return;
    tct_signal_send(R.end[k].cleared, S.number[k]);
}

/* Sends that had no room: whichever gets it first is stored first. `pending`:
 * that of this thread. By all threads. */
template <int ENDS>
static __device__ inline void store_pending(const cell_ends<ENDS> &R,
                                            const tct_wait_job &J,
                                            cell_state<ENDS> &S, bool pending)
{
    const int k = (int)threadIdx.x;
    tct_wait w = {0, 0};
    while (__syncthreads_or(pending && S.missing < 0)) {
        if (k < R.sends) S.now[k] = false;
        if (pending && find_room(R, S, k)) pending = false;
        else if (pending &&
                 !tct_wait_goes_on(J, &w, R.end[k].parted, S.number[k], false))
            S.missing = k;
        __syncthreads();
        store_all(R, S, first_cell());
        __syncthreads();
    }
}

/* A synchronous send is over when its receiver has started. */
template <int ENDS>
static __device__ inline void wait_for_start(const cell_ends<ENDS> &R,
                                             const tct_wait_job &J,
                                             cell_state<ENDS> &S, int k)
{
    tct_wait w = {0, 0};
    if (k >= R.sends || !R.end[k].sync) return;
    while (S.missing < 0 && tct_signal_value(R.end[k].cleared) < S.number[k])
        if (!tct_wait_goes_on(J, &w, R.end[k].parted, S.number[k], true))
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

template <int ENDS>
static __global__ void __launch_bounds__(THREADS_MOST)
    run_cells(const __grid_constant__ cell_ends<ENDS> R,
              const __grid_constant__ tct_wait_job J)
{
    __shared__ cell_state<ENDS> S;
    const int k = (int)threadIdx.x, first = first_cell();
    tct_await_earlier();
    const bool pending = k < R.count && open_end(R, S, k);
    if (k == GPU_WAVE) S.missing = tct_load_fresh(J.claim) == 0 ? -1 : 0;
    const some begin = load_some(R, first);
    const bool some_pend = __syncthreads_or(pending);
    store_some(R, S, first, begin);
    store_all(R, S, first + AHEAD * next_cell());
    if (R.starts) clear_receives(R, S);
    if (R.waits && some_pend) store_pending(R, J, S, pending);
    if (R.waits) {
        wait_for_start(R, J, S, k);
        take_all(R, J, S);
    }
    const bool last = is_last_block(J);
    tct_let_later_begin();
    if (last && k < R.count) close_end(R, S, k);
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

/* A thread has AHEAD cells before there is another block. */
static unsigned blocks_of(const tct_cell_job *job, int cells)
{
    const int each = AHEAD * THREADS_MOST;
    const int blocks =
        job->starts && job->waits ? (cells + each - 1) / each : 1;
    return (unsigned)(blocks < 1             ? 1
                      : blocks < BLOCKS_MOST ? blocks
                                             : BLOCKS_MOST);
}

template <int ENDS>
static gpu_error launch(const tct_cell_job *job, const tct_wait_job *wait,
                        bool early, gpu_stream stream)
{
    const int cells = job->sent > job->received ? job->sent : job->received;
    tct_wait_job J = *wait;
    cell_ends<ENDS> R = {job->count,  job->sends, job->sent, job->received,
                         job->starts, job->waits, {}};
    for (int k = 0; k < job->count; k++) R.end[k] = job->end[k];
    void *arguments[] = {&R, &J};
    return gpu_launch_early((const void *)run_cells<ENDS>,
                            blocks_of(job, cells), threads_of(cells), arguments,
                            stream, early);
}

extern "C" gpu_error tct_cells_run(const tct_cell_job *job,
                                   const tct_wait_job *wait, bool early,
                                   gpu_stream stream)
{
    return job->count <= FEW ? launch<FEW>(job, wait, early, stream)
                             : launch<TCT_CELL_ENDS>(job, wait, early, stream);
}

extern "C" gpu_error tct_cells_load(void)
{
    gpu_function_attributes a;
    const gpu_error error = gpu_function_get(&a, (const void *)run_cells<FEW>);
    return error == GPU_OK
               ? gpu_function_get(&a, (const void *)run_cells<TCT_CELL_ENDS>)
               : error;
}
