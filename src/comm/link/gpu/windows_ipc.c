/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/windows_ipc.c - GPU memory shared between processes of one
 * machine by CUDA IPC.
 *
 * An arena is an allocation of its own, since a handle gives access to a whole
 * allocation. It may be freed once no rank has it open; ranks that close it
 * signal this in shared host memory. */
#include "comm/link/gpu/reach.h"
#include "comm/link/gpu/windows.h"
#include "comm/world/shared.h"
#include "device/gpu/gpu.h"
#include <sched.h>
#include <string.h>

static const double CLOSE_SECONDS = 5.0;

static tacit_status check_place(const tacit_queue *q,
                                const tct_rank_device *all)
{
    if (!q->world->oversubscribe) TRY(tct_reach_p2p(q, all));
    return tct_reach_others(q, all);
}

/* *state: counters, by which ranks signal that they have closed the arenas. */
static tacit_status ipc_open(tacit_queue *q, void **state)
{
    tct_rank_device all[TCT_PEERS_MOST];
    tct_shared *closed = NULL;
    TRY(tct_device_map(q, all));
    TRY(tct_agree(q->world, check_place(q, all)));
    const tacit_status status = tct_shared_create(
        q->world, (size_t)q->ranks * sizeof(tct_counter), &closed);
    *state = closed;
    return status;
}

/* --- arenas --------------------------------------------------------------- */

static tacit_status import(const tacit_queue *q, const gpu_ipc_handle *all,
                           tct_arena *a)
{
    for (int r = 0; r < q->ranks; r++) {
        void *p = NULL;
        if (r == q->rank) continue;
        TRY(tct_gpu_status(gpu_ipc_take(&p, all[r], GPU_IPC_REACH),
                           "reaching memory of another GPU"));
        a->at[r] = p;
    }
    return TACIT_OK;
}

static tacit_status ipc_add(tacit_queue *q, void *state, tct_arena *out)
{
    gpu_ipc_handle mine, all[TCT_PEERS_MOST];
    (void)state;
    memset(&mine, 0, sizeof mine);
    tacit_status status =
        tct_gpu_take_reached((size_t)out->bytes, &out->at[q->rank]);
    if (status >= 0)
        status = tct_gpu_status(gpu_ipc_give(&mine, out->at[q->rank]),
                                "sharing memory of the GPU");
    TRY(tct_agree(q->world, status));
    TRY(tct_allgather(q->world, sizeof mine, &mine, all));
    return tct_agree(q->world, import(q, all, out));
}

/* --- the end -------------------------------------------------------------- */

static tct_counter *closed_of(const tct_shared *closed, int rank, int by)
{
    return (tct_counter *)tct_shared_of(closed, rank) + by;
}

/* Have all other ranks closed this rank's arenas? */
static bool all_closed(const tacit_queue *q, const tct_shared *closed)
{
    for (int r = 0; r < q->ranks; r++)
        if (r != q->rank && !tct_signalled(closed_of(closed, q->rank, r), 1))
            return false;
    return true;
}

/* Signal that this rank has closed the others' arenas, and wait for them to
 * close its own, unless a rank is lost; false: not all have. */
static bool close_all(const tacit_queue *q, const tct_shared *closed)
{
    for (int r = 0; r < q->ranks; r++)
        tct_signal(closed_of(closed, r, q->rank), 1);
    const double start = tct_seconds();
    while (!all_closed(q, closed) && !q->lost_rank->noted &&
           tct_seconds() - start < CLOSE_SECONDS)
        sched_yield();
    return all_closed(q, closed);
}

static void ipc_close(tacit_queue *q, void *state, int count,
                      const tct_arena *arena)
{
    tct_shared *closed = state;
    for (int i = 0; i < count; i++)
        for (int r = 0; r < q->ranks; r++)
            if (r != q->rank && arena[i].at[r])
                (void)gpu_ipc_close(arena[i].at[r]);
    const bool unused = count == 0 || close_all(q, closed);
    if (!unused)
        tct_log(TCT_DETAIL,
                "rank %d: memory of the GPU is left: others may "
                "still reach it",
                q->rank);
    for (int i = 0; unused && i < count; i++)
        tct_gpu_release(arena[i].at[q->rank]);
    tct_shared_destroy(&closed);
}

const tct_window_source tct_windows_ipc = {
    .open = ipc_open, .add = ipc_add, .close = ipc_close};
