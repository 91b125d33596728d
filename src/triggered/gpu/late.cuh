/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/late.cuh - a wait of a kernel that gives up. Include
 * device/gpu/lane.cuh first. */
#ifndef TCT_TRIGGERED_GPU_LATE_CUH
#define TCT_TRIGGERED_GPU_LATE_CUH
#include "triggered/gpu/kernels.h"

/* Tell the host which end is missing, in which message, and whether its bytes
 * are stored; all waits end then. */
static __device__ __noinline__ void tct_wait_gives_up(const tct_wait_job &J,
                                                      const tct_parted *e,
                                                      uint64_t number,
                                                      bool stored)
{
    tct_wait_board *b = J.board;
    if (tct_draw(J.claim) == 0) {
        tct_host_store((uint64_t *)&b->name, e->name);
        tct_host_store((uint64_t *)&b->number, number);
        tct_host_store((uint64_t *)&b->stored, (uint64_t)stored);
        tct_fence_all();
        tct_host_store((uint64_t *)&b->said, (uint64_t)1);
        if (J.outbox) {
            J.outbox->flags = 1.0;
            tct_host_store((uint64_t *)&J.outbox->mailbox->missing,
                           1 + (uint64_t)e->peer);
        }
    }
    tct_host_store((uint64_t *)&b->gone, (uint64_t)1);
    tct_fence_all();
}

static __device__ inline tct_limit tct_wait_limit(const tct_wait_job &J)
{
    return {J.limit_ns, (const uint64_t *)(uintptr_t)&J.board->gone};
}

/* After a failed check; false: the wait is over, in vain. */
static __device__ inline bool tct_wait_goes_on(const tct_wait_job &J,
                                               tct_wait *w, const tct_parted *e,
                                               uint64_t number, bool stored)
{
    const tct_wait_status status = tct_poll(w, tct_wait_limit(J));
    if (status == TCT_MISSED) tct_wait_gives_up(J, e, number, stored);
    if (status == TCT_GONE) (void)tct_draw(J.claim);
    return status == TCT_NOT_YET;
}

#endif
