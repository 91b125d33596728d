/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active.c - letters: which kind of post a world has, and what all have in
 * common. */
#include "comm/active/active.h"
#include "comm/link/shared.h"
#include <time.h>
#if TCT_HAVE_MPI
#include "comm/world/mpi.h"
#endif

static tacit_status count_from(tct_post *p, const int32_t *from)
{
    const int64_t count = (int64_t)p->boxes * p->world->size;
    TRY(TCT_ALLOC(count, "letters", &p->from));
    TRY(TCT_ALLOC(count, "letters", &p->taken));
    for (int64_t i = 0; i < count; i++) {
        p->from[i] = from[i];
        p->taken[i] = 0;
    }
    return TACIT_OK;
}

static tacit_status choose(tct_post *p)
{
    char reason[160];
    TRY(tct_read_patience(&p->limit));
#if TCT_HAVE_MPI
    if (tct_mpi_has(p->world)) {
        p->ops = &tct_post_mpi;
        return TACIT_OK;
    }
#endif
    if (!tct_can_share(p->world, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "letters between ranks: %s", reason);
    p->ops = &tct_post_shared;
    return TACIT_OK;
}

tacit_status tct_post_open(tacit_world *world, const tct_post_needs *needs,
                           tct_post **out)
{
    tct_post *p = tct_calloc(sizeof *p);
    tacit_status status = p ? TACIT_OK : TACIT_NO_MEMORY;
    if (!p) tacit_error_set(status, "no memory for letters");
    else {
        p->world = world;
        p->boxes = needs->boxes;
        status = choose(p);
        if (status >= 0) status = count_from(p, needs->from);
    }
    status = tct_agree(world, status);
    if (status >= 0) status = p->ops->open(p, needs);
    if (status < 0) tct_post_close(&p);
    else *out = p;
    return status;
}

void tct_post_close(tct_post **post)
{
    tct_post *p = *post;
    if (!p) return;
    if (p->ops && p->state) p->ops->close(p);
    TCT_FREE(p->from, p->taken, p);
    *post = NULL;
}

/* One time in 64, for up to 200 us. */
static void dawdle(tct_post *p)
{
    if (!p->delays) return;
    p->delays = tct_mix(p->delays + (uint64_t)p->world->rank) | 1;
    if (p->delays >> 58) return;
    const long ns = (long)((p->delays >> 8) % 200000);
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

tacit_status tct_post_begin(tct_post *p)
{
    TRY(p->ops->settle(p));
    p->round++;
    return TACIT_OK;
}

tacit_status tct_post_send(tct_post *p, int box, int to, const void *data,
                           int64_t bytes)
{
    dawdle(p);
    p->letters[box]++;
    p->bytes[box] += bytes;
    return p->ops->send(p, box, to, data, bytes);
}

tacit_status tct_post_take(tct_post *p, int box, tct_letter *out)
{
    dawdle(p);
    TRY(p->ops->take(p, box, out));
    p->taken[(int64_t)box * p->world->size + out->from]++;
    return TACIT_OK;
}

void tct_post_drop(tct_post *p, const tct_letter *letter)
{
    p->ops->drop(p, letter);
}
