/* SPDX-License-Identifier: BSD-3-Clause
 * graph/levels.h - which rows of a triangle wait for which: one of level 0
 * waits for none, another is of the level after the last of those that it waits
 * for. */
#ifndef TCT_GRAPH_LEVELS_H
#define TCT_GRAPH_LEVELS_H
#include "base/base.h"

/* The level of each of n rows into `level`, which is 0 so far; how many levels
 * there are. Column j of L has rows row[start[j]] to row[start[j + 1] - 1], all
 * of them j or above it; `up`: the rows are those of L'. With `block` rows that
 * follow one another as a node, the level of each of n / block nodes, which
 * waits for others, not for itself. */
int32_t tct_levels_find(int64_t n, const int64_t *start, const int32_t *row,
                        int block, bool up, int32_t *level);

/* The rows by level, those of one ascending, into `sorted` [n]; level l has
 * those from first[l] to first[l + 1] - 1, `first` [levels + 1].
 * Errors      NO_MEMORY. */
tacit_status tct_levels_sort(int64_t n, const int32_t *level, int32_t levels,
                             int32_t *sorted, int64_t *first);

#endif
