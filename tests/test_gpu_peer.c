/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_peer.c - link peer, with a GPU per rank or a shared one.
 *
 * LABEL: gpu
 * RUN: np=1,2,3
 * PROCESSES: 2 */
#define TEST_LINK "peer"
#include "stores.h"

static void several_ranks_have_it(void **state)
{
    (void)state;
    assert_int_equal(has_stores(), tacit_world_size(test_world()) > 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_ranks_have_it),
        STORE_TESTS,
    };
    TEST_GPU_MAIN(tests);
}
