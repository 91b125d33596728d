/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/waits.h - waits of the CPU for its GPU. */
#ifndef TCT_DEVICE_GPU_WAITS_H
#define TCT_DEVICE_GPU_WAITS_H
#include "device/gpu/gpu.h"

/* An interval between checks counts as at most a second, since the job may have
 * been stopped. */
typedef struct tct_gpu_wait {
    double looked, silent;
} tct_gpu_wait;
void tct_gpu_wait_again(tct_gpu_wait *w);

/* The time limit [s] of waits for this GPU. If its kernels wait for other ranks
 * without a limit, theirs applies; kernels with a limit must report first. */
double tct_gpu_limit(const tacit_queue *q);

/* Abort kernels that wait without a limit; false if there are none. */
bool tct_gpu_break_off(tacit_queue *q, double silent);

#endif
