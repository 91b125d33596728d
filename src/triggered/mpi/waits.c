/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/mpi/waits.c - MPI's waits and tests, in all their forms, for lists
 * that may mix requests of MPI with matched ones and matches. All come down to
 * two: has a request ended, which changes nothing; and its end. */
#include "triggered/mpi/names.h"
#include <sched.h>
#include <stdlib.h>

void tct_mpi_progress(void)
{
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found,
                MPI_STATUS_IGNORE);
    sched_yield();
}

/* Seconds after which a wait becomes one of libtacit's, which has the same
 * limit again and names what is missing. */
static double polling(void)
{
    const char *wish = getenv("TACIT_PATIENCE");
    const double seconds = wish ? strtod(wish, NULL) : 60.0;
    return seconds > 0.0 ? seconds : 1e300;
}

tacit_status tct_mpi_await_match(tacit_trigger_request **match)
{
    const double limit = polling();
    const double start = PMPI_Wtime();
    bool done = false;
    tacit_status status = TACIT_OK;
    while (!done && status >= 0 && PMPI_Wtime() - start < limit) {
        status = tacit_trigger_test(match, &done);
        if (!done) tct_mpi_progress();
    }
    return done || status < 0 ? status : tacit_trigger_wait(match);
}

/* --- one request ---------------------------------------------------------- */

static void empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
}

static void describe(const mpi_record *r, MPI_Status *status)
{
    int64_t bytes = 0;
    int size = 1;
    empty(status);
    if (status == MPI_STATUS_IGNORE || r->kind != MPI_KIND_RECV || !r->active)
        return;
    PMPI_Type_size(r->type, &size);
    tacit_trigger_received(r->request, &bytes);
    status->MPI_SOURCE = r->peer;
    if (r->peer != MPI_PROC_NULL) status->MPI_TAG = r->tag;
    PMPI_Status_set_elements(status, r->type, (int)(bytes / size));
}

/* Does it count where requests that are not active do not? */
static bool is_active(MPI_Request handle)
{
    const mpi_record *r = tct_mpi_find(handle);
    if (handle == MPI_REQUEST_NULL) return false;
    if (!r || r->kind == MPI_KIND_MATCH) return true;
    return r->plain || r->active;
}

/* Has it ended? Changes nothing that the caller sees. */
static int has_ended(MPI_Request handle, bool *ended)
{
    mpi_record *r = tct_mpi_find(handle);
    int flag = 1;
    if (!tct_mpi_is_ours(r)) {
        const int code =
            handle == MPI_REQUEST_NULL
                ? MPI_SUCCESS
                : PMPI_Request_get_status(handle, &flag, MPI_STATUS_IGNORE);
        *ended = flag != 0;
        return code;
    }
    if (!r->ended) {
        bool done = false;
        r->status = tacit_trigger_test(&r->request, &done);
        r->ended = done || r->status < 0;
        if (!r->ended) tct_mpi_progress();
    }
    *ended = r->ended;
    return MPI_SUCCESS;
}

/* End a request that has ended. A match has kept a request of MPI's. */
static int end(MPI_Request *handle, MPI_Status *status)
{
    mpi_record *r = tct_mpi_find(*handle);
    if (r && r->plain) r->plain = false;
    if (!r || !(r->kind == MPI_KIND_MATCH || tct_mpi_is_ours(r)))
        return PMPI_Wait(handle, status);
    int code = tct_mpi_code(r->status);
    describe(r, status);
    r->active = r->ended = false;
    r->status = TACIT_OK;
    if (r->kind != MPI_KIND_MATCH) return code;
    tct_mpi_remove(r);
    PMPI_Grequest_complete(*handle);
    const int last = PMPI_Wait(handle, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? last : code;
}

static bool any_ours(int count, const MPI_Request *r)
{
    for (int k = 0; k < count; k++)
        if (tct_mpi_is_ours(tct_mpi_find(r[k]))) return true;
    return false;
}

/* MPI's own ones are waited for or tested by MPI: forget their starts. */
static void note_ends(int count, const MPI_Request *r)
{
    for (int k = 0; k < count; k++) {
        mpi_record *m = tct_mpi_find(r[k]);
        if (m) m->plain = false;
    }
}

static MPI_Status *status_at(MPI_Status *list, int k)
{
    return list == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &list[k];
}

/* --- one, all ------------------------------------------------------------- */

TACIT_API int MPI_Testall(int count, MPI_Request requests[], int *flag,
                          MPI_Status statuses[])
{
    if (!any_ours(count, requests)) {
        const int code = PMPI_Testall(count, requests, flag, statuses);
        if (code == MPI_SUCCESS && *flag) note_ends(count, requests);
        return code;
    }
    int worst = MPI_SUCCESS;
    *flag = 1;
    for (int k = 0; k < count; k++) {
        bool ended = false;
        const int code = has_ended(requests[k], &ended);
        if (code != MPI_SUCCESS) return code;
        *flag = *flag && ended;
    }
    for (int k = 0; k < count && *flag; k++) {
        const int code = end(&requests[k], status_at(statuses, k));
        if (code != MPI_SUCCESS) worst = code;
    }
    return worst;
}

/* After that time, wait for what is matched without MPI. */
static int give_up(int count, MPI_Request requests[], double since)
{
    if (PMPI_Wtime() - since < polling()) return MPI_SUCCESS;
    for (int k = 0; k < count; k++) {
        mpi_record *r = tct_mpi_find(requests[k]);
        if (!tct_mpi_is_ours(r) || r->ended) continue;
        r->status = tacit_trigger_wait(&r->request);
        r->ended = true;
        if (r->status < 0) return tct_mpi_code(r->status);
    }
    return MPI_SUCCESS;
}

TACIT_API int MPI_Waitall(int count, MPI_Request requests[],
                          MPI_Status statuses[])
{
    const double start = PMPI_Wtime();
    int flag = 0, code = MPI_SUCCESS;
    if (!any_ours(count, requests)) {
        code = PMPI_Waitall(count, requests, statuses);
        if (code == MPI_SUCCESS) note_ends(count, requests);
        return code;
    }
    while (code == MPI_SUCCESS && !flag) {
        code = MPI_Testall(count, requests, &flag, statuses);
        if (code == MPI_SUCCESS && !flag)
            code = give_up(count, requests, start);
    }
    return code;
}

TACIT_API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return MPI_Testall(1, request, flag, status);
}

TACIT_API int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return MPI_Waitall(1, request, status);
}

TACIT_API int MPI_Request_get_status(MPI_Request request, int *flag,
                                     MPI_Status *status)
{
    const mpi_record *r = tct_mpi_find(request);
    if (!tct_mpi_is_ours(r))
        return PMPI_Request_get_status(request, flag, status);
    bool ended = false;
    const int code = has_ended(request, &ended);
    *flag = ended;
    if (ended) describe(r, status);
    return code;
}

/* --- any, some ------------------------------------------------------------ */

/* One that is active and has ended, from `first`; `index`: MPI_UNDEFINED: none
 * is active; -1: none has ended. */
static int find_ended(int count, const MPI_Request *r, int first, int *index)
{
    *index = MPI_UNDEFINED;
    for (int k = first; k < count; k++) {
        bool ended = false;
        if (!is_active(r[k])) continue;
        const int code = has_ended(r[k], &ended);
        if (code != MPI_SUCCESS || ended) {
            *index = k;
            return code;
        }
        *index = -1;
    }
    return MPI_SUCCESS;
}

TACIT_API int MPI_Testany(int count, MPI_Request requests[], int *index,
                          int *flag, MPI_Status *status)
{
    if (!any_ours(count, requests)) {
        const int code = PMPI_Testany(count, requests, index, flag, status);
        if (code == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED)
            note_ends(1, &requests[*index]);
        return code;
    }
    int k = 0;
    const int code = find_ended(count, requests, 0, &k);
    *flag = k != -1;
    *index = k < 0 ? MPI_UNDEFINED : k;
    if (code != MPI_SUCCESS || k < 0) {
        if (k == MPI_UNDEFINED) empty(status);
        return code;
    }
    return end(&requests[k], status);
}

TACIT_API int MPI_Waitany(int count, MPI_Request requests[], int *index,
                          MPI_Status *status)
{
    const double start = PMPI_Wtime();
    int flag = 0, code = MPI_SUCCESS;
    if (!any_ours(count, requests)) {
        code = PMPI_Waitany(count, requests, index, status);
        if (code == MPI_SUCCESS && *index != MPI_UNDEFINED)
            note_ends(1, &requests[*index]);
        return code;
    }
    while (code == MPI_SUCCESS && !flag) {
        code = MPI_Testany(count, requests, index, &flag, status);
        if (code == MPI_SUCCESS && !flag)
            code = give_up(count, requests, start);
    }
    return code;
}

TACIT_API int MPI_Testsome(int count, MPI_Request requests[], int *ended,
                           int indices[], MPI_Status statuses[])
{
    int code = MPI_SUCCESS, k = 0, worst = MPI_SUCCESS;
    if (!any_ours(count, requests)) {
        code = PMPI_Testsome(count, requests, ended, indices, statuses);
        for (int i = 0;
             code == MPI_SUCCESS && *ended != MPI_UNDEFINED && i < *ended; i++)
            note_ends(1, &requests[indices[i]]);
        return code;
    }
    *ended = 0;
    code = find_ended(count, requests, 0, &k);
    if (k == MPI_UNDEFINED) *ended = MPI_UNDEFINED;
    while (code == MPI_SUCCESS && k >= 0) {
        const int one = end(&requests[k], status_at(statuses, *ended));
        if (one != MPI_SUCCESS) worst = one;
        indices[(*ended)++] = k;
        code = find_ended(count, requests, k + 1, &k);
    }
    return code == MPI_SUCCESS ? worst : code;
}

TACIT_API int MPI_Waitsome(int count, MPI_Request requests[], int *ended,
                           int indices[], MPI_Status statuses[])
{
    const double start = PMPI_Wtime();
    int code = MPI_SUCCESS;
    *ended = 0;
    if (!any_ours(count, requests)) {
        code = PMPI_Waitsome(count, requests, ended, indices, statuses);
        for (int i = 0;
             code == MPI_SUCCESS && *ended != MPI_UNDEFINED && i < *ended; i++)
            note_ends(1, &requests[indices[i]]);
        return code;
    }
    while (code == MPI_SUCCESS && *ended == 0) {
        code = MPI_Testsome(count, requests, ended, indices, statuses);
        if (code == MPI_SUCCESS && *ended == 0)
            code = give_up(count, requests, start);
    }
    return code;
}
