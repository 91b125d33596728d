/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/early.cu - may kernels be launched early? */
#include "device/gpu/early.h"
#include "device/gpu/lane.cuh"
#include <stdlib.h>
#include <string.h>

/* Graphs keep early launches from this driver on. */
enum { RECORDED_FROM = 12030 };

/* All files of kernels are compiled for the same GPUs. */
static __global__ void waits()
{
    tct_await_earlier();
}

static bool does_wait()
{
    gpu_function_attributes a;
    if (gpu_function_get(&a, (const void *)waits) == GPU_OK)
        return a.ptxVersion / 10 >= GPU_EARLY_FROM;
    (void)gpu_last_error();
    return false;
}

extern "C" bool tct_gpu_is_early(int device)
{
    int major = 0, driver = 0;
    const char *wish = getenv("TACIT_EARLY");
    (void)gpu_get_attribute(&major, GPU_ATTRIBUTE_MAJOR, device);
    (void)gpu_driver_version(&driver);
    return major >= GPU_EARLY_FROM && driver >= RECORDED_FROM && does_wait() &&
           !(wish && strcmp(wish, "no") == 0);
}
