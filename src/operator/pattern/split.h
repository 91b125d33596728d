/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/split.h - the rows of a rank divided by column: its own, and
 * those of other ranks. */
#ifndef TCT_OPERATOR_PATTERN_SPLIT_H
#define TCT_OPERATOR_PATTERN_SPLIT_H
#include "operator/format.h"
#include "sparse/csr.h"

typedef struct tct_parts {
    tct_local local;
    int64_t ghosts;     /* distinct columns of other ranks            */
    int64_t *ghost_id;  /* [ghosts] global, ascending                 */
    int64_t ghost_rows; /* rows with such columns                     */
    int32_t *ghost_row; /* [ghost_rows] local row numbers, ascending  */
    int64_t *ghost_ptr; /* [ghost_rows + 1]                           */
    int32_t *ghost_col; /* [ghost_ptr[ghost_rows]] into ghost_id      */
    double *ghost_val;
} tct_parts;

/* Divide `A`, whose arrays move into `out` (also on failure, when
 * tct_parts_clear frees them); works in place, with extra memory for the ghost
 * part. Of arrays that others have, too, the own entries are copied, and `A` is
 * cleared.
 * Errors      NO_MEMORY. */
tacit_status tct_split(tct_team *team, tct_csr *A, tct_parts *out);
/* The same of a rank's rows that have no columns of others, in 32 bits from 0
 * on: nothing moves, and `A`, which must outlive `out`, keeps its arrays. */
void tct_split_lent(tct_csr *A, tct_parts *out);
void tct_parts_clear(tct_parts *parts);

/* --- host/ghost.c -------------------------------------------------------- */

/* The ghost block of `parts`, which gives its arrays to the block. Errors
 * NO_MEMORY. */
tacit_status tct_ghost_create(tct_parts *parts, tct_block **out);
/* The first entry in which the ghost block `B` (NULL: no such columns), whose
 * columns have the global numbers `ids`, and the ghost part of `parts` differ;
 * its column is global. */
tct_difference tct_ghost_compare(const tct_block *B, const int64_t *ids,
                                 const tct_parts *parts);
/* The same on the device of `q`: `B` itself on the host.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_ghost_bring(tacit_queue *q, tct_block *B,
                             tct_block **on_device);
/* New values from `parts`, which has the same pattern. Errors DEVICE. */
tacit_status tct_ghost_refill(tct_block *B, tct_block *on_device,
                              const tct_parts *parts);

#endif
