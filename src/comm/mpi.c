/* SPDX-License-Identifier: BSD-3-Clause
 * comm/mpi.c - messages started by the CPU, through MPI. MPI knows nothing of
 * queues, so the stream plane acts when it is reached; on the host device that
 * is when it is enqueued.
 *
 * Halo messages are persistent requests (MPI-3.1), as in the aCG paper 3.3.1.
 * A sum over few ranks gathers every rank's scalars and adds them in rank
 * order, so that all ranks have the same bits on every run; over many ranks it
 * is left to MPI_Allreduce. */
#include "comm/exchange.h"
#include "comm/world.h"
#include <stdlib.h>
#include <string.h>
#include <tacit/mpi.h>

enum {
    ORDERED_UP_TO = 64, /* ranks: sums are gathered and added in rank order */
    FIRST_TAG = 100
};
#define CHUNK ((int64_t)1 << 30) /* bytes per message of the set-up plane */

typedef struct {
    MPI_Comm comm; /* set-up plane and sums */
    MPI_Comm halo; /* exchanges             */
    int plans;     /* opened so far         */
} mpi_state;

typedef struct { /* a queue's: the sum under way */
    MPI_Request request;
    double mine[TCT_SUM_MOST + 1];
    double all[ORDERED_UP_TO * (TCT_SUM_MOST + 1)];
} mpi_sum;

typedef struct {
    int count;
    MPI_Request *requests; /* receives, then sends */
} mpi_plan;

static mpi_state *state_of(const tacit_world *w)
{
    return w->state;
}

static tacit_status check(int code, const char *what)
{
    if (code == MPI_SUCCESS) return TACIT_OK;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    FAIL(TACIT_COMM, "%s: %s", what, text);
}
#define MPI_TRY(call) TRY(check((call), #call))

/* --- set-up plane --------------------------------------------------------- */

static tacit_status mpi_reduce(tacit_world *w, tct_type type, tct_reduction op,
                               size_t count, void *data)
{
    static const MPI_Op operations[] = {MPI_SUM, MPI_MIN, MPI_MAX};
    return check(MPI_Allreduce(MPI_IN_PLACE, data, (int)count,
                               type == TCT_I64 ? MPI_INT64_T : MPI_DOUBLE,
                               operations[op], state_of(w)->comm),
                 "MPI_Allreduce");
}

static tacit_status mpi_bcast(tacit_world *w, int root, size_t bytes,
                              void *data)
{
    char *at = data;
    for (int64_t left = (int64_t)bytes; left > 0; left -= CHUNK, at += CHUNK)
        MPI_TRY(MPI_Bcast(at, (int)(left < CHUNK ? left : CHUNK), MPI_BYTE,
                          root, state_of(w)->comm));
    return TACIT_OK;
}

static tacit_status mpi_allgather(tacit_world *w, size_t bytes,
                                  const void *mine, void *all)
{
    return check(MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes,
                               MPI_BYTE, state_of(w)->comm),
                 "MPI_Allgather");
}

static int64_t chunks_of(const int64_t *bytes, int size)
{
    int64_t chunks = 0;
    for (int r = 0; r < size; r++) chunks += (bytes[r] + CHUNK - 1) / CHUNK;
    return chunks;
}

static tacit_status mpi_alltoallv(tacit_world *w, const int64_t *send_bytes,
                                  const void *send, const int64_t *recv_bytes,
                                  void *recv)
{
    const MPI_Comm comm = state_of(w)->comm;
    const int64_t most =
        chunks_of(send_bytes, w->size) + chunks_of(recv_bytes, w->size);
    MPI_Request *requests = NULL;
    const tacit_status status =
        tct_agree(w, TCT_ALLOC(most, "messages", &requests));
    if (status < 0) {
        tct_free(requests);
        return status;
    }
    int n = 0, code = MPI_SUCCESS;
    char *in = recv;
    for (int r = 0; r < w->size; r++)
        for (int64_t left = recv_bytes[r]; left > 0 && code == MPI_SUCCESS;) {
            const int64_t part = left < CHUNK ? left : CHUNK;
            code =
                MPI_Irecv(in, (int)part, MPI_BYTE, r, 1, comm, &requests[n++]);
            in += part;
            left -= part;
        }
    const char *out = send;
    for (int r = 0; r < w->size; r++)
        for (int64_t left = send_bytes[r]; left > 0 && code == MPI_SUCCESS;) {
            const int64_t part = left < CHUNK ? left : CHUNK;
            code =
                MPI_Isend(out, (int)part, MPI_BYTE, r, 1, comm, &requests[n++]);
            out += part;
            left -= part;
        }
    if (code == MPI_SUCCESS)
        code = MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    tct_free(requests);
    return check(code, "an exchange of lists");
}

static void mpi_abort(tacit_world *w, int exit_code)
{
    MPI_Abort(state_of(w)->comm, exit_code);
}

static void mpi_destroy(tacit_world *w)
{
    mpi_state *s = w->state;
    MPI_Comm_free(&s->comm);
    MPI_Comm_free(&s->halo);
    tct_free(s);
}

/* --- plans ---------------------------------------------------------------- */

static tacit_status mpi_plan_open(tct_plan *plan)
{
    mpi_state *s = plan->world->state;
    mpi_plan *p = NULL;
    TRY(TCT_ALLOC(1, "an exchange", &p));
    *p = (mpi_plan){0};
    plan->state = p;
    plan->tag = FIRST_TAG + s->plans++ % 30000;
    TRY(TCT_ALLOC(plan->sends + plan->recvs, "an exchange", &p->requests));
    const int64_t columns = plan->base.columns;
    for (int k = 0; k < plan->recvs; k++) {
        const int64_t from = plan->recv_start[k];
        const int64_t n = columns * (plan->recv_start[k + 1] - from);
        if (n > INT32_MAX)
            FAIL(TACIT_UNSUPPORTED, "a halo message of %lld values",
                 (long long)n);
        MPI_TRY(MPI_Recv_init(plan->landing + columns * from, (int)n,
                              MPI_DOUBLE, plan->recv_rank[k], plan->tag,
                              s->halo, &p->requests[p->count++]));
    }
    for (int k = 0; k < plan->sends; k++) {
        const int64_t from = plan->send_start[k];
        const int64_t n = columns * (plan->send_start[k + 1] - from);
        if (n > INT32_MAX)
            FAIL(TACIT_UNSUPPORTED, "a halo message of %lld values",
                 (long long)n);
        MPI_TRY(MPI_Send_init(plan->pack + columns * from, (int)n, MPI_DOUBLE,
                              plan->send_rank[k], plan->tag, s->halo,
                              &p->requests[p->count++]));
    }
    return TACIT_OK;
}

static void mpi_plan_close(tct_plan *plan)
{
    mpi_plan *p = plan->state;
    for (int i = 0; i < p->count; i++) MPI_Request_free(&p->requests[i]);
    tct_free(p->requests);
    tct_free(p);
    plan->state = NULL;
}

/* --- stream plane --------------------------------------------------------- */

static void note(tacit_queue *q, int code, const char *what)
{
    if (code == MPI_SUCCESS) return;
    check(code, what);
    q_fail(q, TACIT_COMM, "%s", tacit_error_message());
}

static void start_sum(tacit_queue *q, const tct_op *op)
{
    mpi_sum *s = q->link_state;
    const int n = op->count;
    memcpy(s->mine, op->out, (size_t)n * sizeof(double));
    s->mine[n] = tct_flags_mine(q);
    const MPI_Comm comm = state_of(q->world)->comm;
    int code;
    if (q->ranks > ORDERED_UP_TO && op->at_once)
        code = MPI_Allreduce(s->mine, s->all, n + 1, MPI_DOUBLE, MPI_SUM, comm);
    else if (q->ranks > ORDERED_UP_TO)
        code = MPI_Iallreduce(s->mine, s->all, n + 1, MPI_DOUBLE, MPI_SUM, comm,
                              &s->request);
    else if (op->at_once)
        code = MPI_Allgather(s->mine, n + 1, MPI_DOUBLE, s->all, n + 1,
                             MPI_DOUBLE, comm);
    else
        code = MPI_Iallgather(s->mine, n + 1, MPI_DOUBLE, s->all, n + 1,
                              MPI_DOUBLE, comm, &s->request);
    note(q, code, "a sum over ranks");
}

static void mpi_sum_begin(tacit_queue *q, const tct_op *op)
{
    start_sum(q, op);
}

static void mpi_sum_end(tacit_queue *q, const tct_op *op)
{
    mpi_sum *s = q->link_state;
    const int n = op->count + 1;
    if (!op->at_once)
        note(q, MPI_Wait(&s->request, MPI_STATUS_IGNORE), "a sum over ranks");
    const int parts = q->ranks > ORDERED_UP_TO ? 1 : q->ranks;
    for (int j = 0; j < n; j++) {
        double total = 0.0;
        for (int r = 0; r < parts; r++) total += s->all[r * n + j];
        if (j < op->count) op->out[j] = total;
        else tct_flags_agreed(q, total);
    }
}

static void mpi_exchange_begin(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = (const tct_plan *)(const void *)op->exchange;
    const mpi_plan *p = plan->state;
    if (q->failed == TACIT_OK) tct_plan_pack(plan, op->v);
    note(q, MPI_Startall(p->count, p->requests), "starting halo messages");
}

static void mpi_exchange_end(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = (const tct_plan *)(const void *)op->exchange;
    const mpi_plan *p = plan->state;
    note(q, MPI_Waitall(p->count, p->requests, MPI_STATUSES_IGNORE),
         "waiting for halo messages");
    tct_plan_unpack(plan);
}

static const tct_comm_ops mpi_ops = {
    .name = "mpi",
    .reduce = mpi_reduce,
    .bcast = mpi_bcast,
    .allgather = mpi_allgather,
    .alltoallv = mpi_alltoallv,
    .abort = mpi_abort,
    .destroy = mpi_destroy,
    .plan_open = mpi_plan_open,
    .plan_close = mpi_plan_close,
    .link = {.sum_begin = mpi_sum_begin,
             .sum_end = mpi_sum_end,
             .exchange_begin = mpi_exchange_begin,
             .exchange_end = mpi_exchange_end},
    .link_state_bytes = sizeof(mpi_sum),
};

static tacit_status open_world(MPI_Comm comm, mpi_state *s, int *local_size)
{
    MPI_TRY(MPI_Comm_dup(comm, &s->comm));
    MPI_TRY(MPI_Comm_dup(comm, &s->halo));
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->halo, MPI_ERRORS_RETURN);
    MPI_Comm node;
    MPI_TRY(MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                &node));
    MPI_TRY(MPI_Comm_size(node, local_size));
    return check(MPI_Comm_free(&node), "MPI_Comm_free");
}

tacit_status tacit_world_from_mpi(MPI_Comm comm, tacit_world **out)
{
    REQUIRE(out != NULL && comm != MPI_COMM_NULL);
    int rank = 0, size = 1, local_size = 1;
    MPI_TRY(MPI_Comm_rank(comm, &rank));
    MPI_TRY(MPI_Comm_size(comm, &size));
    mpi_state *s = NULL;
    TRY(TCT_ALLOC(1, "a world", &s));
    *s = (mpi_state){.comm = MPI_COMM_NULL, .halo = MPI_COMM_NULL};
    tacit_status status = open_world(comm, s, &local_size);
    if (status >= 0)
        status = tct_world_new(&mpi_ops, s, rank, size, local_size, out);
    if (status < 0) tct_free(s);
    return status;
}
