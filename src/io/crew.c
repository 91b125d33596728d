/* SPDX-License-Identifier: BSD-3-Clause
 * io/crew.c - rounds of pieces on the calling thread's team: a counter
 * distributes the pieces. */
#include "io/crew.h"
#include "device/parallel.h"
#include <stdatomic.h>

typedef struct {
    tct_crew_work work;
    void *ctx;
    int count;
} job;

struct tct_crew {
    job later, now; /* the pieces of this round, in this order */
    job deferred;   /* to the next round */
    bool is_begun;  /* other threads are at this round */
    atomic_int next;
};

static void take_pieces(void *work, int64_t part)
{
    tct_crew *t = work;
    (void)part;
    for (;;) {
        const int k = atomic_fetch_add(&t->next, 1);
        const int own = k - t->later.count;
        if (own >= t->now.count) return;
        if (own < 0) t->later.work(t->later.ctx, k);
        else t->now.work(t->now.ctx, own);
    }
}

tacit_status tct_crew_create(tct_crew **out)
{
    tct_crew *t = tct_calloc(sizeof *t);
    if (!t) FAIL(TACIT_NO_MEMORY, "no memory for pieces of work");
    *out = t;
    return TACIT_OK;
}

void tct_crew_destroy(tct_crew **crew)
{
    tct_free(*crew);
    *crew = NULL;
}

void tct_crew_begin(tct_crew *t, int count, tct_crew_work work, void *ctx)
{
    t->later = t->deferred;
    t->deferred.count = 0;
    t->now = (job){work, ctx, count};
    atomic_store(&t->next, 0);
    t->is_begun =
        count + t->later.count > 1 && tct_background_begin(take_pieces, t);
}

void tct_crew_end(tct_crew *t)
{
    if (t->is_begun) tct_background_end();
    else take_pieces(t, 0);
    t->is_begun = false;
}

void tct_crew_defer(tct_crew *t, int count, tct_crew_work work, void *ctx)
{
    t->deferred = (job){work, ctx, count};
}

void tct_crew_flush(tct_crew *t)
{
    if (t->deferred.count > 0) tct_crew_run(t, 0, NULL, NULL);
}
