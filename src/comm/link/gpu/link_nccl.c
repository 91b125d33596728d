/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/link_nccl.c - messages through NCCL, between GPUs of one
 * machine or several. The CPU enqueues them, and they can be recorded.
 *
 * A sum is an all-gather of the ranks' parts on the stream of the queue; every
 * rank adds them up in rank order. One that is to hide is on a side stream,
 * which also collects the parts.
 *
 *     queue    event ....... wait . local product ............ wait . unpack
 *     apart     wait . pack . event . group of sends and receives . event
 *
 * An exchange is one group on another stream of higher priority, concurrent
 * with the local product. Sums and exchanges have a communicator each, since
 * NCCL runs the calls of one communicator in order; all ranks begin both in the
 * same order. A single column is received in place.
 *
 * The CPU replays recordings block by block, since NCCL adds nodes to them that
 * wait for events, which a while node must not contain. The environment
 * variable NCCL_GRAPH_MIXING_SUPPORT=0, which the program sets, removes them
 * and saves microseconds; this is safe, since `settle` allows no launches
 * during a recording. (From 2.29 on NCCL reads the variable as a promise to
 * record nothing, and with NCCL_DEBUG=INFO reports that it is broken; up to
 * 2.30.7 its behaviour is unchanged.)
 *
 * NCCL's kernels wait without a limit. The queue's waits for the stream have
 * one; then `give_up` aborts the communicators, on a thread of its own, since
 * an abort also waits for recordings. */
#include "comm/exchange/plan.h"
#include "comm/link/gpu/libnccl.h"
#include "comm/link/gpu/nccl.h"
#include "comm/link/link.h"
#include "comm/world/device_map.h"
#include "device/gpu/fork.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* of a queue */
    const tct_nccl_library *lib;
    tct_nccl_comm *sums, *exchanges;
    gpu_stream apart;  /* of exchanges */
    gpu_stream beside; /* of sums that hide */
    tct_fork hidden;   /* of the one under way */
    tct_nccl_sums sum;
    bool leads; /* messages begin before the work beside them */
    bool over;  /* given up: NCCL is not called any more */
    pthread_t aborting;
    uint64_t launched; /* recordings known to be complete */
} nccl;

typedef struct {     /* of a plan */
    double *pack;    /* [columns * values], on the device       */
    double *landing; /* [columns * ghosts], of several columns  */
    bool speaks;     /* a channel has values */
    tct_fork fork;   /* of the exchange under way */
} nccl_plan;

static nccl *nccl_of(tacit_queue *q)
{
    return *tct_link_state(q);
}

static tacit_status status_of(const tct_nccl_library *lib, int result,
                              const char *call)
{
    if (result == TCT_NCCL_OK) return TACIT_OK;
    const char *more = lib->GetLastError(NULL);
    FAIL(TACIT_COMM, "link nccl: %s: %s%s%s", call, lib->GetErrorString(result),
         more && *more ? ": " : "", more ? more : "");
}

/* The same, as a failure of the queue. */
static void note(tacit_queue *q, int result, const char *call)
{
    if (status_of(nccl_of(q)->lib, result, call) < 0)
        q_fail(q, TACIT_COMM, "%s", tacit_error_message());
}

/* --- availability --------------------------------------------------------- */

static bool nccl_probe(char *text, size_t size)
{
    return tct_device_cuda.available(text, size) &&
           tct_nccl_load(text, size) != NULL;
}

static bool nccl_available(const tacit_queue *q, char *reason, size_t size)
{
    const char *why = NULL;
    if (q->device->kind != TCT_KIND_GPU) why = "needs device cuda";
    else if (q->ranks == 1) why = "for several ranks, not for one";
    else if (q->world->ops->one_process)
        why = "for ranks that are processes, not threads of one";
    if (!why) return tct_nccl_load(reason, size) != NULL;
    snprintf(reason, size, "%s", why);
    return false;
}

/* Refuse ranks that share a GPU or slices of one: NCCL would fail only when
 * some ranks already wait for others. */
static tacit_status check_ranks(tacit_queue *q)
{
    tct_rank_device *all = NULL;
    tacit_status status = TCT_ALLOC(q->ranks, "a queue", &all);
    status = tct_agree(q->world, status);
    if (status >= 0) status = tct_device_map(q, all);
    const int other =
        status >= 0 ? tct_device_map_same_gpu(all, q->ranks, q->rank) : -1;
    tct_free(all);
    if (other >= 0)
        status = tacit_error_set(
            TACIT_UNSUPPORTED,
            "link nccl: ranks %d and %d share a GPU, which NCCL does not allow",
            other < q->rank ? other : q->rank,
            other < q->rank ? q->rank : other);
    return tct_agree(q->world, status);
}

/* --- open, close ---------------------------------------------------------- */

/* Two communicators, with ids from rank 0. Collective. */
static tacit_status connect(tacit_queue *q, nccl *n)
{
    tct_nccl_id id[2];
    memset(id, 0, sizeof id);
    tacit_status status = TACIT_OK;
    for (int i = 0; i < 2 && q->rank == 0 && status >= 0; i++)
        status = status_of(n->lib, n->lib->GetUniqueId(&id[i]), "a name");
    TRY(tct_agree(q->world, status));
    TRY(tct_bcast(q->world, 0, sizeof id, id));
    tct_nccl_comm **const comm[] = {&n->sums, &n->exchanges};
    for (int i = 0; i < 2; i++) {
        status = status_of(
            n->lib, n->lib->CommInitRank(comm[i], q->ranks, id[i], q->rank),
            "connecting");
        TRY(tct_agree(q->world, status));
    }
    return TACIT_OK;
}

/* TACIT_NCCL_LEADS=no: the work beside messages begins as soon as it can, and
 * may fill the GPU before NCCL's kernels come. */
static bool leads(void)
{
    const char *wish = getenv("TACIT_NCCL_LEADS");
    return !wish || strcmp(wish, "no") != 0;
}

static tacit_status open_device(tacit_queue *q, nccl *n)
{
    n->leads = leads();
    TRY(tct_fork_stream(&n->apart));
    TRY(tct_fork_stream(&n->beside));
    TRY(tct_fork_open(&n->hidden, n->beside));
    n->sum = (tct_nccl_sums){
        .rank = q->rank, .ranks = q->ranks, .outbox = tct_gpu_of(q)->outbox};
    const size_t all = (size_t)q->ranks * TCT_NCCL_SLOTS * sizeof(double);
    return tct_gpu_upload(NULL, all, &n->sum.all);
}

static int gather(const nccl *n, size_t each, gpu_stream stream)
{
    double *all = n->sum.all;
    return n->lib->AllGather(all + (size_t)n->sum.rank * each, all, each,
                             TCT_NCCL_DOUBLE, n->sums, stream);
}

/* NCCL connects on first use, which is slow and not allowed in a recording: use
 * each connection now. */
static tacit_status first_use(const nccl *n, int result)
{
    TRY(status_of(n->lib, result, "the first message"));
    return tct_gpu_status(gpu_stream_sync(n->apart), "the first message");
}

static const tct_launcher nccl_launcher; /* defined below */

static tacit_status nccl_open(tacit_queue *q)
{
    char reason[256] = "no memory for a queue";
    nccl *n = tct_calloc(sizeof *n);
    *tct_link_state(q) = n;
    q->links[q->via].launcher = &nccl_launcher;
    if (n) n->lib = tct_nccl_load(reason, sizeof reason);
    tacit_status status = TACIT_OK;
    if (!n || !n->lib)
        status = tacit_error_set(n ? TACIT_UNSUPPORTED : TACIT_NO_MEMORY,
                                 "link nccl: %s", reason);
    TRY(tct_agree(q->world, status));
    TRY(check_ranks(q));
    TRY(tct_agree(q->world, open_device(q, n)));
    TRY(connect(q, n));
    return tct_agree(q->world,
                     first_use(n, gather(n, TCT_NCCL_SLOTS, n->apart)));
}

/* Abort both in one group: kernels of one may wait for the other's. */
static void *abort_both(void *state)
{
    const nccl *n = state;
    (void)n->lib->GroupStart();
    if (n->sums) (void)n->lib->CommAbort(n->sums);
    if (n->exchanges) (void)n->lib->CommAbort(n->exchanges);
    (void)n->lib->GroupEnd();
    return NULL;
}

static void nccl_give_up(void *state)
{
    nccl *n = state;
    if (n->over) return;
    n->over = pthread_create(&n->aborting, NULL, abort_both, n) == 0;
}

/* All recordings with messages must be gone: CommDestroy waits for them, and
 * for all ranks. If a rank is lost, the communicators stay until the process
 * ends. */
static void nccl_close(tacit_queue *q)
{
    nccl *n = nccl_of(q);
    if (!n) return;
    q->device->sync(q);
    if (n->over) {
        (void)pthread_join(n->aborting, NULL);
    } else if (!q->lost_rank->noted) {
        if (n->sums) (void)n->lib->CommDestroy(n->sums);
        if (n->exchanges) (void)n->lib->CommDestroy(n->exchanges);
    }
    tct_fork_close(&n->hidden);
    if (n->apart) (void)gpu_stream_destroy(n->apart);
    if (n->beside) (void)gpu_stream_destroy(n->beside);
    tct_gpu_release(n->sum.all);
    tct_free(n);
    *tct_link_state(q) =
        NULL; /* the queue may read it while other links close */
}

/* --- exchanges ------------------------------------------------------------ */

/* Where messages of `columns` columns are received. */
static double *landing_of(const tct_plan *plan, const nccl_plan *p, int columns)
{
    return columns == 1 ? plan->base.ghost : p->landing;
}

/* All messages of an exchange, as one group: the k-th send to a rank matches
 * that rank's k-th receive. Empty channels have no message. */
static int send_and_receive(const nccl *n, const tct_plan *plan,
                            const nccl_plan *p, int columns)
{
    const tct_nccl_library *lib = n->lib;
    double *landing = landing_of(plan, p, columns);
    const int type =
        plan->base.element == TACIT_F32 ? TCT_NCCL_FLOAT : TCT_NCCL_DOUBLE;
    int result = lib->GroupStart();
    for (int k = 0; k < plan->sends && result == TCT_NCCL_OK; k++) {
        const tct_plan_part *c = &plan->send[k];
        if (c->count > 0)
            result = lib->Send(tct_plan_at(plan, p->pack, columns, c),
                               (size_t)(columns * c->count), type, c->peer,
                               n->exchanges, n->apart);
    }
    for (int k = 0; k < plan->recvs && result == TCT_NCCL_OK; k++) {
        const tct_plan_part *c = &plan->recv[k];
        if (c->count > 0)
            result = lib->Recv(tct_plan_at(plan, landing, columns, c),
                               (size_t)(columns * c->count), type, c->peer,
                               n->exchanges, n->apart);
    }
    const int end = lib->GroupEnd();
    return result == TCT_NCCL_OK ? end : result;
}

static tacit_status open_plan(const tct_plan *plan, nccl_plan *p)
{
    const tct_exchange *e = &plan->base;
    const size_t column = (size_t)e->columns * tct_element_bytes(e->element);
    p->speaks = e->values > 0 || e->ghosts > 0;
    TRY(tct_gpu_upload(NULL, column * (size_t)e->values, &p->pack));
    if (e->columns > 1)
        TRY(tct_gpu_upload(NULL, column * (size_t)e->ghosts, &p->landing));
    return tct_fork_open(&p->fork, nccl_of(plan->q)->apart);
}

static tacit_status nccl_plan_open(tct_plan *plan)
{
    tacit_queue *q = plan->q;
    const nccl *n = nccl_of(q);
    nccl_plan *p = tct_calloc(sizeof *p);
    *tct_plan_state(plan) = p;
    tacit_status status =
        p ? open_plan(plan, p)
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for an exchange");
    q->device->sync(q); /* earlier operations send before this */
    TRY(tct_agree(q->world, status));
    if (!p->speaks || n->over) return TACIT_OK;
    return first_use(n, send_and_receive(n, plan, p, plan->base.columns));
}

static void nccl_plan_close(tct_plan *plan)
{
    nccl_plan *p = *tct_plan_state(plan);
    if (!p) return;
    plan->q->device->sync(plan->q);
    tct_fork_close(&p->fork);
    tct_gpu_release(p->pack);
    tct_gpu_release(p->landing);
    tct_free(p);
}

/* --- stream plane --------------------------------------------------------- */

/* The link before a launch; NULL: given up. No launch while a recording runs:
 * see above. */
static nccl *settled(tacit_queue *q)
{
    nccl *n = nccl_of(q);
    const uint64_t launched = tct_gpu_of(q)->launched;
    if (!tct_gpu_of(q)->capturing) {
        if (n->launched != launched) q->device->sync(q);
        n->launched = launched;
    }
    return n->over ? NULL : n;
}

static void launch_sum_begin(tacit_queue *q, const tct_op *op,
                             const tct_gpu_launch *L)
{
    const nccl *n = settled(q);
    if (!n) return;
    tct_gpu_launch aside = *L;
    aside.stream = n->beside;
    tct_gpu_ok(q, tct_fork_begin(&n->hidden, L->stream), "a sum");
    tct_nccl_collect(&n->sum, op, tct_gpu_flags(q), &aside);
    if (n->leads) tct_gpu_ok(q, tct_fork_lead(&n->hidden, L->stream), "a sum");
    note(q, gather(n, tct_nccl_slots(op), n->beside), "a sum");
    tct_gpu_ok(q, tct_fork_end(&n->hidden), "a sum");
}

static void launch_sum(tacit_queue *q, const tct_op *op,
                       const tct_gpu_launch *L)
{
    const nccl *n = settled(q);
    if (!n) return;
    if (op->at_once) {
        tct_nccl_collect(&n->sum, op, tct_gpu_flags(q), L);
        note(q, gather(n, tct_nccl_slots(op), L->stream), "a sum");
    } else {
        tct_gpu_ok(q, tct_fork_join(&n->hidden, L->stream), "a sum");
    }
    tct_nccl_add(&n->sum, op, L);
}

static void launch_begin(tacit_queue *q, const tct_op *op,
                         const tct_gpu_launch *L)
{
    const nccl *n = settled(q);
    const tct_plan *plan = tct_plan_of(op);
    const nccl_plan *p = *tct_plan_state(plan);
    if (!n || !p->speaks) return;
    tct_gpu_launch aside = *L;
    aside.stream = n->apart;
    /* send even after a failure: others wait for the messages */
    tct_gpu_ok(q, tct_fork_begin(&p->fork, L->stream), "an exchange");
    if (plan->base.values > 0) tct_gpu_pack(op, p->pack, &aside);
    if (n->leads)
        tct_gpu_ok(q, tct_fork_lead(&p->fork, L->stream), "an exchange");
    note(q, send_and_receive(n, plan, p, op->x.columns), "an exchange");
    tct_gpu_ok(q, tct_fork_end(&p->fork), "an exchange");
}

static void launch_end(tacit_queue *q, const tct_op *op,
                       const tct_gpu_launch *L)
{
    const tct_plan *plan = tct_plan_of(op);
    const nccl_plan *p = *tct_plan_state(plan);
    if (!settled(q)) return;
    if (p->speaks)
        tct_gpu_ok(q, tct_fork_join(&p->fork, L->stream), "an exchange");
    if (op->x.columns > 1 && plan->base.ghosts > 0)
        tct_gpu_unpack(op, p->landing, L);
    else if (L->epilogue.count > 0) tct_gpu_epilogue(L);
}

static const tct_launcher nccl_launcher = {launch_sum, launch_begin, launch_end,
                                           launch_sum_begin};

const tct_link tct_link_nccl = {
    .name = "nccl",
    .available = nccl_available,
    .summary = "NCCL, on the stream: recordings are replayed by the CPU",
    .starter = TCT_BY_STREAM,
    .elements = TCT_ALL_ELEMENTS,
    .expensive = true,
    .nodes = false,
    .probe = nccl_probe,
    .open = nccl_open,
    .close = nccl_close,
    .plan_open = nccl_plan_open,
    .plan_close = nccl_plan_close,
    .give_up = nccl_give_up,
};
