/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer.cuh - messages that kernels start: they store into memory
 * of other GPUs, and wait for what others store into theirs. No lock, no
 * barrier, nothing is ever reset; numbers are kept on the device, so that a
 * recording can be run again and again.
 *
 * A sum: each rank stores its scalars, each with the number of the sum, into a
 * slot of every other; all add them up in rank order, so that they have the
 * same bits. Two halves take turns: who stores for sum e has read all of sum e
 * - 1, so that everybody is through with sum e - 2.
 *
 * An exchange: values go straight from the vector into one of two halves of the
 * receiver's window, and then a counter. Neighbours need not be each other's,
 * so whoever has taken a message says so in a counter of the sender's.
 *
 * Ranks that are far are spoken to by calls, which FAR has:
 *
 *     there                               false: there are none, and no calls
 *     put(to, from, bytes, signal, n, r)  to rank r, and then `signal` = n there;
 *                                         all threads', and nobody waits for it
 *     say(signal, n, r)                   the signal alone; one thread's
 *     came(signal, n)                     it was seen here: so is what was put
 *                                         before it; one thread's
 *
 * What is put from here may be stored over when the answer to it has come: as
 * with memory that all reach, so that nothing waits for the end of a put. These
 * may overtake each other, but for those of which one answers the other, so
 * each half has signals of its own.
 *
 * Every wait has a limit. Who was waited for in vain is told to the host, and
 * from then on nothing is waited for. */
#ifndef TCT_COMM_LINK_GPU_PEER_CUH
#define TCT_COMM_LINK_GPU_PEER_CUH
#include "comm/link/gpu/peer.h"
#include "device/gpu/epilogue.cuh"
#include "device/protocol.h"

static const uint64_t NOBODY = UINT64_MAX; /* is waited for, all know why */
enum { TCT_PEER_THREADS = 256, SUM_THREADS = 256 };

/* Rank `peer` is missing. */
static __device__ void give_up(const tct_peer_common &C, int peer)
{
    if (C.state->gone == 0) {
        C.state->gone = 1 + (uint64_t)peer;
        C.outbox->flags = 1.0;
        tct_active_word((uint64_t *)&C.outbox->mailbox->missing,
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

/* Scalar `i` of all ranks, with `mine` of this one. Who knows of a failure
 * waits for nobody, and stores over what has not been heard: so that is known,
 * too. */
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

/* Where `slot` is a rank's: the number of the sum that `from` has put there, in
 * the half of `number`. */
static __device__ inline uint64_t *
put_of(const tct_peer_common &C, tct_numbered *slot, int from, uint64_t number)
{
    const size_t behind = tct_peer_slots(C.ranks);
    return (uint64_t *)(void *)(slot + behind) +
           tct_slot_at(2, C.ranks, 1, from, number);
}

/* What this rank has said, `values` of them, goes to all that are far, and what
 * they have said has come. All threads'. */
template <class FAR>
static __device__ inline void trade_with_far(const tct_peer_common &C,
                                             int values, uint64_t number)
{
    const size_t at = tct_slot_at(2, C.ranks, TCT_PEER_SLOTS, C.rank, number);
    const int from = (int)threadIdx.x;
    __syncthreads();
    for (int r = 0; r < C.ranks; r++)
        if (is_far<FAR>(C, r))
            FAR::put(C.there[r] + at, C.slot[C.rank] + at,
                     values * sizeof(tct_numbered),
                     put_of(C, C.there[r], C.rank, number), number, r);
    if (from < C.ranks && is_far<FAR>(C, from)) {
        uint64_t *signal = put_of(C, C.slot[C.rank], from, number);
        const tct_wait_status status =
            tct_await_counter(signal, number, limit_of(C));
        if (status == TCT_CAME) FAR::came(signal, number);
        if (status == TCT_MISSED) give_up(C, from);
    }
    __syncthreads();
}

/* A sum: `count` scalars of each system, of which those of system j stand
 * TCT_SCALARS behind those of system j - 1, and then the flags. */
struct summed {
    double *out;
    int count, systems;
    double flags;
};

static __device__ inline double *scalar_of(const summed &s, int i)
{
    return s.out + (i / s.count) * TCT_SCALARS + i % s.count;
}

template <class FAR>
static __global__ void __launch_bounds__(SUM_THREADS)
    sum(const __grid_constant__ tct_peer_common C,
        const __grid_constant__ summed s,
        const __grid_constant__ tct_epilogue tail)
{
    const uint64_t number = C.state->sums + 1;
    const int n = s.count * s.systems;
    const auto mine_of = [&](int i) {
        return i < n ? *scalar_of(s, i) : s.flags + C.outbox->mine;
    };
    const auto say = [&](int i, double mine) {
        tct_say(slots_of(C), i, number, mine, C.ranks - 1);
    };
    if (FAR::there) {
        for (int i = threadIdx.x; i <= n; i += blockDim.x) say(i, mine_of(i));
        trade_with_far<FAR>(C, n + 1, number);
    }
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
        const double mine = mine_of(i);
        if (!FAR::there) say(i, mine);
        const double total = total_of(C, mine, i, number);
        if (i < n) {
            *scalar_of(s, i) = total;
        } else {
            C.outbox->flags = total;
            if (total != 0.0)
                tct_active_word((double *)&C.outbox->mailbox->flags, total);
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
    const summed s = {op->out, op->count, tct_op_batch(op), flags};
    const int n = s.count * s.systems + 1;
    const int most = (n + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
    const int block = most > SUM_THREADS ? SUM_THREADS : most;
    sum<FAR><<<1, block, 0, L->stream>>>(*C, s, L->epilogue);
    return gpu_last_error();
}

/* --- exchanges ------------------------------------------------------------ */

/* All blocks of the channel are through with exchange `number`: its other end
 * is told by the last, and sent the `bytes` that were stored for it, if it is
 * far. All threads'. */
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

/* The blocks of a row of the grid have a channel. Of a queue that has failed
 * there may be no vector. */
template <class FAR>
static __global__ void __launch_bounds__(TCT_PEER_THREADS)
    put(const __grid_constant__ tct_peer_common C,
        const __grid_constant__ tct_peer_plan P, tct_panel x,
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
        double *const half = e.half[h];
        for (int64_t i = (int64_t)blockIdx.x * TCT_PEER_THREADS + threadIdx.x;
             i < count; i += (int64_t)gridDim.x * TCT_PEER_THREADS)
            for (int j = 0; j < x.columns; j++)
                half[i * x.columns + j] =
                    x.at ? x.at[j * x.stride + row[i]] : 0.0;
        announce<FAR>(C, e, number, count * x.columns * sizeof(double));
    }
    __syncthreads();
    if (threadIdx.x == 0 && tct_is_last(P.ticket, gridDim.x * gridDim.y))
        *P.number = number;
}

/* Wait for message `number` of a channel. One thread's. */
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

template <class FAR>
static __global__ void __launch_bounds__(TCT_PEER_THREADS)
    take(const __grid_constant__ tct_peer_common C,
         const __grid_constant__ tct_peer_plan P, int columns, double *ghost,
         int64_t ghosts, const __grid_constant__ tct_epilogue tail)
{
    const uint64_t number = *P.number;
    if ((int)blockIdx.y < P.recvs) {
        const tct_peer_end &e = P.end[P.sends + (int)blockIdx.y];
        double *const to = ghost + e.first;
        const int64_t count = e.count;
        if (threadIdx.x == 0) await<FAR>(C, e, number);
        __syncthreads();
        const double *const half = e.half[tct_buffer_of(number)];
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

template <class FAR>
static gpu_error launch_exchange(const tct_peer_common *C,
                                 const tct_peer_plan *P, const tct_op *op,
                                 const tct_gpu_launch *L)
{
    const tct_exchange *e = op->exchange;
    const bool begins = op->code == TCT_EXCHANGE_BEGIN;
    const int64_t values = begins ? P->most_sent : P->most_received;
    const int channels = begins ? P->sends : P->recvs;
    const int rows = channels > 0 ? channels : 1;
    /* blocks of all rows wait beside a product, which must find room */
    const int most = L->sms > rows ? L->sms / rows : 1;
    const dim3 grid((unsigned)tct_blocks_for(values, TCT_PEER_THREADS, most),
                    (unsigned)rows);
    if (begins)
        put<FAR>
            <<<grid, TCT_PEER_THREADS, 0, L->stream>>>(*C, *P, op->x, e->index);
    else
        take<FAR><<<grid, TCT_PEER_THREADS, 0, L->stream>>>(
            *C, *P, op->x.columns, e->ghost, e->ghosts, L->epilogue);
    return gpu_last_error();
}

#endif
