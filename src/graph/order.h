/* SPDX-License-Identifier: BSD-3-Clause
 * graph/order.h - numberings of a graph that bring neighbours together.
 *
 * [CM69] Cuthill and McKee, "Reducing the bandwidth of sparse symmetric
 *        matrices", Proc. 24th Nat. Conf. ACM (1969).
 * [Ge71] George, "Computer implementation of the finite element method",
 *        Stanford (1971): the same backwards.
 * [GL79] George and Liu, "An implementation of a pseudoperipheral node finder",
 *        ACM Trans. Math. Softw. 5 (1979).
 * [KK98] Karypis and Kumar, "A fast and high quality multilevel scheme for
 *        partitioning irregular graphs", SIAM J. Sci. Comput. 20 (1998). */
#ifndef TCT_GRAPH_ORDER_H
#define TCT_GRAPH_ORDER_H
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
 * node on the interface [GL79], neighbours by degree [CM69], all backwards
 * [Ge71]. Part after part of a graph that is not connected. Edges that go one
 * way only are followed that way.
 * Cost        at most five passes over the edges.
 * Errors      NO_MEMORY. */
tacit_status tct_order_rcm(const tct_graph *g, int32_t *order);

/* Parts of some thousand nodes with few edges between them [KK98], each part
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
