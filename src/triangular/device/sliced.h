/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/sliced.h - L and L' as triangular/device/gpu/rows.h has them: rows in
 * the order of their levels, in slices of 32 lanes, one a row, or some, which take its
 * entries in turn. A slice is as long as its longest row. Made in host memory, slices
 * piece by piece. */
#ifndef TCT_SLICED_H
#define TCT_SLICED_H
#include <tacit/factor.h>

enum { TCT_SLICED_LANES = 32 };

/* L or L'. Row i has entries [ptr[i] + skip, ptr[i + 1]). */
typedef struct tct_sliced_side {
    const int64_t *ptr; /* [n + 1] */
    const int32_t *col;
    const double *val;
    int skip;          /* 1: the first one is the diagonal's     */
    int32_t *row;      /* [n] in the order of levels              */
    int32_t *position; /* [n] the other way round                 */
    int64_t *cell;     /* [slices + 1] 32 entries each, from 0 on */
    int32_t levels;
} tct_sliced_side;

typedef struct tct_sliced {
    int64_t n, slices;
    int lanes;                /* of a row, a power of two */
    tct_sliced_side down, up; /* L, and L', whose diagonals are in `up` */
    void *own[6];             /* arrays that are not the factor's        */
} tct_sliced;

/* Of `P`, of kind LLT or IC0, which is borrowed until it is closed; zeros of wide
 * panels are left out.
 * Errors      NO_MEMORY. */
tacit_status tct_sliced_open(const tacit_factor_panels *P, tct_sliced *out);
void tct_sliced_close(tct_sliced *S);

/* Columns, as positions, and values of slices [from, end), the first at the head of
 * `col` and `val`, either of which may be NULL: where a row ends -1 and 0. */
void tct_sliced_fill(const tct_sliced *S, const tct_sliced_side *side,
                     int64_t from, int64_t end, int32_t *col, double *val);

#endif
