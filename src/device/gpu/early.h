/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/early.h - kernels that are resident before the kernel in front of
 * them has ended (gpu_launch_early). */
#ifndef TCT_DEVICE_GPU_EARLY_H
#define TCT_DEVICE_GPU_EARLY_H
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Can the kernels of this library be launched early on the current device,
 * whose number is `device`? Not where they were compiled for older ones, since
 * they do not wait then. The environment variable TACIT_EARLY, if it is `no`,
 * forbids it. */
bool tct_gpu_is_early(int device);

#ifdef __cplusplus
}
#endif
#endif
