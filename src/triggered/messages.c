/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/messages.c - the steps of messages on the host: starts, which never
 * block, and waits, which also try the pending sends of their line. */
#include "triggered/triggered.h"
#include <stdio.h>

/* --- sends ---------------------------------------------------------------- */

/* Store message `number`, if that may be now. */
static bool try_send(tct_trigger_end *e, uint64_t number)
{
    const tct_send_way way = tct_send_way_now(&e->r, number);
    if (way == TCT_PENDING) return false;
    char *to = tct_send_place(&e->r, number, way);
    if (e->r.bytes > 0) memcpy(to, e->data, (size_t)e->r.bytes);
    tct_send_stored(&e->r, number, way);
    e->over = number;
    return true;
}

static void send(tct_trigger_line *l, tct_trigger_end *e, uint64_t number)
{
    if (try_send(e, number)) return;
    e->waiting = number;
    e->next_pending = NULL;
    __atomic_store_n(&e->pending, 1, __ATOMIC_RELAXED);
    *l->last = e;
    l->last = &e->next_pending;
}

static tct_trigger_end **unlist(tct_trigger_line *l, tct_trigger_end **at)
{
    tct_trigger_end *e = *at;
    *at = e->next_pending;
    if (!*at) l->last = at;
    __atomic_store_n(&e->pending, 0, __ATOMIC_RELEASE);
    return at;
}

void tct_line_progress(tct_trigger_line *l)
{
    for (tct_trigger_end **at = &l->first; *at;)
        at = try_send(*at, (*at)->waiting) ? unlist(l, at)
                                           : &(*at)->next_pending;
}

void tct_line_drop(tct_trigger_line *l)
{
    while (l->first) unlist(l, &l->first);
}

/* --- requests ------------------------------------------------------------- */

void tct_line_start(tct_trigger_line *l, const tct_started *s)
{
    tacit_trigger_request *r = s->request;
    for (int k = 0; k < r->ends; k++)
        if (r->end[k].mine.direction == TCT_RECEIVES)
            tct_receive_start(&r->end[k].r, s->number);
    for (int k = 0; k < r->ends; k++)
        if (r->end[k].mine.direction == TCT_SENDS)
            send(l, &r->end[k], s->number);
    if (r->block) tct_together_start(r, s->number);
}

/* Take message `number`, if it has come. */
static bool try_receive(tct_trigger_end *e, uint64_t number)
{
    if (e->over >= number) return true;
    const char *from = tct_receive_place(&e->r, number);
    if (!from) return false;
    if (from != e->data && e->r.bytes > 0)
        memcpy(e->data, from, (size_t)e->r.bytes);
    tct_receive_taken(&e->r, number);
    e->over = number;
    return true;
}

static bool has_ended(tct_trigger_end *e, uint64_t number)
{
    if (e->mine.direction == TCT_RECEIVES) return try_receive(e, number);
    return e->over >= number && tct_send_is_over(&e->r, number);
}

bool tct_line_ended(const tct_started *s, tct_trigger_end **missing)
{
    tacit_trigger_request *r = s->request;
    bool all = true;
    for (int k = 0; k < r->ends; k++) {
        if (has_ended(&r->end[k], s->number)) continue;
        *missing = &r->end[k];
        all = false;
    }
    if (!all || !r->block) return all;
    return tct_together_ended(r, s->number, missing);
}

/* --- waits ---------------------------------------------------------------- */

static bool all_ended(tct_trigger_line *l, pthread_mutex_t *lock, int count,
                      const tct_started *s, tct_started *which,
                      tct_trigger_end **missing)
{
    bool all = true;
    if (lock) pthread_mutex_lock(lock);
    if (l->first) tct_line_progress(l);
    for (int k = 0; k < count; k++) {
        if (tct_line_ended(&s[k], missing)) continue;
        *which = s[k];
        all = false;
    }
    if (lock) pthread_mutex_unlock(lock);
    return all;
}

/* The missing part of a message. */
static const char *stage(const tct_trigger_end *e, uint64_t number)
{
    if (e->mine.direction == TCT_RECEIVES) return "its message has not come";
    if (e->mine.direction == TCT_TOGETHER)
        return "that rank has not started it";
    return e->over < number ? "its receiver has not made room for it"
                            : "its receiver has not started it";
}

static tacit_status lose(tacit_trigger_comm *c, int lost, const tct_started *s,
                         const tct_trigger_end *e, const char *why)
{
    char text[160], all[448];
    if (tct_trigger_failed(c)) return tct_trigger_sound(c);
    tct_trigger_say_end(e, text, sizeof text);
    snprintf(all, sizeof all, "%s; rank %d waits for it in %s, number %llu: %s",
             why, c->rank, text, (unsigned long long)s->number,
             stage(e, s->number));
    return tct_trigger_fail(c, lost, all);
}

tacit_status tct_line_wait(tacit_trigger_comm *c, tct_trigger_line *l,
                           pthread_mutex_t *lock, int count,
                           const tct_started *s)
{
    tct_trigger_wait w = {.lost = -1};
    tct_started which = {NULL, 0};
    tct_trigger_end *missing = NULL;
    char why[160] = "";
    while (!all_ended(l, lock, count, s, &which, &missing)) {
        if (lock) tct_match_poll(c);
        if (tct_trigger_failed(c) ||
            tct_trigger_give_up(c, &w, missing->peer, why, sizeof why))
            return lose(c, w.lost, &which, missing, why);
    }
    tct_trigger_wait_end(c, &w);
    return TACIT_OK;
}
