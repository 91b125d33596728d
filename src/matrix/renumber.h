/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/renumber.h - from original to current numbers of rows. */
#ifndef TCT_MATRIX_RENUMBER_H
#define TCT_MATRIX_RENUMBER_H
#include "matrix/matrix.h"

/* Replace `count` original numbers of rows or columns, which are in range, by
 * current ones.
 * Collective.
 * Memory    8 bytes a row, if rows have moved.
 * Errors    NO_MEMORY, COMM. */
tacit_status tct_current_numbers(const tacit_matrix *m, int64_t count,
                                 int64_t *numbers);

#endif
