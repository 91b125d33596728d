/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/enqueue.c - starts and waits, of queues and of the host. All
 * requests of a call are checked before the first one changes. */
#include "triggered/queue.h"
#include <stdio.h>

/* --- checks --------------------------------------------------------------- */

/* Why a request cannot be in the list of a call; NULL: it can. */
static const char *unfit(const tacit_trigger_request *r,
                         const tacit_trigger_comm *c)
{
    if (r->what == TCT_MATCH) return "is not started: wait for it by itself";
    if (r->comm != c) return "is of another communicator";
    if (!tct_trigger_is_matched(r)) return "is not matched: match it first";
    return r->marked ? "is twice in the list" : NULL;
}

/* Its memory belongs to the one kind of queue, or to the other and the host. */
static const char *is_elsewhere(const tacit_trigger_request *r,
                                const tacit_trigger_queue *q)
{
    const bool on_gpu = q && q->gpu;
    if (r->ends == 0 && !r->on_gpu &&
        (r->alls == 0 || r->what == TCT_NEIGHBOURS))
        return NULL; /* with nobody */
    if (on_gpu == tct_trigger_on_gpu(r)) return NULL;
    return on_gpu ? "has its data in memory of the host: a queue of kind "
                    "thread takes it"
                  : "has its data on a GPU: a queue of kind kernel takes it";
}

static const char *cannot_start(const tacit_trigger_request *r,
                                const tacit_trigger_queue *q)
{
    const char *elsewhere = is_elsewhere(r, q);
    if (r->active) return "is started already: wait for it first";
    if (elsewhere) return elsewhere;
    return r->queue != q && tct_trigger_is_busy(r)
               ? "has not ended in another queue: wait for that queue first"
               : NULL;
}

static const char *cannot_wait(const tacit_trigger_request *r,
                               const tacit_trigger_queue *q)
{
    if (r->active && r->queue != q)
        return r->queue ? "was started in another queue: wait for it there"
                        : "was started by the host: wait for it there";
    return !q && tct_trigger_is_busy(r) ? "is in a queue: wait for the queue"
                                        : NULL;
}

typedef const char *obstacle(const tacit_trigger_request *r,
                             const tacit_trigger_queue *q);

static tacit_status check(const char *call, const tacit_trigger_comm *c,
                          const tacit_trigger_queue *q, int count,
                          tacit_trigger_request *const *r, obstacle *of)
{
    const char *why = NULL;
    char text[160];
    int k = 0, end = 0;
    if (count < 0 || (count > 0 && !r))
        FAIL(TACIT_INVALID, "%s: expected a list of requests", call);
    for (; k < count && !why; k++) {
        if (!r[k]) continue;
        why = unfit(r[k], c);
        if (!why) why = of(r[k], q);
        if (why) tct_trigger_say(r[k], text, sizeof text);
        else r[k]->marked = true;
    }
    end = why ? k - 1 : k;
    for (int i = 0; i < end; i++)
        if (r[i]) r[i]->marked = false;
    if (why)
        FAIL(TACIT_INVALID, "%s: request %d, %s, %s", call, end, text, why);
    return TACIT_OK;
}

/* --- queues --------------------------------------------------------------- */

static tacit_status start(const char *call, tacit_trigger_queue *q, int count,
                          tacit_trigger_request *const *r)
{
    if (!q) FAIL(TACIT_INVALID, "%s: expected a queue", call);
    TRY(check(call, q->comm, q, count, r, cannot_start));
    tct_command *c = NULL;
    TRY(tct_command_new(TCT_COMMAND_START, count, &c));
    c->count = 0;
    for (int k = 0; k < count; k++) {
        if (!r[k]) continue;
        tct_queue_activate(q, r[k]);
        c->started[c->count++] = (tct_started){r[k], r[k]->number};
    }
    tct_queue_push(q, c);
    return TACIT_OK;
}

tacit_status
tacit_trigger_enqueue_startall(tacit_trigger_queue *queue, int count,
                               tacit_trigger_request *const *requests)
{
    return start(__func__, queue, count, requests);
}

tacit_status tacit_trigger_enqueue_start(tacit_trigger_queue *queue,
                                         tacit_trigger_request *request)
{
    return start(__func__, queue, 1, &request);
}

static void add_wait(tct_command *c, tacit_trigger_request *r)
{
    c->started[c->count++] = (tct_started){r, r->number};
    tct_queue_forget(r);
}

static tacit_status wait(const char *call, tacit_trigger_queue *q, int count,
                         tacit_trigger_request *const *r)
{
    if (!q) FAIL(TACIT_INVALID, "%s: expected a queue", call);
    TRY(check(call, q->comm, q, count, r, cannot_wait));
    tct_command *c = NULL;
    TRY(tct_command_new(TCT_COMMAND_WAIT, count, &c));
    c->count = 0;
    for (int k = 0; k < count; k++)
        if (r[k] && r[k]->active) add_wait(c, r[k]);
    if (c->count > 0) tct_queue_push(q, c);
    else tct_free(c);
    return TACIT_OK;
}

tacit_status
tacit_trigger_enqueue_waitall(tacit_trigger_queue *queue, int count,
                              tacit_trigger_request *const *requests)
{
    return wait(__func__, queue, count, requests);
}

tacit_status tacit_trigger_enqueue_wait(tacit_trigger_queue *queue,
                                        tacit_trigger_request *request)
{
    return wait(__func__, queue, 1, &request);
}

tacit_status tacit_trigger_enqueue_wait_started(tacit_trigger_queue *queue)
{
    REQUIRE(queue != NULL);
    int count = 0;
    tct_command *c = NULL;
    for (const tacit_trigger_request *r = queue->active; r; r = r->after)
        count++;
    if (count == 0) return TACIT_OK;
    TRY(tct_command_new(TCT_COMMAND_WAIT, count, &c));
    c->count = 0;
    while (queue->active) add_wait(c, queue->active);
    tct_queue_push(queue, c);
    return TACIT_OK;
}

tacit_status
tacit_trigger_enqueue_exchange(tacit_trigger_queue *queue, int count,
                               tacit_trigger_request *const *requests)
{
    REQUIRE(queue != NULL);
    TRY(check(__func__, queue->comm, queue, count, requests, cannot_start));
    tct_command *c = NULL;
    TRY(tct_command_new(TCT_COMMAND_EXCHANGE, count, &c));
    c->count = 0;
    for (int k = 0; k < count; k++) {
        if (!requests[k]) continue;
        tct_queue_activate(queue, requests[k]);
        add_wait(c, requests[k]);
    }
    tct_queue_push(queue, c);
    return TACIT_OK;
}

/* --- the host ------------------------------------------------------------- */

void tct_host_progress(tacit_trigger_comm *c)
{
    if (pthread_mutex_trylock(&c->host_lock) != 0) return;
    if (tct_trigger_failed(c)) tct_line_drop(&c->host);
    else tct_line_progress(&c->host);
    pthread_mutex_unlock(&c->host_lock);
}

/* The communicator of the first request; NULL: there is none. */
static tacit_trigger_comm *comm_of(int count, tacit_trigger_request *const *r)
{
    int k = 0;
    while (k < count && r && !r[k]) k++;
    return k < count && r ? r[k]->comm : NULL;
}

tacit_status tacit_trigger_startall(int count,
                                    tacit_trigger_request *const *requests)
{
    tacit_trigger_comm *c = comm_of(count, requests);
    TRY(check(__func__, c, NULL, count, requests, cannot_start));
    if (!c) return TACIT_OK;
    TRY(tct_trigger_sound(c));
    pthread_mutex_lock(&c->host_lock);
    for (int k = 0; k < count; k++) {
        if (!requests[k]) continue;
        tct_queue_activate(NULL, requests[k]);
        const tct_started s = {requests[k], requests[k]->number};
        tct_line_start(&c->host, &s);
    }
    pthread_mutex_unlock(&c->host_lock);
    return TACIT_OK;
}

tacit_status tacit_trigger_wait(tacit_trigger_request **request)
{
    REQUIRE(request != NULL);
    tacit_trigger_request *r = *request;
    if (!r) return TACIT_OK;
    if (r->what == TCT_MATCH) return tct_match_wait(request);
    TRY(check(__func__, r->comm, NULL, 1, request, cannot_wait));
    if (!r->active) return TACIT_OK;
    const tct_started s = {r, r->number};
    const tacit_status status =
        tct_line_wait(r->comm, &r->comm->host, &r->comm->host_lock, 1, &s);
    r->active = false;
    return status;
}

/* Has a message that the host has started ended? */
static bool host_ended(tacit_trigger_request *r)
{
    const tct_started s = {r, r->number};
    tct_trigger_end *missing = NULL;
    pthread_mutex_lock(&r->comm->host_lock);
    tct_line_progress(&r->comm->host);
    const bool ended = tct_line_ended(&s, &missing);
    pthread_mutex_unlock(&r->comm->host_lock);
    return ended;
}

tacit_status tacit_trigger_test(tacit_trigger_request **request, bool *done)
{
    REQUIRE(request != NULL, done != NULL);
    tacit_trigger_request *r = *request;
    *done = true;
    if (!r) return TACIT_OK;
    if (r->what == TCT_MATCH) return tct_match_test(request, done);
    TRY(check(__func__, r->comm, NULL, 1, request, cannot_wait));
    if (!r->active) return TACIT_OK;
    TRY(tct_trigger_sound(r->comm));
    *done = host_ended(r);
    tct_match_poll(r->comm);
    if (*done) r->active = false;
    return TACIT_OK;
}
