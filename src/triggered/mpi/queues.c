/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/mpi/queues.c - matches and queues under the paper's names. */
#include "triggered/mpi/names.h"
#include <stdlib.h>

struct tacit_mpi_queue {
    tacit_trigger_queue *queue;
};

/* --- matches -------------------------------------------------------------- */

static tacit_status make(const mpi_record *r, tacit_trigger_comm *c,
                         tacit_trigger_request **out)
{
    tacit_trigger_type type;
    int bytes = 1, peer = 0;
    int64_t tag = 0;
    tacit_status status = tct_mpi_type(r->type, &type, &bytes);
    if (status >= 0)
        status = tct_mpi_translate(r->comm, r->peer, r->tag, &peer, &tag);
    if (status < 0) return status;
    if (r->kind == MPI_KIND_RECV)
        return tacit_trigger_recv_init(c, r->data, r->count, type, peer, tag,
                                       out);
    return (r->kind == MPI_KIND_SSEND   ? tacit_trigger_ssend_init
            : r->kind == MPI_KIND_RSEND ? tacit_trigger_rsend_init
                                        : tacit_trigger_send_init)(
        c, r->data, r->count, type, peer, tag, out);
}

/* The request that stands for a handle, made now if it is to be matched. */
static tacit_status prepare(MPI_Request handle, tacit_trigger_comm *c,
                            tacit_trigger_request **out)
{
    mpi_record *r = tct_mpi_find(handle);
    if (!r || r->kind == MPI_KIND_MATCH)
        return tacit_error_set(TACIT_INVALID, "MPI_Match: not a persistent "
                                              "send or receive");
    if (r->kind == MPI_KIND_BSEND)
        return tacit_error_set(TACIT_UNSUPPORTED,
                               "MPI_Match: a request of MPI_Bsend_init cannot "
                               "be matched: use MPI_Send_init");
    if (r->plain)
        return tacit_error_set(TACIT_INVALID, "MPI_Match: the request is "
                                              "active: wait for it first");
    if (!r->request) {
        const tacit_status status = make(r, c, &r->request);
        if (status < 0) return status;
    }
    *out = r->request;
    return TACIT_OK;
}

static tacit_status imatch(int count, const MPI_Request *handles,
                           tacit_trigger_request **match)
{
    tacit_trigger_comm *c = tct_mpi_world();
    tacit_status status = c ? TACIT_OK : TACIT_UNSUPPORTED;
    tacit_trigger_request **list = calloc((size_t)(count > 0 ? count : 1),
                                          sizeof(tacit_trigger_request *));
    if (!list)
        status = tacit_error_set(TACIT_NO_MEMORY, "MPI_Match: no memory");
    for (int k = 0; k < count && status >= 0; k++)
        status = prepare(handles[k], c, &list[k]);
    if (status >= 0) status = tacit_trigger_imatchall(count, list, match);
    free(list);
    return status;
}

static void clear(int count, MPI_Status *statuses)
{
    if (statuses == MPI_STATUSES_IGNORE) return;
    for (int k = 0; k < count; k++) {
        statuses[k].MPI_SOURCE = MPI_ANY_SOURCE;
        statuses[k].MPI_TAG = MPI_ANY_TAG;
        PMPI_Status_set_elements(&statuses[k], MPI_BYTE, 0);
    }
}

TACIT_API int MPI_Matchall(int count, MPI_Request requests[],
                           MPI_Status statuses[])
{
    tacit_trigger_request *match = NULL;
    if (count == 0) return MPI_SUCCESS;
    tacit_status status = imatch(count, requests, &match);
    if (status >= 0) status = tct_mpi_await_match(&match);
    if (status >= 0) clear(count, statuses);
    return tct_mpi_code(status);
}

TACIT_API int MPI_Match(MPI_Request *request, MPI_Status *status)
{
    return MPI_Matchall(1, request, status);
}

/* Of the request of MPI that stands for a match: nothing to do. */
static int query(void *state, MPI_Status *status)
{
    (void)state;
    clear(1, status);
    return MPI_SUCCESS;
}
static int free_nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}
static int cancel_nothing(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

TACIT_API int MPI_Imatchall(int count, MPI_Request requests[],
                            MPI_Request *match)
{
    mpi_record like = {.kind = MPI_KIND_MATCH};
    const int code = tct_mpi_code(imatch(count, requests, &like.request));
    if (code != MPI_SUCCESS) return code;
    const int made = PMPI_Grequest_start(query, free_nothing, cancel_nothing,
                                         NULL, &like.handle);
    if (made != MPI_SUCCESS) return made;
    *match = like.handle;
    return tct_mpi_add(&like);
}

TACIT_API int MPI_Imatch(MPI_Request *request, MPI_Request *match)
{
    return MPI_Imatchall(1, request, match);
}

TACIT_API int MPI_Is_matched(MPI_Request *request, int *flag)
{
    const mpi_record *r = tct_mpi_find(*request);
    *flag = 0;
    if (!r || r->kind == MPI_KIND_MATCH) {
        tacit_error_set(TACIT_INVALID,
                        "MPI_Is_matched: not a persistent send or receive");
        return MPI_ERR_REQUEST;
    }
    *flag = tct_mpi_is_ours(r);
    return MPI_SUCCESS;
}

/* --- queues --------------------------------------------------------------- */

TACIT_API int MPI_Queue_init(MPI_Queue *queue, MPI_Queue_type type,
                             void *stream)
{
    static const tacit_trigger_kind kinds[] = {
        [MPI_QUEUE_AUTO] = TACIT_TRIGGER_AUTO,
        [MPI_QUEUE_KERNEL] = TACIT_TRIGGER_KERNEL,
        [MPI_QUEUE_MEMOP] = TACIT_TRIGGER_MEMOP,
        [MPI_QUEUE_THREAD] = TACIT_TRIGGER_THREAD};
    tacit_trigger_comm *c = tct_mpi_world();
    if (!c) return MPI_ERR_UNSUPPORTED_OPERATION;
    if (!queue || (size_t)type >= sizeof kinds / sizeof *kinds)
        return MPI_ERR_ARG;
    struct tacit_mpi_queue *q = calloc(1, sizeof *q);
    if (!q) return MPI_ERR_NO_MEM;
    const tacit_status status = tacit_trigger_queue_create(
        c, kinds[type], stream ? *(void **)stream : NULL, &q->queue);
    if (status < 0) free(q);
    else *queue = q;
    return tct_mpi_code(status);
}

TACIT_API int MPI_Queue_use_gpu(void)
{
    tacit_trigger_comm *c = tct_mpi_world();
    return c ? tct_mpi_code(tacit_trigger_comm_use_gpu(c))
             : MPI_ERR_UNSUPPORTED_OPERATION;
}

TACIT_API int MPI_Queue_free(MPI_Queue *queue)
{
    if (!queue || !*queue) return MPI_ERR_ARG;
    const tacit_status status = tacit_trigger_queue_free(&(*queue)->queue);
    if (status < 0) return tct_mpi_code(status);
    free(*queue);
    *queue = MPI_QUEUE_NULL;
    return MPI_SUCCESS;
}

TACIT_API int MPI_Queue_wait(MPI_Queue queue)
{
    return queue ? tct_mpi_code(tacit_trigger_queue_wait(queue->queue))
                 : MPI_ERR_ARG;
}

TACIT_API int MPI_Enqueue_task(MPI_Queue queue, void (*task)(void *ctx),
                               void *ctx)
{
    return queue ? tct_mpi_code(
                       tacit_trigger_enqueue_task(queue->queue, task, ctx))
                 : MPI_ERR_ARG;
}

/* --- starts and waits ----------------------------------------------------- */

typedef tacit_status enqueue(tacit_trigger_queue *queue, int count,
                             tacit_trigger_request *const *requests);

static tacit_status look_up(MPI_Request handle, tacit_trigger_request **out)
{
    const mpi_record *r = tct_mpi_find(handle);
    if (handle == MPI_REQUEST_NULL) return TACIT_OK;
    if (r && r->request && r->kind != MPI_KIND_MATCH) {
        *out = r->request;
        return TACIT_OK;
    }
    return tacit_error_set(TACIT_INVALID, "MPI_Enqueue: the request is not "
                                          "matched: call MPI_Match first");
}

static int pass_on(MPI_Queue queue, int count, const MPI_Request *handles,
                   enqueue *call)
{
    tacit_status status = TACIT_OK;
    if (!queue || count < 0) return MPI_ERR_ARG;
    tacit_trigger_request **list = calloc((size_t)(count > 0 ? count : 1),
                                          sizeof(tacit_trigger_request *));
    if (!list) return MPI_ERR_NO_MEM;
    for (int k = 0; k < count && status >= 0; k++)
        status = look_up(handles[k], &list[k]);
    if (status >= 0) status = call(queue->queue, count, list);
    free(list);
    return tct_mpi_code(status);
}

TACIT_API int MPI_Enqueue_startall(MPI_Queue queue, int count,
                                   MPI_Request requests[])
{
    return pass_on(queue, count, requests, tacit_trigger_enqueue_startall);
}

TACIT_API int MPI_Enqueue_start(MPI_Queue queue, MPI_Request *request)
{
    return pass_on(queue, 1, request, tacit_trigger_enqueue_startall);
}

TACIT_API int MPI_Enqueue_waitlist(MPI_Queue queue, int count,
                                   MPI_Request requests[])
{
    return pass_on(queue, count, requests, tacit_trigger_enqueue_waitall);
}

TACIT_API int MPI_Enqueue_wait(MPI_Queue queue, MPI_Request *request)
{
    return pass_on(queue, 1, request, tacit_trigger_enqueue_waitall);
}

TACIT_API int MPI_Enqueue_waitall(MPI_Queue queue)
{
    return queue
               ? tct_mpi_code(tacit_trigger_enqueue_wait_started(queue->queue))
               : MPI_ERR_ARG;
}
