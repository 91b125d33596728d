/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/distribute.h - a plan whose tasks are dealt out to the Px x Py
 * processes of a grid, each on a GPU: which are this one's, and who reads what
 * they store.
 *
 * The tasks stay those of one GPU, in the same order and with the same
 * arithmetic, so that X has the same bits on every grid. Each is of one
 * process:
 *
 *     a branch                  of the one in whose stretch of the forest it is, of
 *     a small node                  stretches of like weight
 *     a large node K            rows in blocks: block i, and on the way up columns in
 *                               blocks, of (i + K mod Px, K mod Py), K counted among
 *                               large nodes
 *
 * What a process needs of a node it has: all of it; or its blocks of rows of P,
 * for the way down, and its blocks of columns, for the way up. These are two
 * copies of what is both, unless Px = 1, when large nodes are whole, too: in
 * exchange nobody adds up what several have of a sum. Lists of rows, and
 * vectors, are of all nodes on each process, and who makes a value stores it at
 * those who read it (to_u, to). mail.h tells them. */
#ifndef TCT_TRISOLVE_GPU_DISTRIBUTE_H
#define TCT_TRISOLVE_GPU_DISTRIBUTE_H
#include "trisolve/gpu/peer_signals.h"
#include "trisolve/gpu/supernodes.h"

enum {
    TCT_BLOCK_COLUMNS =
        128, /* of a block, about: of columns of a large node, ... */
    TCT_BLOCK_ROWS =
        256 /* ... and of its rows                                */
};

/* Bit p: process p of the grid reads, of a row of the factor, ... */
typedef struct tct_readers {
    uint16_t v;   /* its right-hand side, once it is together   */
    uint16_t y;   /* y, as the pass down leaves it              */
    uint16_t sum; /* y, once it is added up                     */
    uint16_t x;
} tct_readers;

/* Of one cut, who speaks of a counter: as in mail.h. */
typedef struct tct_producers {
    uint16_t *adds, *waits; /* [tct_counters] */
} tct_producers;

typedef struct tct_distribution {
    int px, py, rank;
    uint8_t *to_u;   /* [updates] the process that reads each   */
    tct_readers *to; /* [rows]                                  */
    bool *mine;      /* [rows] this one reads its b, and writes its x */
    tct_producers cut[TCT_CUTS];
    /* With one right-hand side, by phases of mail.h: what this process sends to
     * others of its grid. */
    int64_t messages_sent[TCT_PEER_SIGNALS_PHASES],
        values[TCT_PEER_SIGNALS_PHASES];
    uint64_t mark; /* of the tasks of all: alike on all processes of a grid */
} tct_distribution;

/* Of `plan`, which has its swaps (tct_tri_plan_doubling) of the `shared` rows
 * [count], what process `rank` = x py + y has; plan->cut[].due is then what its
 * own tasks add.
 * Errors      NO_MEMORY. */
tacit_status tct_tri_plan_distribute(tct_tri_plan *plan, int px, int py,
                                     int rank, const int32_t *shared,
                                     int32_t count, tct_distribution *out);
void tct_distribution_clear(tct_distribution *s);

#endif
