/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/device/gpu/gpu.h - takes the place of src/device/gpu/gpu.h
 * where a C++ compiler builds kernels for threads of the host: the few names
 * that kernels of messages and their launches have. */
#ifndef TESTS_THREADED_DEVICE_GPU_GPU_H
#define TESTS_THREADED_DEVICE_GPU_GPU_H
#include "device/wave.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int gpu_error;
typedef void *gpu_stream;
typedef int gpu_function_attributes;
enum { GPU_OK = 0 };

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

typedef struct tct_mailbox {
    volatile uint64_t missing;
} tct_mailbox;
typedef struct tct_outbox {
    double flags;
    tct_mailbox *mailbox;
} tct_outbox;

static inline gpu_error gpu_function_get(gpu_function_attributes *a,
                                         const void *kernel)
{
    *a = kernel != nullptr;
    return GPU_OK;
}

/* Of the harness: a kernel is a function of its arguments. */
static gpu_error gpu_launch_early(const void *kernel, dim3 blocks,
                                  unsigned threads, void **arguments,
                                  gpu_stream stream, bool early);

#endif
