/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/offer.c - the memory of ends, and the result of a match. */
#include "triggered/offer.h"
#include "triggered/gpu.h"
#include "triggered/match.h"
#include <stdio.h>

enum { LINE = sizeof(tct_end_signals) };
_Static_assert(LINE == 64, "signals of an end are a line");

/* --- memory --------------------------------------------------------------- */

static int64_t slot_bytes(int64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Slots of a receive, as much of them as its send may need, and a window where
 * its buffer is out of reach. */
static size_t block_bytes(const tacit_trigger_comm *c, const tct_trigger_end *e)
{
    const int64_t most = e->mine.bytes, few = TCT_EAGER_MOST;
    if (e->mine.direction == TCT_SENDS || e->mine.on_gpu) return LINE;
    const int64_t slots = 2 * slot_bytes(most < few ? most : few);
    const bool window = !tct_heap_is_flat(c->heap) && most > few;
    return (size_t)(LINE + slots + (window ? most : 0));
}

static tacit_status take(tacit_trigger_comm *c, size_t bytes, void **block)
{
    TRY(tct_heap_take(c->heap, bytes, block));
    memset(*block, 0, LINE);
    return TACIT_OK;
}

static tacit_status prepare_end(tacit_trigger_comm *c, tct_trigger_end *e)
{
    const bool flat = tct_heap_is_flat(c->heap);
    TRY(take(c, block_bytes(c, e), &e->block));
    e->mine.block = tct_heap_place(c->heap, e->block);
    e->mine.window = flat ? (int64_t)(uintptr_t)e->data : 0;
    e->over = 0;
    return e->mine.on_gpu ? tct_gpu_end_prepare(c, e) : TACIT_OK;
}

static tacit_status prepare_all(tacit_trigger_comm *c, tacit_trigger_request *r)
{
    int64_t place = 0;
    if (r->what != TCT_NEIGHBOURS && !r->on_gpu) {
        const size_t bytes = tct_together_bytes(r);
        const size_t signals = (size_t)c->ranks * sizeof(uint64_t);
        TRY(take(c, bytes, &r->block));
        memset((char *)r->block + LINE, 0, signals);
        place = tct_heap_place(c->heap, r->block);
    }
    for (int k = 0; k < r->alls; k++) {
        r->all[k].mine.block = place;
        r->all[k].mine.failed = 0;
    }
    r->combined = 0;
    return TACIT_OK;
}

tacit_status tct_offer_prepare(tacit_trigger_comm *c, tacit_trigger_request *r)
{
    for (int k = 0; k < r->ends; k++) TRY(prepare_end(c, &r->end[k]));
    return r->alls > 0 ? prepare_all(c, r) : TACIT_OK;
}

void tct_offer_undo(tacit_trigger_comm *c, tacit_trigger_request *r)
{
    for (int k = 0; k < r->ends; k++) {
        tct_heap_give(c->heap, r->end[k].block);
        tct_gpu_end_free(c, r->end[k].gpu);
        r->end[k].block = NULL;
        r->end[k].gpu = NULL;
    }
    tct_heap_give(c->heap, r->block);
    r->block = NULL;
}

/* --- offers --------------------------------------------------------------- */

static void offer(tacit_trigger_comm *c, tct_trigger_end *e)
{
    tct_trigger_peer *p = &c->peer[e->peer];
    e->next_offer = e->next_local = NULL;
    *p->last_offer = e;
    p->last_offer = &e->next_offer;
    *p->last_local = e;
    p->last_local = &e->next_local;
}

static void offer_each(tacit_trigger_request *r, int count, tct_trigger_end *e)
{
    r->unpaired = r->unsent = count;
    for (int k = 0; k < count; k++) offer(r->comm, &e[k]);
}

/* --- results -------------------------------------------------------------- */

static void connect(const tacit_trigger_comm *c, tct_trigger_end *e)
{
    const bool sends = e->mine.direction == TCT_SENDS;
    const tct_offer *send = sends ? &e->mine : &e->theirs,
                    *receive = sends ? &e->theirs : &e->mine;
    const int64_t most =
        receive->bytes < TCT_EAGER_MOST ? receive->bytes : TCT_EAGER_MOST;
    const int64_t slots = slot_bytes(most);
    const bool flat = tct_heap_is_flat(c->heap),
               small = send->bytes <= TCT_EAGER_MOST;
    e->there = tct_heap_at(c->heap, e->peer, e->theirs.block);
    char *block = (char *)(sends ? e->there : e->block) + LINE;
    char *window =
        flat ? (char *)(uintptr_t)receive->window : block + 2 * slots;
    e->r = (tct_rendezvous){.own = e->block,
                            .other = e->there,
                            .bytes = send->bytes,
                            .kind = (tct_send_kind)send->detail};
    for (int half = 0; half < 2 && small; half++)
        e->r.slot[half] = block + half * slots;
    e->r.window = flat || !small ? window : NULL;
}

/* Peers cannot know of a failure here: all ranks fail. */
static void connect_gpu(tacit_trigger_comm *c, tct_trigger_end *e)
{
    char why[448];
    if (!e->gpu || tct_gpu_end_connect(c, e) >= 0) return;
    snprintf(why, sizeof why, "rank %d: %.400s", c->rank,
             tacit_error_message());
    tct_trigger_fail(c, c->rank, why);
}

static void connect_all(const tacit_trigger_comm *c, tct_trigger_end *e)
{
    e->block = e->request->block;
    e->there = tct_heap_at(c->heap, e->peer, e->theirs.block);
}

/* The first failure of a match, with its message. */
static void note(tacit_trigger_request *m, const char *why)
{
    if (m->status < 0) return;
    m->status = TACIT_INVALID;
    const size_t bytes = strlen(why) + 1;
    m->why = tct_alloc(bytes);
    if (m->why) memcpy(m->why, why, bytes);
}

static void finish(tacit_trigger_comm *c, tacit_trigger_request *r)
{
    if (r->refused) tct_offer_undo(c, r);
    for (int k = 0; k < r->ends && !r->refused; k++) {
        connect(c, &r->end[k]);
        connect_gpu(c, &r->end[k]);
    }
    for (int k = 0; k < r->alls && !r->refused && r->block; k++)
        connect_all(c, &r->all[k]);
    r->match->left--;
    r->match = NULL;
    __atomic_store_n(&r->matched, r->refused ? TCT_UNMATCHED : TCT_MATCHED,
                     __ATOMIC_RELEASE);
}

/* All ends of a stage are paired. */
static void go_on(tacit_trigger_comm *c, tacit_trigger_request *r, bool first)
{
    if (!first || r->alls == 0) {
        finish(c, r);
        return;
    }
    for (int k = 0; k < r->alls; k++) r->all[k].mine.failed = r->refused;
    offer_each(r, r->alls, r->all);
}

static void check_stage(tacit_trigger_comm *c, const tct_trigger_end *e)
{
    tacit_trigger_request *r = e->request;
    if (r->unpaired == 0 && r->unsent == 0)
        go_on(c, r, e->mine.direction != TCT_TOGETHER);
}

void tct_offer_begin(tacit_trigger_comm *c, tacit_trigger_request *r)
{
    __atomic_store_n(&r->matched, TCT_MATCHING, __ATOMIC_RELAXED);
    r->refused = false;
    offer_each(r, r->ends, r->end);
    if (r->ends == 0) go_on(c, r, true);
}

void tct_offer_paired(tacit_trigger_comm *c, tct_trigger_end *e)
{
    tacit_trigger_request *r = e->request;
    char why[400];
    if (tct_match_differs(e, why, sizeof why)) {
        r->refused = true;
        note(r->match, why);
    }
    r->unpaired--;
    check_stage(c, e);
}

void tct_offer_sent(tacit_trigger_comm *c, tct_trigger_end *e)
{
    e->request->unsent--;
    check_stage(c, e);
}
