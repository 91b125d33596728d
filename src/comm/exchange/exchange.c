/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange/exchange.c - exchanges of the public interface. */
#include "comm/channel/channel.h"
#include "comm/exchange/plan.h"
#include <stdio.h>
#include <tacit/exchange.h>

struct tacit_exchange {
    tct_plan *plan;
    int columns; /* of the exchange under way; 0: none */
};

/* The checks that need no other rank. */
static tacit_status check(int sends, const tacit_channel *send,
                          const int32_t *index, int receives,
                          const tacit_channel *receive, int columns)
{
    if (columns < 1 || sends < 0 || receives < 0)
        FAIL(TACIT_INVALID,
             "tacit_exchange_create: %d sends, %d receives, %d columns: "
             "expected 0 or more, and a column at least",
             sends, receives, columns);
    if ((sends > 0 && !send) || (receives > 0 && !receive))
        FAIL(TACIT_INVALID,
             "tacit_exchange_create: expected lists of channels");
    int64_t values = 0;
    for (int k = 0; k < sends; k++) values += send[k].count;
    if (values > 0 && !index)
        FAIL(TACIT_INVALID, "tacit_exchange_create: expected index");
    return TACIT_OK;
}

static tacit_status convert(const tacit_queue *q, int count,
                            const tacit_channel *from, tct_plan_part **out)
{
    TRY(TCT_ALLOC(count, "an exchange", out));
    for (int k = 0; k < count; k++) {
        if (from[k].rank < 0 || from[k].rank >= q->ranks || from[k].count < 0)
            FAIL(TACIT_INVALID,
                 "tacit_exchange_create: channel %d: %lld values of rank %d: "
                 "expected 0 or more, and a rank from 0 to %d",
                 k, (long long)from[k].count, from[k].rank, q->ranks - 1);
        (*out)[k] =
            (tct_plan_part){.peer = from[k].rank, .count = from[k].count};
    }
    return TACIT_OK;
}

/* How long the vectors are is known when an exchange begins, if at all: an
 * index that no vector has is refused. */
static tacit_status check_index(int sends, const tct_plan_part *send,
                                const int32_t *index)
{
    int64_t at = 0;
    for (int k = 0; k < sends; k++)
        for (int64_t i = 0; i < send[k].count; i++, at++)
            if (index[at] < 0)
                FAIL(TACIT_INVALID,
                     "tacit_exchange_create: index[%lld] is %d, value %lld for "
                     "rank %d: elements are numbered from 0",
                     (long long)at, (int)index[at], (long long)i, send[k].peer);
    return TACIT_OK;
}

/* The message of an error that the channels have found. */
static tacit_status explain(tacit_status status, tacit_element element)
{
    char why[512];
    if (status != TACIT_INVALID || strstr(tacit_error_message(), "exchange_"))
        return status;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    FAIL(status,
         "tacit_exchange_create: %s; a value has %zu bytes, and counts and "
         "columns of both ends are the same",
         why, tct_element_bytes(element));
}

/* Check that senders and receivers agree; `mine` is this rank's status so far.
 * Collective. */
static tacit_status match(tacit_world *w, tacit_status mine,
                          tacit_element element, int columns, int sends,
                          const tct_plan_part *send, int receives,
                          const tct_plan_part *receive)
{
    const int ends = mine < 0 ? 0 : sends + receives;
    tct_channel *c = NULL;
    if (mine >= 0) mine = TCT_ALLOC(ends, "an exchange", &c);
    for (int k = 0; k < ends && mine >= 0; k++) {
        const tct_plan_part *part = k < sends ? &send[k] : &receive[k - sends];
        c[k] = (tct_channel){.peer = part->peer,
                             .sends = k < sends,
                             .bytes = columns * part->count *
                                      (int64_t)tct_element_bytes(element)};
    }
    const bool well = mine >= 0;
    mine = tct_channels_check(w, mine, ends, c);
    tct_free(c);
    return well ? explain(mine, element) : mine;
}

tacit_status tacit_exchange_create(tacit_queue *queue, int sends,
                                   const tacit_channel *send,
                                   const int32_t *index, int receives,
                                   const tacit_channel *receive, int columns,
                                   tacit_exchange **out)
{
    return tacit_exchange_create_in(queue, TACIT_F64, sends, send, index,
                                    receives, receive, columns, out);
}

tacit_status tacit_exchange_create_in(tacit_queue *queue, tacit_element element,
                                      int sends, const tacit_channel *send,
                                      const int32_t *index, int receives,
                                      const tacit_channel *receive, int columns,
                                      tacit_exchange **out)
{
    REQUIRE(queue != NULL, out != NULL);
    if ((int)element < 0 || (int)element >= (int)TCT_ELEMENTS)
        FAIL(TACIT_INVALID,
             "an exchange of elements of type %d: expected a "
             "tacit_element",
             (int)element);
    q_enter(queue);
    tct_plan_part *to = NULL, *from = NULL;
    tacit_exchange *e = tct_calloc(sizeof *e);
    tacit_status status =
        e ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for an exchange");
    if (status >= 0)
        status = check(sends, send, index, receives, receive, columns);
    if (status >= 0) status = convert(queue, sends, send, &to);
    if (status >= 0) status = convert(queue, receives, receive, &from);
    if (status >= 0) status = check_index(sends, to, index);
    const tacit_status agreed =
        tct_agree_name(queue->world, "the element type of the exchange",
                       tct_element_name(element));
    if (status >= 0) status = agreed;
    status = match(queue->world, status, element, columns, sends, to, receives,
                   from);
    if (status >= 0)
        status = tct_plan_in(queue, element, sends, to, index, receives, from,
                             columns, &e->plan);
    tct_free(to);
    tct_free(from);
    if (status < 0) tacit_exchange_destroy(&e);
    else *out = e;
    return status;
}

void tacit_exchange_destroy(tacit_exchange **exchange)
{
    if (!exchange || !*exchange) return;
    tct_plan *p = (*exchange)->plan;
    if (p) {
        q_enter(p->q);
        p->q->freed++;
    }
    tct_plan_destroy(&(*exchange)->plan);
    tct_free(*exchange);
    *exchange = NULL;
}

/* Flush, since kernels of the caller may follow on the stream, and log the call
 * for user functions. */
static void flush_and_log(tct_plan *p, int columns, bool end)
{
    tacit_queue *q = p->q;
    if (q->device->flush) q->device->flush(q);
    tct_call_log *log = q->log;
    if (!log) return;
    if (log->count < TCT_CALL_MOST) {
        log->made[log->count].exchange = &p->base;
        log->made[log->count].columns = columns;
        log->made[log->count].end = end;
    }
    if (log->count <= TCT_CALL_MOST) log->count++;
}

/* `x`, or NULL and a failed queue if it is of another type. A failed queue sends
 * all the same, since other ranks wait for the messages, and reads nothing. */
static const void *require_element(tct_plan *p, tacit_element element,
                                   const void *x)
{
    if (element == p->base.element) return x;
    q_fail(p->q, TACIT_INVALID,
           "tacit_exchange_begin: vectors of %s, but the exchange is %s: make "
           "it with tacit_exchange_create_in",
           tct_element_name(element), tct_element_name(p->base.element));
    return NULL;
}

void tacit_exchange_begin(tacit_exchange *exchange, const double *x,
                          ptrdiff_t stride, int columns)
{
    tacit_exchange_begin_in(exchange, TACIT_F64, x, stride, columns);
}

void tacit_exchange_begin_in(tacit_exchange *exchange, tacit_element element,
                             const void *x, ptrdiff_t stride, int columns)
{
    if (!exchange) {
        tct_log(TCT_WARN, "tacit_exchange_begin: exchange is NULL");
        return;
    }
    tct_plan *p = exchange->plan;
    q_enter(p->q);
    if (columns < 1 || columns > p->base.columns) {
        exchange->columns = 0;
        q_fail(p->q, TACIT_INVALID,
               "tacit_exchange_begin: %d columns: expected 1 to %d", columns,
               p->base.columns);
        return;
    }
    if (!x && p->base.values > 0) {
        exchange->columns = 0;
        q_fail(p->q, TACIT_INVALID, "tacit_exchange_begin: x is NULL");
        return;
    }
    x = require_element(p, element, x);
    exchange->columns = columns;
    q_exchange_begin(p->q, &p->base,
                     tct_panel_in(p->base.element, x, stride, columns));
    tct_start_messages(p->q); /* the caller may wait for ranks */
    flush_and_log(p, columns, false);
}

const double *tacit_exchange_end(tacit_exchange *exchange)
{
    return tacit_exchange_end_in(exchange);
}

const void *tacit_exchange_end_in(tacit_exchange *exchange)
{
    if (!exchange) return NULL;
    tct_plan *p = exchange->plan;
    q_enter(p->q);
    if (exchange->columns > 0) {
        q_exchange_end(p->q, &p->base, exchange->columns);
        flush_and_log(p, exchange->columns, true);
    }
    exchange->columns = 0;
    return p->base.ghost;
}
