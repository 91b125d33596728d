/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/ask_columns.h - looks up a table by column, which is distributed like
 * the rows of a matrix. */
#ifndef TCT_MATRIX_ASK_COLUMNS_H
#define TCT_MATRIX_ASK_COLUMNS_H
#include "matrix/matrix.h"

/* Entries in one call of tct_ask_columns, at most. */
enum { TCT_COLUMN_BATCH = 1 << 20 };

/* Look up the columns of entries [from, to) of `m` in a `table` [A.rows], in
 * the current numbering: `answers` and `scratch` are [to - from].
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_ask_columns(const tacit_matrix *m, int64_t from, int64_t to,
                             const int64_t *table, int64_t *answers,
                             int64_t *scratch);

#endif
