/* SPDX-License-Identifier: BSD-3-Clause
 * tests/slab_kernels.cu - a seven-point stencil and a slow copy, as a user
 * might write them. */
#include "slab_kernels.h"

static __global__ void product_kernel(int side, int planes, int first, int last,
                                      const double *x, const double *below,
                                      const double *above, double *y)
{
    const int plane = side * side;
    const int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int z = first + at / plane, k = at % plane;
    if (z > last) return;
    const int i = k % side, j = k / side;
    const double *here = x + (size_t)z * (size_t)plane;
    const double *under = z > 0 ? here - plane : below;
    const double *over = z < planes - 1 ? here + plane : above;
    double sum = 6.0 * here[k];
    if (i > 0) sum -= here[k - 1];
    if (i < side - 1) sum -= here[k + 1];
    if (j > 0) sum -= here[k - side];
    if (j < side - 1) sum -= here[k + side];
    if (under) sum -= under[k];
    if (over) sum -= over[k];
    y[(size_t)z * (size_t)plane + (size_t)k] = sum;
}

cudaError_t slab_product(cudaStream_t stream, int side, int planes, int first,
                         int last, const double *x, const double *below,
                         const double *above, double *y)
{
    enum { THREADS = 128 };
    const int points = (last - first + 1) * side * side;
    if (points <= 0) return cudaSuccess;
    product_kernel<<<(points + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        side, planes, first, last, x, below, above, y);
    return cudaGetLastError();
}

static __global__ void wait_kernel(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

static __global__ void copy_kernel(size_t n, const double *x, double *y)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

cudaError_t slab_late_copy(cudaStream_t stream, size_t n, const double *x,
                           double *y)
{
    enum { THREADS = 128 };
    const size_t blocks = (n + THREADS - 1) / THREADS;
    wait_kernel<<<1, 1, 0, stream>>>(100000000);
    if (blocks > 0)
        copy_kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(n, x, y);
    return cudaGetLastError();
}

cudaError_t slab_refused(cudaStream_t stream)
{
    product_kernel<<<1, 1 << 20, 0, stream>>>(0, 0, 0, 0, NULL, NULL, NULL,
                                              NULL);
    return cudaGetLastError();
}
