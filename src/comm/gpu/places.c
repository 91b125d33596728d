/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/places.c - which GPU each rank has. */
#include "comm/gpu/places.h"
#include "device/gpu/gpu.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Containers of one machine have names of their own, and its boot in common. */
static void name_machine(char *text, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    const bool found = file && fgets(text, (int)size, file);
    if (file) (void)fclose(file);
    if (!found && gethostname(text, size - 1) != 0) text[0] = '\0';
}

tacit_status tct_places(tacit_queue *q, tct_place *all)
{
    tct_place mine;
    memset(&mine, 0, sizeof mine);
    name_machine(mine.machine, sizeof mine.machine);
    const tacit_status status = tct_gpu_status(
        gpu_bus_id(mine.bus, (int)sizeof mine.bus, tct_gpu_of(q)->device),
        "its place");
    TRY(tct_agree(q->world, status));
    return tct_allgather(q->world, sizeof mine, &mine, all);
}

int tct_place_shared(const tct_place *all, int ranks, int rank)
{
    for (int r = 0; r < ranks; r++)
        if (r != rank && strcmp(all[r].bus, all[rank].bus) == 0 &&
            strcmp(all[r].machine, all[rank].machine) == 0)
            return r;
    return -1;
}

tacit_status tct_places_apart(const tacit_queue *q, const tct_place *all)
{
    const int other = tct_place_shared(all, q->ranks, q->rank);
    if (other < 0) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED, "link %s: ranks %d and %d share a GPU",
         q->link->name, other < q->rank ? other : q->rank,
         other < q->rank ? q->rank : other);
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

tacit_status tct_places_reach(const tacit_queue *q, const tct_place *all)
{
    const tct_place *mine = &all[q->rank];
    for (int r = 0; r < q->ranks; r++)
        if (strcmp(all[r].machine, mine->machine) == 0 &&
            strcmp(all[r].bus, mine->bus) != 0)
            TRY(reach(q, all[r].bus, r));
    return TACIT_OK;
}
