/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/rows.h - the kernel of trisolve/gpu/rows.h.
 *
 * Rows are sorted by level; one or more lanes share a row, and a warp has
 * consecutive rows (level_slices.h). An unset element of the solution holds a
 * NaN that arithmetic does not produce, so a reader polls the element itself,
 * without flag or fence. Warps take rows in order, first all of L, then L', and
 * all started warps are resident: the first missing row is always the next one
 * of a running warp, so no wait is endless. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_ROWS_H
#define TCT_TRISOLVE_GPU_KERNELS_ROWS_H
#include "device/gpu/gpu.h"
#include "trisolve/gpu/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* L or L', in its own row order; the rows of one warp are a slice. */
typedef struct tct_rows_side {
    const int64_t *cell;   /* [slices + 1] first cell; a cell is 32 entries, one
                            * per lane */
    const int32_t *col;    /* [32 cells] position in this order; -1: no entry,
                            * or in the row's own node */
    const double *val;     /* [32 cells]                                    */
    const double *inverse; /* [n]                                         */
    const int32_t *at;     /* [n] element of x (L) or of y (L') */
} tct_rows_side;

typedef struct tct_rows_kernel {
    int64_t n, slices;
    int block; /* rows of a node, solved together */
    int lanes; /* of a row */
    int rows;  /* of a slice, a multiple of `block` */
    int near;  /* 1: the first cell of a slice has the entries within nodes */
    int warps; /* that have work at a time */
    tct_rows_side down, up;
    const int32_t *own; /* [n] row of `down` that a row of `up` is */
    double *t;          /* [n] L^-1 x; unset between solves */
    double *u[2];       /* [n] y, double buffer: the other is unset */
    uint64_t *solves;   /* so far; selects the buffer */
    unsigned *ticket;   /* blocks that have ended */
    volatile int *late; /* on the host: 1 after a timeout */
} tct_rows_kernel;

/* Threads of a block; resident blocks of a multiprocessor. */
enum { TCT_ROWS_THREADS = 128 };
int tct_rows_resident(bool nodes);
void tct_rows_launch(tacit_queue *q, const tct_rows_kernel *k, int blocks,
                     const double *x, double *y);
/* Set t and u to unset. */
void tct_rows_unset(tacit_queue *q, const tct_rows_kernel *k);
/* For kernels that include this solve (rows.cuh). */
const tct_rows_kernel *tct_rows_kernel_of(const tct_rows *R);

#ifdef __cplusplus
}
#endif
#endif
