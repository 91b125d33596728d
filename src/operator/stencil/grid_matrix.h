/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/grid_matrix.h - a rank's rows as cells of a grid: set up
 * from a place in the grid, found in a matrix, compared with new values. */
#ifndef TCT_OPERATOR_STENCIL_GRID_MATRIX_H
#define TCT_OPERATOR_STENCIL_GRID_MATRIX_H
#include "operator/format.h"
#include "operator/stencil/grid_rows.h"

/* A grid, x fastest, and the cell of it that row 0 is. */
typedef struct tct_grid_place {
    int64_t n[3]; /* 0: none */
    int64_t first;
} tct_grid_place;

/* All members of `rows` rows but box and coefficients. False: numbers exceed 32
 * bits. */
bool tct_grid_open(const tct_grid_place *at, int64_t rows, tct_grid_rows *out);

/* Find the stencil of `A`, whose rows would be at `at`. NULL, or the reason why
 * it has none. */
const char *tct_grid_find(const tct_grid_place *at, const tct_local *A,
                          tct_grid_rows *out);

/* Take the coefficients of `A`, which has as many rows as the grid.
 * Errors      INVALID, through tct_pattern_differs; UNSUPPORTED (coefficients
 *             differ from row to row). `g` stays then. */
tacit_status tct_grid_refill(tct_grid_rows *g, const tct_local *A);

/* Entries of all rows. */
int64_t tct_grid_entries(const tct_grid_rows *g);

/* "7 points", "a line of 3". */
void tct_grid_describe(const tct_grid_rows *g, char *text, size_t size);

#endif
