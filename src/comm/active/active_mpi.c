/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active_mpi.c - active messages through MPI, on a communicator of
 * their own; MPI's tag is the message's tag and the parity of the round.
 *
 * To find a lost rank, a rank that waits for long asks those that it waits for
 * whom they wait for. Ranks that wait answer, and the ranks they name are asked
 * in turn; the lost rank is one that does not answer. */
#include "comm/active/transport.h"
#include "comm/world/mpi.h"
#include <limits.h>
#include <sched.h>

enum { CHECKS = 500 /* before it yields its processor */ };
enum { NO_TAG = -1 /* waits for its sends to complete */ };
enum { ASK_TAG = 2 * TCT_ACTIVE_TAGS, ANSWER_TAG };

typedef enum { UNKNOWN, ASKED, WAITS } reply; /* reply of a rank */

typedef struct {
    MPI_Comm comm;
    MPI_Request *request; /* [most] sends of this round */
    int *to;              /* [most] and their receivers */
    int64_t requests, most;
    int32_t inquiry; /* number of the last one */
    char *reply;     /* [ranks] replies to it */
    char *list;      /* its number, and [ranks] 1: waited for */
    char *in;        /* [longest] the message taken */
    char *room;      /* p->room */
    int longest;
} transport;

static int tag_of(const tct_active *p, int tag)
{
    return (int)(p->round % 2) * p->tags + tag;
}

static tacit_status allocate(tct_active *p, transport *o,
                             const tct_active_needs *needs)
{
    if (needs->longest > INT_MAX)
        FAIL(
            TACIT_UNSUPPORTED,
            "messages of 2 GiB and more, such as one of %.3g bytes: take fewer "
            "right-hand sides at once",
            (double)needs->longest);
    const int64_t ranks = p->world->size;
    o->most = needs->out;
    o->longest = (int)needs->longest;
    TRY(TCT_ALLOC(o->most, "messages", &o->request));
    TRY(TCT_ALLOC(o->most, "messages", &o->to));
    TRY(TCT_ALLOC(ranks, "messages", &o->reply));
    TRY(TCT_ALLOC(ranks + (int64_t)sizeof o->inquiry, "messages", &o->list));
    TRY(TCT_ALLOC(needs->longest, "messages", &o->in));
    TRY(TCT_ALLOC(needs->room, "messages", &o->room));
    p->room = o->room;
    return TACIT_OK;
}

static tacit_status mpi_open(tct_active *p, const tct_active_needs *needs)
{
    transport *o = tct_calloc(sizeof *o);
    tacit_status status = o ? TACIT_OK : TACIT_NO_MEMORY;
    if (!o) tacit_error_set(status, "no memory for messages");
    p->state = o;
    if (o) {
        o->comm = MPI_COMM_NULL;
        status = allocate(p, o, needs);
    }
    TRY(tct_agree(p->world, status));
    MPI_TRY(MPI_Comm_dup(tct_mpi_of(p->world)->comm, &o->comm));
    return tct_mpi_check(MPI_Comm_set_errhandler(o->comm, MPI_ERRORS_RETURN),
                         "MPI_Comm_set_errhandler");
}

/* --- waiting -------------------------------------------------------------- */

typedef struct {
    tct_timeout timeout;
    int tag;
    bool asks;
} wait_state;

static char *listed(const transport *o)
{
    return o->list + sizeof o->inquiry;
}

static void list_due(const tct_active *p, int tag)
{
    const transport *o = p->state;
    char *due = listed(o);
    for (int r = 0; r < p->world->size; r++)
        due[r] = tag != NO_TAG && tct_active_is_due(p, tag, r);
    for (int64_t k = 0; k < o->requests && tag == NO_TAG; k++) {
        int done = 1;
        MPI_Request_get_status(o->request[k], &done, MPI_STATUS_IGNORE);
        if (!done) due[o->to[k]] = 1;
    }
}

/* Answer a question of another rank, if one has arrived. */
static void answer(const tct_active *p, int tag)
{
    const transport *o = p->state;
    MPI_Status from;
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, ASK_TAG, o->comm, &found, &from);
    if (!found) return;
    MPI_Recv(o->list, sizeof o->inquiry, MPI_BYTE, from.MPI_SOURCE, ASK_TAG,
             o->comm, MPI_STATUS_IGNORE);
    list_due(p, tag);
    MPI_Send(o->list, (int)sizeof o->inquiry + p->world->size, MPI_BYTE,
             from.MPI_SOURCE, ANSWER_TAG, o->comm);
}

/* Ask the listed ranks that have not been asked. */
static void ask_listed(const tct_active *p)
{
    transport *o = p->state;
    for (int r = 0; r < p->world->size; r++) {
        if (!listed(o)[r] || o->reply[r] != UNKNOWN || r == p->world->rank)
            continue;
        o->reply[r] = ASKED;
        MPI_Send(&o->inquiry, sizeof o->inquiry, MPI_BYTE, r, ASK_TAG, o->comm);
    }
}

static void inquire(const tct_active *p, wait_state *v)
{
    transport *o = p->state;
    MPI_Status from;
    int found = 0;
    if (!v->asks) {
        v->asks = true;
        o->inquiry++;
        memset(o->reply, UNKNOWN, (size_t)p->world->size);
        list_due(p, v->tag);
        ask_listed(p);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, ANSWER_TAG, o->comm, &found, &from);
    if (!found) return;
    MPI_Recv(o->list, (int)sizeof o->inquiry + p->world->size, MPI_BYTE,
             from.MPI_SOURCE, ANSWER_TAG, o->comm, MPI_STATUS_IGNORE);
    if (memcmp(o->list, &o->inquiry, sizeof o->inquiry) != 0) return;
    o->reply[from.MPI_SOURCE] = WAITS;
    ask_listed(p);
}

static int find_lost(const tct_active *p)
{
    const transport *o = p->state;
    for (int r = 0; r < p->world->size; r++)
        if (o->reply[r] == ASKED) return r;
    return -1;
}

/* After a failed check: yield, and serve or start inquiries. */
static tacit_status check_timeout(const tct_active *p, wait_state *v)
{
    const double before = v->timeout.waited, limit = v->timeout.limit;
    const bool over = tct_is_over(&v->timeout);
    sched_yield();
    if (v->timeout.waited == before || before < limit / 8.0) return TACIT_OK;
    answer(p, v->tag);
    if (before > limit / 2.0) inquire(p, v);
    if (over) tct_note_lost_rank(&p->world->lost_rank, find_lost(p), limit);
    return tct_complete(p->world);
}

/* Wait until requests [n] are complete. */
static tacit_status await_all(const tct_active *p, int tag, int n,
                              MPI_Request *request)
{
    wait_state v = {.timeout = {.limit = p->limit}, .tag = tag};
    for (int done = 0;;) {
        MPI_TRY(MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE));
        if (done) return TACIT_OK;
        TRY(check_timeout(p, &v));
    }
}

/* Wait for a message with `tag`. */
static tacit_status await(const tct_active *p, int tag, MPI_Status *from)
{
    const transport *o = p->state;
    const int mpi_tag = tag_of(p, tag);
    wait_state v = {.timeout = {.limit = p->limit}, .tag = tag};
    int found = 0;
    for (int n = 0;; n += n < CHECKS) {
        MPI_TRY(MPI_Iprobe(MPI_ANY_SOURCE, mpi_tag, o->comm, &found, from));
        if (found) return TACIT_OK;
        if (n == CHECKS) TRY(check_timeout(p, &v));
    }
}

/* --- messages ------------------------------------------------------------- */

static tacit_status mpi_settle(tct_active *p)
{
    transport *o = p->state;
    TRY(await_all(p, NO_TAG, (int)o->requests, o->request));
    o->requests = 0;
    return TACIT_OK;
}

static tacit_status mpi_send(tct_active *p, int tag, int to, const void *data,
                             int64_t bytes)
{
    transport *o = p->state;
    o->to[o->requests] = to;
    return tct_mpi_check(MPI_Isend(data, (int)bytes, MPI_BYTE, to,
                                   tag_of(p, tag), o->comm,
                                   &o->request[o->requests++]),
                         "MPI_Isend");
}

static tacit_status mpi_take(tct_active *p, int tag, tct_active_message *out)
{
    const transport *o = p->state;
    MPI_Status from;
    MPI_Request coming;
    int bytes = 0;
    TRY(await(p, tag, &from));
    MPI_TRY(MPI_Get_count(&from, MPI_BYTE, &bytes));
    MPI_TRY(MPI_Irecv(o->in, o->longest, MPI_BYTE, from.MPI_SOURCE,
                      tag_of(p, tag), o->comm, &coming));
    TRY(await_all(p, tag, 1, &coming));
    *out = (tct_active_message){
        .data = o->in, .bytes = bytes, .from = from.MPI_SOURCE};
    return TACIT_OK;
}

static void mpi_drop(tct_active *p, const tct_active_message *message)
{
    (void)p;
    (void)message;
}

static void mpi_close(tct_active *p)
{
    transport *o = p->state;
    if (o->comm != MPI_COMM_NULL) mpi_settle(p);
    /* freeing is collective: if a rank is lost, MPI keeps the communicator and
     * the buffers that it may still use */
    if (p->world->lost_rank.noted) return;
    if (o->comm != MPI_COMM_NULL) MPI_Comm_free(&o->comm);
    TCT_FREE(o->request, o->to, o->reply, o->list, o->in, o->room, o);
}

const tct_active_ops tct_active_mpi = {
    .name = "mpi",
    .open = mpi_open,
    .settle = mpi_settle,
    .send = mpi_send,
    .take = mpi_take,
    .drop = mpi_drop,
    .close = mpi_close,
};
