/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/rate.h - ratings of many edges (edges.h), compiled
 * for each instruction set (device/isa.h), with the same results. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_RATE_H
#define TCT_PRECOND_AMG_AGGREGATION_RATE_H
#include <stdint.h>

/* Edges b[k], from rows with diagonals own[k] to places[k]. */
typedef struct tct_amg_edges {
    int64_t count;
    const int32_t *place;
    const double *b, *own;
    const double *diag; /* by place; 0: the place is left out */
    double limit;
} tct_amg_edges;

/* rating[k] = tct_edge_rating, or 0 where the edge is not negative, where
 * tct_edge_holds says no, and where the place is left out. */
typedef void tct_rate_edges(const tct_amg_edges *e, uint16_t *rating);
tct_rate_edges tct_rate_edges_base, tct_rate_edges_avx2, tct_rate_edges_avx512;

#endif
