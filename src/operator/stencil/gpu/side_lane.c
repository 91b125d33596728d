/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/side_lane.c - a second lane of a queue: while the queue is in
 * it, its stream is another one, so that kernels, messages and copies go there.
 * The lane has high priority: its few thread blocks start between those of a
 * kernel that fills the GPU. */
#include "operator/stencil/gpu/side_lane.h"
#include "comm/channel/channel.h"
#include "device/gpu/fork.h"
#include "device/gpu/gpu.h"

struct tct_step_lane {
    gpu_stream stream; /* the lane's, or while it is entered the queue's */
    tct_fork fork;
};

tacit_status tct_lane_open(tacit_queue *q, tct_step_lane **out)
{
    tct_step_lane *l = tct_calloc(sizeof *l);
    (void)q;
    if (!l) FAIL(TACIT_NO_MEMORY, "no memory for a lane of steps");
    tacit_status status = tct_fork_stream(&l->stream);
    if (status >= 0) status = tct_fork_open(&l->fork, l->stream);
    if (status < 0) tct_lane_close(l);
    else *out = l;
    return status;
}

void tct_lane_close(tct_step_lane *l)
{
    if (!l) return;
    tct_fork_close(&l->fork);
    if (l->stream) (void)gpu_stream_destroy(l->stream);
    tct_free(l);
}

void tct_lane_fork(tacit_queue *q, tct_step_lane *l)
{
    tct_gpu_flush(q);
    tct_gpu_ok(q, tct_fork_begin(&l->fork, tct_gpu_of(q)->stream),
               "a lane of steps");
}

void tct_lane_mark(tacit_queue *q, tct_step_lane *l)
{
    tct_gpu_flush(q);
    tct_gpu_ok(q, tct_fork_end(&l->fork), "a lane of steps");
}

void tct_lane_join(tacit_queue *q, tct_step_lane *l)
{
    tct_gpu_flush(q);
    tct_gpu_ok(q, tct_fork_join(&l->fork, tct_gpu_of(q)->stream),
               "a lane of steps");
}

/* Pending work belongs where it was enqueued. */
static void exchange_streams(tacit_queue *q, tct_step_lane *l)
{
    tct_gpu_flush(q);
    const gpu_stream other = l->stream;
    l->stream = tct_gpu_of(q)->stream;
    tct_gpu_of(q)->stream = other;
}

void tct_lane_enter(tacit_queue *q, tct_step_lane *l)
{
    exchange_streams(q, l);
}

void tct_lane_leave(tacit_queue *q, tct_step_lane *l)
{
    exchange_streams(q, l);
}

tct_peer_common tct_await_common(const tacit_queue *q, const tct_step_halo *h)
{
    if (h->count == 0 || !(h->waits || h->tells)) return (tct_peer_common){0};
    const tct_peer_channels *p = tct_peer_medium(q)->state;
    p->common->limit_ns = (uint64_t)(1e9 * q->peer_seconds);
    return *p->common;
}
