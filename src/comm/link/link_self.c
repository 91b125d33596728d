/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/link_self.c - the link of a single rank, usable in every loop. A
 * plan may contain messages to itself. */
#include "comm/exchange/plan.h"
#include <stdio.h>

static bool self_available(const tacit_queue *q, char *reason, size_t size)
{
    if (q->ranks == 1) return true;
    snprintf(reason, size, "only for a process alone, not for %d", q->ranks);
    return false;
}

static void self_sum_begin(tacit_queue *q, const tct_op *op)
{
    (void)q;
    (void)op;
}

static void self_sum_end(tacit_queue *q, const tct_op *op)
{
    (void)op;
    tct_flags_agreed(q, tct_flags_mine(q));
}

static void self_exchange_begin(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = tct_plan_of(op);
    const int columns = op->x.columns;
    double *landing = tct_landing(q, &plan->base, columns);
    for (int k = 0; k < plan->sends && q->failed == TACIT_OK; k++) {
        double *from =
            tct_plan_at(plan, plan->base.shared.pack, columns, &plan->send[k]);
        double *to = tct_plan_at(plan, landing, columns, &plan->recv[k]);
        const size_t n = (size_t)(columns * plan->send[k].count);
        q->device->run(q, &(tct_op){.code = TCT_PASS,
                                    .pass = PASS_copy,
                                    .element = plan->base.element,
                                    .n = n,
                                    .v = {from, to}});
    }
}

static void self_exchange_end(tacit_queue *q, const tct_op *op)
{
    (void)q;
    (void)op;
}

const tct_link tct_link_self = {
    TCT_LINK_OPS(self),
    .summary = "a process alone",
    .starter = TCT_BY_KERNEL,
    .elements = TCT_ALL_ELEMENTS,
};
