/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer.cuh - messages that kernels start: they store into memory
 * of other GPUs, and wait for stores of others into theirs. There are no locks
 * and barriers, and counters are never reset; they are kept on the device, so
 * that a recording can be replayed.
 *
 * A sum: each rank stores its scalars, each with the number of the sum, into a
 * slot in every other rank; all add them up in rank order and get the same
 * bits. Slots are double-buffered: a rank that stores for sum e has read sum e
 * - 1 of all ranks, so all have finished reading sum e - 2. A sum that hides
 * has two kernels: one stores, also into the own slot, and one adds up.
 *
 * An exchange: values go from the vector into one half of the double buffer in
 * the receiver's window, then a counter is stored. The receiver acknowledges
 * each message in a counter of the sender, since the two may not exchange
 * messages in the other direction.
 *
 * Messages to ranks without P2P ("far") use calls, which FAR provides:
 *
 *     there                               false: no far ranks, and no calls
 *     put(to, from, bytes, signal, n, r)  copy to rank r, then set its `signal`
 *                                         to n; by all threads, asynchronous
 *     say(signal, n, r)                   only the signal; by one thread
 *     came(signal, n)                     the signal was seen: make the data
 *                                         put before it visible; by one thread
 *
 * The source of a put may be overwritten once its answer has arrived, as with
 * P2P, so the end of a put is not waited for. Puts may overtake each other
 * unless one answers the other, so each half has its own signals.
 *
 * Every wait has a limit. After a timeout the host is told of the lost rank,
 * and nothing is waited for any more. */
#ifndef TCT_COMM_LINK_GPU_PEER_CUH
#define TCT_COMM_LINK_GPU_PEER_CUH
#include "comm/link/gpu/peer.h"
#include "device/gpu/epilogue.cuh"
#include "device/protocol.h"

static const uint64_t NOBODY = UINT64_MAX; /* all ranks know of a failure */
enum { TCT_PEER_THREADS = 256, SUM_THREADS = 256 };

/* Note that rank `peer` is lost. */
static __device__ void give_up(const tct_peer_common &C, int peer)
{
    if (C.state->gone == 0) {
        C.state->gone = 1 + (uint64_t)peer;
        C.outbox->flags = 1.0;
        tct_host_store((uint64_t *)&C.outbox->mailbox->missing,
                       1 + (uint64_t)peer);
        tct_fence_all();
    }
}

static __device__ inline tct_limit limit_of(const tct_peer_common &C)
{
    return {C.limit_ns, &C.state->gone};
}

template <class FAR>
static __device__ inline bool is_far(const tct_peer_common &C, int r)
{
    return FAR::there && (C.far >> r & 1) != 0;
}

/* --- sums ----------------------------------------------------------------- */

static __device__ inline tct_slots slots_of(const tct_peer_common &C)
{
    return {C.rank, C.ranks, 2, TCT_PEER_SLOTS, C.slot};
}

/* The sum of scalar `i` over all ranks, `mine` being this rank's. A rank that
 * knows of a failure does not wait, and overwrites slots that others have not
 * read: these detect that (TCT_AHEAD), and fail, too. */
static __device__ inline double total_of(const tct_peer_common &C, double mine,
                                         int i, uint64_t number)
{
    const tct_slots S = slots_of(C);
    double total;
    int missing;
    const tct_wait_status status =
        tct_total(S, i, number, &mine, limit_of(C), &total, &missing);
    if (status == TCT_MISSED) give_up(C, missing);
    return status == TCT_AHEAD ? mine + 1.0 : total;
}

/* The signal, in `slot` of a rank, of the sums that `from` has put: for the
 * parity of `number`. */
static __device__ inline uint64_t *
put_of(const tct_peer_common &C, tct_numbered *slot, int from, uint64_t number)
{
    const size_t behind = tct_peer_slots(C.ranks);
    return (uint64_t *)(void *)(slot + behind) +
           tct_slot_at(2, C.ranks, 1, from, number);
}

/* Put this rank's `values` to all far ranks; wait for theirs. By all
 * threads. */
template <class FAR>
static __device__ inline void put_to_far(const tct_peer_common &C, int values,
                                         uint64_t number)
{
    const size_t at = tct_slot_at(2, C.ranks, TCT_PEER_SLOTS, C.rank, number);
    __syncthreads();
    for (int r = 0; r < C.ranks; r++)
        if (is_far<FAR>(C, r))
            FAR::put(C.there[r] + at, C.slot[C.rank] + at,
                     values * sizeof(tct_numbered),
                     put_of(C, C.there[r], C.rank, number), number, r);
}
template <class FAR>
static __device__ inline void await_far(const tct_peer_common &C,
                                        uint64_t number)
{
    const int from = (int)threadIdx.x;
    if (from < C.ranks && is_far<FAR>(C, from)) {
        uint64_t *signal = put_of(C, C.slot[C.rank], from, number);
        const tct_wait_status status =
            tct_await_counter(signal, number, limit_of(C));
        if (status == TCT_CAME) FAR::came(signal, number);
        if (status == TCT_MISSED) give_up(C, from);
    }
    __syncthreads();
}

/* A sum of `count` scalars of each system of a batch; a system has TCT_SCALARS
 * places. The flags follow. */
struct summed {
    double *out;
    int count, systems;
    double flags;
    bool begun; /* its scalars and flags are in the slots */
};

static __device__ inline double *scalar_of(const summed &s, int i)
{
    return s.out + (i / s.count) * TCT_SCALARS + i % s.count;
}

/* This rank's value i. */
static __device__ inline double mine_of(const tct_peer_common &C,
                                        const summed &s, int i, uint64_t number)
{
    const size_t at = tct_slot_at(2, C.ranks, TCT_PEER_SLOTS, C.rank, number);
    if (s.begun) return tct_numbered_value(C.slot[C.rank] + at + i).value;
    return i < s.count * s.systems ? *scalar_of(s, i)
                                   : s.flags + C.outbox->mine;
}

template <class FAR>
static __global__ void __launch_bounds__(SUM_THREADS)
    begin_sum(const __grid_constant__ tct_peer_common C,
              const __grid_constant__ summed s)
{
    const uint64_t number = C.state->sums + 1;
    const int n = s.count * s.systems;
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        tct_slot_send(slots_of(C), i, number, mine_of(C, s, i, number),
                      C.ranks);
    if (FAR::there) put_to_far<FAR>(C, n + 1, number);
    __syncthreads();
    if (threadIdx.x == 0) C.state->sums = number;
}

template <class FAR>
static __global__ void __launch_bounds__(SUM_THREADS)
    sum(const __grid_constant__ tct_peer_common C,
        const __grid_constant__ summed s,
        const __grid_constant__ tct_epilogue tail)
{
    const uint64_t number = C.state->sums + (s.begun ? 0 : 1);
    const int n = s.count * s.systems;
    const auto say = [&](int i, double mine) {
        tct_slot_send(slots_of(C), i, number, mine, C.ranks - 1);
    };
    if (FAR::there && !s.begun) {
        for (int i = threadIdx.x; i <= n; i += blockDim.x)
            say(i, mine_of(C, s, i, number));
        put_to_far<FAR>(C, n + 1, number);
    }
    if (FAR::there) await_far<FAR>(C, number);
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
        const double mine = mine_of(C, s, i, number);
        if (!FAR::there && !s.begun) say(i, mine);
        const double total = total_of(C, mine, i, number);
        if (i < n) {
            *scalar_of(s, i) = total;
        } else {
            C.outbox->flags = total;
            if (total != 0.0)
                tct_host_store((double *)&C.outbox->mailbox->flags, total);
            if (tct_flags_say_failed(total)) C.state->gone = NOBODY;
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    C.state->sums = number;
    if (C.state->gone != 0 && C.state->gone != NOBODY) C.outbox->flags = 1.0;
    tct_epilogue_run_all(tail);
}

template <class FAR>
static gpu_error launch_sum(const tct_peer_common *C, const tct_op *op,
                            double flags, const tct_gpu_launch *L)
{
    const bool begins = op->code == TCT_SUM_BEGIN;
    const summed s = {op->out, op->count, tct_op_batch(op), flags,
                      !begins && !op->at_once};
    const int n = s.count * s.systems + 1;
    const int most = (n + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
    const int block = most > SUM_THREADS ? SUM_THREADS : most;
    if (begins) begin_sum<FAR><<<1, block, 0, L->stream>>>(*C, s);
    else sum<FAR><<<1, block, 0, L->stream>>>(*C, s, L->epilogue);
    return gpu_last_error();
}

/* --- exchanges ------------------------------------------------------------ */

/* Called by each block of a channel after exchange `number`: the last one
 * signals the other end, and puts the `bytes` stored for it if it is far. By
 * all threads. */
template <class FAR>
static __device__ inline void announce(const tct_peer_common &C,
                                       const tct_peer_end &e, uint64_t number,
                                       size_t bytes)
{
    const int half = tct_buffer_of(number);
    uint64_t *const counter = e.other + half;
    __shared__ bool last;
    __syncthreads();
    if (!is_far<FAR>(C, e.peer)) {
        if (threadIdx.x == 0)
            tct_part_done(e.ticket, gridDim.x, counter, number);
        return;
    }
    if (threadIdx.x == 0) last = tct_all_done(e.ticket, gridDim.x);
    __syncthreads();
    if (last && bytes > 0)
        FAR::put(e.there[half], e.half[half], bytes, counter, number, e.peer);
    else if (last && threadIdx.x == 0) FAR::say(counter, number, e.peer);
}

/* Each row of the grid serves one channel. In a failed queue x may be NULL. */
template <class FAR, class T>
static __global__ void __launch_bounds__(TCT_PEER_THREADS)
    put(const __grid_constant__ tct_peer_common C,
        const __grid_constant__ tct_peer_plan P, tct_gpu_panel<T> x,
        const int32_t *index)
{
    const uint64_t number = *P.number + 1;
    if ((int)blockIdx.y < P.sends) {
        const tct_peer_end &e = P.end[blockIdx.y];
        const int h = tct_buffer_of(number);
        const int32_t *const row = index + e.first;
        const int64_t count = e.count;
        if (threadIdx.x == 0 &&
            tct_await_room(e.own + h, number, limit_of(C)) == TCT_MISSED)
            give_up(C, e.peer);
        __syncthreads();
        T *const half = (T *)e.half[h];
        for (int64_t i = (int64_t)blockIdx.x * TCT_PEER_THREADS + threadIdx.x;
             i < count; i += (int64_t)gridDim.x * TCT_PEER_THREADS)
            for (int j = 0; j < x.columns; j++)
                half[i * x.columns + j] =
                    x.at ? x.at[j * x.stride + row[i]] : T(0);
        announce<FAR>(C, e, number, count * x.columns * sizeof(T));
    }
    __syncthreads();
    if (threadIdx.x == 0 && tct_is_last(P.ticket, gridDim.x * gridDim.y))
        *P.number = number;
}

/* Wait for message `number` of a channel. By one thread. */
template <class FAR>
static __device__ inline void await(const tct_peer_common &C,
                                    const tct_peer_end &e, uint64_t number)
{
    uint64_t *const counter = e.own + tct_buffer_of(number);
    const tct_wait_status status =
        tct_await_message(counter, number, limit_of(C));
    if (status == TCT_CAME && is_far<FAR>(C, e.peer))
        FAR::came(counter, number);
    if (status == TCT_MISSED) give_up(C, e.peer);
}

template <class FAR, class T>
static __global__ void __launch_bounds__(TCT_PEER_THREADS)
    take(const __grid_constant__ tct_peer_common C,
         const __grid_constant__ tct_peer_plan P, int columns, T *ghost,
         int64_t ghosts, const __grid_constant__ tct_epilogue tail)
{
    const uint64_t number = *P.number;
    if ((int)blockIdx.y < P.recvs) {
        const tct_peer_end &e = P.end[P.sends + (int)blockIdx.y];
        T *const to = ghost + e.first;
        const int64_t count = e.count;
        if (threadIdx.x == 0) await<FAR>(C, e, number);
        __syncthreads();
        const T *const half = (const T *)e.half[tct_buffer_of(number)];
        for (int64_t i = (int64_t)blockIdx.x * TCT_PEER_THREADS + threadIdx.x;
             i < count; i += (int64_t)gridDim.x * TCT_PEER_THREADS)
            for (int j = 0; j < columns; j++)
                to[j * ghosts + i] = tct_load_fresh(&half[i * columns + j]);
        announce<FAR>(C, e, number, 0);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    tct_fence();
    if (tct_is_last(P.ticket, gridDim.x * gridDim.y))
        tct_epilogue_run_all(tail);
}

template <class FAR, class T>
static void start_exchange(const tct_peer_common *C, const tct_peer_plan *P,
                           const tct_op *op, const tct_gpu_launch *L)
{
    const tct_exchange *e = op->exchange;
    const bool begins = op->code == TCT_EXCHANGE_BEGIN;
    const int64_t values = begins ? P->most_sent : P->most_received;
    const int channels = begins ? P->sends : P->recvs;
    const int rows = channels > 0 ? channels : 1;
    /* waiting blocks must leave room for a concurrent product */
    const int most = L->sms > rows ? L->sms / rows : 1;
    const dim3 grid((unsigned)tct_blocks_for(values, TCT_PEER_THREADS, most),
                    (unsigned)rows);
    if (begins)
        put<FAR, T><<<grid, TCT_PEER_THREADS, 0, L->stream>>>(
            *C, *P, tct_gpu_panel_of<T>(op->x), e->index);
    else
        take<FAR, T><<<grid, TCT_PEER_THREADS, 0, L->stream>>>(
            *C, *P, op->x.columns, (T *)e->ghost, e->ghosts, L->epilogue);
}

template <class FAR>
static gpu_error launch_exchange(const tct_peer_common *C,
                                 const tct_peer_plan *P, const tct_op *op,
                                 const tct_gpu_launch *L)
{
    if (op->element == TACIT_F32) start_exchange<FAR, float>(C, P, op, L);
    else start_exchange<FAR, double>(C, P, op, L);
    return gpu_last_error();
}

#endif
