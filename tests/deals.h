/* SPDX-License-Identifier: BSD-3-Clause
 * tests/deals.h - matrices with unevenly distributed rows, to test
 * partitioners. */
#ifndef TESTS_DEALS_H
#define TESTS_DEALS_H
#include "patterns.h"

static inline uint64_t mixed(uint64_t seed, int64_t i)
{
    return tct_mix(seed * 7919 + (uint64_t)i);
}

/* How rows are dealt out before a test. */
typedef enum { AS_THEY_COME, AT_RANDOM, TO_THE_LAST, TO_ALL_BUT_0, DEALS } deal;

static inline void distribute(tacit_matrix *m, deal how)
{
    const int size = tacit_world_size(test_world());
    int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
    for (int64_t i = 0; i < m->A.rows && how != AS_THEY_COME; i++) {
        const uint64_t random = mixed(3, tct_original(m, i));
        part[i] = (int32_t)(random % (uint64_t)size);
        if (how == TO_THE_LAST) part[i] = size - 1;
        if (how == TO_ALL_BUT_0 && part[i] == 0) part[i] = size - 1;
    }
    if (how != AS_THEY_COME)
        assert_int_equal(tct_redistribute(m, part), TACIT_OK);
    free(part);
}

static const struct {
    row_fn row;
    int64_t n;
    bool one_way;
} given[] = {{line_row, 500, false},     {shuffled_grid_row, GRID, false},
             {grid_row, 1600, false},    {block_row, 3 * 97, false},
             {scattered_row, 400, true}, {upper_row, 300, true},
             {pieces_row, 770, false},   {own_row, 90, false}};
enum { GIVEN = sizeof given / sizeof *given };

static inline tacit_matrix *open_matrix(const char *name)
{
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), name, NULL, &m), TACIT_OK);
    return m;
}

#endif
