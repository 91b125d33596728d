/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/rows.h - solves L L' y = x on a GPU row by row, in one launch:
 * for factors with few entries in a row, such as incomplete ones, whose panels
 * are small. Any dependencies between rows are possible.
 *
 * [Liu16] Liu, Li, Hogg, Duff and Vinter, "A synchronization-free algorithm for
 *         parallel sparse triangular solves", Euro-Par 2016. */
#ifndef TCT_TRISOLVE_GPU_ROWS_H
#define TCT_TRISOLVE_GPU_ROWS_H
#include "device/queue.h"
#include <tacit/factor.h>

typedef struct tct_rows tct_rows;

/* A solver on the device of `q`, for panels of kind LLT or IC0. Row k of the
 * factor is element place[k] of vectors; NULL: the original row.
 * Errors    UNSUPPORTED (another kind, no CUDA), NO_MEMORY, DEVICE. */
tacit_status tct_rows_create(tacit_queue *q, const tacit_factor_panels *P,
                             const int32_t *place, tct_rows **out);
void tct_rows_destroy(tct_rows **rows); /* *rows may be NULL */

/* Enqueue y = (L L')^-1 x on the stream of `q`; x and y are different vectors
 * on the device. One solve runs at a time; it may be recorded. After a timeout
 * of seconds, which means a fault, y has NaN and the next call fails.
 * Errors    DEVICE. */
tacit_status tct_rows_solve(const tct_rows *R, tacit_queue *q, const double *x,
                            double *y);

typedef struct tct_rows_info {
    int32_t levels[2]; /* of L and of L'; a node's rows count once */
    double bytes;      /* of the stored matrix */
    int block;         /* rows of a node */
    int lanes;         /* of a row */
    int warps;         /* started */
} tct_rows_info;
tct_rows_info tct_rows_about(const tct_rows *R);

/* DEVICE after a timeout. */
tacit_status tct_rows_status(const tct_rows *R);

#endif
