/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/kway.h - METIS's cut of a graph, by one thread of the process at a
 * time: it draws its numbers from rand() and sets handlers of signals, of which
 * all threads have the same. */
#ifndef TCT_KWAY_H
#define TCT_KWAY_H
#include <metis.h>

/* The `part` [nodes] of each node, the same for the same graph every time;
 * `weight` and `between` NULL: all nodes, all edges weigh the same; `sweeps` of
 * refinement, -1: as many as METIS likes.
 * Returns     what METIS does. */
int tct_kway(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
             idx_t *between, idx_t parts, idx_t sweeps, idx_t *edge_cut,
             idx_t *part);

#endif
