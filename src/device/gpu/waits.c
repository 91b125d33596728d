/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/waits.c - what a call of the runtime says, and waits of the CPU for
 * its GPU, which end though a rank is lost. */
#include "device/gpu/waits.h"
#include "device/gpu/late.h"
#include <math.h>

tacit_status tct_gpu_status(gpu_error error, const char *call)
{
    if (error == GPU_OK) return TACIT_OK;
    (void)gpu_last_error(); /* clear a non-sticky error */
    FAIL(error == GPU_NO_MEMORY ? TACIT_NO_MEMORY : TACIT_DEVICE,
         "the GPU: %s: %s (%s)", call, gpu_error_text(error),
         gpu_error_name(error));
}

bool tct_gpu_ok(tacit_queue *q, gpu_error error, const char *call)
{
    if (error == GPU_OK) return true;
    (void)gpu_last_error();
    q_fail(q, TACIT_DEVICE, "the GPU: %s: %s (%s)", call, gpu_error_text(error),
           gpu_error_name(error));
    return false;
}

/* --- waits ---------------------------------------------------------------- */

bool tct_gpu_deserted(tacit_queue *q)
{
    uint64_t missing = tct_gpu_of(q)->mailbox->missing;
    if (missing == TCT_MISSING_BLOCK) missing = 0; /* no rank */
    if (missing > 0) q_lose_rank(q, (int)missing - 1, q->peer_seconds);
    return missing > 0 || (q->ranks > 1 && q_is_deserted(q));
}

double tct_gpu_limit(const tacit_queue *q)
{
    if (q->ranks == 1) return q->answer_seconds;
    if (q->peer_seconds <= 0.0) return INFINITY;
    return q->link && q->link->give_up
               ? q->peer_seconds
               : fmax(q->answer_seconds,
                      2.0 * q->peer_seconds + q->barrier_seconds);
}

void tct_gpu_wait_again(tct_gpu_wait *w)
{
    const double now = tct_seconds();
    w->silent += fmin(now - w->looked, 1.0);
    w->looked = now;
}

bool tct_gpu_break_off(tacit_queue *q, double silent)
{
    const tct_link *link = q->link;
    if (!link || !link->give_up) return false;
    for (int i = 0; i < TCT_LINKS_MOST; i++)
        if (q->links[i].link == link && q->links[i].state)
            link->give_up(q->links[i].state);
    q_lose_rank(q, -1, silent);
    return true;
}

/* Had the GPU posted samples at the last call? Each call starts a copy of the
 * counter, on the side stream, for the next. */
static bool goes_on(tct_gpu *g, uint64_t *looks)
{
    const uint64_t before = *looks;
    *looks = g->mailbox->looks;
    if (gpu_memcpy_async((void *)(uintptr_t)&g->mailbox->looks,
                         &g->outbox->looks, sizeof before, GPU_TO_HOST,
                         g->aside) != GPU_OK)
        (void)gpu_last_error();
    return *looks != before;
}

/* Beyond the limit as long as samples arrive. */
gpu_error tct_gpu_finish(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    gpu_error state = GPU_NOT_READY;
    const double limit = tct_gpu_limit(q), often = fmin(limit / 8, 0.5);
    tct_gpu_wait w = {.looked = tct_seconds()};
    uint64_t looks = g->mailbox->looks;
    if (!q->link || !q->link->give_up || q->peer_seconds <= 0.0)
        return gpu_stream_sync(g->stream);
    while ((state = gpu_stream_query(g->stream)) == GPU_NOT_READY) {
        if (tct_seconds() - w.looked <= often) continue;
        tct_gpu_wait_again(&w);
        if (tct_gpu_deserted(q)) break;
        if (goes_on(g, &looks)) w.silent = 0.0;
        else if (w.silent > limit) break;
    }
    if (state != GPU_NOT_READY) return state;
    (void)gpu_last_error();
    (void)tct_gpu_break_off(q, limit);
    return gpu_stream_sync(g->stream);
}

/* --- flags ---------------------------------------------------------------- */

double tct_gpu_flags(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    if (g->capturing) return 0.0;
    if (g->mailbox->told != 0.0) { /* set for recordings of an earlier run */
        tct_gpu_ok(q, gpu_stream_sync(g->aside), "telling flags");
        g->mailbox->told = 0.0;
        tct_gpu_ok(
            q, gpu_memset_async(&g->outbox->mine, 0, sizeof(double), g->stream),
            "telling flags");
    }
    return tct_flags_mine(q);
}
