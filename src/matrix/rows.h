/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/rows.h - checks of the rows that a caller gives. */
#ifndef TCT_MATRIX_ROWS_H
#define TCT_MATRIX_ROWS_H
#include "matrix/matrix.h"

/* The rows of a rank: [first, first + rows) of global_rows. */
typedef struct tct_range {
    int64_t global_rows, first, rows;
} tct_range;

/* Rows as given: integers of one of both widths, the other arrays NULL. */
typedef struct tct_rows_given {
    const int64_t *ptr64, *cols64;
    const int32_t *ptr32, *cols32;
    const double *vals;
} tct_rows_given;

static inline int64_t tct_row_start(const tct_rows_given *g, int64_t i)
{
    return g->ptr64 ? g->ptr64[i] : g->ptr32[i];
}

static inline int64_t tct_row_col(const tct_rows_given *g, int64_t k)
{
    return g->cols64 ? g->cols64[k] : g->cols32[k];
}

/* Check that the ranges of all ranks follow one another and cover all rows.
 * Collective.  Errors INVALID. */
tacit_status tct_ranges_check(tacit_world *world, tct_range mine);

/* Check starts and columns of this rank's rows.
 * Errors    INVALID, INPUT (a column out of range). */
tacit_status tct_rows_check(tct_range r, const tct_rows_given *g);

/* Fail with INPUT at a value that is not finite; duplicates have been added. */
tacit_status tct_rows_finite(const tct_csr *A);

#endif
