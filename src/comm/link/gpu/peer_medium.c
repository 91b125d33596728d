/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer_medium.c - channels in memory of GPUs: windows of the
 * queue, and messages that kernels carry one by one. */
#include "comm/channel/channel.h"
#include "comm/link/gpu/peer.h"
#include "device/protocol.h"

static tacit_status peer_take(void *state, size_t bytes, tct_peer_window *out,
                              void **handle)
{
    const tct_peer_channels *p = state;
    *handle = NULL;
    return tct_windows_take(p->windows, bytes, out);
}

static char *peer_at(void *state, void *handle, int rank,
                     const tct_peer_window *w)
{
    const tct_peer_channels *p = state;
    (void)handle;
    return tct_windows_at(p->windows, rank, w);
}

static void peer_give(void *state, void *handle, const tct_peer_window *own)
{
    const tct_peer_channels *p = state;
    (void)handle;
    tct_windows_give(p->windows, own);
}

typedef gpu_error message_kernel(const tct_peer_common *C,
                                 const tct_peer_message *m, gpu_stream stream);

/* Enqueue the message, after all work so far. */
static tacit_status enqueue(const tct_channel *c, message_kernel *kernel,
                            const char *what)
{
    const tct_peer_channels *p = c->medium->state;
    const int half = tct_buffer_of(c->sequence);
    const tct_peer_message m = {.peer = c->peer,
                                .number = c->sequence,
                                .data = c->data,
                                .window = c->window[half],
                                .bytes = c->part,
                                .own = &c->own[half * c->signals].value,
                                .other = &c->other[half * c->signals].value};
    q_enter(p->q);
    if (tct_gpu_of(p->q)->capturing) /* its number would be replayed */
        FAIL(TACIT_INVALID, "%s: not in a recording: plan an exchange", what);
    p->q->device->flush(p->q);
    p->common->limit_ns = (uint64_t)(1e9 * p->q->peer_seconds);
    return tct_gpu_status(kernel(p->common, &m, tct_gpu_of(p->q)->stream),
                          what);
}

static tacit_status peer_send(const tct_channel *c)
{
    return enqueue(c, tct_peer_send, "sending a message");
}

static tacit_status peer_receive(const tct_channel *c)
{
    return enqueue(c, tct_peer_receive, "receiving a message");
}

void tct_peer_medium_of(const tct_peer_channels *p, tct_medium *out)
{
    *out = (tct_medium){.world = p->q->world,
                        .state = (void *)(uintptr_t)p,
                        .take = peer_take,
                        .at = peer_at,
                        .give = peer_give,
                        .send = peer_send,
                        .receive = peer_receive};
}
