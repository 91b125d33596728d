/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/contract.h - rows and columns of a matrix are added up, those of
 * an aggregate: Q' A Q, where Q has one entry a row. */
#ifndef TCT_CONTRACT_H
#define TCT_CONTRACT_H
#include "matrix/ghosts.h"

/* The rows of each aggregate, ascending, one after the other. */
typedef struct tct_members {
    int64_t *begin;  /* [aggregates + 1]    */
    int32_t *member; /* [begin[aggregates]] */
} tct_members;

/* Errors      NO_MEMORY; what was allocated is freed by the other. */
tacit_status tct_list_members(int64_t rows, const int32_t *of, int64_t coarse,
                              tct_members *out);
void tct_members_clear(tct_members *m);

typedef struct tct_contraction {
    const tct_csr *A;
    const int32_t *of;    /* [A->rows] aggregate of each row, -1: none        */
    const double *weight; /* [A->rows] what Q has there, NULL: ones           */
    int64_t coarse;       /* aggregates of this rank                          */
    int64_t first, all;   /* the global number of its first, those of all     */
    const tct_ghosts *ghosts;   /* columns of other ranks; NULL: those behind
                                   A's own rows, in this order                */
    const int64_t *ghost_of;    /* [ghosts] their columns in the result, -1   */
    const double *ghost_weight; /* [ghosts] NULL: ones                        */
} tct_contraction;

/* The entries of a row of `out` come in no order.
 * Memory      room for as many entries as `A` has, touched as far as is needed,
 *             and copied where it is much too much.
 * Errors      NO_MEMORY. */
tacit_status tct_contract(const tct_contraction *c, tct_csr *out);

#endif
