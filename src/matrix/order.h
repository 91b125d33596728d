/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/order.h - numberings of a graph that bring neighbours together. */
#ifndef TCT_ORDER_H
#define TCT_ORDER_H
#include "base/base.h"

/* The neighbours of node i: next[ptr[i]] to next[ptr[i + 1] - 1], perhaps i
 * itself among them, ascending. Edges that go one way only are seen from there
 * alone. */
typedef struct tct_graph {
    int64_t nodes;
    const int64_t *ptr;  /* [nodes + 1] */
    const int32_t *next; /* [ptr[nodes]] */
} tct_graph;

/* order[k], k < nodes, is the node that comes as number k: breadth first from a
 * node on the rim, neighbours by degree, all backwards (Cuthill and McKee 1969;
 * George 1971; the start as George and Liu 1979).
 * Errors      NO_MEMORY. */
tacit_status tct_order_rcm(const tct_graph *g, int32_t *order);

/* Parts of some thousand nodes with few edges between them (METIS), each part
 * and the nodes in it in the order above.
 * Errors      NO_MEMORY, UNSUPPORTED (more edges than this METIS counts; edges
 *             that go one way only). */
tacit_status tct_order_metis(const tct_graph *g, int32_t *order);

/* Sort nodes by degree within each `chunk` of `order`, and deal them out again
 * by 32: neighbours in the order then have equal degrees, and whoever takes
 * turns by 32 nodes gets many edges and few alike. */
enum { TCT_CHUNK_MOST = 8192 };
void tct_order_even(const tct_graph *g, int64_t chunk, int32_t *order);

#endif
