/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/numbering.h - numbers of aggregates, of this rank and
 * of others: below `coarse` they are this rank's, counted from its first; from
 * there on they stand for others.id, numbers among all. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_NUMBERING_H
#define TCT_PRECOND_AMG_AGGREGATION_NUMBERING_H
#include "comm/setup/halo.h"

/* What `of` says, as a number among all; -1: none. */
static inline int64_t tct_place_number(int64_t of, int64_t first,
                                       int64_t coarse, const tct_ghosts *others)
{
    if (of < 0) return -1;
    return of < coarse ? first + of : others->id[of - coarse];
}

/* Aggregate n becomes number[n] among all [coarse + others]: those from `first`
 * to before first + now are this rank's. `of` [rows] and `others` are made so.
 * Errors      NO_MEMORY. */
tacit_status tct_numbering_renumber(int64_t rows, int32_t *of, int64_t coarse,
                                    tct_ghosts *others, const int64_t *number,
                                    int64_t first, int64_t now);

/* The first of each rank [size + 1], of as many as each has.
 * Collective.  Errors COMM. */
tacit_status tct_numbering_starts(tacit_world *world, int64_t count,
                                  int64_t *starts);

/* The k-th of all numbers becomes k. `number` [count] are below `below`, and
 * each is on one rank, once.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_numbering_close(tacit_world *world, int64_t below,
                                 int64_t count, int64_t *number);

#endif
