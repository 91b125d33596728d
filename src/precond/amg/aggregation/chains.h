/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/chains.h - chains of edges (match.c) across several
 * ranks. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_CHAINS_H
#define TCT_PRECOND_AMG_AGGREGATION_CHAINS_H
#include "precond/amg/aggregation/match.h"

typedef struct tct_chains {
    tct_pairing *p;
    const int32_t *lower, *upper; /* [rows] row chosen, -1: none */
    int64_t *theirs; /* [ghosts][2] choices of ghosts, as indices        */
    int64_t *code;   /* [rows] for the last row of a segment: see chains.c */
    int32_t *head;   /* [rows] scratch                                   */
} tct_chains;

/* Errors      NO_MEMORY; close it also after an error. */
tacit_status tct_chains_open(tct_pairing *p, const int32_t *lower,
                             const int32_t *upper, tct_chains *out);
void tct_chains_close(tct_chains *t);

/* Pair every second edge of each chain, from its first row. `open`
 * [count] are rows that may find a mate; *paired: how many of this rank have.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_chains_pair(tct_chains *t, const int32_t *open, int64_t count,
                             int64_t *paired);

#endif
