/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/wait_mpi.c - waits for MPI messages with a time limit, and finds
 * the lost rank. After half of the time a rank asks the rank it waits for whom
 * that one waits for; ranks answer while they wait. The lost rank is the one
 * that does not answer. */
#include "comm/world/mpi.h"

enum { ASK_TAG = 3, ANSWER_TAG = 4 }; /* other tags: link_mpi.c, world_mpi.c */

typedef struct {
    int peer;    /* this rank waits for it */
    int missing; /* end of the chain of waits, as far as known */
    int asked;   /* questions so far; waits may form a circle */
} inquiry;

static void answer(MPI_Comm comm, int peer)
{
    MPI_Status from;
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, ASK_TAG, comm, &found, &from);
    if (!found) return;
    MPI_Recv(NULL, 0, MPI_BYTE, from.MPI_SOURCE, ASK_TAG, comm,
             MPI_STATUS_IGNORE);
    MPI_Send(&peer, 1, MPI_INT, from.MPI_SOURCE, ANSWER_TAG, comm);
}

/* Ask `rank`, if it is one, whom it waits for. */
static void ask(MPI_Comm comm, inquiry *i, int rank)
{
    i->missing = rank;
    i->asked++;
    if (rank >= 0) MPI_Send(NULL, 0, MPI_BYTE, rank, ASK_TAG, comm);
}

static void inquire(const tacit_queue *q, inquiry *i, int peer)
{
    const MPI_Comm comm = tct_mpi_of(q->world)->comm;
    int found = 0, next = -1;
    if (i->asked == 0 || i->peer != peer) {
        *i = (inquiry){.peer = peer};
        ask(comm, i, peer);
        return;
    }
    if (i->missing < 0 || i->asked > q->ranks) return;
    MPI_Iprobe(i->missing, ANSWER_TAG, comm, &found, MPI_STATUS_IGNORE);
    if (!found) return;
    MPI_Recv(&next, 1, MPI_INT, i->missing, ANSWER_TAG, comm,
             MPI_STATUS_IGNORE);
    if (next != q->rank) ask(comm, i, next);
}

/* The peer of the first incomplete request. */
static int peer_of(int n, const MPI_Request *request, const int *peers)
{
    for (int k = 0; k < n && peers; k++) {
        int done = 1;
        MPI_Request_get_status(request[k], &done, MPI_STATUS_IGNORE);
        if (!done) return peers[k];
    }
    return -1;
}

int tct_mpi_await(tacit_queue *q, int n, MPI_Request *request, const int *peers)
{
    const double limit = q->peer_seconds;
    tct_timeout timeout = {.limit = limit};
    inquiry found = {.peer = -1};
    for (;;) {
        int done = 0;
        const int code = MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        if (code != MPI_SUCCESS || done) return code;
        const double before = timeout.waited;
        const bool over = tct_is_over(&timeout);
        if (timeout.waited == before || timeout.waited < limit / 8) continue;
        const int peer = peer_of(n, request, peers);
        if (over) {
            q_lose_rank(q, found.asked ? found.missing : peer, limit);
            return MPI_SUCCESS;
        }
        answer(tct_mpi_of(q->world)->comm, peer);
        if (timeout.waited > limit / 2) inquire(q, &found, peer);
    }
}
