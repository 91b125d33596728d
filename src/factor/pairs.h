/* SPDX-License-Identifier: BSD-3-Clause
 * factor/pairs.h - pairs of rows that are to be pivots of 2 x 2, from the
 * matching of a symmetric matrix [DP05].
 *
 * [DP05] Duff and Pralet, "Strategies for scaling and pivoting for sparse
 *        symmetric indefinite problems", SIAM J. Matrix Anal. Appl. 27 (2005). */
#ifndef TCT_FACTOR_PAIRS_H
#define TCT_FACTOR_PAIRS_H
#include "factor/factor.h"

/* Rows in groups: a single row, a pair, or a pair and a row without a diagonal
 * entry of its own. A group is a node of a graph. */
typedef struct tct_pairs {
    int32_t *row;  /* [3 nodes] a pair comes first; -1: none       */
    int32_t *node; /* [rows] the group of each                     */
    int64_t nodes;
    int64_t *ptr;  /* [nodes + 1] neighbours of each and itself    */
    int32_t *next; /* [ptr[nodes]] ascending                       */
} tct_pairs;

/* From the matching of symmetric `A`, which becomes a scaling: its rows keep
 * their places, and row and column scales are equal, for 2^-exponent `A`.
 * Errors      NO_MEMORY. */
tacit_status tct_pairs_create(const tct_csr *A, int exponent,
                              tct_matching *match, tct_pairs *out);
void tct_pairs_clear(tct_pairs *p);

/* 2^-exponent `A`, scaled; the rows of a group have the same columns.
 * Errors      NO_MEMORY. */
tacit_status tct_entries_paired(const tct_csr *A, int exponent,
                                const tct_matching *match, const tct_pairs *p,
                                tct_entries *out);
/* An order of rows in which those of a group are neighbours.
 * Errors      as tct_nesting_by. */
tacit_status tct_pairs_order(const tct_pairs *p, tct_rows_order order,
                             int leaves, tct_nesting *out);
/* In each front pairs come first, so that panels of an even width cut none.
 * Errors      NO_MEMORY. */
tacit_status tct_pairs_arrange(const tct_pairs *p, tct_nesting *x,
                               tct_fronts *F);

#endif
