/* SPDX-License-Identifier: BSD-3-Clause
 * graph/ptscotch.h - PT-Scotch's cut of a graph whose nodes are dealt out over
 * ranks of MPI. In a build without it all that is here fails with UNSUPPORTED.
 *
 * [CP08] Chevalier and Pellegrini, "PT-Scotch: a tool for efficient parallel
 *        graph ordering", Parallel Computing 34 (2008). */
#ifndef TCT_GRAPH_PTSCOTCH_H
#define TCT_GRAPH_PTSCOTCH_H
#include "comm/world/world.h"

/* NULL, or what a build without PT-Scotch lacks. */
#if TCT_HAVE_PTSCOTCH
#define TCT_PTSCOTCH_MISSING NULL
#else
#define TCT_PTSCOTCH_MISSING                                    \
    "not in this build: configured without PT-Scotch (install " \
    "libptscotch-dev and configure with -DTACIT_PTSCOTCH=ON)"
#endif

/* The nodes of this rank. An edge is there from both of its ends. */
typedef struct tct_dealt_graph {
    const int64_t *starts; /* [size + 1] first node of each rank             */
    const int64_t *ptr;    /* [nodes + 1]                                    */
    const int32_t *next;   /* [ptr[nodes]] below `nodes`: a node of this rank,
                              else `nodes` and the place of a ghost          */
    const int64_t *ghost;  /* numbers of nodes of other ranks                */
    const int32_t *weight; /* [nodes]                                        */
} tct_dealt_graph;

/* The `part` [nodes] of each node, the same for the same graph on the same
 * ranks every time; a part may be empty where nodes are few.
 * Collective.
 * Memory      no rank gathers the graph; a copy of this rank's, and what
 *             PT-Scotch takes.
 * Errors      UNSUPPORTED (ranks that are none of MPI; more than PT-Scotch can
 *             count), NO_MEMORY, COMM. */
tacit_status tct_ptscotch_cut(tacit_world *w, const tct_dealt_graph *g,
                              int parts, int64_t *part);

#endif
