/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/request.c - persistent requests of one message: how they are made,
 * named and freed. */
#include "triggered/request.h"
#include "triggered/gpu.h"
#include "triggered/match.h"
#include "triggered/queue.h"
#include <sched.h>
#include <stdio.h>

/* --- names ---------------------------------------------------------------- */

static const char *name_of(const tct_trigger_end *e)
{
    static const char *const sends[] = {[TCT_SEND] = "send",
                                        [TCT_SEND_READY] = "ready send",
                                        [TCT_SEND_SYNC] = "synchronous send"};
    if (e->mine.direction == TCT_RECEIVES) return "receive";
    return sends[e->mine.detail];
}

static const char *name_of_all(int what)
{
    static const char *const names[] = {[TCT_NOT_ALL] = "",
                                        [TCT_BARRIER] = "barrier",
                                        [TCT_ALLREDUCE] = "all-reduction",
                                        [TCT_BCAST] = "broadcast",
                                        [TCT_ALLGATHER] = "all-gather",
                                        [TCT_NEIGHBOURS] =
                                            "exchange of neighbours",
                                        [TCT_MATCH] = "match"};
    return names[what];
}

void tct_trigger_say_end(const tct_trigger_end *e, char *text, size_t size)
{
    const tct_offer *o = &e->mine;
    char tag[40] = "";
    if (!e->request) {
        snprintf(text, size, "a request");
        return;
    }
    if (o->direction == TCT_TOGETHER) {
        tct_trigger_say(e->request, text, size);
        return;
    }
    if (o->space == 0)
        snprintf(tag, sizeof tag, " with tag %lld", (long long)o->tag);
    snprintf(text, size, "the %s of %lld bytes%s %s rank %d", name_of(e),
             (long long)o->bytes, tag,
             o->direction == TCT_SENDS ? "to" : "from", e->peer);
}

void tct_trigger_say(const tacit_trigger_request *r, char *text, size_t size)
{
    if (r->what == TCT_NOT_ALL && r->ends > 0)
        tct_trigger_say_end(r->end, text, size);
    else if (r->what == TCT_NOT_ALL)
        snprintf(text, size, "the request with nobody");
    else
        snprintf(text, size, "the %s that all ranks make as number %lld",
                 name_of_all((int)r->what),
                 (long long)(r->alls > 0 ? r->all[0].mine.space : 0));
}

/* --- differences ---------------------------------------------------------- */

static const char *type_name(int type)
{
    static const char *const names[] = {"BYTE", "I8",  "I16", "I32",
                                        "I64",  "U8",  "U16", "U32",
                                        "U64",  "F32", "F64"};
    return names[type];
}

static bool types_agree(int a, int b)
{
    return a == b || a == TACIT_TRIGGER_BYTE || b == TACIT_TRIGGER_BYTE;
}

static bool message_differs(const tct_trigger_end *e, char *why, size_t size)
{
    const bool sends = e->mine.direction == TCT_SENDS;
    const tct_offer *s = sends ? &e->mine : &e->theirs,
                    *r = sends ? &e->theirs : &e->mine;
    const int rank = e->request->comm->rank, from = sends ? rank : e->peer,
              to = sends ? e->peer : rank;
    if (s->bytes > r->bytes)
        snprintf(
            why, size,
            "tag %lld: rank %d sends %lld bytes to rank %d, which receives "
            "%lld at most: make its buffer larger",
            (long long)s->tag, from, (long long)s->bytes, to,
            (long long)r->bytes);
    else if (s->on_gpu != r->on_gpu)
        snprintf(why, size,
                 "tag %lld: rank %d sends from memory of %s to rank %d, which "
                 "receives in that of %s: let both be of one kind",
                 (long long)s->tag, from, s->on_gpu ? "a GPU" : "the host", to,
                 r->on_gpu ? "a GPU" : "the host");
    else if (!types_agree(s->type, r->type))
        snprintf(
            why, size,
            "tag %lld: rank %d sends elements %s to rank %d, which receives "
            "%s: let both say the same, or BYTE",
            (long long)s->tag, from, type_name(s->type), to,
            type_name(r->type));
    else return false;
    return true;
}

static bool all_differs(const tct_trigger_end *e, char *why, size_t size)
{
    const tct_offer *m = &e->mine, *t = &e->theirs;
    const int rank = e->request->comm->rank;
    if (m->detail == t->detail && m->bytes == t->bytes && m->root == t->root &&
        m->type == t->type && !t->failed)
        return false;
    if (t->failed)
        snprintf(why, size,
                 "an exchange of neighbours: parts of rank %d do "
                 "not fit those of its neighbours",
                 e->peer);
    else
        snprintf(why, size,
                 "request %lld of all ranks: rank %d makes the %s of %lld "
                 "bytes (elements %s, root %d) and rank %d the %s of %lld "
                 "(%s, %d): let all make the same",
                 (long long)m->space, rank, name_of_all(m->detail & 15),
                 (long long)m->bytes, type_name(m->type), (int)m->root, e->peer,
                 name_of_all(t->detail & 15), (long long)t->bytes,
                 type_name(t->type), (int)t->root);
    return true;
}

bool tct_match_differs(const tct_trigger_end *e, char *why, size_t size)
{
    return e->mine.direction == TCT_TOGETHER ? all_differs(e, why, size)
                                             : message_differs(e, why, size);
}

/* --- making --------------------------------------------------------------- */

size_t tct_trigger_size_of(tacit_trigger_type type)
{
    static const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    const size_t t = (size_t)type;
    return t < sizeof sizes / sizeof *sizes ? sizes[t] : 0;
}

tacit_status tct_request_check(const char *call, const tacit_trigger_comm *c,
                               const void *data, int64_t count,
                               tacit_trigger_type type, int rank)
{
    const size_t size = tct_trigger_size_of(type);
    if (size == 0) FAIL(TACIT_INVALID, "%s: there is no type %d", call, type);
    if (count < 0 || count > INT64_MAX / 16 || (count > 0 && !data))
        FAIL(TACIT_INVALID, "%s: %lld elements%s: expected 0 or more, and data",
             call, (long long)count, data ? "" : " at NULL");
    if (rank < TACIT_TRIGGER_NOBODY || rank >= c->ranks)
        FAIL(TACIT_INVALID,
             "%s: rank %d: expected a rank from 0 to %d, or "
             "TACIT_TRIGGER_NOBODY",
             call, rank, c->ranks - 1);
    return TACIT_OK;
}

tacit_status tct_request_new(tacit_trigger_comm *c, tct_collective what,
                             int ends, int alls, tacit_trigger_request **out)
{
    tacit_trigger_request *r = NULL;
    tct_trigger_end *end = NULL;
    TRY(TCT_ALLOC(1, "a request", &r));
    if (TCT_ALLOC(ends + alls, "a request", &end) < 0) {
        tct_free(r);
        return TACIT_NO_MEMORY;
    }
    memset(end, 0, (size_t)(ends + alls) * sizeof *end);
    *r = (tacit_trigger_request){.comm = c,
                                 .what = what,
                                 .ends = ends,
                                 .alls = alls,
                                 .end = end,
                                 .all = end + ends};
    for (int k = 0; k < ends + alls; k++) end[k].request = r;
    for (int k = 0; k < alls; k++) r->all[k].peer = k;
    __atomic_fetch_add(&c->used, 1, __ATOMIC_RELAXED);
    *out = r;
    return TACIT_OK;
}

void tct_request_set_end(tct_trigger_end *e, tct_direction direction,
                         int detail, const void *data, int64_t count,
                         tacit_trigger_type type, int peer)
{
    e->peer = peer;
    e->data = (char *)(uintptr_t)data;
    e->mine = (tct_offer){.direction = (int32_t)direction,
                          .bytes = count * (int64_t)tct_trigger_size_of(type),
                          .type = (int32_t)type,
                          .detail = detail};
    e->mine.on_gpu = tct_trigger_gpu_has(e->request->comm, data);
}

static tacit_status make(const char *call, tacit_trigger_comm *c,
                         tct_direction direction, int detail, const void *data,
                         int64_t count, tacit_trigger_type type, int peer,
                         int64_t tag, tacit_trigger_request **out)
{
    if (!c || !out)
        FAIL(TACIT_INVALID, "%s: expected a communicator, and out", call);
    TRY(tct_request_check(call, c, data, count, type, peer));
    if (tag < 0)
        FAIL(TACIT_INVALID,
             "%s: tag %lld: expected 0 or more: a request that is "
             "matched has one tag",
             call, (long long)tag);
    tacit_trigger_request *r = NULL;
    const int ends = peer != TACIT_TRIGGER_NOBODY;
    TRY(tct_request_new(c, TCT_NOT_ALL, ends, 0, &r));
    if (ends > 0) {
        tct_request_set_end(r->end, direction, detail, data, count, type, peer);
        r->end->mine.tag = tag;
    }
    *out = r;
    return TACIT_OK;
}

tacit_status tacit_trigger_send_init(tacit_trigger_comm *comm, const void *data,
                                     int64_t count, tacit_trigger_type type,
                                     int to, int64_t tag,
                                     tacit_trigger_request **out)
{
    return make(__func__, comm, TCT_SENDS, TCT_SEND, data, count, type, to, tag,
                out);
}

tacit_status tacit_trigger_ssend_init(tacit_trigger_comm *comm,
                                      const void *data, int64_t count,
                                      tacit_trigger_type type, int to,
                                      int64_t tag, tacit_trigger_request **out)
{
    return make(__func__, comm, TCT_SENDS, TCT_SEND_SYNC, data, count, type, to,
                tag, out);
}

tacit_status tacit_trigger_rsend_init(tacit_trigger_comm *comm,
                                      const void *data, int64_t count,
                                      tacit_trigger_type type, int to,
                                      int64_t tag, tacit_trigger_request **out)
{
    return make(__func__, comm, TCT_SENDS, TCT_SEND_READY, data, count, type,
                to, tag, out);
}

tacit_status tacit_trigger_recv_init(tacit_trigger_comm *comm, void *data,
                                     int64_t count, tacit_trigger_type type,
                                     int from, int64_t tag,
                                     tacit_trigger_request **out)
{
    return make(__func__, comm, TCT_RECEIVES, 0, data, count, type, from, tag,
                out);
}

/* --- freeing -------------------------------------------------------------- */

bool tct_trigger_is_matched(const tacit_trigger_request *r)
{
    return __atomic_load_n(&r->matched, __ATOMIC_ACQUIRE) == TCT_MATCHED;
}

bool tct_trigger_on_gpu(const tacit_trigger_request *r)
{
    return r->on_gpu || (r->ends > 0 && r->end->mine.on_gpu);
}

bool tct_trigger_is_busy(const tacit_trigger_request *r)
{
    if (__atomic_load_n(&r->busy, __ATOMIC_ACQUIRE) > 0) return true;
    for (int k = 0; k < r->ends && !tct_trigger_failed(r->comm); k++)
        if (!r->active && r->end[k].gpu &&
            !tct_gpu_end_is_over(r->comm, &r->end[k]))
            return true;
    return false;
}

tacit_status tacit_trigger_received(const tacit_trigger_request *request,
                                    int64_t *bytes)
{
    REQUIRE(request != NULL, bytes != NULL);
    if (request->what != TCT_NOT_ALL)
        FAIL(TACIT_INVALID,
             "only a single send or receive has a number of received bytes");
    if (!tct_trigger_is_matched(request))
        FAIL(TACIT_INVALID, "a request that is not matched has received "
                            "nothing: match it first");
    *bytes = request->ends > 0 ? request->end->r.bytes : 0;
    return TACIT_OK;
}

/* Why it may not be freed; NULL: it may. */
static const char *in_use(const tacit_trigger_request *r)
{
    if (r->what == TCT_MATCH) return "has not ended: wait for it";
    if (__atomic_load_n(&r->matched, __ATOMIC_ACQUIRE) == TCT_MATCHING)
        return "is being matched: wait for its match";
    if (tct_trigger_is_busy(r))
        return "is in a queue that has not come to its end: wait for the queue";
    if (r->active && !tct_trigger_failed(r->comm))
        return "is started and not waited for";
    return NULL;
}

/* The peer will find that this end does not touch its memory again. */
static void close_end(tacit_trigger_comm *c, tct_trigger_end *e)
{
    tct_end_signals *s = e->there;
    tct_signal_add(&s->closed, 1);
    tct_match_retire(c, e->block, e->gpu, 1);
    e->gpu = NULL;
}

static void close_request(tacit_trigger_request *r)
{
    tacit_trigger_comm *c = r->comm;
    pthread_mutex_lock(&c->lock);
    for (int k = 0; k < r->ends; k++) close_end(c, &r->end[k]);
    for (int k = 0; k < r->alls && r->block; k++)
        tct_signal_add(&((tct_end_signals *)r->all[k].there)->closed, 1);
    if (r->block) tct_match_retire(c, r->block, NULL, c->ranks);
    tct_match_progress(c);
    pthread_mutex_unlock(&c->lock);
}

/* After a failure a line may not have dropped it yet. */
static void wait_for_line(tacit_trigger_request *r)
{
    for (int k = 0; k < r->ends; k++)
        while (__atomic_load_n(&r->end[k].pending, __ATOMIC_ACQUIRE)) {
            tct_host_progress(r->comm);
            sched_yield();
        }
}

tacit_status tacit_trigger_request_free(tacit_trigger_request **request)
{
    if (!request || !*request) return TACIT_OK;
    tacit_trigger_request *r = *request;
    const char *why = in_use(r);
    char text[160];
    tct_trigger_say(r, text, sizeof text);
    if (why)
        FAIL(TACIT_INVALID, "tacit_trigger_request_free: %s %s", text, why);
    wait_for_line(r);
    tct_queue_forget(r);
    if (tct_trigger_is_matched(r)) close_request(r);
    tct_gpu_scratch_give(r->comm, r->scratch);
    __atomic_fetch_sub(&r->comm->used, 1, __ATOMIC_RELEASE);
    TCT_FREE(r->end, r);
    *request = NULL;
    return TACIT_OK;
}
