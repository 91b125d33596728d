/* SPDX-License-Identifier: BSD-3-Clause
 * graph/kway.h - graph partitions and orderings by METIS, one thread at a time:
 * METIS draws from rand() and sets signal handlers, which belong to the
 * process. */
#ifndef TCT_GRAPH_KWAY_H
#define TCT_GRAPH_KWAY_H
#include <metis.h>

/* Partition a graph into `part` [nodes], deterministically. `weight` and
 * `between` (node and edge weights) may be NULL: all equal. `sweeps` of
 * refinement, -1: METIS's default.
 * Returns   METIS's code. */
int tct_kway(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
             idx_t *between, idx_t parts, idx_t sweeps, idx_t *edge_cut,
             idx_t *part);

/* Complete nested dissection: new node k was old[k]; `sizes` [2 leaves] are
 * those at the top, in METIS's order, if leaves > 1; each separator is the best
 * of `tries`. METIS_NodeND is not used, since its SIGTERM handler frees memory
 * from wherever the process is and may deadlock.
 * Returns   METIS's code. */
int tct_dissect(idx_t nodes, idx_t *start, idx_t *next, idx_t leaves,
                idx_t tries, idx_t *old, idx_t *now, idx_t *sizes);

/* Separate a graph: `side` [nodes] is 0 or 1, or 2 in the separator.
 * Returns   METIS's code. */
int tct_separate(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
                 idx_t *side);

#endif
