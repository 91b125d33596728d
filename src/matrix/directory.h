/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/directory.h - a table of 8-byte words (int64_t or double) that is
 * spread over the ranks: rank r keeps words [starts[r], starts[r + 1]). */
#ifndef TCT_MATRIX_DIRECTORY_H
#define TCT_MATRIX_DIRECTORY_H
#include "matrix/matrix.h"

/* Look up `count` words by their `numbers`; `answers` may be `numbers`.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_ask(tacit_world *world, const int64_t *starts,
                     const void *table, int64_t count, const int64_t *numbers,
                     void *answers);

/* The same of a table of rows of `width` words each, of which rank r keeps rows
 * [starts[r], starts[r + 1]): the `count` rows `numbers`, into `answers`
 * [count][width].
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_ask_rows(tacit_world *world, const int64_t *starts,
                          int64_t width, const void *table, int64_t count,
                          const int64_t *numbers, void *answers);

/* Set `count` words by their `numbers`; no word is set twice.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_tell(tacit_world *world, const int64_t *starts, void *table,
                      int64_t count, const int64_t *numbers,
                      const void *values);

/* Entries that tct_ask_columns may be asked for at once. */
enum { TCT_COLUMN_BATCH = 1 << 20 };

/* Look up the columns of entries [from, to) of `m` in a `table` [A.rows] that
 * goes with the present numbering: `answers` and `scratch` are [to - from].
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_ask_columns(const tacit_matrix *m, int64_t from, int64_t to,
                             const int64_t *table, int64_t *answers,
                             int64_t *scratch);

#endif
