/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/row_accumulation.h - Q' A Q with one entry a row in Q:
 * rows and columns of an aggregate are added up. */
#ifndef TCT_PRECOND_AMG_GALERKIN_ROW_ACCUMULATION_H
#define TCT_PRECOND_AMG_GALERKIN_ROW_ACCUMULATION_H
#include "comm/setup/halo.h"

/* The rows of each aggregate, ascending; rows of aggregates >= `coarse` are not
 * listed. */
typedef struct tct_members {
    int64_t *begin;  /* [aggregates + 1]    */
    int32_t *member; /* [begin[aggregates]] */
} tct_members;

/* Errors      NO_MEMORY; free it also after an error. */
tacit_status tct_list_members(int64_t rows, const int32_t *of, int64_t coarse,
                              tct_members *out);
void tct_members_clear(tct_members *m);

typedef struct tct_contraction {
    const tct_csr *A;
    const int32_t *of;    /* [A->rows] aggregate; -1: none; >= `coarse`:
                           * others.id */
    const double *weight; /* [A->rows] entry of Q, NULL: ones                 */
    int64_t coarse;       /* aggregates of this rank                          */
    int64_t first, all;   /* global number of its first; total                */
    const tct_ghosts *ghosts;   /* remote columns                             */
    const int64_t *ghost_of;    /* [ghosts] column in the result, -1          */
    const double *ghost_weight; /* [ghosts] NULL: ones                        */
    const tct_ghosts *others;   /* other ranks' aggregates of own rows */
    const tct_csr *more; /* entries received from other ranks, to be added to
                          * the `coarse` rows; NULL: none */
    bool squared;        /* entries of A are squared, but not of `more` */
} tct_contraction;

static inline double tct_contracted_value(const tct_contraction *c, int64_t k)
{
    return c->squared ? c->A->val[k] * c->A->val[k] : c->A->val[k];
}

/* The global column of the result for column `j` of A, counted from its first
 * row, -1: none; `*weight`: its entry of Q. */
int64_t tct_contracted(const tct_contraction *c, int64_t j, double *weight);

/* Entries within a row of `out` are unordered.
 * Memory      as many entries as `A` has, touched as needed and copied if far
 *             too many; 8 bytes a row of `out` and thread.
 * Errors      NO_MEMORY. */
tacit_status tct_accumulate_rows(const tct_contraction *c, tct_csr *out);

/* --- row_merge.c ---------------------------------------------------------- */

/* The same for a distributed matrix: rows of remote aggregates are sent to
 * their ranks. `starts` [ranks + 1]: first aggregate of each; c->more is
 * ignored.
 * Memory      24 bytes for each entry of such a row, on both ranks.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_accumulate_all(tacit_world *world, const int64_t *starts,
                                const tct_contraction *c, tct_csr *out);

#endif
