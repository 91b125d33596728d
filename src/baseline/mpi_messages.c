/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/mpi_messages.c - persistent requests of MPI. */
#include "baseline/mpi_messages.h"

#if TCT_HAVE_MPI
#include <mpi.h>

struct base_mpi {
    MPI_Comm comm;
    int count;
    MPI_Request *request; /* [count] */
};

const char *base_mpi_missing(int ranks)
{
    int on = 0, size = 0;
    MPI_Initialized(&on);
    if (!on) return "MPI has not started these processes: use mpirun";
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size == ranks ? NULL : "MPI has other ranks";
}

static tacit_status status_of(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return TACIT_OK;
    MPI_Error_string(code, text, &length);
    FAIL(TACIT_COMM, "MPI: %s", text);
}

static tacit_status make_request(const base_mpi *b, const base_message *m,
                                 MPI_Request *out)
{
    const int bytes = (int)m->bytes;
    if (m->bytes > INT32_MAX)
        FAIL(TACIT_INVALID, "a message of MPI of %lld bytes: at most 2^31 - 1",
             (long long)m->bytes);
    if (m->sends)
        return status_of(MPI_Send_init(m->data, bytes, MPI_BYTE, m->peer,
                                       m->tag, b->comm, out));
    return status_of(
        MPI_Recv_init(m->data, bytes, MPI_BYTE, m->peer, m->tag, b->comm, out));
}

static tacit_status make_all(base_mpi *b, const base_message *messages)
{
    TRY(status_of(MPI_Comm_dup(MPI_COMM_WORLD, &b->comm)));
    TRY(status_of(MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN)));
    for (int k = 0; k < b->count; k++) b->request[k] = MPI_REQUEST_NULL;
    for (int k = 0; k < b->count; k++)
        TRY(make_request(b, &messages[k], &b->request[k]));
    return TACIT_OK;
}

tacit_status base_mpi_create(int count, const base_message *messages,
                             base_mpi **out)
{
    base_mpi *b = NULL;
    TRY(ALLOC(1, "messages", &b));
    b->comm = MPI_COMM_NULL;
    tacit_status status = ALLOC(count, "messages", &b->request);
    if (status >= 0) b->count = count;
    if (status >= 0) status = make_all(b, messages);
    if (status < 0) base_mpi_destroy(&b);
    else *out = b;
    return status;
}

void base_mpi_destroy(base_mpi **messages)
{
    base_mpi *b = *messages;
    if (!b) return;
    for (int k = 0; k < b->count; k++)
        if (b->request[k] != MPI_REQUEST_NULL) MPI_Request_free(&b->request[k]);
    if (b->comm != MPI_COMM_NULL) MPI_Comm_free(&b->comm);
    free(b->request);
    free(b);
    *messages = NULL;
}

tacit_status base_mpi_start(base_mpi *messages, int first, int count)
{
    return status_of(MPI_Startall(count, messages->request + first));
}

tacit_status base_mpi_wait(base_mpi *messages, int first, int count)
{
    return status_of(
        MPI_Waitall(count, messages->request + first, MPI_STATUSES_IGNORE));
}

#else
const char *base_mpi_missing(int ranks)
{
    (void)ranks;
    return "this build is without MPI";
}

tacit_status base_mpi_create(int count, const base_message *messages,
                             base_mpi **out)
{
    (void)count;
    (void)messages;
    (void)out;
    FAIL(TACIT_UNSUPPORTED, "%s", base_mpi_missing(0));
}

void base_mpi_destroy(base_mpi **messages)
{
    *messages = NULL;
}

tacit_status base_mpi_start(base_mpi *messages, int first, int count)
{
    (void)messages;
    (void)first;
    (void)count;
    FAIL(TACIT_UNSUPPORTED, "%s", base_mpi_missing(0));
}

tacit_status base_mpi_wait(base_mpi *messages, int first, int count)
{
    return base_mpi_start(messages, first, count);
}
#endif
