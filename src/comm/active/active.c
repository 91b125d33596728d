/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active.c - active messages: choice of the transport, and what
 * both transports share. */
#include "comm/active/active.h"
#include "comm/world/shared.h"
#include <time.h>
#if TCT_HAVE_MPI
#include "comm/world/mpi.h"
#endif

static tacit_status count_from(tct_active *p, const int32_t *from)
{
    const int64_t count = (int64_t)p->tags * p->world->size;
    TRY(TCT_ALLOC(count, "messages", &p->from));
    TRY(TCT_ALLOC(count, "messages", &p->taken));
    for (int64_t i = 0; i < count; i++) {
        p->from[i] = from[i];
        p->taken[i] = 0;
    }
    return TACIT_OK;
}

static tacit_status choose(tct_active *p)
{
    char reason[160];
    TRY(tct_read_timeout(&p->limit));
#if TCT_HAVE_MPI
    if (tct_mpi_has(p->world)) {
        p->ops = &tct_active_mpi;
        return TACIT_OK;
    }
#endif
    if (!tct_can_share(p->world, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "messages between ranks: %s", reason);
    p->ops = &tct_active_shared;
    return TACIT_OK;
}

tacit_status tct_active_open(tacit_world *world, const tct_active_needs *needs,
                             tct_active **out)
{
    tct_active *p = tct_calloc(sizeof *p);
    tacit_status status = p ? TACIT_OK : TACIT_NO_MEMORY;
    if (!p) tacit_error_set(status, "no memory for messages");
    else {
        p->world = world;
        p->tags = needs->tags;
        status = choose(p);
        if (status >= 0) status = count_from(p, needs->from);
    }
    status = tct_agree(world, status);
    if (status >= 0) status = p->ops->open(p, needs);
    if (status < 0) tct_active_close(&p);
    else *out = p;
    return status;
}

void tct_active_close(tct_active **active)
{
    tct_active *p = *active;
    if (!p) return;
    if (p->ops && p->state) p->ops->close(p);
    TCT_FREE(p->from, p->taken, p);
    *active = NULL;
}

/* In tests: one call in 64 sleeps, up to 200 us. */
static void delay(tct_active *p)
{
    if (!p->delays) return;
    p->delays = tct_mix(p->delays + (uint64_t)p->world->rank) | 1;
    if (p->delays >> 58) return;
    const long ns = (long)((p->delays >> 8) % 200000);
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

tacit_status tct_active_begin(tct_active *p)
{
    TRY(p->ops->settle(p));
    p->round++;
    return TACIT_OK;
}

tacit_status tct_active_send(tct_active *p, int tag, int to, const void *data,
                             int64_t bytes)
{
    delay(p);
    p->messages_sent[tag]++;
    p->bytes[tag] += bytes;
    return p->ops->send(p, tag, to, data, bytes);
}

tacit_status tct_active_take(tct_active *p, int tag, tct_active_message *out)
{
    delay(p);
    TRY(p->ops->take(p, tag, out));
    p->taken[(int64_t)tag * p->world->size + out->from]++;
    return TACIT_OK;
}

void tct_active_drop(tct_active *p, const tct_active_message *message)
{
    p->ops->drop(p, message);
}
