/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_cell_kernels.c - the kernels that send messages, with
 * threads of the host in place of a GPU's, and processes in place of blocks:
 * every byte comes, in each round, whoever is late. */
#include "threaded/harness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void small_messages(void **state)
{
    (void)state;
    assert_int_equal(threaded_cells(1, 0, 0), 0);
}

/* Several blocks, and buffers that are aligned to nothing. */
static void large_messages(void **state)
{
    (void)state;
    assert_int_equal(threaded_cells(8, 1, 3), 0);
}

/* Windows, and cells beside them, by the kernels of blocks for parts. */
static void parts(void **state)
{
    (void)state;
    assert_int_equal(threaded_parts(), 0);
}

static void halos(void **state)
{
    (void)state;
    assert_int_equal(threaded_halo(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_messages),
        cmocka_unit_test(large_messages),
        cmocka_unit_test(parts),
        cmocka_unit_test(halos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
