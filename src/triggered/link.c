/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/link.c - link queue: exchanges of solvers are requests of the
 * triggered queue, one for each number of columns. On the host the CPU starts
 * and ends them, and sums are all-reductions; gpu/link.c has GPUs. */
#include "triggered/link.h"
#include <stdio.h>
#include <string.h>

enum { FEW = 15, MANY = TCT_SUM_MOST }; /* scalars of a sum, without flags */

static bool on_gpu(const tacit_queue *q)
{
    return q->device->kind == TCT_KIND_GPU;
}

static bool queue_available(const tacit_queue *q, char *reason, size_t size)
{
    if (q->ranks == 1) snprintf(reason, size, "for several ranks, not for one");
    else if (on_gpu(q)) return tct_gpu_link_available(q, reason, size);
    else return tct_can_share(q->world, reason, size);
    return false;
}

void tct_queue_link_note(tacit_queue *q, tacit_status status)
{
    const tct_queue_link *l = tct_queue_link_of(q);
    if (status >= 0) return;
    if (status == TACIT_COMM && l->comm->failed)
        q_lose_rank(q, l->comm->lost, q->peer_seconds);
    q_fail(q, status, "%s", tacit_error_message());
}

tacit_trigger_comm *tct_queue_link_comm(const tacit_queue *q)
{
    tacit_trigger_comm *c = tct_queue_link_of(q)->comm;
    (void)tacit_trigger_comm_set_patience(c, q->peer_seconds);
    return c;
}

/* --- open, close ---------------------------------------------------------- */

/* Requests of sums, with room for a failed queue's flags. Collective. */
static tacit_status open_sums(tct_queue_link *l)
{
    const int count[] = {FEW + 1, MANY + 1};
    tacit_status status = TCT_ALLOC(MANY + 1, "a queue", &l->mine);
    if (status >= 0) status = TCT_ALLOC(MANY + 1, "a queue", &l->total);
    for (int k = 0; k < 2 && status >= 0; k++)
        status = tacit_trigger_allreduce_init(l->comm, l->mine, l->total,
                                              count[k], TACIT_TRIGGER_F64,
                                              TACIT_SUM, &l->sum[k]);
    TRY(tct_agree(l->comm->world, status));
    memset(l->mine, 0, (MANY + 1) * sizeof *l->mine);
    return tct_agree(l->comm->world, tacit_trigger_matchall(2, l->sum));
}

static tacit_status queue_open(tacit_queue *q)
{
    tct_queue_link *l = tct_calloc(sizeof *l);
    *tct_link_state(q) = l;
    if (!l) tacit_error_set(TACIT_NO_MEMORY, "no memory for a queue");
    TRY(tct_agree(q->world, l ? TACIT_OK : TACIT_NO_MEMORY));
    TRY(tacit_trigger_comm_create(q->world, &l->comm));
    return on_gpu(q) ? tct_gpu_link_open(q, l) : open_sums(l);
}

static void queue_close(tacit_queue *q)
{
    tct_queue_link *l = tct_queue_link_of(q);
    if (!l) return;
    if (l->comm && q->lost_rank->noted) /* then nothing is waited for */
        tct_trigger_fail(l->comm, q->lost_rank->rank, q->lost_rank->why);
    if (on_gpu(q)) tct_gpu_link_close(q, l);
    for (int k = 0; k < 2; k++) (void)tacit_trigger_request_free(&l->sum[k]);
    tct_trigger_comm_leave(&l->comm);
    TCT_FREE(l->mine, l->total, l);
    *tct_link_state(q) = NULL;
}

/* --- plans ---------------------------------------------------------------- */

static void list_parts(const tct_plan *plan, const double *at, int columns,
                       int count, const tct_plan_part *of,
                       tacit_trigger_part *out)
{
    for (int k = 0; k < count; k++)
        out[k] = (tacit_trigger_part){
            of[k].peer, tct_plan_at(plan, at, columns, &of[k]),
            (int64_t)tct_plan_bytes(plan, columns, of[k].count),
            TACIT_TRIGGER_BYTE};
}

static tacit_status make_exchange(const tct_plan *plan, const double *pack,
                                  const double *landing, int columns,
                                  tacit_trigger_part *part)
{
    tct_queue_plan *p = *tct_plan_state(plan);
    list_parts(plan, pack, columns, plan->sends, plan->send, part);
    list_parts(plan, landing, columns, plan->recvs, plan->recv,
               part + plan->sends);
    return tacit_trigger_neighbours_init(
        tct_queue_link_of(plan->q)->comm, plan->sends, part, plan->recvs,
        part + plan->sends, &p->of[columns - 1]);
}

static tacit_status make_exchanges(const tct_plan *plan, const double *pack,
                                   double *landing, bool in_place)
{
    tct_queue_plan *p = *tct_plan_state(plan);
    const int most = plan->base.columns;
    tacit_trigger_part *part = NULL;
    TRY(TCT_ALLOC(most, "an exchange", &p->of));
    memset(p->of, 0, (size_t)most * sizeof *p->of);
    TRY(TCT_ALLOC(plan->sends + plan->recvs, "an exchange", &part));
    tacit_status status = TACIT_OK;
    for (int j = 1; j <= most && status >= 0; j++)
        status = make_exchange(plan, pack,
                               j == 1 && in_place ? plan->base.ghost : landing,
                               j, part);
    tct_free(part);
    return status;
}

tacit_status tct_queue_plan_match(tct_plan *plan, const double *pack,
                                  double *landing, bool in_place)
{
    tacit_world *w = plan->q->world;
    tct_queue_plan *p = *tct_plan_state(plan);
    TRY(tct_agree(w, make_exchanges(plan, pack, landing, in_place)));
    (void)tct_queue_link_comm(plan->q);
    return tct_agree(w, tacit_trigger_matchall(plan->base.columns, p->of));
}

static tacit_status queue_plan_open(tct_plan *plan)
{
    tacit_queue *q = plan->q;
    tct_queue_plan *p = tct_calloc(sizeof *p);
    *tct_plan_state(plan) = p;
    if (!p) tacit_error_set(TACIT_NO_MEMORY, "no memory for an exchange");
    TRY(tct_agree(q->world, p ? TACIT_OK : TACIT_NO_MEMORY));
    if (on_gpu(q)) return tct_gpu_link_plan_open(plan, p);
    const tct_buffers *b = tct_buffers_of(q, &plan->base);
    return tct_queue_plan_match(plan, b->pack, b->landing, true);
}

static void queue_plan_close(tct_plan *plan)
{
    tct_queue_plan *p = *tct_plan_state(plan);
    if (!p) return;
    if (on_gpu(plan->q)) plan->q->device->sync(plan->q);
    for (int j = 0; j < plan->base.columns && p->of; j++)
        (void)tacit_trigger_request_free(&p->of[j]);
    if (on_gpu(plan->q)) tct_gpu_link_plan_close(plan, p);
    TCT_FREE(p->of, p);
}

/* --- messages on the host ------------------------------------------------- */

/* A whole sum has the same number of scalars on all ranks. */
static tacit_trigger_request *sum_of(const tct_queue_link *l, const tct_op *op)
{
    return l->sum[op->count > FEW];
}

static void queue_sum_begin(tacit_queue *q, const tct_op *op)
{
    tct_queue_link *l = tct_queue_link_of(q);
    tacit_trigger_request *r = sum_of(l, op);
    (void)tct_queue_link_comm(q);
    memcpy(l->mine, op->out, (size_t)op->count * sizeof(double));
    l->mine[op->count] = tct_flags_mine(q);
    tct_queue_link_note(q, tacit_trigger_startall(1, &r));
}

static void queue_sum_end(tacit_queue *q, const tct_op *op)
{
    tct_queue_link *l = tct_queue_link_of(q);
    tacit_trigger_request *r = sum_of(l, op);
    (void)tct_queue_link_comm(q);
    const tacit_status status = tacit_trigger_wait(&r);
    tct_queue_link_note(q, status);
    if (status < 0) return;
    memcpy(op->out, l->total, (size_t)op->count * sizeof(double));
    tct_flags_agreed(q, l->total[op->count]);
}

static tacit_trigger_request *exchange_of(const tct_op *op)
{
    const tct_queue_plan *p = *tct_plan_state(tct_plan_of(op));
    return p->of[op->x.columns - 1];
}

static void queue_exchange_begin(tacit_queue *q, const tct_op *op)
{
    tacit_trigger_request *r = exchange_of(op);
    (void)tct_queue_link_comm(q);
    tct_queue_link_note(q, tacit_trigger_startall(1, &r));
}

static void queue_exchange_end(tacit_queue *q, const tct_op *op)
{
    tacit_trigger_request *r = exchange_of(op);
    (void)tct_queue_link_comm(q);
    tct_queue_link_note(q, tacit_trigger_wait(&r));
}

const tct_link tct_link_queue = {
    TCT_LINK_OPS(queue),
    .summary = "requests of the triggered queue; only by name",
    .starter = TCT_BY_STREAM,
    .elements = TCT_ALL_ELEMENTS,
    .named = true,
    .nodes = true,
    .open = queue_open,
    .close = queue_close,
    .plan_open = queue_plan_open,
    .plan_close = queue_plan_close,
};
