/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/link_mpi.c - messages started by the CPU, through MPI. MPI has no
 * queues, so operations run when the host reaches them.
 *
 * Halo messages are persistent requests (MPI-3.1), as in the aCG paper 3.3.1;
 * one set for each number of columns. With a GPU-aware MPI they use device
 * memory, otherwise memory that the CPU reaches, too.
 *
 * A sum over few ranks gathers every rank's scalars and adds them in rank
 * order, so that all ranks have the same bits in every run; over many ranks it
 * is MPI's all-reduce.
 *
 * Waits have a limit, but for a blocking sum over many ranks, which is
 * MPI_Allreduce. */
#include "comm/exchange/plan.h"
#include "comm/world/mpi.h"
#include <stdio.h>
#include <string.h>

enum {
    ORDERED_UP_TO = 64, /* ranks: up to this, sums are added in rank order */
    FIRST_TAG = 100,
    TAGS = 30, /* of a plan, for channels between two ranks */
    PLANS = 1000,
    SUM_TAG = 2 /* distinct from those of set-up */
};

typedef struct { /* of a queue: the sum under way */
    MPI_Request request[2];
    double *mine; /* [TCT_SUM_MOST + 1]                                      */
    double *all;  /* as many for each rank, or once for Allreduce */
    int first;    /* the rank of the first part; the others follow cyclically */
} mpi_sum;

typedef struct {
    int count, tag;
    int *peers;             /* [count] of the requests of a set */
    MPI_Request **requests; /* [columns + 1] sets: receives, then sends */
} mpi_plan;

static bool mpi_available(const tacit_queue *q, char *reason, size_t size)
{
    if (tct_mpi_has(q->world)) return true;
    snprintf(reason, size, "this is not a world of MPI processes");
    return false;
}

static tacit_status open_sums(tacit_queue *q)
{
    const int parts = q->ranks > ORDERED_UP_TO ? 1 : q->ranks;
    mpi_sum *s = tct_calloc(sizeof *s);
    if (!s) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    s->request[0] = s->request[1] = MPI_REQUEST_NULL;
    *tct_link_state(q) = s;
    TRY(TCT_ALLOC(TCT_SUM_MOST + 1, "a queue", &s->mine));
    return TCT_ALLOC(parts * (TCT_SUM_MOST + 1), "a queue", &s->all);
}

static tacit_status mpi_open(tacit_queue *q)
{
    tct_open_link *open = &q->links[q->via];
    TRY(tct_agree(q->world, open_sums(q)));
    if (!q->device->alloc_shared) return TACIT_OK;
    TRY(tct_mpi_settle(q->world, &open->on_device));
    open->detail = open->on_device ? "GPU-aware" : "through memory of the host";
    return TACIT_OK;
}

static void mpi_close(tacit_queue *q)
{
    mpi_sum *s = *tct_link_state(q);
    if (!s) return;
    /* after a lost rank a message may still arrive */
    const bool lost =
        s->request[0] != MPI_REQUEST_NULL || s->request[1] != MPI_REQUEST_NULL;
    if (!lost) TCT_FREE(s->mine, s->all);
    tct_free(s);
}

/* --- plans ---------------------------------------------------------------- */

/* Channels between the same two ranks have different tags. */
static int tag_of(const mpi_plan *p, const tct_plan_part *channel, int k)
{
    int same = 0;
    for (int i = 0; i < k; i++) same += channel[i].peer == channel[k].peer;
    return p->tag + same % TAGS;
}

static tacit_status make_requests(const tct_plan *plan, int columns)
{
    mpi_plan *p = *tct_plan_state(plan);
    const MPI_Comm halo = tct_mpi_of(plan->q->world)->halo;
    double *landing = tct_landing(plan->q, &plan->base, columns);
    double *pack = tct_buffers_of(plan->q, &plan->base)->pack;
    const MPI_Datatype type =
        plan->base.element == TACIT_F32 ? MPI_FLOAT : MPI_DOUBLE;
    MPI_Request *set = NULL;
    TRY(TCT_ALLOC(p->count, "an exchange", &set));
    for (int i = 0; i < p->count; i++) set[i] = MPI_REQUEST_NULL;
    p->requests[columns] = set;
    for (int k = 0; k < plan->recvs; k++, set++) {
        const tct_plan_part *c = &plan->recv[k];
        MPI_TRY(MPI_Recv_init(tct_plan_at(plan, landing, columns, c),
                              (int)(columns * c->count), type, c->peer,
                              tag_of(p, plan->recv, k), halo, set));
    }
    for (int k = 0; k < plan->sends; k++, set++) {
        const tct_plan_part *c = &plan->send[k];
        MPI_TRY(MPI_Send_init(tct_plan_at(plan, pack, columns, c),
                              (int)(columns * c->count), type, c->peer,
                              tag_of(p, plan->send, k), halo, set));
    }
    return TACIT_OK;
}

static tacit_status require_size(const tct_plan *plan, const tct_plan_part *c,
                                 int n)
{
    for (int k = 0; k < n; k++)
        if (plan->base.columns * c[k].count > INT32_MAX)
            FAIL(TACIT_UNSUPPORTED, "a halo message of %lld values",
                 (long long)(plan->base.columns * c[k].count));
    return TACIT_OK;
}

static tacit_status mpi_plan_open(tct_plan *plan)
{
    tct_mpi *s = tct_mpi_of(plan->q->world);
    const size_t sets = (size_t)plan->base.columns + 1;
    const int tag = FIRST_TAG + TAGS * (s->plans++ % PLANS);
    mpi_plan *p = tct_calloc(sizeof *p);
    if (!p) FAIL(TACIT_NO_MEMORY, "no memory for an exchange");
    *tct_plan_state(plan) = p;
    p->tag = tag; /* on all ranks, even if allocations fail */
    p->count = plan->sends + plan->recvs;
    p->requests = tct_calloc(sets * sizeof *p->requests);
    if (!p->requests) FAIL(TACIT_NO_MEMORY, "no memory for an exchange");
    TRY(TCT_ALLOC(p->count, "an exchange", &p->peers));
    for (int k = 0; k < plan->recvs; k++) p->peers[k] = plan->recv[k].peer;
    for (int k = 0; k < plan->sends; k++)
        p->peers[plan->recvs + k] = plan->send[k].peer;
    TRY(require_size(plan, plan->send, plan->sends));
    TRY(require_size(plan, plan->recv, plan->recvs));
    for (int j = 1; j <= plan->base.columns; j++) TRY(make_requests(plan, j));
    return TACIT_OK;
}

/* Free a request. If a rank is lost and the message is still under way, MPI
 * keeps the request, and the plan its memory. */
static void free_request(tct_plan *plan, MPI_Request *request)
{
    int done = 1;
    if (*request == MPI_REQUEST_NULL) return;
    if (plan->q->lost_rank->noted)
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    if (done) MPI_Request_free(request);
    else plan->lost = true;
}

static void mpi_plan_close(tct_plan *plan)
{
    mpi_plan *p = *tct_plan_state(plan);
    for (int j = 1; p->requests && j <= plan->base.columns; j++) {
        MPI_Request *set = p->requests[j];
        for (int i = 0; set && i < p->count; i++) free_request(plan, &set[i]);
        tct_free(set);
    }
    TCT_FREE(p->requests, p->peers, p);
}

/* --- stream plane --------------------------------------------------------- */

static void note_failure(tacit_queue *q, int code, const char *what)
{
    if (code == MPI_SUCCESS) return;
    tct_mpi_check(code, what);
    q_fail(q, TACIT_COMM, "%s", tacit_error_message());
}

/* All-gather `n` doubles of each rank into `all`, in cyclic rank order from
 * this rank on [Bruck et al., IEEE TPDS 8 (1997)]: the algorithm of
 * MPI_Allgather for short messages, with a time limit. */
static void gather(tacit_queue *q, mpi_sum *s, int n)
{
    const MPI_Comm comm = tct_mpi_of(q->world)->comm;
    const int size = q->ranks;
    s->first = q->rank;
    memcpy(s->all, s->mine, (size_t)n * sizeof(double));
    for (int have = 1; have < size && !q->lost_rank->noted; have *= 2) {
        const int more = have < size - have ? have : size - have;
        const int from = (q->rank + have) % size;
        const int to = (q->rank + size - have) % size;
        int code = MPI_Irecv(s->all + have * n, more * n, MPI_DOUBLE, from,
                             SUM_TAG, comm, &s->request[0]);
        if (code == MPI_SUCCESS)
            code = MPI_Isend(s->all, more * n, MPI_DOUBLE, to, SUM_TAG, comm,
                             &s->request[1]);
        if (code == MPI_SUCCESS)
            code = tct_mpi_await(q, 2, s->request, (const int[]){from, to});
        note_failure(q, code, "a sum over ranks");
    }
}

static void mpi_sum_begin(tacit_queue *q, const tct_op *op)
{
    mpi_sum *s = *tct_link_state(q);
    const int n = op->count + 1;
    memcpy(s->mine, op->out, (size_t)op->count * sizeof(double));
    s->mine[op->count] = tct_flags_mine(q);
    s->first = 0;
    const MPI_Comm comm = tct_mpi_of(q->world)->comm;
    int code = MPI_SUCCESS;
    if (q->ranks > ORDERED_UP_TO && op->at_once)
        code = MPI_Allreduce(s->mine, s->all, n, MPI_DOUBLE, MPI_SUM, comm);
    else if (q->ranks > ORDERED_UP_TO)
        code = MPI_Iallreduce(s->mine, s->all, n, MPI_DOUBLE, MPI_SUM, comm,
                              s->request);
    else if (op->at_once) gather(q, s, n);
    else
        code = MPI_Iallgather(s->mine, n, MPI_DOUBLE, s->all, n, MPI_DOUBLE,
                              comm, s->request);
    note_failure(q, code, "a sum over ranks");
}

static void mpi_sum_end(tacit_queue *q, const tct_op *op)
{
    mpi_sum *s = *tct_link_state(q);
    const int n = op->count + 1;
    if (!op->at_once)
        note_failure(q, tct_mpi_await(q, 1, s->request, NULL),
                     "a sum over ranks");
    if (q->lost_rank->noted) return;
    const int parts = q->ranks > ORDERED_UP_TO ? 1 : q->ranks;
    for (int j = 0; j < n; j++) {
        double total = 0.0;
        for (int r = 0; r < parts; r++)
            total += s->all[(r - s->first + (r < s->first) * parts) * n + j];
        if (j < op->count) op->out[j] = total;
        else tct_flags_agreed(q, total);
    }
}

static void mpi_exchange_begin(tacit_queue *q, const tct_op *op)
{
    const mpi_plan *p = *tct_plan_state(tct_plan_of(op));
    note_failure(q, MPI_Startall(p->count, p->requests[op->x.columns]),
                 "starting halo messages");
}

static void mpi_exchange_end(tacit_queue *q, const tct_op *op)
{
    const mpi_plan *p = *tct_plan_state(tct_plan_of(op));
    note_failure(
        q, tct_mpi_await(q, p->count, p->requests[op->x.columns], p->peers),
        "waiting for halo messages");
}

const tct_link tct_link_mpi = {
    TCT_LINK_OPS(mpi),          .summary = "MPI, started by the CPU",
    .starter = TCT_BY_CPU,      .elements = TCT_ALL_ELEMENTS,
    .probe = tct_mpi_about, /* always available; describes its use */
    .open = mpi_open,           .close = mpi_close,
    .plan_open = mpi_plan_open, .plan_close = mpi_plan_close,
};
