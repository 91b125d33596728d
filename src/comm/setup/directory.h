/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/directory.h - a distributed table of 8-byte words (int64_t or
 * double): rank r has words [starts[r], starts[r + 1]). */
#ifndef TCT_COMM_SETUP_DIRECTORY_H
#define TCT_COMM_SETUP_DIRECTORY_H
#include "comm/world/world.h"

/* Look up `count` words by their `numbers`; `answers` may be `numbers`.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_directory_get(tacit_world *world, const int64_t *starts,
                               const void *table, int64_t count,
                               const int64_t *numbers, void *answers);

/* The same for a table of rows of `width` words, of which rank r has rows
 * [starts[r], starts[r + 1]): the `count` rows `numbers`, into `answers`
 * [count][width].
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_directory_get_rows(tacit_world *world, const int64_t *starts,
                                    int64_t width, const void *table,
                                    int64_t count, const int64_t *numbers,
                                    void *answers);

/* Set `count` words by their `numbers`; no word is set twice.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_directory_set(tacit_world *world, const int64_t *starts,
                               void *table, int64_t count,
                               const int64_t *numbers, const void *values);

#endif
