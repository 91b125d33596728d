/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/late.h - how a persistent kernel without samples reports a timeout
 * to the host. */
#ifndef TCT_DEVICE_GPU_LATE_H
#define TCT_DEVICE_GPU_LATE_H
#include <stdint.h>

/* The value of the mailbox's `missing` for a block of this GPU; only in kernels
 * that wait for no other rank. */
#define TCT_MISSING_BLOCK UINT64_MAX

#endif
