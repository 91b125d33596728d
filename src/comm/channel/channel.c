/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/channel.c - start and end of a message, and the medium of memory
 * that ranks of one machine share. */
#include "comm/channel/channel.h"
#include "device/protocol.h"
#include <stdio.h>
#include <string.h>

/* --- start and end -------------------------------------------------------- */

/* `what` is not possible now. */
static tacit_status refuse(const tct_channel *c, const char *what)
{
    const char *to = c->sends ? "to" : "from";
    if (!c->medium)
        FAIL(TACIT_INVALID,
             "a channel of %lld bytes %s rank %d: %s before rank %d's end is "
             "matched with it: match both first",
             (long long)c->bytes, to, c->peer, what, c->peer);
    FAIL(TACIT_INVALID,
         "a channel: rank %d %s %lld bytes %s rank %d, which %s %lld: %s",
         c->medium->world->rank, c->sends ? "sends" : "receives",
         (long long)c->bytes, to, c->peer, c->sends ? "receives" : "sends",
         (long long)c->bytes, what);
}

static tacit_status refuse_start(const tct_channel *c)
{
    char what[96] = "start";
    if (c->medium)
        snprintf(what, sizeof what,
                 "start of message %llu before the end of message %llu",
                 (unsigned long long)c->sequence + 1,
                 (unsigned long long)c->sequence);
    return refuse(c, what);
}

static tacit_status refuse_length(const tct_channel *c, int64_t bytes)
{
    FAIL(TACIT_INVALID,
         "a message of %lld bytes: rank %d %s, and rank %d %s, 0 to %lld",
         (long long)bytes, c->medium->world->rank,
         c->sends ? "sends" : "receives", c->peer,
         c->sends ? "receives" : "sends", (long long)c->bytes);
}

tacit_status tct_channel_start(tct_channel *c, void *data, int64_t bytes)
{
    if (!c->medium || c->started) return refuse_start(c);
    if (bytes < 0 || bytes > c->bytes) return refuse_length(c, bytes);
    c->data = data;
    c->part = bytes;
    c->sequence++;
    if (c->sends) TRY(c->medium->send(c));
    c->started = true;
    return TACIT_OK;
}

tacit_status tct_channel_end(tct_channel *c)
{
    if (!c->medium || !c->started)
        return refuse(c, c->medium ? "end before the start" : "end");
    c->started = false;
    return c->sends ? TACIT_OK : c->medium->receive(c);
}

/* --- memory that ranks share ---------------------------------------------- */

static tacit_status host_take(void *state, size_t bytes, tct_peer_window *out,
                              void **handle)
{
    const tct_waits *waits = state;
    tct_shared *memory = NULL;
    TRY(tct_shared_create(waits->world, bytes, &memory));
    *handle = memory;
    *out = (tct_peer_window){.bytes = (int64_t)bytes};
    return TACIT_OK;
}

static char *host_at(void *state, void *handle, int rank,
                     const tct_peer_window *w)
{
    (void)state;
    return (char *)tct_shared_of(handle, rank) + w->offset;
}

static void host_give(void *state, void *handle, const tct_peer_window *own)
{
    tct_shared *memory = handle;
    (void)state;
    (void)own;
    tct_shared_destroy(&memory);
}

static tacit_status host_send(const tct_channel *c)
{
    const uint64_t now = c->sequence;
    const int half = tct_buffer_of(now);
    TRY(tct_waits_await(c->medium->state, &c->own[half * c->signals],
                        tct_taken_before(now), c->peer));
    memcpy(c->window[half], c->data, (size_t)c->part);
    tct_signal(&c->other[half * c->signals], now);
    return TACIT_OK;
}

static tacit_status host_receive(const tct_channel *c)
{
    const uint64_t now = c->sequence;
    const int half = tct_buffer_of(now);
    TRY(tct_waits_await(c->medium->state, &c->own[half * c->signals], now,
                        c->peer));
    memcpy(c->data, c->window[half], (size_t)c->part);
    tct_signal(&c->other[half * c->signals], now);
    return TACIT_OK;
}

tct_medium tct_medium_host(const tct_waits *waits)
{
    return (tct_medium){.world = waits->world,
                        .state = (void *)(uintptr_t)waits,
                        .take = host_take,
                        .at = host_at,
                        .give = host_give,
                        .send = host_send,
                        .receive = host_receive};
}
