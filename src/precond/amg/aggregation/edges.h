/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/edges.h - ratings of edges and the test for rounding,
 * shared by host and GPU. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_EDGES_H
#define TCT_PRECOND_AMG_AGGREGATION_EDGES_H
#include "device/steps.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    TCT_RATING_BITS = 5,
    TCT_RATING_DROP = 23 - TCT_RATING_BITS /* bits of a float dropped */
};

/* The rating -2 b / d of an edge of B, rounded to a few bits; 0 if it is not
 * positive. `d` is the sum of the diagonals at both ends. */
TCT_BOTH uint32_t tct_edge_rating(double b, double d)
{
    const double rating = -2.0 * b / d;
    if (!(rating > 0x1p-100)) return 0;
    const float f = (float)rating;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (bits + ((uint32_t)1 << (TCT_RATING_DROP - 1))) >> TCT_RATING_DROP;
}

/* Is the edge strong enough for a pair? `di` and `dj` are the diagonals of A
 * added up at either end. The quality d_i d_j / ((d_i + d_j) |b_ij|) is that of
 * a pair in [NN12] (match.h), symmetric in i and j and independent of the scale
 * of A. */
TCT_BOTH bool tct_edge_holds(double b, double di, double dj, double limit)
{
    const double less = di < dj ? di : dj, more = di < dj ? dj : di;
    return -b * limit * (1.0 + less / more) >= less;
}

/* Is `value`, the remainder of a sum of terms of size `diagonals`, rounding? If
 * so for a whole row of P'A P, or for the last pivot of a part, the part is
 * singular and has no coupling to the rest; a share of the diagonals in its
 * place makes its correction negligible. */
TCT_BOTH bool tct_is_rounding(double value, double diagonals)
{
    return fabs(value) <= 1e-12 * diagonals;
}

/* splitmix64, as in base.h */
TCT_BOTH uint64_t tct_amg_mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Symmetric in i and j. */
TCT_BOTH uint64_t tct_edge_hash(int64_t i, int64_t j)
{
    return tct_amg_mix((uint64_t)(i < j ? i : j) << 32 |
                       (uint64_t)(i < j ? j : i));
}

#endif
