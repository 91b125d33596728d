/* SPDX-License-Identifier: BSD-3-Clause
 * graph/levels.c - levels of the rows of a triangular matrix. */
#include "graph/levels.h"
#include "device/parallel.h"
#include <string.h>

/* For nodes of `block` rows, a constant in each call. */
static inline int32_t find(int64_t n, const int64_t *start, const int32_t *row,
                           int32_t block, bool up, int32_t *level)
{
    int32_t most = -1;
    for (int64_t k = 0; k < n; k++) {
        const int64_t j = up ? n - 1 - k : k, node = j / block;
        int32_t own = level[node];
        for (int64_t e = start[j]; e < start[j + 1]; e++) {
            const int32_t i = row[e] / block;
            if (i == node) continue;
            if (up && level[i] >= own) own = level[i] + 1;
            if (!up && level[i] <= own) level[i] = own + 1;
        }
        level[node] = own;
        if (own > most) most = own;
    }
    return most + 1;
}

int32_t tct_levels_find(int64_t n, const int64_t *start, const int32_t *row,
                        int block, bool up, int32_t *level)
{
    if (block == 1) return find(n, start, row, 1, up, level);
    return find(n, start, row, block, up, level);
}

/* The number of pieces of rows; each has a counter for every level, so few
 * levels allow more pieces. */
static int64_t pieces_of(int64_t n, int32_t levels)
{
    const int64_t most = n / (4 * ((int64_t)levels + 1)),
                  threads = tct_parallel_most();
    return most < 1 ? 1 : most < threads ? most : threads;
}

/* Offsets of the first row of each level in piece p: at[p levels + l]. */
static void find_places(int64_t pieces, int32_t levels, int64_t *at,
                        int64_t *first)
{
    int64_t before = 0;
    for (int32_t l = 0; l < levels; l++) {
        first[l] = before;
        for (int64_t p = 0; p < pieces; p++) {
            const int64_t count = at[p * levels + l];
            at[p * levels + l] = before;
            before += count;
        }
    }
    first[levels] = before;
}

typedef struct {
    int64_t n, pieces;
    const int32_t *level;
    int32_t levels, *sorted;
    int64_t *at; /* [pieces][levels] */
} sorting;

/* How many rows of each level piece p has. */
static void count_rows(void *work, int64_t p)
{
    const sorting *s = work;
    int64_t *count = s->at + p * s->levels;
    memset(count, 0, (size_t)s->levels * sizeof *count);
    for (int64_t i = s->n * p / s->pieces; i < s->n * (p + 1) / s->pieces; i++)
        count[s->level[i]]++;
}

static void place_rows(void *work, int64_t p)
{
    const sorting *s = work;
    int64_t *at = s->at + p * s->levels;
    for (int64_t i = s->n * p / s->pieces; i < s->n * (p + 1) / s->pieces; i++)
        s->sorted[at[s->level[i]]++] = (int32_t)i;
}

tacit_status tct_levels_sort(int64_t n, const int32_t *level, int32_t levels,
                             int32_t *sorted, int64_t *first)
{
    sorting s = {n, pieces_of(n, levels), level, levels, sorted, NULL};
    TRY(TCT_ALLOC(s.pieces * levels, "rows by level", &s.at));
    tct_parallel_each((int)s.pieces, count_rows, &s);
    find_places(s.pieces, levels, s.at, first);
    tct_parallel_each((int)s.pieces, place_rows, &s);
    tct_free(s.at);
    return TACIT_OK;
}
