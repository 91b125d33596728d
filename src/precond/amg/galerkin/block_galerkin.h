/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/block_galerkin.h - state of a block product
 * (block_galerkin.c) and its exchange (block_remote.c). */
#ifndef TCT_PRECOND_AMG_GALERKIN_BLOCK_GALERKIN_H
#define TCT_PRECOND_AMG_GALERKIN_BLOCK_GALERKIN_H
#include "precond/amg/galerkin/row_accumulation.h"
#include "precond/amg/systems/near_null.h"
#include <string.h>

typedef struct tct_block_product {
    const tacit_matrix *A;
    const tct_aggregates *G;
    int64_t *starts;   /* [size + 1] first aggregate of each rank            */
    tct_members m;     /* own rows by aggregate, remote ones last */
    tct_halo columns;  /* of A                                               */
    int64_t *ghost_of; /* [its ghosts] global aggregate, -1: none            */
    int64_t
        *ghost_place; /* [its ghosts] reached number, -1                    */
    double
        *ghost_weight; /* [its ghosts][width]                                */
    tct_ghosts others; /* reached aggregates of other ranks                  */
    int64_t before;    /* those of lower ranks among the others              */
    int64_t
        *share_place; /* [remote aggregates] reached number                 */
    tct_halo share;   /* of the remote aggregates of own rows               */
    tct_halo_lists
        mine; /* for each of them a block row: global aggregates, then blocks */
    tct_halo_lists theirs; /* the same from other ranks for own aggregates:
                            * reached aggregates */
    tct_members in; /* [coarse] lists of `theirs`                        */
    int64_t *ptr;   /* [coarse + 1] blocks                               */
    tct_csr out;
} tct_block_product;

/* Own and remote aggregates of own rows. */
static inline int64_t tct_block_sets(const tct_block_product *g)
{
    return g->G->coarse + g->G->others.count;
}

/* Reached aggregates in rank order: those of lower ranks, this rank's, those of
 * higher ranks. This is their number. */
static inline int64_t tct_block_reached(const tct_block_product *g)
{
    return g->G->coarse + g->others.count;
}

/* Blocks in a list of `words`. */
static inline int64_t tct_block_count(const tct_block_product *g, int64_t words)
{
    return words / (1 + (int64_t)g->G->width * g->G->width);
}

/* Read and write the number in a word. */
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

/* Fetch the data of ghosts and find the aggregates that own rows reach.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_block_open(tct_block_product *g);
/* Allocate the remote block rows; their block counts are in g->mine.begin
 * [remote + 1]. Errors NO_MEMORY. */
tacit_status tct_block_make_room(tct_block_product *g);
/* Send the remote block rows, with global aggregates, to their ranks; the
 * received aggregates count as reached.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_block_trade(tct_block_product *g);
void tct_block_close(tct_block_product *g);

#endif
