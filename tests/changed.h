/* SPDX-License-Identifier: BSD-3-Clause
 * tests/changed.h - matrices by formula with one change, to test new values. */
#ifndef TESTS_CHANGED_H
#define TESTS_CHANGED_H
#include "rows.h"

/* An entry left out, or one more. */
static _Thread_local struct {
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

/* Is entry (i, j) too few or too many named? For a test to say. */
typedef void (*expect_fn)(tacit_queue *q, const char *format, row_fn base,
                          int64_t n, int64_t piece, int64_t i, int64_t j);

/* Of the shuffled grid in `format`, in each of `rows`: an entry left out, near
 * and far ones; one more. */
static inline void expect_each_named(expect_fn expect_named, tacit_queue *q,
                                     const char *format, int count,
                                     const int64_t *rows)
{
    for (int r = 0; r < count; r++) {
        int64_t cols[MOST];
        double vals[MOST];
        const int64_t i = rows[r];
        const int there = shuffled_grid_row(GRID, i, cols, vals);
        for (int e = 0; e < there; e++)
            expect_named(q, format, shuffled_grid_row, GRID, 1, i, cols[e]);
        for (int64_t j = 3; j < GRID; j += 311)
            if (!stored(shuffled_grid_row, GRID, i, j))
                expect_named(q, format, shuffled_grid_row, GRID, 1, i, j);
    }
}

#endif
