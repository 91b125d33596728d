/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/match.c - finds the other end of each end, once: each rank offers
 * its ends to their peers, and pairs its own with those that peers offer, in
 * their order. Both ranks come to the same pairs, and the same refusals, by
 * themselves; neither has to answer.
 *
 * An exchange of neighbours that has paired its ends offers the result to all
 * ranks, so that all match or none. */
#include "triggered/match.h"
#include "triggered/gpu.h"
#include "triggered/offer.h"
#include <stdio.h>

/* --- memory of freed ends ------------------------------------------------- */

void tct_match_retire(tacit_trigger_comm *c, void *block,
                      struct tct_gpu_end *gpu, int times)
{
    tct_gpu_end_leave(c, gpu);
    tct_retired *r = tct_alloc(sizeof *r);
    if (!r) return; /* the block lives as long as the heap */
    *r = (tct_retired){
        .block = block, .gpu = gpu, .times = times, .next = c->retired};
    c->retired = r;
}

static void free_closed(tacit_trigger_comm *c)
{
    for (tct_retired **at = &c->retired, *r; (r = *at) != NULL;) {
        const tct_end_signals *s = r->block;
        if (tct_signal_value(&s->closed) < (uint64_t)r->times) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        tct_heap_give(c->heap, r->block);
        tct_gpu_end_free(c, r->gpu);
        tct_free(r);
    }
}

/* --- the channels --------------------------------------------------------- */

static tct_offers *message(const tct_channel *c, uint64_t number)
{
    return (tct_offers *)(void *)c->window[tct_buffer_of(number)];
}

static tct_counter *signal_of(tct_counter *of, const tct_channel *c,
                              uint64_t number)
{
    return &of[tct_buffer_of(number) * c->signals];
}

static tct_trigger_end *next_offer(tct_trigger_peer *p)
{
    tct_trigger_end *e = p->offers;
    p->offers = e->next_offer;
    if (!p->offers) p->last_offer = &p->offers;
    return e;
}

/* Send offers that wait, as many as there is room for. */
static void send_offers(tacit_trigger_comm *c, tct_trigger_peer *p)
{
    while (p->offers) {
        const uint64_t now = p->sent + 1;
        if (!tct_signalled(signal_of(p->to->own, p->to, now),
                           tct_taken_before(now)))
            return;
        tct_offers *m = message(p->to, now);
        for (m->count = 0; p->offers && m->count < TCT_OFFERS; m->count++) {
            tct_trigger_end *e = next_offer(p);
            m->offer[m->count] = e->mine;
            tct_offer_sent(c, e);
        }
        p->sent = now;
        tct_signal(signal_of(p->to->other, p->to, now), now);
    }
}

static bool keep_offer(tct_trigger_peer *p, const tct_offer *o)
{
    tct_remote *r = tct_alloc(sizeof *r);
    if (!r) return false;
    *r = (tct_remote){.offer = *o};
    *p->last_remote = r;
    p->last_remote = &r->next;
    return true;
}

/* Take the messages that have come; false: no memory. */
static bool receive_offers(tct_trigger_peer *p)
{
    bool well = true;
    for (;;) {
        const uint64_t now = p->received + 1;
        if (!tct_signalled(signal_of(p->from->own, p->from, now), now))
            return well;
        const tct_offers *m = message(p->from, now);
        for (int64_t k = 0; k < m->count; k++)
            well = keep_offer(p, &m->offer[k]) && well;
        p->received = now;
        tct_signal(signal_of(p->from->other, p->from, now), now);
    }
}

/* --- pairs ---------------------------------------------------------------- */

static bool can_pair(const tct_offer *a, const tct_offer *b)
{
    const bool opposite =
        a->direction == TCT_TOGETHER
            ? b->direction == TCT_TOGETHER
            : a->direction + b->direction == TCT_SENDS + TCT_RECEIVES;
    return opposite && a->space == b->space && a->tag == b->tag;
}

/* The first end here that can be the other end of an offer, off its list. */
static tct_trigger_end *find_local(tct_trigger_peer *p, const tct_offer *o)
{
    tct_trigger_end **at = &p->local;
    while (*at && !can_pair(&(*at)->mine, o)) at = &(*at)->next_local;
    tct_trigger_end *e = *at;
    if (!e) return NULL;
    *at = e->next_local;
    if (!*at) p->last_local = at;
    return e;
}

static void pair(tacit_trigger_comm *c, tct_trigger_peer *p)
{
    for (tct_remote **at = &p->remote, *r; (r = *at) != NULL;) {
        tct_trigger_end *e = find_local(p, &r->offer);
        if (!e) {
            at = &r->next;
            continue;
        }
        e->theirs = r->offer;
        *at = r->next;
        if (!*at) p->last_remote = at;
        tct_free(r);
        tct_offer_paired(c, e);
    }
}

void tct_match_progress(tacit_trigger_comm *c)
{
    bool well = true;
    for (int r = 0; r < c->ranks; r++) {
        tct_trigger_peer *p = &c->peer[r];
        send_offers(c, p);
        well = receive_offers(p) && well;
        if (p->remote && p->local) pair(c, p);
        send_offers(c, p);
    }
    if (c->retired) free_closed(c);
    if (!well) tct_trigger_fail(c, c->rank, "no memory for matches");
}

/* --- forgetting ----------------------------------------------------------- */

static void forget(tct_trigger_peer *p, const tct_trigger_end *e)
{
    tct_trigger_end **at = &p->offers;
    while (*at && *at != e) at = &(*at)->next_offer;
    if (*at) *at = e->next_offer;
    for (p->last_offer = &p->offers; *p->last_offer;)
        p->last_offer = &(*p->last_offer)->next_offer;
    at = &p->local;
    while (*at && *at != e) at = &(*at)->next_local;
    if (*at) *at = e->next_local;
    for (p->last_local = &p->local; *p->last_local;)
        p->last_local = &(*p->last_local)->next_local;
}

/* The peers may have paired the ends, and may write to their memory. */
static void forget_request(tacit_trigger_request *r)
{
    tacit_trigger_comm *c = r->comm;
    for (int k = 0; k < r->ends; k++) {
        forget(&c->peer[r->end[k].peer], &r->end[k]);
        tct_match_retire(c, r->end[k].block, r->end[k].gpu, 1);
        r->end[k].block = NULL;
        r->end[k].gpu = NULL;
    }
    for (int k = 0; k < r->alls; k++)
        forget(&c->peer[r->all[k].peer], &r->all[k]);
    if (r->block) tct_match_retire(c, r->block, NULL, c->ranks);
    r->block = NULL;
    r->match = NULL;
    __atomic_store_n(&r->matched, TCT_UNMATCHED, __ATOMIC_RELEASE);
}

static void forget_match(tacit_trigger_request *m)
{
    pthread_mutex_lock(&m->comm->lock);
    for (int k = 0; k < m->listed && m->left > 0; k++)
        if (m->list[k]->match == m) forget_request(m->list[k]);
    pthread_mutex_unlock(&m->comm->lock);
}

void tct_match_close(tacit_trigger_comm *c)
{
    for (int r = 0; r < c->ranks && c->peer; r++)
        for (tct_remote *at = c->peer[r].remote, *next; at; at = next) {
            next = at->next;
            tct_free(at);
        }
    for (tct_retired *at = c->retired, *next; at; at = next) {
        next = at->next;
        tct_gpu_end_free(c, at->gpu);
        tct_free(at);
    }
}

/* --- calls ---------------------------------------------------------------- */

/* The reason why a request cannot be matched; NULL: nothing. */
static const char *obstacle(const tacit_trigger_request *r,
                            const tacit_trigger_comm *c)
{
    const int matched = __atomic_load_n(&r->matched, __ATOMIC_ACQUIRE);
    if (r->what == TCT_MATCH) return "cannot be matched";
    if (r->comm != c) return "is of another communicator than the first one";
    if (r->marked) return "is twice in the list";
    if (matched == TCT_MATCHED) return "is matched already";
    return matched == TCT_MATCHING ? "is being matched already" : NULL;
}

static tacit_status check(const char *call, int count,
                          tacit_trigger_request *const *r)
{
    const char *why = NULL;
    char text[160] = "NULL";
    int k = 0;
    for (; k < count && !why; k++) {
        why = r[k] ? obstacle(r[k], r[0]->comm) : "is no request";
        if (!why) r[k]->marked = true;
        else if (r[k]) tct_trigger_say(r[k], text, sizeof text);
    }
    for (int i = 0; i < k - (why != NULL); i++) r[i]->marked = false;
    if (why)
        FAIL(TACIT_INVALID, "%s: request %d, %s, %s", call, k - 1, text, why);
    return TACIT_OK;
}

static tacit_status new_match(tacit_trigger_comm *c, int count,
                              tacit_trigger_request *const *r,
                              tacit_trigger_request **out)
{
    tacit_trigger_request **list = NULL, *m = NULL;
    TRY(TCT_ALLOC(count, "a match", &list));
    m = tct_calloc(sizeof *m);
    if (!m) {
        tct_free(list);
        FAIL(TACIT_NO_MEMORY, "no memory for a match");
    }
    memcpy(list, r, (size_t)count * sizeof *list);
    *m = (tacit_trigger_request){
        .comm = c, .what = TCT_MATCH, .list = list, .listed = count};
    __atomic_fetch_add(&c->used, 1, __ATOMIC_RELAXED);
    *out = m;
    return TACIT_OK;
}

void tct_match_free(tacit_trigger_request **m)
{
    if (!*m) return;
    __atomic_fetch_sub(&(*m)->comm->used, 1, __ATOMIC_RELEASE);
    TCT_FREE((*m)->list, (*m)->why, *m);
    *m = NULL;
}

/* Take the memory of all, then offer all. */
static tacit_status offer_all(tacit_trigger_comm *c, int count,
                              tacit_trigger_request *const *r,
                              tacit_trigger_request *m)
{
    tacit_status status = tct_trigger_sound(c);
    int k = 0;
    pthread_mutex_lock(&c->lock);
    for (; k < count && status >= 0; k++) status = tct_offer_prepare(c, r[k]);
    for (int i = 0; i < k && status < 0; i++) tct_offer_undo(c, r[i]);
    for (int i = 0; i < count && status >= 0; i++) {
        r[i]->match = m;
        m->left++;
        tct_offer_begin(c, r[i]);
    }
    tct_match_progress(c);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static tacit_status begin(const char *call, int count,
                          tacit_trigger_request *const *r,
                          tacit_trigger_request **match)
{
    if (count < 1 || !r || !match)
        FAIL(TACIT_INVALID, "%s: expected a list of one request at least",
             call);
    TRY(check(call, count, r));
    tacit_trigger_request *m = NULL;
    TRY(new_match(r[0]->comm, count, r, &m));
    const tacit_status status = offer_all(r[0]->comm, count, r, m);
    if (status < 0) tct_match_free(&m);
    else *match = m;
    return status;
}

/* An end of it that has no other one. */
static const tct_trigger_end *find_single(const tacit_trigger_request *m)
{
    const tacit_trigger_comm *c = m->comm;
    for (int r = 0; r < c->ranks; r++)
        for (const tct_trigger_end *e = c->peer[r].local; e; e = e->next_local)
            if (e->request->match == m) return e;
    return NULL;
}

/* Is it over? If not, `missing` is such an end. */
static bool is_over(tacit_trigger_request *m, tct_trigger_end *missing)
{
    pthread_mutex_lock(&m->comm->lock);
    tct_match_progress(m->comm);
    const bool over = m->left == 0;
    const tct_trigger_end *e = over ? NULL : find_single(m);
    if (e) *missing = *e;
    pthread_mutex_unlock(&m->comm->lock);
    return over;
}

void tct_match_poll(tacit_trigger_comm *c)
{
    if (pthread_mutex_trylock(&c->lock) != 0) return;
    tct_match_progress(c);
    pthread_mutex_unlock(&c->lock);
}

/* Its result; it is freed. */
static tacit_status end_match(tacit_trigger_request **m)
{
    tacit_status status = (*m)->status;
    if (status < 0)
        tacit_error_set(status, "%s", (*m)->why ? (*m)->why : "no match");
    tct_match_free(m);
    return status;
}

static tacit_status lose_match(tacit_trigger_request **m, int lost,
                               const tct_trigger_end *missing, const char *why)
{
    char text[160], all[448];
    tct_trigger_say_end(missing, text, sizeof text);
    snprintf(all, sizeof all, "rank %d: %s is not matched: %s",
             (*m)->comm->rank, text, why);
    const tacit_status status = tct_trigger_fail((*m)->comm, lost, all);
    forget_match(*m);
    tct_match_free(m);
    return status;
}

tacit_status tct_match_test(tacit_trigger_request **m, bool *done)
{
    tct_trigger_end missing = {.peer = 0};
    *done = is_over(*m, &missing);
    if (*done) return end_match(m);
    if (!tct_trigger_failed((*m)->comm)) return TACIT_OK;
    *done = true;
    return lose_match(m, -1, &missing, "");
}

tacit_status tct_match_wait(tacit_trigger_request **m)
{
    tacit_trigger_comm *c = (*m)->comm;
    tct_trigger_wait w = {.lost = -1};
    tct_trigger_end missing = {.peer = 0};
    char why[160] = "";
    while (!is_over(*m, &missing)) {
        tct_host_progress(c);
        if (tct_trigger_failed(c) ||
            tct_trigger_give_up(c, &w, missing.peer, why, sizeof why))
            return lose_match(m, w.lost, &missing, why);
    }
    tct_trigger_wait_end(c, &w);
    return end_match(m);
}

tacit_status tacit_trigger_imatchall(int count,
                                     tacit_trigger_request *const *requests,
                                     tacit_trigger_request **match)
{
    return begin(__func__, count, requests, match);
}

tacit_status tacit_trigger_imatch(tacit_trigger_request *request,
                                  tacit_trigger_request **match)
{
    return begin(__func__, 1, &request, match);
}

tacit_status tacit_trigger_matchall(int count,
                                    tacit_trigger_request *const *requests)
{
    tacit_trigger_request *m = NULL;
    if (count == 0) return TACIT_OK;
    TRY(begin(__func__, count, requests, &m));
    return tacit_trigger_wait(&m);
}

tacit_status tacit_trigger_match(tacit_trigger_request *request)
{
    tacit_trigger_request *m = NULL;
    TRY(begin(__func__, 1, &request, &m));
    return tacit_trigger_wait(&m);
}

tacit_status tacit_trigger_is_matched(const tacit_trigger_request *request,
                                      bool *out)
{
    REQUIRE(request != NULL, out != NULL);
    if (request->what == TCT_MATCH)
        FAIL(TACIT_INVALID, "a request that matches others is not matched "
                            "itself: ask one of those, or test it");
    tacit_trigger_comm *c = request->comm;
    pthread_mutex_lock(&c->lock);
    tct_match_progress(c);
    pthread_mutex_unlock(&c->lock);
    *out = tct_trigger_is_matched(request);
    return TACIT_OK;
}
