/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/rate.c - ratings of edges, without a branch. */
#include "precond/amg/aggregation/rate.h"
#include "device/isa.h"
#include "precond/amg/aggregation/edges.h"

tct_rate_edges TCT_ISA_NAME(tct_rate_edges);

/* tct_edge_rating without its test; at most 2^13 - 1. */
INLINE uint32_t rounded(double rating)
{
    const float f = (float)rating;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (bits + ((uint32_t)1 << (TCT_RATING_DROP - 1))) >> TCT_RATING_DROP;
}

void TCT_ISA_NAME(tct_rate_edges)(const tct_amg_edges *e,
                                  uint16_t *restrict rating)
{
    const int32_t *const place = e->place;
    const double *const diag = e->diag, *const b = e->b, *const own = e->own;
    const double limit = e->limit;
    const int64_t count = e->count;
    for (int64_t k = 0; k < count; k++) {
        const double d = diag[place[k]];
        const double x = -2.0 * b[k] / (own[k] + d);
        const uint32_t keep = (x > 0x1p-100) & (d > 0.0) &
                              (uint32_t)tct_edge_holds(b[k], own[k], d, limit);
        rating[k] = (uint16_t)(rounded(x) * keep);
    }
}
