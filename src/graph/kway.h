/* SPDX-License-Identifier: BSD-3-Clause
 * graph/kway.h - METIS's cuts of a graph, by one thread of the process at a
 * time: it draws its numbers from rand() and sets handlers of signals, of which
 * all threads have the same. */
#ifndef TCT_GRAPH_KWAY_H
#define TCT_GRAPH_KWAY_H
#include <metis.h>

/* The `part` [nodes] of each node, the same for the same graph every time;
 * `weight` and `between` NULL: all nodes, all edges weigh the same; `sweeps` of
 * refinement, -1: as many as METIS likes.
 * Returns     what METIS does. */
int tct_kway(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
             idx_t *between, idx_t parts, idx_t sweeps, idx_t *edge_cut,
             idx_t *part);

/* Nested dissection, all through: new node k was old[k]; `sizes` [2 leaves] of
 * the top of it, as METIS lists them where there are more leaves than one; each
 * separator is the best of `tries`. METIS_NodeND does no other, but a SIGTERM
 * makes it free what it has, from wherever it is: it may wait for itself then.
 * Returns     what METIS does. */
int tct_dissect(idx_t nodes, idx_t *start, idx_t *next, idx_t leaves,
                idx_t tries, idx_t *old, idx_t *now, idx_t *sizes);

/* `side` [nodes] 0 or 1, and 2 of those that part the two.
 * Returns     what METIS does. */
int tct_separate(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
                 idx_t *side);

#endif
