/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/level_slices.h - L and L' as trisolve/gpu/kernels/rows.h has
 * them: rows in the order of their levels, in slices of 32 lanes, one a row, or
 * some, which take its entries in turn. Rows that follow one another and wait
 * for the same others, such as the unknowns of a point, are a node: it has one
 * level, its rows stand side by side in a slice, and what it has of itself is
 * apart. A slice is as long as its longest row. Made in host memory, slices
 * piece by piece. */
#ifndef TCT_TRISOLVE_GPU_LEVEL_SLICES_H
#define TCT_TRISOLVE_GPU_LEVEL_SLICES_H
#include <tacit/factor.h>

enum { TCT_SLICED_LANES = 32, TCT_NODE_MOST = 6 /* rows of a node */ };

/* L or L'. Row i has entries [ptr[i] + skip, ptr[i + 1]). */
typedef struct tct_sliced_side {
    const int64_t *ptr; /* [n + 1] */
    const int32_t *col;
    const double *val;
    int skip;          /* 1: the first one is the diagonal's     */
    int32_t *row;      /* [n] in the order of levels, rows of a node as they
                          wait for one another                    */
    int32_t *position; /* [n] the other way round                 */
    int64_t *cell;     /* [slices + 1] 32 entries each, from 0 on */
    int32_t levels;    /* of nodes                                */
} tct_sliced_side;

typedef struct tct_sliced {
    int64_t n, slices;
    int block; /* rows of a node                              */
    int lanes; /* of a row; of one alone, a power of two      */
    int rows;  /* of a slice, whole nodes                     */
    int near;  /* 1: the first cell of a slice is of its nodes' own
                                 entries: lane k of a row has that of the row
                                 that is k behind the first one of its node  */
    tct_sliced_side down, up; /* L, and L', whose diagonals are in `up`      */
    void *own[6];             /* arrays that are not the factor's            */
} tct_sliced;

/* Of `P`, of kind LLT or IC0, which is borrowed until it is closed; zeros of
 * wide panels are left out.
 * Errors      NO_MEMORY. */
tacit_status tct_sliced_open(const tacit_factor_panels *P, tct_sliced *out);
void tct_sliced_close(tct_sliced *S);

/* Columns, as positions, and values of slices [from, end), the first at the
 * head of `col` and `val`, either of which may be NULL: in near cells, and
 * where a row ends, columns are -1, and values 0 where there is no entry. */
void tct_sliced_fill(const tct_sliced *S, const tct_sliced_side *side,
                     int64_t from, int64_t end, int32_t *col, double *val);

#endif
