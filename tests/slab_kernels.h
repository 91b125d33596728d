/* SPDX-License-Identifier: BSD-3-Clause
 * tests/slab_kernels.h - a user's kernels, called by test_gpu_free.c and
 * test_gpu_stream.c. */
#ifndef TESTS_SLAB_KERNELS_H
#define TESTS_SLAB_KERNELS_H
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C" {
#endif

/* y = A x on planes first .. last of `planes` of side^2 points each, 7 points;
 * `below` and `above` are the planes next to them all, NULL at the boundary. */
cudaError_t slab_product(cudaStream_t stream, int side, int planes, int first,
                         int last, const double *x, const double *below,
                         const double *above, double *y);
/* y = x of `n` elements, after some 50 ms in which nothing is done. */
cudaError_t slab_late_copy(cudaStream_t stream, size_t n, const double *x,
                           double *y);
/* A launch that CUDA refuses. */
cudaError_t slab_refused(cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
