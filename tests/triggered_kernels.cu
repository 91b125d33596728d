/* SPDX-License-Identifier: BSD-3-Clause
 * tests/triggered_kernels.cu - kernels of test_gpu_triggered.c. */
#include "triggered_kernels.h"

enum { THREADS = 256, BLOCKS = 16 };

static __device__ unsigned char byte_of(unsigned number, unsigned seed,
                                        size_t i)
{
    return (unsigned char)(number * 29 + seed * 7 + i % 253);
}

static __global__ void fill(const unsigned *number, unsigned seed,
                            unsigned char *data, size_t bytes)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes;
         i += step)
        data[i] = byte_of(*number + 1, seed, i);
}

static __global__ void check(const unsigned *number, unsigned seed,
                             const unsigned char *data, size_t bytes,
                             unsigned *wrong)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes;
         i += step)
        if (data[i] != byte_of(*number + 1, seed, i)) atomicAdd(wrong, 1u);
}

static __global__ void count(unsigned *number)
{
    ++*number;
}

static __global__ void delay(unsigned seed)
{
    const long long until = clock64() + 1000 + (seed * 2654435761u >> 18);
    while (clock64() < until) continue;
}

cudaError_t triggered_fill(cudaStream_t stream, unsigned *number, unsigned seed,
                           unsigned char *data, size_t bytes)
{
    fill<<<BLOCKS, THREADS, 0, stream>>>(number, seed, data, bytes);
    count<<<1, 1, 0, stream>>>(number);
    return cudaGetLastError();
}

cudaError_t triggered_check(cudaStream_t stream, unsigned *number,
                            unsigned seed, const unsigned char *data,
                            size_t bytes, unsigned *wrong)
{
    check<<<BLOCKS, THREADS, 0, stream>>>(number, seed, data, bytes, wrong);
    count<<<1, 1, 0, stream>>>(number);
    return cudaGetLastError();
}

cudaError_t triggered_delay(cudaStream_t stream, unsigned seed)
{
    delay<<<1, 1, 0, stream>>>(seed);
    return cudaGetLastError();
}
