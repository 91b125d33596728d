/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active_mpi.c - messages through MPI, on a communicator of their
 * own: the tag is the box and the parity of the round, and any rank may be the
 * sender.
 *
 * Who waits for long asks the ranks for which it does for whom they wait; those
 * who wait, too, answer, and are followed. Who does not answer is the one. */
#include "comm/active/active.h"
#include "comm/world/mpi.h"
#include <limits.h>
#include <sched.h>

enum { LOOKS = 500 /* before it lets others have its processor */ };
enum { NO_BOX = -1 /* until others have what this rank has sent */ };
enum { ASK_TAG = 2 * TCT_ACTIVE_TAGS, ANSWER_TAG };

typedef enum { UNKNOWN, ASKED, WAITS } word; /* of a rank */

typedef struct {
    MPI_Comm comm;
    MPI_Request *request; /* [most] of what was sent in this round */
    int *to;              /* [most] and to whom                    */
    int64_t requests, most;
    int32_t inquiry; /* the last one                                         */
    char *word;      /* [ranks] what is known in it                          */
    char *list;      /* its number, and [ranks] 1: that one is waited for    */
    char *in;        /* [longest] the message that was taken */
    char *room;      /* the post's */
    int longest;
} office;

static int tag_of(const tct_active *p, int tag)
{
    return (int)(p->round % 2) * p->tags + tag;
}

static tacit_status allocate(tct_active *p, office *o,
                             const tct_active_needs *needs)
{
    if (needs->longest > INT_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "letters of 2 GiB and more, such as one of %.3g bytes: take fewer "
             "right-hand sides at once",
             (double)needs->longest);
    const int64_t ranks = p->world->size;
    o->most = needs->out;
    o->longest = (int)needs->longest;
    TRY(TCT_ALLOC(o->most, "letters", &o->request));
    TRY(TCT_ALLOC(o->most, "letters", &o->to));
    TRY(TCT_ALLOC(ranks, "letters", &o->word));
    TRY(TCT_ALLOC(ranks + (int64_t)sizeof o->inquiry, "letters", &o->list));
    TRY(TCT_ALLOC(needs->longest, "letters", &o->in));
    TRY(TCT_ALLOC(needs->room, "letters", &o->room));
    p->room = o->room;
    return TACIT_OK;
}

static tacit_status mpi_open(tct_active *p, const tct_active_needs *needs)
{
    office *o = tct_calloc(sizeof *o);
    tacit_status status = o ? TACIT_OK : TACIT_NO_MEMORY;
    if (!o) tacit_error_set(status, "no memory for letters");
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
} vigil;

static char *listed(const office *o)
{
    return o->list + sizeof o->inquiry;
}

static void list_due(const tct_active *p, int tag)
{
    const office *o = p->state;
    char *due = listed(o);
    for (int r = 0; r < p->world->size; r++)
        due[r] = tag != NO_BOX && tct_active_is_due(p, tag, r);
    for (int64_t k = 0; k < o->requests && tag == NO_BOX; k++) {
        int there = 1;
        MPI_Request_get_status(o->request[k], &there, MPI_STATUS_IGNORE);
        if (!there) due[o->to[k]] = 1;
    }
}

/* A question of another rank. */
static void answer(const tct_active *p, int tag)
{
    const office *o = p->state;
    MPI_Status from;
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, ASK_TAG, o->comm, &there, &from);
    if (!there) return;
    MPI_Recv(o->list, sizeof o->inquiry, MPI_BYTE, from.MPI_SOURCE, ASK_TAG,
             o->comm, MPI_STATUS_IGNORE);
    list_due(p, tag);
    MPI_Send(o->list, (int)sizeof o->inquiry + p->world->size, MPI_BYTE,
             from.MPI_SOURCE, ANSWER_TAG, o->comm);
}

/* Those in the list of whom nothing is known. */
static void ask_listed(const tct_active *p)
{
    office *o = p->state;
    for (int r = 0; r < p->world->size; r++) {
        if (!listed(o)[r] || o->word[r] != UNKNOWN || r == p->world->rank)
            continue;
        o->word[r] = ASKED;
        MPI_Send(&o->inquiry, sizeof o->inquiry, MPI_BYTE, r, ASK_TAG, o->comm);
    }
}

static void inquire(const tct_active *p, vigil *v)
{
    office *o = p->state;
    MPI_Status from;
    int there = 0;
    if (!v->asks) {
        v->asks = true;
        o->inquiry++;
        memset(o->word, UNKNOWN, (size_t)p->world->size);
        list_due(p, v->tag);
        ask_listed(p);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, ANSWER_TAG, o->comm, &there, &from);
    if (!there) return;
    MPI_Recv(o->list, (int)sizeof o->inquiry + p->world->size, MPI_BYTE,
             from.MPI_SOURCE, ANSWER_TAG, o->comm, MPI_STATUS_IGNORE);
    if (memcmp(o->list, &o->inquiry, sizeof o->inquiry) != 0) return;
    o->word[from.MPI_SOURCE] = WAITS;
    ask_listed(p);
}

static int missing(const tct_active *p)
{
    const office *o = p->state;
    for (int r = 0; r < p->world->size; r++)
        if (o->word[r] == ASKED) return r;
    return -1;
}

/* After a look in vain. */
static tacit_status look_again(const tct_active *p, vigil *v)
{
    const double before = v->timeout.waited, limit = v->timeout.limit;
    const bool over = tct_is_over(&v->timeout);
    sched_yield();
    if (v->timeout.waited == before || before < limit / 8.0) return TACIT_OK;
    answer(p, v->tag);
    if (before > limit / 2.0) inquire(p, v);
    if (over) tct_desert(&p->world->lost_rank, missing(p), limit);
    return tct_complete(p->world);
}

/* Until requests [n] have ended. */
static tacit_status await_all(const tct_active *p, int tag, int n,
                              MPI_Request *request)
{
    vigil v = {.timeout = {.limit = p->limit}, .tag = tag};
    for (int there = 0;;) {
        MPI_TRY(MPI_Testall(n, request, &there, MPI_STATUSES_IGNORE));
        if (there) return TACIT_OK;
        TRY(look_again(p, &v));
    }
}

/* Until there is a message in `box`. */
static tacit_status await(const tct_active *p, int tag, MPI_Status *from)
{
    const office *o = p->state;
    const int mpi_tag = tag_of(p, tag);
    vigil v = {.timeout = {.limit = p->limit}, .tag = tag};
    int there = 0;
    for (int n = 0;; n += n < LOOKS) {
        MPI_TRY(MPI_Iprobe(MPI_ANY_SOURCE, mpi_tag, o->comm, &there, from));
        if (there) return TACIT_OK;
        if (n == LOOKS) TRY(look_again(p, &v));
    }
}

/* --- messages ------------------------------------------------------------- */

static tacit_status mpi_settle(tct_active *p)
{
    office *o = p->state;
    TRY(await_all(p, NO_BOX, (int)o->requests, o->request));
    o->requests = 0;
    return TACIT_OK;
}

static tacit_status mpi_send(tct_active *p, int tag, int to, const void *data,
                             int64_t bytes)
{
    office *o = p->state;
    o->to[o->requests] = to;
    return tct_mpi_check(MPI_Isend(data, (int)bytes, MPI_BYTE, to,
                                   tag_of(p, tag), o->comm,
                                   &o->request[o->requests++]),
                         "MPI_Isend");
}

static tacit_status mpi_take(tct_active *p, int tag, tct_active_message *out)
{
    const office *o = p->state;
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
    office *o = p->state;
    if (o->comm != MPI_COMM_NULL) mpi_settle(p);
    /* freeing is collective: where a rank does not come MPI keeps it, and what
     * it may still read and write */
    if (p->world->lost_rank.noted) return;
    if (o->comm != MPI_COMM_NULL) MPI_Comm_free(&o->comm);
    TCT_FREE(o->request, o->to, o->word, o->list, o->in, o->room, o);
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
