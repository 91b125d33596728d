/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/peer.cu - messages that kernels start: they store into memory of other
 * GPUs, and wait for what others store into theirs. No lock, no barrier, nothing
 * is ever reset; numbers are kept on the device, so that a recording can be run
 * again and again.
 *
 * A sum: each rank stores its scalars, each with the number of the sum, into a
 * slot of every other; all add them up in rank order, so that they have the same
 * bits. Two halves take turns: who stores for sum e has read all of sum e - 1, so
 * that everybody is through with sum e - 2.
 *
 * An exchange: values go straight from the vector into one of two halves of the
 * receiver's window, and then a counter. Neighbours need not be each other's, so
 * whoever has taken a message says so in a counter of the sender's.
 *
 * Every wait has a limit. Who was waited for in vain is told to the host, and
 * from then on nothing is waited for. */
#include "comm/gpu/peer.h"
#include "device/gpu/tail.cuh"
#include "device/protocol.h"

static const uint64_t NOBODY = UINT64_MAX; /* is waited for, all know why */
enum { THREADS = 256, SUM_THREADS = 256 };

/* Rank `peer` is missing. */
static __device__ void give_up(const tct_peer_common &C, int peer)
{
    if (C.state->gone == 0) {
        C.state->gone = 1 + (uint64_t)peer;
        C.outbox->flags = 1.0;
        tct_post_word((uint64_t *)&C.outbox->mailbox->missing,
                      1 + (uint64_t)peer);
        tct_fence_all();
    }
}

static __device__ inline tct_limit limit_of(const tct_peer_common &C)
{
    return {C.limit_ns, &C.state->gone};
}

/* --- sums --------------------------------------------------------------------- */

/* Scalar `i` of all ranks, with `mine` of this one. Who knows of a failure waits
 * for nobody, and stores over what has not been heard: so that is known, too. */
static __device__ inline double total_of(const tct_peer_common &C, double mine,
                                         int i, uint64_t number)
{
    const tct_slots S = {C.rank, C.ranks, 2, TCT_PEER_SLOTS, C.slot};
    double total;
    int missing;
    tct_say(S, i, number, mine, C.ranks - 1);
    const tct_news news =
        tct_total(S, i, number, &mine, limit_of(C), &total, &missing);
    if (news == TCT_MISSED) give_up(C, missing);
    return news == TCT_AHEAD ? mine + 1.0 : total;
}

/* The scalars of system j stand TCT_SCALARS behind those of system j - 1. */
static __global__ void __launch_bounds__(SUM_THREADS)
    sum(const __grid_constant__ tct_peer_common C, double *out, int count,
        int systems, double flags, const __grid_constant__ tct_tail tail)
{
    const uint64_t number = C.state->sums + 1;
    const int n = count * systems;
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
        double *at = out + (i / count) * TCT_SCALARS + i % count;
        const double mine = i < n ? *at : flags + C.outbox->mine;
        const double total = total_of(C, mine, i, number);
        if (i < n) {
            *at = total;
        } else {
            C.outbox->flags = total;
            if (total != 0.0)
                tct_post_word((double *)&C.outbox->mailbox->flags, total);
            if (tct_flags_say_failed(total)) C.state->gone = NOBODY;
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    C.state->sums = number;
    if (C.state->gone != 0 && C.state->gone != NOBODY) C.outbox->flags = 1.0;
    tct_tail_run_all(tail);
}

extern "C" void tct_peer_sum(const tct_peer_common *C, const tct_op *op,
                             double flags, const tct_gpu_launch *L)
{
    const int systems = tct_op_systems(op), n = op->count * systems + 1;
    const int most = (n + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
    const int block = most > SUM_THREADS ? SUM_THREADS : most;
    sum<<<1, block, 0, L->stream>>>(*C, op->out, op->count, systems, flags,
                                    L->tail);
}

/* --- exchanges ------------------------------------------------------------------ */

/* All blocks of the channel are through with exchange `number`: its other end is
 * told by the last. All threads'. */
static __device__ inline void announce(const tct_peer_end &e, uint64_t number)
{
    __syncthreads();
    if (threadIdx.x == 0) tct_part_done(e.ticket, gridDim.x, e.other, number);
}

/* The blocks of a row of the grid have a channel. Of a queue that has failed there
 * may be no vector. */
static __global__ void __launch_bounds__(THREADS)
    put(const __grid_constant__ tct_peer_common C,
        const __grid_constant__ tct_peer_plan P, tct_panel x,
        const int32_t *index)
{
    const uint64_t number = *P.number + 1;
    if ((int)blockIdx.y < P.sends) {
        const tct_peer_end e = P.end[blockIdx.y];
        if (threadIdx.x == 0 &&
            tct_await_room(e.own, number, limit_of(C)) == TCT_MISSED)
            give_up(C, e.peer);
        __syncthreads();
        double *half = e.half[tct_half_of(number)];
        for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
             i < e.count; i += (int64_t)gridDim.x * THREADS)
            for (int j = 0; j < x.columns; j++)
                half[i * x.columns + j] =
                    x.at ? x.at[j * x.stride + index[e.first + i]] : 0.0;
        announce(e, number);
    }
    __syncthreads();
    if (threadIdx.x == 0 && tct_is_last(P.ticket, gridDim.x * gridDim.y))
        *P.number = number;
}

static __global__ void __launch_bounds__(THREADS)
    take(const __grid_constant__ tct_peer_common C,
         const __grid_constant__ tct_peer_plan P, int columns, double *ghost,
         int64_t ghosts, const __grid_constant__ tct_tail tail)
{
    const uint64_t number = *P.number;
    if ((int)blockIdx.y < P.recvs) {
        const tct_peer_end e = P.end[P.sends + (int)blockIdx.y];
        if (threadIdx.x == 0 &&
            tct_await_message(e.own, number, limit_of(C)) == TCT_MISSED)
            give_up(C, e.peer);
        __syncthreads();
        const double *half = e.half[tct_half_of(number)];
        for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
             i < e.count; i += (int64_t)gridDim.x * THREADS)
            for (int j = 0; j < columns; j++)
                ghost[j * ghosts + e.first + i] =
                    tct_load_fresh(&half[i * columns + j]);
        announce(e, number);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    tct_fence();
    if (tct_is_last(P.ticket, gridDim.x * gridDim.y)) tct_tail_run_all(tail);
}

extern "C" void tct_peer_exchange(const tct_peer_common *C,
                                  const tct_peer_plan *P, const tct_op *op,
                                  const tct_gpu_launch *L)
{
    const tct_exchange *e = op->exchange;
    const bool begins = op->code == TCT_EXCHANGE_BEGIN;
    const int64_t values = begins ? P->most_sent : P->most_received;
    const int rows = begins ? P->sends : P->recvs;
    const dim3 grid((unsigned)tct_grid(values, THREADS, L->sms),
                    (unsigned)(rows > 0 ? rows : 1));
    if (begins) put<<<grid, THREADS, 0, L->stream>>>(*C, *P, op->x, e->index);
    else
        take<<<grid, THREADS, 0, L->stream>>>(*C, *P, op->x.columns, e->ghost,
                                              e->ghosts, L->tail);
}
