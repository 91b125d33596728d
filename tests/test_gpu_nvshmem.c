/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_nvshmem.c - link nvshmem, if the library exists (TACIT_NVSHMEM
 * may name it) and each rank has a GPU; else skipped. It serves one world at a
 * time and frees its memory.
 *
 * LABEL: gpu
 * RUN: np=2,3 */
#define TEST_LINK "nvshmem"
#include "stores.h"

/* More queues than there may be pieces of memory. */
static void memory_comes_back(void **state)
{
    (void)state;
    if (!has_stores()) skip();
    for (int i = 0; i < 300; i++) {
        tacit_queue *q = open_queue("cuda@nvshmem"), *other = NULL;
        if (i % 100 == 0) other = open_queue("cuda@nvshmem");
        double *c = device_vector(q, 1, (double[]){1.0});
        q_sum(q, 1, c);
        double *sum = host_copy(q, 1, c);
        assert_true(sum[0] == tacit_world_size(test_world()));
        free(sum);
        tacit_queue_free(q, &c);
        tacit_queue_destroy(&q);
        tacit_queue_destroy(&other);
    }
}

/* All but the last rank are another world; all of them, in their order, are
 * not. */
static void parts_have_peer(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    const bool last = tacit_world_rank(test_world()) == size - 1;
    tacit_world *part = NULL;
    tacit_queue *q = NULL;
    if (!has_stores()) skip();
    OK(tacit_world_split(test_world(), 0, &part));
    OK(tacit_queue_create(part, "cuda@nvshmem", 1, &q));
    tacit_queue_destroy(&q);
    tacit_world_destroy(&part);
    OK(tacit_world_split(test_world(), last ? -1 : 0, &part));
    if (part) {
        EXPECT(TACIT_UNSUPPORTED,
               tacit_queue_create(part, "cuda@nvshmem", 1, &q));
        assert_null(q);
        assert_non_null(strstr(tacit_error_message(),
                               size > 2 ? "belongs to the first world"
                                        : "for several ranks"));
        if (size > 2) OK(tacit_queue_create(part, "cuda@peer", 1, &q));
        tacit_queue_destroy(&q);
    }
    tacit_world_destroy(&part);
    OK(tct_agree(test_world(), TACIT_OK));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STORE_TESTS,
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(parts_have_peer),
    };
    TEST_GPU_MAIN(tests);
}
