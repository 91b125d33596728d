/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/ghost_numbers.h - the distinct columns of ghost entries. */
#ifndef TCT_OPERATOR_PATTERN_GHOST_NUMBERS_H
#define TCT_OPERATOR_PATTERN_GHOST_NUMBERS_H
#include "operator/pattern/split.h"

/* Find the distinct numbers of `id` [entries], at least one, for p->ghosts and
 * p->ghost_id, and the place of each entry's among them for p->ghost_col, which
 * is allocated. `spare` [entries] is overwritten.
 * Errors      NO_MEMORY. */
tacit_status tct_number_ghosts(tct_team *team, int64_t entries,
                               const int64_t *id, int64_t *spare, tct_parts *p);

#endif
