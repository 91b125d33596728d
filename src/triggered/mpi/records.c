/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/mpi/records.c - the persistent requests that a program has made,
 * found by their handles; MPI's calls that make, start and free them. */
#include "triggered/mpi/names.h"
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1024 };
static mpi_record *chain[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the list ------------------------------------------------------------- */

static size_t chain_of(MPI_Request handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle,
           sizeof handle < sizeof bits ? sizeof handle : sizeof bits);
    return (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 54) % CHAINS;
}

mpi_record *tct_mpi_find(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL) return NULL;
    pthread_mutex_lock(&lock);
    mpi_record *r = chain[chain_of(handle)];
    while (r && r->handle != handle) r = r->next;
    pthread_mutex_unlock(&lock);
    return r;
}

int tct_mpi_add(const mpi_record *like)
{
    mpi_record *r = malloc(sizeof *r);
    if (!r) return MPI_ERR_NO_MEM;
    *r = *like;
    pthread_mutex_lock(&lock);
    mpi_record **at = &chain[chain_of(r->handle)];
    r->next = *at;
    *at = r;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

void tct_mpi_remove(mpi_record *r)
{
    pthread_mutex_lock(&lock);
    mpi_record **at = &chain[chain_of(r->handle)];
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    pthread_mutex_unlock(&lock);
    free(r);
}

bool tct_mpi_is_ours(const mpi_record *r)
{
    bool matched = false;
    if (r && r->kind == MPI_KIND_MATCH) return true;
    if (!r || !r->request) return false;
    return tacit_trigger_is_matched(r->request, &matched) >= 0 && matched;
}

int tct_mpi_code(tacit_status status)
{
    switch (status) {
    case TACIT_OK: return MPI_SUCCESS;
    case TACIT_INVALID: return MPI_ERR_REQUEST;
    case TACIT_UNSUPPORTED: return MPI_ERR_UNSUPPORTED_OPERATION;
    case TACIT_NO_MEMORY: return MPI_ERR_NO_MEM;
    case TACIT_NOT_CONVERGED:
    case TACIT_INTERRUPTED:
    case TACIT_BREAKDOWN:
    case TACIT_INPUT:
    case TACIT_IO:
    case TACIT_DEVICE:
    case TACIT_COMM: break;
    }
    return MPI_ERR_OTHER;
}

/* --- making --------------------------------------------------------------- */

static int record(int code, mpi_kind kind, const void *data, int count,
                  MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  const MPI_Request *request)
{
    if (code != MPI_SUCCESS) return code;
    const mpi_record like = {.handle = *request,
                             .kind = kind,
                             .data = (void *)(uintptr_t)data,
                             .count = count,
                             .type = type,
                             .peer = peer,
                             .tag = tag,
                             .comm = comm};
    return tct_mpi_add(&like);
}

/* A call of MPI that makes a persistent send. */
#define SEND_INIT(name, kind)                                                  \
    TACIT_API int MPI_##name(const void *buf, int count, MPI_Datatype type,    \
                             int dest, int tag, MPI_Comm comm,                 \
                             MPI_Request *request)                             \
    {                                                                          \
        return record(PMPI_##name(buf, count, type, dest, tag, comm, request), \
                      kind, buf, count, type, dest, tag, comm, request);       \
    }
SEND_INIT(Send_init, MPI_KIND_SEND)
SEND_INIT(Ssend_init, MPI_KIND_SSEND)
SEND_INIT(Rsend_init, MPI_KIND_RSEND)
SEND_INIT(Bsend_init, MPI_KIND_BSEND)
#undef SEND_INIT

TACIT_API int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source,
                            int tag, MPI_Comm comm, MPI_Request *request)
{
    return record(PMPI_Recv_init(buf, count, type, source, tag, comm, request),
                  MPI_KIND_RECV, buf, count, type, source, tag, comm, request);
}

/* --- starting ------------------------------------------------------------- */

static int start_plain(MPI_Request *request)
{
    mpi_record *r = tct_mpi_find(*request);
    const int code = PMPI_Start(request);
    if (code == MPI_SUCCESS && r) r->plain = true;
    return code;
}

TACIT_API int MPI_Start(MPI_Request *request)
{
    return MPI_Startall(1, request);
}

/* The matched ones, all or none; then the others. */
TACIT_API int MPI_Startall(int count, MPI_Request requests[])
{
    int code = MPI_SUCCESS;
    tacit_trigger_request **ours = calloc((size_t)(count > 0 ? count : 1),
                                          sizeof(tacit_trigger_request *));
    if (!ours) return MPI_ERR_NO_MEM;
    for (int k = 0; k < count; k++) {
        const mpi_record *r = tct_mpi_find(requests[k]);
        if (tct_mpi_is_ours(r)) ours[k] = r->request;
    }
    code = tct_mpi_code(tacit_trigger_startall(count, ours));
    for (int k = 0; k < count && code == MPI_SUCCESS; k++) {
        mpi_record *r = tct_mpi_find(requests[k]);
        if (ours[k]) r->active = true;
        else code = start_plain(&requests[k]);
    }
    free(ours);
    return code;
}

/* --- freeing -------------------------------------------------------------- */

TACIT_API int MPI_Request_free(MPI_Request *request)
{
    mpi_record *r = tct_mpi_find(*request);
    if (r && r->kind == MPI_KIND_MATCH) {
        tacit_error_set(TACIT_INVALID,
                        "MPI_Request_free: a match: wait for it");
        return MPI_ERR_REQUEST;
    }
    if (r && r->request) {
        const int code = tct_mpi_code(tacit_trigger_request_free(&r->request));
        if (code != MPI_SUCCESS) return code;
    }
    const int code = PMPI_Request_free(request);
    if (r && code == MPI_SUCCESS) tct_mpi_remove(r);
    return code;
}

TACIT_API int MPI_Cancel(MPI_Request *request)
{
    if (tct_mpi_is_ours(tct_mpi_find(*request))) {
        tacit_error_set(TACIT_INVALID,
                        "MPI_Cancel: a matched request, or a match, cannot be "
                        "cancelled");
        return MPI_ERR_REQUEST;
    }
    return PMPI_Cancel(request);
}
