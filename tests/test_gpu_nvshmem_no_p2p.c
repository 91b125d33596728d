/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_nvshmem_no_p2p.c - link nvshmem through NVSHMEM's own calls,
 * as between machines: on one machine, with every GPU treated as unreachable.
 * Needs the module for it, and what test_gpu_nvshmem.c needs.
 *
 * LABEL: gpu
 * RUN: np=2,3 */
#define TEST_LINK "nvshmem"
#define TEST_FAR
#include "stores.h"

/* Up to the widest that there is. */
static void check_sums(tacit_queue *q, int count)
{
    enum { ROUNDS = 5 };
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    double *host = host_vector((size_t)count, 0.0);
    for (int k = 0; k < count; k++) host[k] = rank + 1.0 + k;
    double *c = device_vector(q, (size_t)count, host);
    for (int round = 0; round < ROUNDS; round++) q_sum(q, count, c);
    double *sum = host_copy(q, (size_t)count, c);
    for (int k = 0; k < count; k++) {
        double want = size * (size + 1) / 2 + size * k;
        for (int round = 1; round < ROUNDS; round++) want *= size;
        assert_true(sum[k] == want);
    }
    free(sum);
    free(host);
    tacit_queue_free(q, &c);
}

/* Plans take the place in memory of those before. */
static void sums_and_messages_arrive(void **state)
{
    static const int counts[] = {1, 2, 31, 255, 256, 1024};
    (void)state;
    if (!has_stores()) skip();
    tacit_queue *q = open_queue("cuda@nvshmem");
    for (int i = 0; i < 6; i++) {
        check_sums(q, counts[i]);
        check_columns(q);
    }
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_messages_arrive),
        STORE_TESTS,
    };
    (void)setenv("TACIT_NVSHMEM_FAR", "1", 1);
    TEST_GPU_MAIN(tests);
}
