/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_compact.c - stream compaction of lists and numbers by 1 to 7
 * threads. */
#include "device/parallel.h"
#include "sparse/compact.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Picked are elements whose hash says so; all, or none. */
typedef struct {
    unsigned share; /* of 1000 */
    const int32_t *from;
} choice;

static bool is_picked(const void *of, int64_t k)
{
    const choice *c = of;
    return (unsigned)((uint64_t)k * UINT64_C(0x9E3779B97F4A7C15) >> 40) % 1000 <
           c->share;
}

static int32_t picked(const void *of, int64_t k)
{
    const choice *c = of;
    return is_picked(of, k) ? c->from[k] : -1;
}

/* The same of a range. */
static int64_t picked_of(const void *of, int64_t from, int64_t to, int32_t *out)
{
    const choice *c = of;
    int64_t at = 0;
    for (int64_t k = from; k < to; k++)
        if (is_picked(of, k)) out[at++] = c->from[k];
    return at;
}

static int threads = 1;

static void check(int64_t count, unsigned share)
{
    TCT_THREADS_AT_MOST(threads);
    int32_t *from = calloc((size_t)count + 1, sizeof *from),
            *list = calloc((size_t)count + 1, sizeof *list),
            *number = calloc((size_t)count + 1, sizeof *number);
    assert_true(from && list && number);
    const choice c = {share, from};
    for (int64_t k = 0; k < count; k++) from[k] = (int32_t)(3 * k + 1);
    from[count] = list[count] = number[count] = -7;
    const int64_t listed = tct_compact(count, picked, &c, list);
    assert_int_equal(tct_enumerate(count, is_picked, &c, number), listed);
    const int64_t in_place = tct_compact_ranges(count, picked_of, &c, from);
    assert_int_equal(in_place, listed);
    int64_t n = 0;
    for (int64_t k = 0; k < count; k++) {
        const bool is = is_picked(&c, k);
        assert_int_equal(number[k], is ? n : -1);
        if (!is) continue;
        assert_int_equal(list[n], 3 * k + 1);
        assert_int_equal(from[n], 3 * k + 1);
        n++;
    }
    assert_int_equal(n, listed);
    assert_true(from[count] == -7 && list[count] == -7 && number[count] == -7);
    free(from);
    free(list);
    free(number);
}

static void what_is_picked_is_listed_in_order(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2000, 2001, 2003, 50000};
    static const unsigned shares[] = {0, 1, 500, 999, 1000};
    for (threads = 1; threads <= 7; threads++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
                check(counts[i], shares[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_picked_is_listed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
