/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/import.h - from supernodes that others have made to a
 * factor. */
#ifndef TCT_FACTOR_IMPORT_IMPORT_H
#define TCT_FACTOR_IMPORT_IMPORT_H
#include "factor/factor.h"
#include <tacit/foreign.h>

/* The tree node, of a binary tree of `leaves`, of each of `count` fronts, whose
 * forest is `up` (-1: a root; a front's number is larger than those below it):
 * none is in a node that is not above, or that of, the fronts below it.
 *   weight  [count] of each, which leaves are to have alike
 * Errors      NO_MEMORY. */
tacit_status tct_forest_split(int32_t count, const int32_t *up,
                              const double *weight, int leaves, int32_t *node);

/* What messages call L, U and D, and how many the first row is there. */
typedef struct tct_import_names {
    const char *lower, *upper, *diagonal;
    int base;
} tct_import_names;

/* As tacit_factor_import. */
tacit_status tct_import(const tacit_factor_columns *columns,
                        const tct_import_names *names,
                        const tacit_factor_options *options,
                        tacit_factor **out);

/* Give fronts the rows that they lack of those below them, if that makes of two
 * entries at most three; else they stay as they are. `of` [rows] the front of
 * each.
 * Errors      NO_MEMORY. */
tacit_status tct_import_close(tct_fronts *F, const int32_t *of);

/* A factor with room for values, which are 0, of fronts `F` that have rows,
 * count, first, start, below, ascending, and nonzeros. Closes them, if it is no
 * incomplete one, and gives them their parents and tree nodes. `original`
 * [rows] may be NULL.
 * Errors      INVALID (options), NO_MEMORY. */
tacit_status tct_import_begin(tct_fronts *F, tacit_factor_kind kind,
                              const int32_t *original,
                              const tacit_factor_options *options,
                              tacit_factor **out);

/* Put `count` entries of column `j`, of front `f`, into `to`, the values of L
 * or of U': rows ascend from j on and are such as the front has. */
void tct_import_put(const tacit_factor *L, double *to, int32_t f, int64_t j,
                    int64_t count, const int32_t *row, const double *value);

/* Is it, with its values, what a factor has to be? Otherwise it is destroyed.
 * Errors      INPUT, NO_MEMORY. */
tacit_status tct_import_end(tacit_factor **factor);

#endif
