/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/edges.h - what rows are paired by, and what is
 * rounding, one text for the host and a GPU. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_EDGES_H
#define TCT_PRECOND_AMG_AGGREGATION_EDGES_H
#include "device/steps.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    TCT_RATING_BITS = 5,
    TCT_RATING_DROP =
        23 - TCT_RATING_BITS /* bits of a float that do not count */
};

/* Of an edge of B with value `b`, `d` being the sum of the diagonals at both
 * ends, rounded to a few bits; what is at or below 0 is 0. */
TCT_BOTH uint32_t tct_edge_rating(double b, double d)
{
    const double rating = -2.0 * b / d;
    if (!(rating > 0x1p-100)) return 0;
    const float f = (float)rating;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (bits + ((uint32_t)1 << (TCT_RATING_DROP - 1))) >> TCT_RATING_DROP;
}

/* Is it worth a pair? `di` and `dj` are what the diagonals of A of the rows at
 * either end add up to: two sets of rows are one aggregate if little of A is
 * needed to hold them together, d_i d_j / ((d_i + d_j) |b_ij|), as of a pair in
 * [NN12] (match.h). The same from both ends, and of whatever size entries
 * are. */
TCT_BOTH bool tct_edge_holds(double b, double di, double dj, double limit)
{
    const double less = di < dj ? di : dj, more = di < dj ? dj : di;
    return -b * limit * (1.0 + less / more) >= less;
}

/* Is `value`, which is left of what `diagonals` were among, rounding? Where all
 * that a row of P'A P has is, or the last pivot of a part, the part is singular
 * and nothing holds it to the rest: with the diagonals in its place, or a part
 * of them, corrections are next to nothing. */
TCT_BOTH bool tct_is_rounding(double value, double diagonals)
{
    return fabs(value) <= 1e-12 * diagonals;
}

/* splitmix64, as base.h has it */
TCT_BOTH uint64_t tct_amg_mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The same from both ends. */
TCT_BOTH uint64_t tct_edge_hash(int64_t i, int64_t j)
{
    return tct_amg_mix((uint64_t)(i < j ? i : j) << 32 |
                       (uint64_t)(i < j ? j : i));
}

#endif
