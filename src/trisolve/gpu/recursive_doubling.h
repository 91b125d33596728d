/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/recursive_doubling.h - how workers of several GPUs add up y of
 * the rows that more than one of them has, between the pass down and the one up
 * of one run: one text for the blocks of a kernel and for threads that stand
 * for them (tests/test_doubling.c).
 *
 * Rank z has leaf z of the tree and what is above it; ranks that differ in bit
 * k alone have all rows in common that are higher than k. In step k they store
 * what they have of these into each other's memory, and add: after step k all
 * 2^(k+1) ranks below a node have the same sum, with the same bits, since a + b
 * is b + a. So nobody has to be told a result, and an all-reduce is log2 Pz
 * messages of a rank instead of up to twice as many one after the other.
 *
 * Rows go in pieces, the highest first; a piece is a task, which does all its
 * steps. Pieces are taken in the same order everywhere: of the first one that
 * is not done on all ranks each of these has a worker that is at it, or is
 * through with it. So nobody waits for ever, as long as the kernels of all
 * ranks run.
 *
 * Memory of a step has two halves, for runs in turns: who begins run e has
 * heard in run e - 1 from the one that it writes to, who was through with run e
 * - 2 then. */
#ifndef TCT_TRISOLVE_GPU_RECURSIVE_DOUBLING_H
#define TCT_TRISOLVE_GPU_RECURSIVE_DOUBLING_H
#include "trisolve/gpu/task_queue.h"

enum { TCT_DOUBLING_STEPS_MOST = 12 /* log2 TCT_LEAVES_MOST */ };

typedef struct tct_doubling {
    int steps;
    int32_t
        count[TCT_DOUBLING_STEPS_MOST]; /* rows of step k: the first of ... */
    const int32_t *row;                 /* [count[0]] of the factor         */
    int64_t room;                       /* values of a half                 */
    int32_t pieces;                     /* ... and its numbers              */
    /* Of step k, [2][room] and [2][pieces], memory of the other rank's and of
     * this one's: what is sent, and the run of which a piece is. */
    double *there[TCT_DOUBLING_STEPS_MOST], *here[TCT_DOUBLING_STEPS_MOST];
    uint64_t *told[TCT_DOUBLING_STEPS_MOST], *heard[TCT_DOUBLING_STEPS_MOST];
} tct_doubling;

/* Where the values of run `number` begin. */
TCT_BOTH double *tct_doubling_buffer(const tct_doubling *S, double *at,
                                     uint64_t number)
{
    return at + tct_buffer_of(number) * S->room;
}

/* All values of a piece are stored, as the worker knows: the other rank may
 * read them in step `k`. */
TCT_LANE void tct_doubling_signal(const tct_doubling *S, int k, int32_t piece,
                                  uint64_t number)
{
    tct_fence_all();
    tct_signal_send(S->told[k] + tct_buffer_of(number) * S->pieces + piece,
                    number);
}

/* Wait for those of the other rank; false: in vain, or others have waited
 * so. */
TCT_LANE bool tct_doubling_await(const tct_round *R, const tct_doubling *S,
                                 int k, int32_t piece, uint64_t number)
{
    const tct_wait_status status = tct_await_counter(
        S->heard[k] + tct_buffer_of(number) * S->pieces + piece, number,
        (tct_limit){R->limit_ns, &R->queue->late});
    if (status == TCT_CAME) return true;
    /* who waits for the swaps may have given up before this one */
    tct_signal_send(&R->queue->missing, 1 + (uint64_t)k);
    if (status == TCT_MISSED) tct_signal_send(&R->queue->late, 1);
    return false;
}

#endif
