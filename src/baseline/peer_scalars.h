/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_scalars.h - the kernels of the baseline besides cuSPARSE and
 * cuBLAS: scalars that stay on the device. All pointers are to device memory;
 * each call starts one kernel and returns the error of the launch. */
#ifndef TCT_BASELINE_PEER_SCALARS_H
#define TCT_BASELINE_PEER_SCALARS_H
#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* quotient[0] = a / b, quotient[1] = -a / b. */
cudaError_t tct_peer_divide(cudaStream_t stream, const double *a,
                            const double *b, double *quotient);

/* y += sign (a / b) x, vectors of `n`. */
cudaError_t tct_peer_axpy(cudaStream_t stream, int64_t n, double sign,
                          const double *a, const double *b, const double *x,
                          double *y);

/* y = x + (a / b) y, vectors of `n`. */
cudaError_t tct_peer_aypx(cudaStream_t stream, int64_t n, const double *a,
                          const double *b, const double *x, double *y);

#ifdef __cplusplus
}
#endif
#endif
