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
