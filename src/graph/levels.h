/* SPDX-License-Identifier: BSD-3-Clause
 * graph/levels.h - levels of the rows of a triangular matrix: a row without
 * dependencies has level 0, any other is one above the highest level it depends
 * on. */
#ifndef TCT_GRAPH_LEVELS_H
#define TCT_GRAPH_LEVELS_H
#include "base/base.h"

/* Set `level` [n], initially 0; returns the number of levels. Column j of L has
 * rows row[start[j]] to row[start[j + 1] - 1], all at least j; `up`: levels of
 * L'. If block > 1, `block` consecutive rows are a node, and `level` is of n /
 * block nodes; dependencies within a node do not count. */
int32_t tct_levels_find(int64_t n, const int64_t *start, const int32_t *row,
                        int block, bool up, int32_t *level);

/* Sort the rows by level, ascending within a level, into `sorted` [n]; level l
 * has those from first[l] to first[l + 1] - 1, `first` [levels + 1].
 * Errors    NO_MEMORY. */
tacit_status tct_levels_sort(int64_t n, const int32_t *level, int32_t levels,
                             int32_t *sorted, int64_t *first);

#endif
