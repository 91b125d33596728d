/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/late.h - how a kernel whose blocks meet, and which has no looks,
 * tells the host that it gave up. */
#ifndef TCT_DEVICE_GPU_LATE_H
#define TCT_DEVICE_GPU_LATE_H
#include <stdint.h>

/* In the mailbox as who is `missing`: a block of the GPU's own. Only of a
 * kernel that waits for no other rank. */
#define TCT_MISSING_BLOCK UINT64_MAX

#endif
