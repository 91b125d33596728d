/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/recursive_doubling.h - workers of several GPUs sum y of their
 * shared rows between the passes of a run: one source for the blocks of a
 * kernel and for the host threads of tests/test_doubling.c.
 *
 * Rank z has leaf z of the tree and the nodes above it; ranks that differ in
 * bit k alone share all rows above height k. In step k they store these rows
 * into each other's memory, and add: after step k all 2^(k+1) ranks below a
 * node have the same sum, with the same bits, since a + b = b + a. So an
 * all-reduce takes log2 Pz messages of a rank, and no result is sent back.
 *
 * Rows are exchanged in pieces, the highest first; a piece is a task, which
 * does all its steps. All ranks take pieces in the same order, so the first
 * unfinished piece has a worker on each rank that has not finished it, and
 * every wait ends as long as the kernels of all ranks run.
 *
 * The memory of a step is a double buffer: a rank that begins run e has
 * received a message of run e - 1 from its partner, which had then ended run e
 * - 2. */
#ifndef TCT_TRISOLVE_GPU_RECURSIVE_DOUBLING_H
#define TCT_TRISOLVE_GPU_RECURSIVE_DOUBLING_H
#include "trisolve/gpu/task_queue.h"

enum { TCT_DOUBLING_STEPS_MOST = 12 /* log2 TCT_LEAVES_MOST */ };

typedef struct tct_doubling {
    int steps;
    int32_t count[TCT_DOUBLING_STEPS_MOST]; /* [steps] shared rows of step k, a
                                         * prefix of `row` */
    const int32_t *row; /* [count[0]] of the factor         */
    int64_t room;       /* values from a step's first buffer to its second */
    int32_t pieces;     /* numbers of a buffer */
    /* Of step k, two buffers of values and [2][pieces] run numbers, in the
     * memory of the other rank and of this one. */
    double *there[TCT_DOUBLING_STEPS_MOST], *here[TCT_DOUBLING_STEPS_MOST];
    uint64_t *told[TCT_DOUBLING_STEPS_MOST], *heard[TCT_DOUBLING_STEPS_MOST];
} tct_doubling;

/* The buffer of run `number`. */
TCT_BOTH double *tct_doubling_buffer(const tct_doubling *S, double *at,
                                     uint64_t number)
{
    return at + tct_buffer_of(number) * S->room;
}

/* All values of a piece are stored: the other rank may read them in step
 * `k`. */
TCT_LANE void tct_doubling_signal(const tct_doubling *S, int k, int32_t piece,
                                  uint64_t number)
{
    tct_fence_all();
    tct_signal_send(S->told[k] + tct_buffer_of(number) * S->pieces + piece,
                    number);
}

/* Wait for the other rank's values; false: this wait or another one failed. */
TCT_LANE bool tct_doubling_await(const tct_round *R, const tct_doubling *S,
                                 int k, int32_t piece, uint64_t number)
{
    const tct_wait_status status = tct_await_counter(
        S->heard[k] + tct_buffer_of(number) * S->pieces + piece, number,
        (tct_limit){R->limit_ns, &R->queue->late});
    if (status == TCT_CAME) return true;
    /* a worker that waits for the pieces may have timed out first */
    tct_signal_send(&R->queue->missing, 1 + (uint64_t)k);
    if (status == TCT_MISSED) tct_signal_send(&R->queue->late, 1);
    return false;
}

#endif
