/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange.c - plans for users. */
#include "comm/plan.h"
#include <tacit/exchange.h>

struct tacit_exchange {
    tct_plan *plan;
    int columns; /* under way */
};

static tacit_status convert(const tacit_queue *q, int count,
                            const tacit_channel *from, tct_channel **out)
{
    TRY(TCT_ALLOC(count, "an exchange", out));
    for (int k = 0; k < count; k++) {
        if (from[k].rank < 0 || from[k].rank >= q->ranks || from[k].count < 0)
            FAIL(TACIT_INVALID,
                 "tacit_exchange_create: channel %d: %lld values of rank %d: "
                 "expected 0 or more, and a rank from 0 to %d",
                 k, (long long)from[k].count, from[k].rank, q->ranks - 1);
        (*out)[k] = (tct_channel){.peer = from[k].rank, .count = from[k].count};
    }
    return TACIT_OK;
}

tacit_status tacit_exchange_create(tacit_queue *queue, int sends,
                                   const tacit_channel *send,
                                   const int32_t *index, int receives,
                                   const tacit_channel *receive, int columns,
                                   tacit_exchange **out)
{
    REQUIRE(queue != NULL && out != NULL && columns > 0);
    REQUIRE(sends >= 0 && (sends == 0 || (send != NULL && index != NULL)));
    REQUIRE(receives >= 0 && (receives == 0 || receive != NULL));
    tct_channel *to = NULL, *from = NULL;
    tacit_exchange *e = tct_calloc(sizeof *e);
    tacit_status status =
        e ? TACIT_OK : tct_fail(TACIT_NO_MEMORY, "no memory for an exchange");
    if (status >= 0) status = convert(queue, sends, send, &to);
    if (status >= 0) status = convert(queue, receives, receive, &from);
    status = tct_agree(queue->world, status);
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
    tct_plan_destroy(&(*exchange)->plan);
    tct_free(*exchange);
    *exchange = NULL;
}

void tacit_exchange_begin(tacit_exchange *exchange, const double *x,
                          ptrdiff_t stride, int columns)
{
    tct_plan *p = exchange->plan;
    exchange->columns = columns;
    if (columns < 1 || columns > p->base.columns)
        q_fail(p->q, TACIT_INVALID,
               "tacit_exchange_begin: %d columns: expected 1 to %d", columns,
               p->base.columns);
    else
        q_exchange_begin(p->q, &p->base,
                         (tct_panel){(double *)(uintptr_t)x, stride, columns});
}

const double *tacit_exchange_end(tacit_exchange *exchange)
{
    tct_plan *p = exchange->plan;
    if (exchange->columns >= 1 && exchange->columns <= p->base.columns)
        q_exchange_end(p->q, &p->base, exchange->columns);
    return p->base.ghost;
}
