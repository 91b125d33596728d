/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/import.h - from imported supernodes to a factor. */
#ifndef TCT_FACTOR_IMPORT_IMPORT_H
#define TCT_FACTOR_IMPORT_IMPORT_H
#include "factor/factor.h"
#include <tacit/foreign.h>

/* Map `count` fronts to the nodes of a binary tree of `leaves`, so that a
 * front's node is that of its descendants or above it. `up`: parents, larger
 * than their children, -1: root.
 *   weight  [count], balanced between leaves
 * Errors      NO_MEMORY. */
tacit_status tct_forest_split(int32_t count, const int32_t *up,
                              const double *weight, int leaves, int32_t *node);

/* Names of L, U and D in messages, and the number of the first row. */
typedef struct tct_import_names {
    const char *lower, *upper, *diagonal;
    int base;
} tct_import_names;

/* As tacit_factor_import. */
tacit_status tct_import(const tacit_factor_columns *columns,
                        const tct_import_names *names,
                        const tacit_factor_options *options,
                        tacit_factor **out);

/* Add the rows that fronts lack from their children, unless entries grow by
 * more than half. `of` [rows]: front of each.
 * Errors      NO_MEMORY. */
tacit_status tct_import_close(tct_fronts *F, const int32_t *of);

/* Create a factor with zero values from fronts `F` with rows, count, first,
 * start, below (ascending) and nonzeros. Closes the fronts of a complete factor
 * and sets parents and tree nodes. `original`
 * [rows] may be NULL.
 * Errors      INVALID (options), NO_MEMORY. */
tacit_status tct_import_begin(tct_fronts *F, tacit_factor_kind kind,
                              const int32_t *original,
                              const tacit_factor_options *options,
                              tacit_factor **out);

/* Store `count` entries of column `j` of front `f` into `to`, the values of L
 * or U': rows ascend from j and belong to the front. */
void tct_import_put(const tacit_factor *L, double *to, int32_t f, int64_t j,
                    int64_t count, const int32_t *row, const double *value);

/* Check the completed factor; destroys it on failure.
 * Errors      INPUT, NO_MEMORY. */
tacit_status tct_import_end(tacit_factor **factor);

#endif
