/* SPDX-License-Identifier: BSD-3-Clause
 * tests/patterns.h - permutations, and matrices with known graphs, to test
 * orderings. */
#ifndef TESTS_PATTERNS_H
#define TESTS_PATTERNS_H
#include "rows.h"

/* Places of 0 to n - 1 in disorder, the same on every rank. */
static inline int32_t *disorder(int64_t n, uint64_t seed)
{
    int32_t *at = malloc(((size_t)n + 1) * sizeof *at);
    assert_non_null(at);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j =
            (int64_t)(tct_uniform(seed, (uint64_t)i) * (double)(i + 1));
        const int32_t one = at[i];
        at[i] = at[j];
        at[j] = one;
    }
    return at;
}

static inline int32_t *inverse(const int32_t *at, int64_t n)
{
    int32_t *was = malloc(((size_t)n + 1) * sizeof *was);
    assert_non_null(was);
    for (int64_t i = 0; i < n; i++) was[at[i]] = (int32_t)i;
    return was;
}

/* Five points on a grid that is 40 wide. */
enum { ACROSS = 40 };
static inline int grid_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int64_t x = i % ACROSS;
    const int64_t to[] = {i - ACROSS, x > 0 ? i - 1 : -1, i,
                          x < ACROSS - 1 ? i + 1 : -1, i + ACROSS};
    int count = 0;
    for (int k = 0; k < 5; k++) {
        if (to[k] < 0 || to[k] >= n) continue;
        cols[count] = to[k];
        vals[count++] = to[k] == i ? 4.5 : -1;
    }
    return count;
}

/* Lines of 1 to 9 points, and every 11th row empty. */
static inline int pieces_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    if (i % 11 == 10) return 0;
    for (int64_t j = i - 1; j <= i + 1; j++) {
        if (j < 0 || j >= n || j / 11 != i / 11 || j % 11 == 10) continue;
        cols[count] = j;
        vals[count++] = i == j ? 2 : -1;
    }
    return count;
}

static inline int own_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    cols[0] = i;
    vals[0] = (double)(2 + i % 5);
    return 1;
}

/* All know the last one: more neighbours than are sorted by insertion. */
static inline int star_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    if (i < n - 1) cols[count++] = i;
    for (int64_t j = 0; j < n - 1 && i == n - 1; j++) cols[count++] = j;
    cols[count++] = n - 1;
    for (int k = 0; k < count; k++)
        vals[k] = cols[k] == i ? (double)(i == n - 1 ? n : 2) : -1;
    return count;
}

#endif
