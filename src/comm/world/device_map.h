/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/device_map.h - which piece of hardware each rank has as its
 * device: of which machine, and of a GPU its place on the bus and its identity,
 * since ordinals are each process's own. */
#ifndef TCT_COMM_WORLD_DEVICE_MAP_H
#define TCT_COMM_WORLD_DEVICE_MAP_H
#include "comm/world/world.h"
#include <tacit/queue.h>

typedef struct tct_rank_device {
    tct_hardware device;
    char machine[64];
    char host[64]; /* its name */
} tct_rank_device;

/* Those of all ranks of `q`, into `all` [ranks].
 * Collective.  Errors DEVICE, COMM. */
tacit_status tct_device_map(tacit_queue *q, tct_rank_device *all);

/* The first rank that has the device of `rank` too; < 0: it is alone. */
int tct_device_map_shared(const tct_rank_device *all, int ranks, int rank);

/* The first rank that has the same GPU, be it another slice of it (MIG). */
int tct_device_map_same_gpu(const tct_rank_device *all, int ranks, int rank);

/* The machine with the most ranks that have no device of their own, the first
 * of them; that of rank 0 if there is none. */
tacit_sharing tct_device_map_sharing(const tct_rank_device *all, int ranks);

#endif
