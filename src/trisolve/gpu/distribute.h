/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/distribute.h - distributes the tasks of a plan to the Px x Py
 * processes of a grid, one GPU each: which process runs a task, and which
 * processes read its result.
 *
 * Tasks keep the order and the arithmetic of one GPU, so X has the same bits on
 * every grid. Each task belongs to one process:
 *
 *     branch, small node   the process whose contiguous part of the forest has
 *                          it; parts have similar weights
 *     large node K         by blocks: block i of its rows (down), or columns
 *                          (up), is of (i + K mod Px, K mod Py), K counted
 *                          among large nodes
 *
 * A process stores the nodes that it owns whole. Of a large node it stores its
 * blocks of rows of P for the pass down, and its blocks of columns for the pass
 * up: entries in both are stored twice, and no sum is split between processes.
 * If Px = 1, large nodes are whole, too. Every process has the row lists and
 * vectors of all nodes. The process that computes a value stores it in the
 * memory of its readers (to_u, to), then signals them (peer_signals.h). */
#ifndef TCT_TRISOLVE_GPU_DISTRIBUTE_H
#define TCT_TRISOLVE_GPU_DISTRIBUTE_H
#include "trisolve/gpu/peer_signals.h"
#include "trisolve/gpu/supernodes.h"

enum {
    TCT_BLOCK_COLUMNS = 128, /* columns of a large node in a block, about */
    TCT_BLOCK_ROWS = 256     /* ... and rows */
};

/* Per row of the factor, the processes that read a value: bit p is process
 * p. */
typedef struct tct_readers {
    uint16_t v;   /* its assembled right-hand side */
    uint16_t y;   /* y as the pass down leaves it */
    uint16_t sum; /* y after recursive doubling */
    uint16_t x;
} tct_readers;

/* Per counter of one cut: processes that add to it and that wait for it. */
typedef struct tct_producers {
    uint16_t *adds, *waits; /* [tct_counters] */
} tct_producers;

typedef struct tct_distribution {
    int px, py, rank;
    uint8_t *to_u;   /* [updates] the process that reads it */
    tct_readers *to; /* [rows]                                  */
    bool *mine;      /* [rows] this process reads b and writes x */
    tct_producers cut[TCT_CUTS];
    /* Sent to other processes of the grid in a solve of one right-hand side, by
     * phase. */
    int64_t messages_sent[TCT_PEER_SIGNALS_PHASES],
        values[TCT_PEER_SIGNALS_PHASES];
    uint64_t mark; /* hash of all tasks: equal on all processes */
} tct_distribution;

/* Keep in `plan` the tasks of process `rank` = x py + y. tct_tri_plan_doubling
 * has been called for the `shared` rows [count]. plan->cut[].due then counts
 * this process's own tasks.
 * Errors    NO_MEMORY. */
tacit_status tct_tri_plan_distribute(tct_tri_plan *plan, int px, int py,
                                     int rank, const int32_t *shared,
                                     int32_t count, tct_distribution *out);
void tct_distribution_clear(tct_distribution *s);

#endif
