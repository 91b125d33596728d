/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/device_map.c - the hardware of each rank's device, and which ranks
 * share it. */
#include "comm/world/device_map.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Containers on one machine differ in host name, but share its boot id. */
static void name_machine(tct_rank_device *p)
{
    if (gethostname(p->host, sizeof p->host - 1) != 0) p->host[0] = '\0';
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    const bool found =
        file && fgets(p->machine, (int)sizeof p->machine, file) != NULL;
    if (file) (void)fclose(file);
    if (!found) memcpy(p->machine, p->host, sizeof p->machine);
}

/* Gather the devices of all ranks; `status` is of this one's. */
static tacit_status gather(tacit_world *w, tacit_status status,
                           tct_rank_device *mine, tct_rank_device *all)
{
    name_machine(mine);
    TRY(tct_agree(w, status));
    return tct_allgather(w, sizeof *mine, mine, all);
}

tacit_status tct_device_map(tacit_queue *q, tct_rank_device *all)
{
    tct_rank_device mine;
    memset(&mine, 0, sizeof mine);
    tacit_status status = TACIT_OK;
    if (q->device->identify) status = q->device->identify(q, &mine.device);
    return gather(q->world, status, &mine, all);
}

static bool is_same_gpu(const tct_rank_device *a, const tct_rank_device *b)
{
    return a->device.bus[0] && strcmp(a->machine, b->machine) == 0 &&
           strcmp(a->device.bus, b->device.bus) == 0;
}

static bool is_same_device(const tct_rank_device *a, const tct_rank_device *b)
{
    return is_same_gpu(a, b) && strcmp(a->device.uuid, b->device.uuid) == 0;
}

static int first_other(const tct_rank_device *all, int ranks, int rank,
                       bool (*is)(const tct_rank_device *a,
                                  const tct_rank_device *b))
{
    for (int r = 0; r < ranks; r++)
        if (r != rank && is(&all[r], &all[rank])) return r;
    return -1;
}

int tct_device_map_shared(const tct_rank_device *all, int ranks, int rank)
{
    return first_other(all, ranks, rank, is_same_device);
}

int tct_device_map_same_gpu(const tct_rank_device *all, int ranks, int rank)
{
    return first_other(all, ranks, rank, is_same_gpu);
}

static bool is_first_of_machine(const tct_rank_device *all, int rank)
{
    for (int r = 0; r < rank; r++)
        if (strcmp(all[r].machine, all[rank].machine) == 0) return false;
    return true;
}

/* The ranks on the machine of `rank`, and their devices. */
static tacit_sharing count_on(const tct_rank_device *all, int ranks, int rank)
{
    tacit_sharing on = {.size = sizeof on};
    for (int r = 0; r < ranks; r++) {
        if (strcmp(all[r].machine, all[rank].machine) != 0) continue;
        const int other = tct_device_map_shared(all, ranks, r);
        on.ranks++;
        on.devices += other < 0 || other > r;
    }
    snprintf(on.host, sizeof on.host, "%s", all[rank].host);
    return on;
}

tacit_sharing tct_device_map_sharing(const tct_rank_device *all, int ranks)
{
    tacit_sharing worst = count_on(all, ranks, 0);
    for (int r = 1; r < ranks; r++) {
        if (!is_first_of_machine(all, r)) continue;
        const tacit_sharing on = count_on(all, ranks, r);
        if (on.ranks - on.devices > worst.ranks - worst.devices) worst = on;
    }
    return worst;
}

tacit_status tacit_device_sharing(tacit_world *world, const char *device,
                                  tacit_sharing *out)
{
    REQUIRE(world != NULL, device != NULL, out != NULL);
    TRY(tct_check_sized("tacit_sharing", out));
    tct_rank_device mine, *all = NULL;
    memset(&mine, 0, sizeof mine);
    tacit_status status = TCT_ALLOC(world->size, "the devices of ranks", &all);
    if (status >= 0)
        status = tct_device_identify(device, world->place, &mine.device);
    status = gather(world, status, &mine, all);
    if (status >= 0) {
        const tacit_sharing found = tct_device_map_sharing(all, world->size);
        tct_write_sized(&found, sizeof found, out);
    }
    tct_free(all);
    return status;
}
