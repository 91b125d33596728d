/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/reach.c - checks for links that store into GPUs of other
 * ranks. */
#include "comm/link/gpu/reach.h"
#include "device/gpu/gpu.h"
#include <string.h>

tacit_status tct_reach_p2p(const tacit_queue *q, const tct_rank_device *all)
{
    const int other = tct_device_map_shared(all, q->ranks, q->rank);
    if (other < 0) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED, "link %s: ranks %d and %d share a GPU",
         q->link->name, other < q->rank ? other : q->rank,
         other < q->rank ? q->rank : other);
}

/* Refuse another slice of the same GPU: slices are isolated. */
static tacit_status reach_slice(const tacit_queue *q,
                                const tct_rank_device *mine,
                                const tct_rank_device *other, int rank)
{
    if (strcmp(other->device.uuid, mine->device.uuid) == 0) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "link %s: ranks %d and %d have slices of one GPU (MIG), which do not "
         "reach each other",
         q->link->name, rank < q->rank ? rank : q->rank,
         rank < q->rank ? q->rank : rank);
}

static tacit_status reach(const tacit_queue *q, const char *bus, int rank)
{
    int device = -1, can = 0;
    if (gpu_by_bus_id(&device, bus) == GPU_OK &&
        gpu_can_reach(&can, tct_gpu_of(q)->device, device) == GPU_OK && can)
        return TACIT_OK;
    (void)gpu_last_error();
    FAIL(TACIT_UNSUPPORTED,
         "link %s: the GPU of rank %d does not reach that of rank %d%s",
         q->link->name, q->rank, rank,
         device < 0 ? ", which this process does not see" : "");
}

tacit_status tct_reach_others(const tacit_queue *q, const tct_rank_device *all)
{
    const tct_rank_device *mine = &all[q->rank];
    for (int r = 0; r < q->ranks; r++) {
        if (strcmp(all[r].machine, mine->machine) != 0) continue;
        if (strcmp(all[r].device.bus, mine->device.bus) != 0)
            TRY(reach(q, all[r].device.bus, r));
        else TRY(reach_slice(q, mine, &all[r], r));
    }
    return TACIT_OK;
}
