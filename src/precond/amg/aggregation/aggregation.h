/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/aggregation.h - aggregates as they are made
 * (aggregate.c), and rows that were left alone (join.c). */
#ifndef TCT_PRECOND_AMG_AGGREGATION_AGGREGATION_H
#define TCT_PRECOND_AMG_AGGREGATION_AGGREGATION_H
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/aggregation/numbering.h"

/* Places are a matrix's own rows and, behind them, the ghosts of its halo. */
typedef struct tct_aggregation {
    const tacit_matrix *A;
    const double *w;      /* [rows] NULL: ones                                */
    tct_aggregates *G;    /* ... with B of the pass; the first has A itself   */
    tct_halo level;       /* of A's columns                                   */
    double *ghost_w;      /* [its ghosts] w there, if there is w              */
    int64_t *first_index; /* [places of A] where `permuted`                 */
    bool ordered;  /* rows of several ranks are compared: there is an index  */
    bool permuted; /* ... by others than the numbers that they have          */
    int64_t *starts, *next; /* [ranks + 1] first row of each; first pair    */
    int64_t room;   /* of these, places:                                */
    double *diag;   /* of A, added up; 0: left out                      */
    int64_t *index; /* see match.h; where `ordered`                     */
    int32_t *mate;
    int32_t *up;       /* [rows of B] the pair of each                     */
    int64_t *ghost_of; /* [ghosts of the pass] the pair of each, among all */
    double limit;      /* of the pairs so far                              */
} tct_aggregation;

/* Rows that are the only ones of their aggregates, to others.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_absorb_singletons(tct_aggregation *g);

#endif
