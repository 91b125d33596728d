/* SPDX-License-Identifier: BSD-3-Clause
 * tests/triggered_kernels.h - kernels before and after messages, for
 * test_gpu_triggered.c. They count on the GPU, so that each replay of a
 * recording has other bytes. */
#ifndef TESTS_TRIGGERED_KERNELS_H
#define TESTS_TRIGGERED_KERNELS_H
#include <cuda_runtime_api.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Message `*number` + 1 of `seed`: write its bytes, then add 1 to `*number`. */
cudaError_t triggered_fill(cudaStream_t stream, unsigned *number, unsigned seed,
                           unsigned char *data, size_t bytes);
/* The same, but count bytes that differ in `*wrong`. */
cudaError_t triggered_check(cudaStream_t stream, unsigned *number,
                            unsigned seed, const unsigned char *data,
                            size_t bytes, unsigned *wrong);
/* Do nothing for some microseconds, a number that changes from call to call. */
cudaError_t triggered_delay(cudaStream_t stream, unsigned seed);

#ifdef __cplusplus
}
#endif
#endif
