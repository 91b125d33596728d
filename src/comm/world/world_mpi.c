/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world_mpi.c - the set-up plane of the processes of an MPI
 * communicator. */
#include "comm/world/mpi.h"
#include <string.h>
#include <tacit/mpi.h>

#define CHUNK ((int64_t)1 << 30) /* bytes per message of the set-up plane */

tacit_status tct_mpi_check(int code, const char *what)
{
    if (code == MPI_SUCCESS) return TACIT_OK;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    FAIL(TACIT_COMM, "%s: %s", what, text);
}

/* --- set-up plane --------------------------------------------------------- */

/* With the limit w->timeout. After a timeout MPI may still write the buffer, so
 * that is part of the state that mpi_destroy then keeps. */
static tacit_status reduce_with_limit(tacit_world *w, MPI_Datatype type,
                                      MPI_Op op, size_t count, void *data)
{
    tct_mpi *s = tct_mpi_of(w);
    tct_timeout timeout = {.limit = w->timeout};
    MPI_Request request;
    memcpy(s->few, data, count * sizeof *s->few);
    MPI_TRY(MPI_Iallreduce(MPI_IN_PLACE, s->few, (int)count, type, op, s->comm,
                           &request));
    for (int done = 0; !done;) {
        MPI_TRY(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done || !tct_is_over(&timeout)) continue;
        tct_note_lost_rank(&w->lost_rank, -1, w->timeout);
        return tct_complete(w);
    }
    memcpy(data, s->few, count * sizeof *s->few);
    return TACIT_OK;
}

static tacit_status mpi_reduce(tacit_world *w, tct_type type, tct_reduction op,
                               size_t count, void *data)
{
    static const MPI_Op operations[] = {MPI_SUM, MPI_MIN, MPI_MAX};
    const MPI_Datatype number = type == TCT_I64 ? MPI_INT64_T : MPI_DOUBLE;
    if (w->timeout > 0.0 && count <= TCT_MPI_FEW)
        return reduce_with_limit(w, number, operations[op], count, data);
    return tct_mpi_check(MPI_Allreduce(MPI_IN_PLACE, data, (int)count, number,
                                       operations[op], tct_mpi_of(w)->comm),
                         "MPI_Allreduce");
}

static tacit_status mpi_bcast(tacit_world *w, int root, size_t bytes,
                              void *data)
{
    char *at = data;
    for (int64_t left = (int64_t)bytes; left > 0; left -= CHUNK, at += CHUNK)
        MPI_TRY(MPI_Bcast(at, (int)(left < CHUNK ? left : CHUNK), MPI_BYTE,
                          root, tct_mpi_of(w)->comm));
    return TACIT_OK;
}

static tacit_status mpi_allgather(tacit_world *w, size_t bytes,
                                  const void *mine, void *all)
{
    return tct_mpi_check(MPI_Allgather(mine, (int)bytes, MPI_BYTE, all,
                                       (int)bytes, MPI_BYTE,
                                       tct_mpi_of(w)->comm),
                         "MPI_Allgather");
}

static int64_t chunks_of(const int64_t *bytes, int size)
{
    int64_t chunks = 0;
    for (int r = 0; r < size; r++) chunks += (bytes[r] + CHUNK - 1) / CHUNK;
    return chunks;
}

/* Start to send `bytes` [ranks] at `at` to all ranks, or to receive them, in
 * chunks. `n` counts the requests. Returns MPI's code. */
static int start_messages(const tacit_world *w, bool sends, char *at,
                          const int64_t *bytes, MPI_Request *requests, int *n)
{
    const MPI_Comm comm = tct_mpi_of(w)->comm;
    int code = MPI_SUCCESS;
    for (int r = 0; r < w->size; r++)
        for (int64_t left = bytes[r]; left > 0 && code == MPI_SUCCESS;) {
            const int part = (int)(left < CHUNK ? left : CHUNK);
            MPI_Request *request = &requests[(*n)++];
            code = sends ? MPI_Isend(at, part, MPI_BYTE, r, 1, comm, request)
                         : MPI_Irecv(at, part, MPI_BYTE, r, 1, comm, request);
            at += part;
            left -= part;
        }
    return code;
}

static tacit_status mpi_alltoallv(tacit_world *w, const int64_t *send_bytes,
                                  const void *send, const int64_t *recv_bytes,
                                  void *recv)
{
    const int64_t most =
        chunks_of(send_bytes, w->size) + chunks_of(recv_bytes, w->size);
    MPI_Request *requests = NULL;
    const tacit_status status =
        tct_agree(w, TCT_ALLOC(most, "messages", &requests));
    if (status < 0) {
        tct_free(requests);
        return status;
    }
    int n = 0;
    int code = start_messages(w, false, recv, recv_bytes, requests, &n);
    if (code == MPI_SUCCESS)
        code = start_messages(w, true, (char *)(uintptr_t)send, send_bytes,
                              requests, &n);
    if (code == MPI_SUCCESS)
        code = MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    tct_free(requests);
    return tct_mpi_check(code, "an exchange of lists");
}

static void mpi_progress(tacit_world *w)
{
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, tct_mpi_of(w)->comm, &found,
               MPI_STATUS_IGNORE);
}

static void mpi_abort(tacit_world *w, int exit_code)
{
    MPI_Abort(tct_mpi_of(w)->comm, exit_code);
}

static void mpi_destroy(tacit_world *w)
{
    tct_mpi *s = w->state;
    if (w->lost_rank.noted) return; /* freeing is collective: keep them */
    MPI_Comm_free(&s->comm);
    MPI_Comm_free(&s->halo);
    tct_free(s);
}

static tacit_status mpi_split(tacit_world *w, int colour, tacit_world **out)
{
    MPI_Comm part;
    MPI_TRY(MPI_Comm_split(tct_mpi_of(w)->comm,
                           colour < 0 ? MPI_UNDEFINED : colour, w->rank,
                           &part));
    if (part == MPI_COMM_NULL) return TACIT_OK;
    const tacit_status status = tacit_world_from_mpi(part, out);
    MPI_Comm_free(&part);
    return status;
}

static const tct_world_ops mpi_ops = {
    TCT_WORLD_OPS(mpi),
    .progress = mpi_progress,
};

bool tct_mpi_has(const tacit_world *w)
{
    return w->ops == &mpi_ops;
}

/* `local`: rank and size among the processes of this machine. */
static tacit_status open_world(MPI_Comm comm, tct_mpi *s, int local[2])
{
    MPI_TRY(MPI_Comm_dup(comm, &s->comm));
    MPI_TRY(MPI_Comm_dup(comm, &s->halo));
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->halo, MPI_ERRORS_RETURN);
    MPI_Comm node;
    MPI_TRY(MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                &node));
    MPI_TRY(MPI_Comm_rank(node, &local[0]));
    MPI_TRY(MPI_Comm_size(node, &local[1]));
    return tct_mpi_check(MPI_Comm_free(&node), "MPI_Comm_free");
}

/* MPI aborts the program where it is called too early or too late. */
static tacit_status require_mpi(void)
{
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun && !ended) return TACIT_OK;
    FAIL(TACIT_INVALID, "tacit_world_from_mpi: %s",
         ended ? "MPI_Finalize has been called: make the world before it"
               : "MPI is not initialised: call MPI_Init first");
}

tacit_status tacit_world_from_mpi(MPI_Comm comm, tacit_world **out)
{
    REQUIRE(out != NULL, comm != MPI_COMM_NULL);
    TRY(require_mpi());
    int rank = 0, size = 1, local[2] = {0, 1};
    MPI_TRY(MPI_Comm_rank(comm, &rank));
    MPI_TRY(MPI_Comm_size(comm, &size));
    tct_mpi *s = NULL;
    TRY(TCT_ALLOC(1, "a world", &s));
    *s = (tct_mpi){.comm = MPI_COMM_NULL, .halo = MPI_COMM_NULL};
    tacit_status status = open_world(comm, s, local);
    if (status >= 0)
        status = tct_world_new(&mpi_ops, s, rank, size, local, out);
    if (status < 0) tct_free(s);
    return status;
}
