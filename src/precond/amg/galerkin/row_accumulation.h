/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/row_accumulation.h - rows and columns of a matrix are
 * added up, those of an aggregate: Q' A Q, where Q has one entry a row. */
#ifndef TCT_PRECOND_AMG_GALERKIN_ROW_ACCUMULATION_H
#define TCT_PRECOND_AMG_GALERKIN_ROW_ACCUMULATION_H
#include "comm/setup/halo.h"

/* The rows of each aggregate, ascending, one after the other; rows of
 * aggregates from `coarse` on are not listed. */
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
    const int32_t *of;    /* [A->rows] aggregate of each row, -1: none, from
                             `coarse` on: others.id                           */
    const double *weight; /* [A->rows] what Q has there, NULL: ones           */
    int64_t coarse;       /* aggregates of this rank                          */
    int64_t first, all;   /* the global number of its first, those of all     */
    const tct_ghosts *ghosts;   /* columns of other ranks                     */
    const int64_t *ghost_of;    /* [ghosts] their columns in the result, -1   */
    const double *ghost_weight; /* [ghosts] NULL: ones                        */
    const tct_ghosts
        *others;         /* aggregates of other ranks that own rows are of */
    const tct_csr *more; /* entries of rows of other ranks, to be added to
                                   those of `coarse` rows; NULL: none         */
} tct_contraction;

/* The column of the result that column `j` of A, counted from its first row, is
 * added to, -1: none; what Q has there. */
int64_t tct_contracted(const tct_contraction *c, int64_t j, double *weight);

/* The entries of a row of `out` come in no order.
 * Memory      room for as many entries as `A` has, touched as far as is needed,
 *             and copied where it is much too much; 8 bytes a row of `out`
 *             and thread.
 * Errors      NO_MEMORY. */
tacit_status tct_accumulate_rows(const tct_contraction *c, tct_csr *out);

/* --- merge.c -------------------------------------------------------------- */

/* The same of a matrix that several ranks have: rows of others' aggregates go
 * to these. `starts` [ranks + 1] has the first aggregate of each; c->more is
 * not looked at.
 * Memory      24 bytes for each entry of such a row, on both ranks.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_accumulate_all(tacit_world *world, const int64_t *starts,
                                const tct_contraction *c, tct_csr *out);

#endif
