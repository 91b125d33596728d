/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/block_galerkin.h - rows of blocks as they are made: what
 * other ranks have and are sent (block_shares.c), and the rows themselves
 * (block_galerkin.c). */
#ifndef TCT_PRECOND_AMG_GALERKIN_BLOCK_GALERKIN_H
#define TCT_PRECOND_AMG_GALERKIN_BLOCK_GALERKIN_H
#include "precond/amg/galerkin/row_accumulation.h"
#include "precond/amg/systems/near_null.h"
#include <string.h>

typedef struct tct_block_product {
    const tacit_matrix *A;
    const tct_aggregates *G;
    int64_t *starts;   /* [size + 1] first aggregate of each rank            */
    tct_members m;     /* own rows, of shares behind those of own aggregates */
    tct_halo columns;  /* of A                                               */
    int64_t *ghost_of; /* [its ghosts] aggregates among all, -1: none        */
    int64_t
        *ghost_place; /* [its ghosts] the same as they are reached, -1      */
    double
        *ghost_weight; /* [its ghosts][width]                                */
    tct_ghosts others; /* aggregates of other ranks that are reached         */
    int64_t before;    /* of the others, those of lower ranks                */
    int64_t
        *share_place; /* [shares] where they are reached                    */
    tct_halo share;   /* of other ranks' aggregates that own rows are of    */
    tct_halo_lists
        mine; /* ... a row of blocks each: the aggregates, then all */
    tct_halo_lists theirs; /* the same for own aggregates, from other ranks:
                              aggregates as they are reached                    */
    tct_members in; /* [coarse] which lists of `theirs` are of each      */
    int64_t *ptr;   /* [coarse + 1] blocks                               */
    tct_csr out;
} tct_block_product;

/* Aggregates that own rows belong to. */
static inline int64_t tct_block_sets(const tct_block_product *g)
{
    return g->G->coarse + g->G->others.count;
}

/* Aggregates that are reached are numbered by rank, as everywhere, but without
 * those that are not: lower ranks', this rank's, higher ranks'. */
static inline int64_t tct_block_reached(const tct_block_product *g)
{
    return g->G->coarse + g->others.count;
}

/* Of a list of `words`: blocks. */
static inline int64_t tct_block_count(const tct_block_product *g, int64_t words)
{
    return words / (1 + (int64_t)g->G->width * g->G->width);
}

/* The number in word `at`, and the other way about. */
static inline int64_t tct_block_get(const double *word)
{
    int64_t number;
    memcpy(&number, word, sizeof number);
    return number;
}
static inline void tct_block_set(double *word, int64_t number)
{
    memcpy(word, &number, sizeof number);
}

/* What other ranks have, and which aggregates are reached by own rows.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_block_open(tct_block_product *g);
/* From the lengths of rows of shares, g->mine.begin [shares + 1], to room for
 * them. Errors NO_MEMORY. */
tacit_status tct_block_make_room(tct_block_product *g);
/* Shares, with aggregates among all, to where they belong; what has come is
 * reached, too.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_block_trade(tct_block_product *g);
void tct_block_close(tct_block_product *g);

#endif
