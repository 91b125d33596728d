/* SPDX-License-Identifier: BSD-3-Clause
 * graph/ptscotch.h - graph partitions by PT-Scotch, for nodes distributed over
 * ranks of MPI. In a build without it these functions fail with UNSUPPORTED.
 *
 * [CP08] Chevalier and Pellegrini, "PT-Scotch: a tool for efficient parallel
 *        graph ordering", Parallel Computing 34 (2008). */
#ifndef TCT_GRAPH_PTSCOTCH_H
#define TCT_GRAPH_PTSCOTCH_H
#include "comm/world/world.h"

/* NULL, or the reason why this build has no PT-Scotch. */
#if TCT_HAVE_PTSCOTCH
#define TCT_PTSCOTCH_MISSING NULL
#else
#define TCT_PTSCOTCH_MISSING                                    \
    "not in this build: configured without PT-Scotch (install " \
    "libptscotch-dev and configure with -DTACIT_PTSCOTCH=ON)"
#endif

/* The nodes of this rank; every edge is listed at both ends. */
typedef struct tct_distributed_graph {
    const int64_t *starts; /* [size + 1] first node of each rank             */
    const int64_t *ptr;    /* [nodes + 1]                                    */
    const int32_t *next;   /* [ptr[nodes]] below `nodes`: an own node; else
                            * `nodes` + the index of a ghost */
    const int64_t *ghost;  /* numbers of nodes of other ranks                */
    const int32_t *weight; /* [nodes]                                        */
} tct_distributed_graph;

/* Partition the graph into `part` [nodes], deterministically for given ranks;
 * parts may be empty if nodes are few.
 * Collective.
 * Memory    a copy of this rank's part of the graph, and PT-Scotch's.
 * Errors    UNSUPPORTED (ranks without MPI; more than PT-Scotch can count),
 *           NO_MEMORY, COMM. */
tacit_status tct_ptscotch_cut(tacit_world *w, const tct_distributed_graph *g,
                              int parts, int64_t *part);

#endif
