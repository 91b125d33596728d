/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_scalars.cu - the kernels of the baseline, none of which is the
 * library's. */
#include "baseline/peer_scalars.h"

enum { THREADS = 256 };

static __global__ void divide(const double *a, const double *b,
                              double *quotient)
{
    quotient[0] = *a / *b;
    quotient[1] = -quotient[0];
}

static __global__ void axpy(int64_t n, double sign, const double *a,
                            const double *b, const double *x, double *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = fma(sign * (*a / *b), x[i], y[i]);
}

static __global__ void aypx(int64_t n, const double *a, const double *b,
                            const double *x, double *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = fma(*a / *b, y[i], x[i]);
}

static unsigned blocks_of(int64_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

extern "C" cudaError_t tct_peer_divide(cudaStream_t stream, const double *a,
                                       const double *b, double *quotient)
{
    divide<<<1, 1, 0, stream>>>(a, b, quotient);
    return cudaGetLastError();
}

extern "C" cudaError_t tct_peer_axpy(cudaStream_t stream, int64_t n,
                                     double sign, const double *a,
                                     const double *b, const double *x,
                                     double *y)
{
    axpy<<<blocks_of(n), THREADS, 0, stream>>>(n, sign, a, b, x, y);
    return cudaGetLastError();
}

extern "C" cudaError_t tct_peer_aypx(cudaStream_t stream, int64_t n,
                                     const double *a, const double *b,
                                     const double *x, double *y)
{
    aypx<<<blocks_of(n), THREADS, 0, stream>>>(n, a, b, x, y);
    return cudaGetLastError();
}
