/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_ghosts.c - sorted lists of distinct numbers and positions in them:
 * planes of grids, scattered, clustered, equal. */
#include "base/base.h"
#include "sparse/ghosts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the headers above it */
#include <cmocka.h>

/* `heaps` of them, `apart` from one another, each of `wide` numbers, of which
 * every `step`-th may occur, in one order or in none. */
typedef struct {
    int64_t count, heaps, apart, wide, step;
    bool mixed;
} shape;

static const shape shapes[] = {
    {1, 1, 0, 1, 1, false},
    {7, 1, 0, 1, 1, true},
    {2, 1, 0, 9, 1, true},
    {5000, 1, 0, 5000, 1, false},
    {5000, 1, 0, 5000, 1, true},
    {20000, 1, 0, 4000, 3, true},
    {20000, 3, INT64_C(1) << 40, 3000, 7, true},
    {3000, 2, INT64_C(1) << 61, 10, 1, true},
    {30000, 1000, 100000, 40, 1, true},
    {4000, 1, 0, INT64_C(1) << 33, 1, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int64_t number_of(const shape *s, int64_t k)
{
    const uint64_t dice = tct_mix((uint64_t)k * 2654435761u + 17u);
    const int64_t heap = (int64_t)(dice % (uint64_t)s->heaps);
    const int64_t within = (int64_t)(dice >> 20) % s->wide;
    if (!s->mixed) return 1000 + k * s->step;
    return 1000 + heap * s->apart + within * s->step;
}

static int64_t *numbers_of(const shape *s)
{
    int64_t *id = malloc((size_t)s->count * sizeof *id);
    assert_non_null(id);
    for (int64_t k = 0; k < s->count; k++) id[k] = number_of(s, k);
    return id;
}

static void each_is_where_it_is_said_to_be(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        const shape *s = &shapes[i];
        int64_t *id = numbers_of(s);
        int32_t *place = malloc((size_t)s->count * sizeof *place);
        tct_ghosts g, same;
        assert_int_equal(tct_ghosts_of(s->count, id, place, &g), TACIT_OK);
        assert_int_equal(tct_ghosts_of(s->count, id, NULL, &same), TACIT_OK);
        bool *taken = calloc((size_t)g.count, sizeof *taken);
        assert_non_null(taken);
        for (int64_t k = 1; k < g.count; k++)
            assert_true(g.id[k - 1] < g.id[k]);
        for (int64_t k = 0; k < s->count; k++) {
            assert_true(place[k] >= 0 && place[k] < g.count);
            assert_int_equal(g.id[place[k]], id[k]);
            assert_int_equal(tct_ghost_place(&g, id[k]), place[k]);
            taken[place[k]] = true;
        }
        assert_int_equal(same.count, g.count);
        for (int64_t k = 0; k < g.count; k++)
            assert_true(taken[k] && same.id[k] == g.id[k]);
        tct_ghosts_clear(&g);
        tct_ghosts_clear(&same);
        free(taken);
        free(place);
        free(id);
    }
}

static void of_none_there_are_none(void **state)
{
    (void)state;
    tct_ghosts g = {.count = 3};
    assert_int_equal(tct_ghosts_of(0, NULL, NULL, &g), TACIT_OK);
    assert_true(g.count == 0 && !g.id);
}

static void no_memory_leaks_nothing(void **state)
{
    (void)state;
    int64_t *id = numbers_of(&shapes[5]);
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    int k = 1;
    for (; status < 0 && k < 9; k++) {
        tct_ghosts g;
        tct_memory_fail_at(k);
        status = tct_ghosts_of(shapes[5].count, id, NULL, &g);
        tct_memory_fail_at(0);
        tct_ghosts_clear(&g);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_true(k == 4);
    free(id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_where_it_is_said_to_be),
        cmocka_unit_test(of_none_there_are_none),
        cmocka_unit_test(no_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
