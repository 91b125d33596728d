/* SPDX-License-Identifier: BSD-3-Clause
 * loop/loop.c - a loop of its own: it is opened for an iteration, run, and
 * closed. */
#include "loop/loop.h"
#include "comm/world/world.h"
#include <string.h>

/* Has the device what the kind of loop needs? */
static tacit_status check_device(const tct_loop_kind *kind,
                                 const tct_iteration *I, const tacit_queue *q)
{
    const bool persistent = kind->needs == TCT_BY_KERNEL;
    if (persistent && !I->kernel)
        FAIL(TACIT_UNSUPPORTED,
             "loop persistent: this iteration has no kernel: take another "
             "loop");
    if (persistent ? q->device->persistent != NULL
                   : kind->needs == TCT_BY_CPU || q->device->replay != NULL)
        return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED, "loop %s: device %s cannot: take loop host",
         kind->name, q->device->name);
}

static tacit_status open_here(tct_loop *L)
{
    const tct_loop_kind *kind = L->kind;
    TRY(check_device(kind, L->iteration, L->q));
    if (kind->needs > L->q->link->starter)
        FAIL(TACIT_UNSUPPORTED,
             "loop %s: the messages of link %s are started by the CPU: take "
             "loop host",
             kind->name, L->q->link->name);
    return kind->open ? kind->open(L) : TACIT_OK;
}

tacit_status tct_loop_open(tct_loop *L, const tct_loop_kind *kind,
                           const tct_iteration *I, tacit_queue *q, void *of,
                           double *c)
{
    q_enter(q);
    *L = (tct_loop){.iteration = I,
                    .of = of,
                    .q = q,
                    .c = c,
                    .lag = q->device->lag ? q->device->lag(q, SIZE_MAX) : 0,
                    .period = I->period ? I->period : TCT_PERIOD,
                    .left_from = -1,
                    .kind = kind};
    const tacit_status status = tct_agree(q->world, open_here(L));
    if (status < 0) tct_loop_close(L);
    return status;
}

void tct_loop_close(tct_loop *L)
{
    if (L->kind && L->kind->close) L->kind->close(L);
    memset(L, 0, sizeof *L);
}

/* A rank whose recording has failed goes on with the messages of its
 * iterations until a sum has told the others. */
static void tell_others(tct_loop *L)
{
    const tacit_queue *q = L->q;
    if (q->failed == TACIT_OK || !L->iteration->enqueue) return;
    while (q->ranks > 1 && !q->peers_know && L->k < L->most)
        L->iteration->enqueue(L->of, L->k++);
}

tacit_status tct_loop_run(tct_loop *L, int64_t most)
{
    tacit_queue *q = L->q;
    q_enter(q);
    q->stop_wanted = q->stop_agreed = false;
    L->most = most;
    L->kind->iterate(L);
    tell_others(L);
    return tct_agree(q->world, q_own_status(q));
}
