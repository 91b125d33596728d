/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/chains.h - paths of links (match.c) that go through
 * several ranks. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_CHAINS_H
#define TCT_PRECOND_AMG_AGGREGATION_CHAINS_H
#include "precond/amg/aggregation/match.h"

typedef struct tct_chains {
    tct_pairing *p;
    const int32_t *lower,
        *upper;      /* [rows] those that a row looks at, -1: none */
    int64_t *theirs; /* [ghosts][2] the same of ghosts, by their index   */
    int64_t *word;   /* [rows] of a path's last row here: see paths.c    */
    int32_t *head;   /* [rows] scratch                                   */
} tct_chains;

/* Errors      NO_MEMORY; to be closed also then. */
tacit_status tct_chains_open(tct_pairing *p, const int32_t *lower,
                             const int32_t *upper, tct_chains *out);
void tct_chains_close(tct_chains *t);

/* Every second link of each path becomes a pair, from its beginning on. `open`
 * [count] are rows that may find a mate; *paired: how many of this rank have.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_chains_pair(tct_chains *t, const int32_t *open, int64_t count,
                             int64_t *paired);

#endif
