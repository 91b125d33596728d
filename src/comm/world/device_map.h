/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/device_map.h - the hardware behind each rank's device: its machine
 * and, for a GPU, bus address and UUID, since ordinals are local to a
 * process. */
#ifndef TCT_COMM_WORLD_DEVICE_MAP_H
#define TCT_COMM_WORLD_DEVICE_MAP_H
#include "comm/world/world.h"
#include <tacit/queue.h>

typedef struct tct_rank_device {
    tct_hardware device;
    char machine[64];
    char host[64]; /* its name */
} tct_rank_device;

/* The devices of all ranks of `q`, into `all` [ranks].
 * Collective.  Errors DEVICE, COMM. */
tacit_status tct_device_map(tacit_queue *q, tct_rank_device *all);

/* Another rank, the first one, with the device of `rank`; < 0: none. */
int tct_device_map_shared(const tct_rank_device *all, int ranks, int rank);

/* Another rank, the first one, with the same GPU, also as another slice of it
 * (MIG); < 0: none. */
int tct_device_map_same_gpu(const tct_rank_device *all, int ranks, int rank);

/* The sharing on the first machine with the most ranks that lack a device of
 * their own; on that of rank 0 if there is none. */
tacit_sharing tct_device_map_sharing(const tct_rank_device *all, int ranks);

#endif
