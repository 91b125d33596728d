/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/aggregation.h - state of an aggregation (aggregate.c)
 * and the absorption of singletons (singletons.c). */
#ifndef TCT_PRECOND_AMG_AGGREGATION_AGGREGATION_H
#define TCT_PRECOND_AMG_AGGREGATION_AGGREGATION_H
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/aggregation/numbering.h"

/* A place is an own row or, from `rows` on, a ghost of the matrix's halo. */
typedef struct tct_aggregation {
    const tacit_matrix *A;
    const double *w;      /* [rows] NULL: ones                                */
    tct_aggregates *G;    /* with B of the pass; the first pass uses A        */
    tct_halo level;       /* of A's columns                                   */
    double *ghost_w;      /* [its ghosts] w of ghosts, or NULL                */
    int64_t *first_index; /* [places of A] if `permuted`                    */
    bool ordered;  /* rows of several ranks are compared by index            */
    bool permuted; /* the index differs from the global numbers              */
    int64_t *starts, *next; /* [ranks + 1] first row, first pair            */
    int64_t room;   /* allocated places of:                             */
    double *diag;   /* of A, added up; 0: left out                      */
    int64_t *index; /* see match.h; if `ordered`                        */
    int32_t *mate;
    int32_t *up;       /* [rows of B] pair of each row                     */
    int64_t *ghost_of; /* [ghosts of the pass] global pair number */
    double limit;      /* edge limit of the passes so far                  */
} tct_aggregation;

/* Move rows that are alone in an aggregate to other aggregates.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_absorb_singletons(tct_aggregation *g);

#endif
