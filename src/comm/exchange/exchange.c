/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange/exchange.c - exchanges of the public interface. */
#include "comm/exchange/plan.h"
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

/* A signature of the channels to or from each rank: their number, and a hash of
 * their counts. */
static void sign(int count, const tct_plan_part *channel, int64_t (*mark)[2])
{
    for (int k = 0; k < count; k++) {
        int64_t *m = mark[channel[k].peer];
        m[0]++;
        m[1] =
            (int64_t)((uint64_t)m[1] * 1000003u + (uint64_t)channel[k].count);
    }
}

/* Check that senders and receivers agree. Collective. */
static tacit_status match(tacit_world *w, int sends, const tct_plan_part *send,
                          int receives, const tct_plan_part *receive)
{
    const size_t size = (size_t)w->size;
    int64_t(*mark)[2] = tct_calloc(3 * size * sizeof *mark);
    int64_t *bytes = tct_calloc(size * sizeof *bytes);
    tacit_status status = mark && bytes ? TACIT_OK : TACIT_NO_MEMORY;
    if (status < 0) tacit_error_set(status, "no memory for an exchange");
    status = tct_agree(w, status);
    if (status >= 0) {
        for (size_t r = 0; r < size; r++) bytes[r] = sizeof *mark;
        sign(sends, send, mark);
        sign(receives, receive, mark + size);
        status = tct_alltoallv(w, bytes, mark, bytes, mark + 2 * size);
    }
    for (size_t r = 0; status >= 0 && r < size; r++) {
        const int64_t *wanted = mark[size + r], *comes = mark[2 * size + r];
        if (wanted[0] == comes[0] && wanted[1] == comes[1]) continue;
        status = tacit_error_set(
            TACIT_INVALID,
            "tacit_exchange_create: rank %d receives through "
            "%lld channels from rank %d, which sends through "
            "%lld, or they differ in their counts",
            w->rank, (long long)wanted[0], (int)r, (long long)comes[0]);
    }
    tct_free(mark);
    tct_free(bytes);
    return tct_agree(w, status);
}

tacit_status tacit_exchange_create(tacit_queue *queue, int sends,
                                   const tacit_channel *send,
                                   const int32_t *index, int receives,
                                   const tacit_channel *receive, int columns,
                                   tacit_exchange **out)
{
    REQUIRE(queue != NULL && out != NULL);
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
    status = tct_agree(queue->world, status);
    if (status >= 0) status = match(queue->world, sends, to, receives, from);
    if (status >= 0)
        status = tct_plan_from_lists(queue, sends, to, index, receives, from,
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

void tacit_exchange_begin(tacit_exchange *exchange, const double *x,
                          ptrdiff_t stride, int columns)
{
    if (!exchange) {
        tct_log(TCT_WARN, "tacit_exchange_begin: expected exchange != NULL");
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
        q_fail(p->q, TACIT_INVALID, "%s: expected x != NULL", __func__);
        return;
    }
    exchange->columns = columns;
    q_exchange_begin(p->q, &p->base,
                     (tct_panel){(double *)(uintptr_t)x, stride, columns});
    tct_start_messages(p->q); /* the caller may wait for ranks */
    flush_and_log(p, columns, false);
}

const double *tacit_exchange_end(tacit_exchange *exchange)
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
