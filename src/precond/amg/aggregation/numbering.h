/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/numbering.h - numbers of aggregates: those below
 * `coarse` are this rank's, counted from its first; `coarse` + k stands for the
 * global number others.id[k]. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_NUMBERING_H
#define TCT_PRECOND_AMG_AGGREGATION_NUMBERING_H
#include "comm/setup/halo.h"

/* The global number of `of`; -1: none. */
static inline int64_t tct_place_number(int64_t of, int64_t first,
                                       int64_t coarse, const tct_ghosts *others)
{
    if (of < 0) return -1;
    return of < coarse ? first + of : others->id[of - coarse];
}

/* Aggregate n gets the global number number[n] [coarse + others]; [first, first
 * + now) are this rank's. Updates `of` [rows] and `others`.
 * Errors      NO_MEMORY. */
tacit_status tct_numbering_renumber(int64_t rows, int32_t *of, int64_t coarse,
                                    tct_ghosts *others, const int64_t *number,
                                    int64_t first, int64_t now);

/* Prefix sums of `count` over the ranks, [size + 1].
 * Collective.  Errors COMM. */
tacit_status tct_numbering_starts(tacit_world *world, int64_t count,
                                  int64_t *starts);

/* Close gaps: the k-th smallest of all numbers becomes k. `number` [count] are
 * below `below` and unique over all ranks.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_numbering_close(tacit_world *world, int64_t below,
                                 int64_t count, int64_t *number);

#endif
