/* SPDX-License-Identifier: BSD-3-Clause
 * bench/persistent_kernels.h - kernels that do nothing but meet, or send. */
#ifndef BENCH_PERSISTENT_KERNELS_H
#define BENCH_PERSISTENT_KERNELS_H
#include "device/gpu/persistent_grid.h"

typedef struct bench_persistent_job {
    tct_persistent_job grid;
    int64_t times;
    double *out; /* nanoseconds a time, and what was wrong */
} bench_persistent_job;

#ifdef __cplusplus
extern "C" {
#endif
/* A kernel that meets `times` times, with `sums` (0, of this GPU alone, 1 to 5)
 * that go along; of a persistent grid of several GPUs if `peers`. NULL:
 * none. */
const void *bench_meeting(int sums, bool peers);
/* One that throws a numbered value to and fro between ranks 0 and 1; out is
 * half of a time. */
const void *bench_pong(void);
#ifdef __cplusplus
}
#endif
#endif
