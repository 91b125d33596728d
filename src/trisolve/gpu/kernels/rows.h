/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/rows.h - the kernel of trisolve/gpu/rows.h.
 *
 * Rows are in the order of their level; some lanes, or one, have a row, and
 * their warp those that follow one another (sliced.h). An element of the
 * solution is a number that no arithmetic makes until it is there: who reads it
 * has it, or reads again, without a flag or a fence. Warps take their share of
 * rows in order, all of L and then of L', and never more warps are started than
 * the GPU holds: the first row that is missing is always some running warp's
 * next one. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_ROWS_H
#define TCT_TRISOLVE_GPU_KERNELS_ROWS_H
#include "device/gpu/gpu.h"
#include "trisolve/gpu/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* L or L', rows in an order of their own: as many as a warp has are a slice. */
typedef struct tct_rows_side {
    const int64_t *cell;   /* [slices + 1] first of 32 entries, a lane each */
    const int32_t *col;    /* [32 cells] in this order; -1: no entry, or of
                              the row's own node                            */
    const double *val;     /* [32 cells]                                    */
    const double *inverse; /* [n]                                         */
    const int32_t *at;     /* [n] element of x, of L, or of y, of L'      */
} tct_rows_side;

typedef struct tct_rows_kernel {
    int64_t n, slices;
    int block; /* rows of a node, which are solved as one      */
    int lanes; /* of a row: they share its entries             */
    int rows;  /* of a slice, whole nodes                      */
    int near;  /* 1: the first cell of a slice has entries within nodes */
    int warps; /* that find work at a time: more only wait     */
    tct_rows_side down, up;
    const int32_t *own; /* [n] which row of `down` a row of `up` is */
    double *t;          /* [n] L^-1 x, and between solves unset     */
    double *u[2];       /* [n] y, taken in turn; the other is unset */
    uint64_t *solves;   /* so far: whose turn it is                 */
    unsigned *ticket;   /* of blocks that are through               */
    volatile int *late; /* of the host: a row has waited too long   */
} tct_rows_kernel;

/* Threads of a block, and how many blocks a multiprocessor holds at once. */
enum { TCT_ROWS_THREADS = 128 };
int tct_rows_resident(bool nodes);
void tct_rows_launch(tacit_queue *q, const tct_rows_kernel *k, int blocks,
                     const double *x, double *y);
/* Let t and u be unset. */
void tct_rows_unset(tacit_queue *q, const tct_rows_kernel *k);
/* For kernels that solve as a part of more (rows.cuh). */
const tct_rows_kernel *tct_rows_kernel_of(const tct_rows *R);

#ifdef __cplusplus
}
#endif
#endif
