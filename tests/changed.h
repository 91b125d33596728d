/* SPDX-License-Identifier: BSD-3-Clause
 * tests/changed.h - matrices by formula with one change: for the tests of new
 * values. */
#ifndef TEST_CHANGED_H
#define TEST_CHANGED_H
#include "rows.h"

/* An entry left out, or one more. */
static struct {
    row_fn base;
    int64_t row, col; /* row -1: none */
    bool more;
} change;

/* Row `i` of the base, which has `count` entries, with the change. */
static inline int change_entry(int64_t i, int count, int64_t *cols,
                               double *vals)
{
    if (i != change.row) return count;
    if (change.more) {
        cols[count] = change.col;
        vals[count++] = 0.5;
    }
    for (int k = 0; k < count && !change.more; k++) {
        if (cols[k] != change.col) continue;
        cols[k] = cols[--count];
        vals[k] = vals[count];
    }
    return count;
}

static inline bool stored(row_fn row, int64_t n, int64_t i, int64_t j)
{
    int64_t cols[MOST];
    double vals[MOST];
    const int count = row(n, i, cols, vals);
    for (int k = 0; k < count; k++)
        if (cols[k] == j) return true;
    return false;
}

#endif
