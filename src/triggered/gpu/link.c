/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/link.c - link queue on GPUs. An exchange is a kernel, which
 * starts and waits, on a stream of its own beside the local product:
 *
 *     queue    event . local product ................. wait . unpack
 *     apart     wait . pack . messages ............. event
 *
 * Messages arrive in memory of the communicator, not in vectors, which may be
 * freed while peers have them open. Sums are those of link peer: it is open
 * underneath, and its state takes the place of this one's while it works. */
#include "triggered/link.h"
#include "comm/link/gpu/peer.h"
#include "device/gpu/fork.h"
#include "triggered/gpu/driver.h"

struct tct_gpu_link {
    tacit_trigger_queue *queue;
    gpu_stream apart;
};

struct tct_gpu_link_plan {
    double *pack, *landing; /* [columns * values], [columns * ghosts] */
    tct_fork fork;
};

bool tct_gpu_link_available(const tacit_queue *q, char *reason, size_t size)
{
    return tct_link_peer.available(q, reason, size);
}

/* --- sums ----------------------------------------------------------------- */

static void sum_by_peer(tacit_queue *q, const tct_op *op,
                        const tct_gpu_launch *L, tct_launch_message *launch)
{
    tct_queue_link *l = tct_queue_link_of(q);
    *tct_link_state(q) = l->peer;
    launch(q, op, L);
    *tct_link_state(q) = l;
}

static void launch_sum(tacit_queue *q, const tct_op *op,
                       const tct_gpu_launch *L)
{
    sum_by_peer(q, op, L, tct_queue_link_of(q)->of_peer->sum);
}

static void launch_sum_begin(tacit_queue *q, const tct_op *op,
                             const tct_gpu_launch *L)
{
    sum_by_peer(q, op, L, tct_queue_link_of(q)->of_peer->sum_begin);
}

/* --- exchanges ------------------------------------------------------------ */

static tacit_trigger_request *exchange_of(const tct_op *op)
{
    const tct_queue_plan *p = *tct_plan_state(tct_plan_of(op));
    return p->of[op->x.columns - 1];
}

/* Other ranks wait for the messages, so that all calls are made. */
static void launch_begin(tacit_queue *q, const tct_op *op,
                         const tct_gpu_launch *L)
{
    const tct_plan *plan = tct_plan_of(op);
    const tct_queue_plan *p = *tct_plan_state(plan);
    tacit_trigger_queue *line = tct_queue_link_of(q)->gpu->queue;
    tacit_trigger_request *r = exchange_of(op);
    (void)tct_queue_link_comm(q);
    tct_gpu_launch aside = *L;
    aside.stream = tct_queue_link_of(q)->gpu->apart;
    tct_gpu_ok(q, tct_fork_begin(&p->gpu->fork, L->stream), "an exchange");
    if (plan->base.values > 0) tct_gpu_pack(op, p->gpu->pack, &aside);
    tct_queue_link_note(q, tacit_trigger_enqueue_exchange(line, 1, &r));
    tct_gpu_ok(q, tct_fork_end(&p->gpu->fork), "an exchange");
}

static void launch_end(tacit_queue *q, const tct_op *op,
                       const tct_gpu_launch *L)
{
    const tct_plan *plan = tct_plan_of(op);
    const tct_queue_plan *p = *tct_plan_state(plan);
    tct_gpu_ok(q, tct_fork_join(&p->gpu->fork, L->stream), "an exchange");
    if (plan->base.ghosts > 0) tct_gpu_unpack(op, p->gpu->landing, L);
    else if (L->epilogue.count > 0) tct_gpu_epilogue(L);
}

static const tct_launcher queue_launcher = {launch_sum, launch_begin,
                                            launch_end, launch_sum_begin};

/* --- open, close ---------------------------------------------------------- */

/* Open link peer in the place of this one. Collective. */
static tacit_status open_peer(tacit_queue *q, tct_queue_link *l)
{
    *tct_link_state(q) = NULL;
    const tacit_status status = tct_link_peer.open(q);
    l->peer = *tct_link_state(q);
    l->of_peer = q->links[q->via].launcher;
    *tct_link_state(q) = l;
    q->links[q->via].launcher = &queue_launcher;
    return status;
}

static tacit_status open_line(tacit_queue *q, const tct_queue_link *l)
{
    struct tct_gpu_link *g = l->gpu;
    TRY(tct_fork_stream(&g->apart));
    TRY(tacit_trigger_queue_create(l->comm, TACIT_TRIGGER_KERNEL, g->apart,
                                   &g->queue));
    tct_gpu_queue_tells(g->queue, tct_gpu_of(q));
    return TACIT_OK;
}

tacit_status tct_gpu_link_open(tacit_queue *q, tct_queue_link *l)
{
    q_enter(q);
    TRY(tct_agree(q->world, open_peer(q, l)));
    TRY(tacit_trigger_comm_use_gpu(l->comm));
    l->gpu = tct_calloc(sizeof *l->gpu);
    if (!l->gpu) tacit_error_set(TACIT_NO_MEMORY, "no memory for a queue");
    TRY(tct_agree(q->world, l->gpu ? TACIT_OK : TACIT_NO_MEMORY));
    return tct_agree(q->world, open_line(q, l));
}

void tct_gpu_link_close(tacit_queue *q, tct_queue_link *l)
{
    q->device->sync(q);
    if (l->gpu) {
        if (l->gpu->apart) (void)gpu_stream_sync(l->gpu->apart);
        (void)tacit_trigger_queue_free(&l->gpu->queue);
        if (l->gpu->apart) (void)gpu_stream_destroy(l->gpu->apart);
        tct_free(l->gpu);
    }
    if (!l->peer) return;
    *tct_link_state(q) = l->peer;
    tct_link_peer.close(q);
    *tct_link_state(q) = l;
}

/* --- plans ---------------------------------------------------------------- */

static tacit_status take(tacit_trigger_comm *c, size_t bytes, double **out)
{
    pthread_mutex_lock(&c->lock);
    *out = (double *)(void *)tct_trigger_take(c->gpu, bytes);
    pthread_mutex_unlock(&c->lock);
    return *out ? TACIT_OK : TACIT_NO_MEMORY;
}

static tacit_status open_plan(const tct_plan *plan, struct tct_gpu_link_plan *g)
{
    const tct_queue_link *l = tct_queue_link_of(plan->q);
    const tct_exchange *e = &plan->base;
    TRY(take(l->comm, tct_plan_bytes(plan, e->columns, e->values), &g->pack));
    TRY(take(l->comm, tct_plan_bytes(plan, e->columns, e->ghosts),
             &g->landing));
    return tct_fork_open(&g->fork, l->gpu->apart);
}

tacit_status tct_gpu_link_plan_open(tct_plan *plan, tct_queue_plan *p)
{
    tacit_queue *q = plan->q;
    q_enter(q);
    q->device->sync(q); /* earlier operations send before this */
    p->gpu = tct_calloc(sizeof *p->gpu);
    if (!p->gpu) tacit_error_set(TACIT_NO_MEMORY, "no memory for an exchange");
    TRY(tct_agree(q->world, p->gpu ? TACIT_OK : TACIT_NO_MEMORY));
    TRY(tct_agree(q->world, open_plan(plan, p->gpu)));
    return tct_queue_plan_match(plan, p->gpu->pack, p->gpu->landing, false);
}

void tct_gpu_link_plan_close(tct_plan *plan, tct_queue_plan *p)
{
    tacit_trigger_comm *c = tct_queue_link_of(plan->q)->comm;
    if (!p->gpu) return;
    pthread_mutex_lock(&c->lock);
    tct_trigger_give(c->gpu, p->gpu->pack);
    tct_trigger_give(c->gpu, p->gpu->landing);
    pthread_mutex_unlock(&c->lock);
    tct_fork_close(&p->gpu->fork);
    tct_free(p->gpu);
}
