/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/level_slices.h - L and L' as trisolve/gpu/kernels/rows.h reads
 * them: rows sorted by level, in slices of GPU_WAVE lanes; one lane has a row, or
 * several take its entries in turn. A node is a run of rows with the same
 * dependencies, such as the unknowns of a point: it has one level, its rows are
 * adjacent in a slice, and its own entries are stored separately. A slice is as
 * long as its longest row. Slices are built in host memory, piece by piece. */
#ifndef TCT_TRISOLVE_GPU_LEVEL_SLICES_H
#define TCT_TRISOLVE_GPU_LEVEL_SLICES_H
#include "device/wave.h"
#include <tacit/factor.h>

enum { TCT_SLICED_LANES = GPU_WAVE, TCT_NODE_MOST = 6 /* rows of a node */ };

/* L or L'. Row i has entries [ptr[i] + skip, ptr[i + 1]). */
typedef struct tct_sliced_side {
    const int64_t *ptr; /* [n + 1] */
    const int32_t *col;
    const double *val;
    int skip;          /* 1: the diagonal comes first */
    int32_t *row;      /* [n] rows by level; within a node, in the order of the
                        * solve */
    int32_t *position; /* [n] the inverse of `row` */
    int64_t *cell;     /* [slices + 1] of GPU_WAVE entries */
    int32_t levels;    /* of nodes                                */
} tct_sliced_side;

typedef struct tct_sliced {
    int64_t n, slices;
    int block; /* rows of a node                              */
    int lanes; /* of a row; a power of two if block is 1 */
    int rows;  /* of a slice, a multiple of `block` */
    int near;  /* 1: the first cell of a slice has the nodes' own entries: lane
                * k of a row has the entry of row k of its node, in the order of
                * the solve */
    tct_sliced_side down, up; /* L, and L', which has the diagonal */
    void *own[6];             /* arrays that are not the factor's */
} tct_sliced;

/* Slices of `P`, of kind LLT or IC0, borrowed until tct_sliced_close; zeros of
 * wide panels are dropped.
 * Errors    NO_MEMORY. */
tacit_status tct_sliced_open(const tacit_factor_panels *P, tct_sliced *out);
void tct_sliced_close(tct_sliced *S);

/* level_rows.c: the rows of `down` from those of `up`, and the levels of both,
 * `level` [2 n], which are 0 before.
 * Errors    NO_MEMORY. */
tacit_status tct_sliced_transpose(tct_sliced *S, int32_t *level);

/* Columns, as positions, and values of slices [from, end), stored from the head
 * of `col` and `val`; either may be NULL. Columns of near cells and of padding
 * are -1; values of padding are 0. */
void tct_sliced_fill(const tct_sliced *S, const tct_sliced_side *side,
                     int64_t from, int64_t end, int32_t *col, double *val);

#endif
