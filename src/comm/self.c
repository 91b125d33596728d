/* SPDX-License-Identifier: BSD-3-Clause
 * comm/self.c - the transport of a process alone: nobody to talk to. */
#include "comm/exchange.h"
#include "comm/world.h"
#include <string.h>
#include <unistd.h>

static tacit_status self_reduce(tacit_world *w, tct_type type, tct_reduction op,
                                size_t count, void *data)
{
    (void)w;
    (void)type;
    (void)op;
    (void)count;
    (void)data;
    return TACIT_OK;
}

static tacit_status self_bcast(tacit_world *w, int root, size_t bytes,
                               void *data)
{
    (void)w;
    (void)root;
    (void)bytes;
    (void)data;
    return TACIT_OK;
}

static tacit_status self_allgather(tacit_world *w, size_t bytes,
                                   const void *mine, void *all)
{
    (void)w;
    if (bytes) memcpy(all, mine, bytes);
    return TACIT_OK;
}

static tacit_status self_alltoallv(tacit_world *w, const int64_t *send_bytes,
                                   const void *send, const int64_t *recv_bytes,
                                   void *recv)
{
    (void)w;
    (void)recv_bytes;
    if (send_bytes[0]) memcpy(recv, send, (size_t)send_bytes[0]);
    return TACIT_OK;
}

static void self_abort(tacit_world *w, int exit_code)
{
    (void)w;
    _exit(exit_code);
}

static void self_destroy(tacit_world *w)
{
    (void)w;
}

static tacit_status self_plan_open(tct_plan *plan)
{
    (void)plan;
    return TACIT_OK;
}

static void self_plan_close(tct_plan *plan)
{
    (void)plan;
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

static void self_exchange(tacit_queue *q, const tct_op *op)
{
    (void)q;
    (void)op; /* a plan of one process lists nothing */
}

static const tct_comm_ops self_ops = {
    .name = "self",
    .reduce = self_reduce,
    .bcast = self_bcast,
    .allgather = self_allgather,
    .alltoallv = self_alltoallv,
    .abort = self_abort,
    .destroy = self_destroy,
    .plan_open = self_plan_open,
    .plan_close = self_plan_close,
    .link = {.sum_begin = self_sum_begin,
             .sum_end = self_sum_end,
             .exchange_begin = self_exchange,
             .exchange_end = self_exchange},
};

tacit_status tacit_world_self(tacit_world **out)
{
    REQUIRE(out != NULL);
    return tct_world_new(&self_ops, NULL, 0, 1, 1, out);
}
