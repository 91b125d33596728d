/* SPDX-License-Identifier: BSD-3-Clause
 * comm/post_mpi.c - letters through MPI, on a communicator of their own: the tag
 * is the box and the parity of the round, and any rank may be the sender. */
#include "comm/mpi.h"
#include "comm/post.h"
#include <limits.h>
#include <sched.h>

enum { LOOKS = 500 /* before it lets others have its processor */ };

typedef struct {
    MPI_Comm comm;
    MPI_Request *request; /* [most] of what was sent in this round */
    int64_t requests, most;
    char *in;   /* [longest] the letter that was taken */
    char *room; /* the post's */
    int longest;
} office;

static int tag_of(const tct_post *p, int box)
{
    return (int)(p->round % 2) * p->boxes + box;
}

static tacit_status allocate(tct_post *p, office *o,
                             const tct_post_needs *needs)
{
    if (needs->longest > INT_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "letters of 2 GiB and more, such as one of %.3g bytes: take fewer "
             "right-hand sides at once",
             (double)needs->longest);
    o->most = needs->out;
    o->longest = (int)needs->longest;
    TRY(TCT_ALLOC(o->most, "letters", &o->request));
    TRY(TCT_ALLOC(needs->longest, "letters", &o->in));
    TRY(TCT_ALLOC(needs->room, "letters", &o->room));
    p->room = o->room;
    return TACIT_OK;
}

static tacit_status mpi_open(tct_post *p, const tct_post_needs *needs)
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

static tacit_status mpi_settle(tct_post *p)
{
    office *o = p->state;
    const int n = (int)o->requests;
    o->requests = 0;
    return tct_mpi_check(MPI_Waitall(n, o->request, MPI_STATUSES_IGNORE),
                         "MPI_Waitall");
}

static tacit_status mpi_send(tct_post *p, int box, int to, const void *data,
                             int64_t bytes)
{
    office *o = p->state;
    return tct_mpi_check(MPI_Isend(data, (int)bytes, MPI_BYTE, to,
                                   tag_of(p, box), o->comm,
                                   &o->request[o->requests++]),
                         "MPI_Isend");
}

static tacit_status await(const office *o, int tag, MPI_Status *from)
{
    int there = 0;
    for (int n = 0;; n += n < LOOKS) {
        MPI_TRY(MPI_Iprobe(MPI_ANY_SOURCE, tag, o->comm, &there, from));
        if (there) return TACIT_OK;
        if (n == LOOKS) sched_yield();
    }
}

static tacit_status mpi_take(tct_post *p, int box, tct_letter *out)
{
    const office *o = p->state;
    MPI_Status from;
    int bytes = 0;
    TRY(await(o, tag_of(p, box), &from));
    MPI_TRY(MPI_Recv(o->in, o->longest, MPI_BYTE, from.MPI_SOURCE,
                     tag_of(p, box), o->comm, &from));
    MPI_TRY(MPI_Get_count(&from, MPI_BYTE, &bytes));
    *out = (tct_letter){.data = o->in, .bytes = bytes, .from = from.MPI_SOURCE};
    return TACIT_OK;
}

static void mpi_drop(tct_post *p, const tct_letter *letter)
{
    (void)p;
    (void)letter;
}

static void mpi_close(tct_post *p)
{
    office *o = p->state;
    /* freeing is collective: where a rank does not come MPI keeps it */
    if (o->comm != MPI_COMM_NULL && !p->world->desertion.noted) {
        if (o->requests > 0) mpi_settle(p);
        MPI_Comm_free(&o->comm);
    }
    TCT_FREE(o->request, o->in, o->room, o);
}

const tct_post_ops tct_post_mpi = {
    .name = "mpi",
    .open = mpi_open,
    .settle = mpi_settle,
    .send = mpi_send,
    .take = mpi_take,
    .drop = mpi_drop,
    .close = mpi_close,
};
