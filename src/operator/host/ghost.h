/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/ghost.h - the block of columns that other ranks own. */
#ifndef TCT_OPERATOR_HOST_GHOST_H
#define TCT_OPERATOR_HOST_GHOST_H
#include "device/queue.h"

typedef struct tct_ghost_block {
    tct_block base;
    int64_t rows; /* rows with entries */
    int32_t *row; /* [rows]     */
    int64_t *ptr; /* [rows + 1] */
    int32_t *col; /* [nonzeros] */
    double *val;  /* [nonzeros] */
} tct_ghost_block;

/* y += |B| |g| for the rows of the ghost block `B` and ghosts g. */
void tct_ghost_add_magnitude(const tct_block *B, const double *g, double *y);

/* Copy the ghost block `B` to a GPU; update its values.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_ghost_upload(const tct_block *B, tct_block **out);
tacit_status tct_ghost_upload_values(const tct_block *B, tct_block *there);

#endif
