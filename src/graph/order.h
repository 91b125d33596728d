/* SPDX-License-Identifier: BSD-3-Clause
 * graph/order.h - orderings of a graph that bring neighbours together.
 *
 * [CM69] Cuthill and McKee, "Reducing the bandwidth of sparse symmetric
 *        matrices", Proc. 24th Nat. Conf. ACM (1969).
 * [Ge71] George, "Computer implementation of the finite element method",
 *        Stanford (1971): the reversed order.
 * [GL79] George and Liu, "An implementation of a pseudoperipheral node finder",
 *        ACM Trans. Math. Softw. 5 (1979).
 * [KK98] Karypis and Kumar, "A fast and high quality multilevel scheme for
 *        partitioning irregular graphs", SIAM J. Sci. Comput. 20 (1998). */
#ifndef TCT_GRAPH_ORDER_H
#define TCT_GRAPH_ORDER_H
#include "base/base.h"

/* The neighbours of node i are next[ptr[i]] to next[ptr[i + 1] - 1], ascending,
 * perhaps with i itself. A one-way edge is listed at its start only. */
typedef struct tct_graph {
    int64_t nodes;
    const int64_t *ptr;  /* [nodes + 1] */
    const int32_t *next; /* [ptr[nodes]] */
} tct_graph;

/* order[k] is the node with number k: breadth first from a pseudoperipheral
 * node [GL79], neighbours by degree [CM69], reversed [Ge71], one connected
 * component after another. One-way edges are followed in their direction.
 * Cost      at most five passes over the edges.
 * Errors    NO_MEMORY. */
tacit_status tct_order_rcm(const tct_graph *g, int32_t *order);

/* Parts of some thousand nodes with few edges between them [KK98]; parts, and
 * nodes in a part, in the order of tct_order_rcm.
 * Errors    NO_MEMORY, UNSUPPORTED (more edges than this METIS counts; one-way
 *           edges). */
tacit_status tct_order_metis(const tct_graph *g, int32_t *order);

/* Within each `chunk` of `order`, sort nodes by degree and distribute them by
 * 32: adjacent nodes then have similar degrees, and consecutive groups of 32
 * have different ones, which balances work. */
enum { TCT_CHUNK_MOST = 8192 };
void tct_order_even(const tct_graph *g, int64_t chunk, int32_t *order);

#endif
