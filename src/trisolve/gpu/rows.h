/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/rows.h - L L' y = x on a GPU row by row, in one launch: for rows
 * of few entries, as incomplete factors have them, of which panels are small;
 * it asks nothing of how rows depend on one another.
 *
 * [Liu16] Liu, Li, Hogg, Duff and Vinter, "A synchronization-free algorithm for
 *         parallel sparse triangular solves", Euro-Par 2016: rows wait for those
 *         before them, and nothing else does. */
#ifndef TCT_TRISOLVE_GPU_ROWS_H
#define TCT_TRISOLVE_GPU_ROWS_H
#include "device/queue.h"
#include <tacit/factor.h>

typedef struct tct_rows tct_rows;

/* On the device of `q`, of panels of kind LLT or IC0. Row k of the factor is
 * element place[k] of vectors; NULL: its original one.
 * Errors      UNSUPPORTED (another kind, no CUDA), NO_MEMORY, DEVICE. */
tacit_status tct_rows_create(tacit_queue *q, const tacit_factor_panels *P,
                             const int32_t *place, tct_rows **out);
void tct_rows_destroy(tct_rows **rows); /* NULL in it is fine */

/* Enqueue y = (L L')^-1 x on the stream of `q`, vectors on the device, which
 * are not the same; not two at once. It may stand in a recording. Where rows
 * wait for seconds, which they never should, y has NaN, and the next call of it
 * fails.
 * Errors      DEVICE. */
tacit_status tct_rows_solve(const tct_rows *R, tacit_queue *q, const double *x,
                            double *y);

typedef struct tct_rows_info {
    int32_t levels[2]; /* of L and of L', the longest way to a row without
                          entries; rows of a node count once               */
    double bytes;      /* of the matrix, as it is stored                   */
    int block;         /* rows of a node, which wait for others together   */
    int lanes;         /* that share a row                                 */
    int warps;         /* that are started                                 */
} tct_rows_info;
tct_rows_info tct_rows_about(const tct_rows *R);

/* DEVICE once rows have waited for seconds. */
tacit_status tct_rows_status(const tct_rows *R);

#endif
