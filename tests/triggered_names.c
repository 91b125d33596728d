/* SPDX-License-Identifier: BSD-3-Clause
 * tests/triggered_names.c - MPI's names of the triggered queue, on plain
 * MPI_Request, by programs that link libtacit-triggered-mpi: matched, matching
 * and MPI's own requests in all forms of waits and tests. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/triggered_mpi.h>

static int rank, size;

static void check(bool good, const char *what, int line)
{
    if (good) return;
    fprintf(stderr, "line %d, rank %d: %s (%s)\n", line, rank, what,
            tacit_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(what) check((what), #what, __LINE__)
#define GOOD(call)  CHECK((call) == MPI_SUCCESS)
#define SAYS(code, text, call) \
    CHECK((call) == (code) && strstr(tacit_error_message(), (text)))

/* In a ring: r[0] receives from the last rank, r[1] sends to the next one. */
static void make_ring(MPI_Comm comm, int tag, int *to, const int *from,
                      MPI_Request r[2])
{
    GOOD(MPI_Recv_init(to, 1, MPI_INT, (rank + size - 1) % size, tag, comm,
                       &r[0]));
    GOOD(MPI_Send_init(from, 1, MPI_INT, (rank + 1) % size, tag, comm, &r[1]));
}

static void free_both(MPI_Request r[2])
{
    for (int k = 0; k < 2; k++) {
        GOOD(MPI_Request_free(&r[k]));
        CHECK(r[k] == MPI_REQUEST_NULL);
    }
}

/* Of two communicators, with one tag; beside messages of MPI with that tag. */
static void queues(MPI_Queue q)
{
    MPI_Comm comm;
    MPI_Request r[4], user;
    int from[2], to[2] = {-1, -1}, mine = -1, flag = 1;
    GOOD(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
    make_ring(comm, 3, &to[0], &from[0], r);
    make_ring(MPI_COMM_WORLD, 3, &to[1], &from[1], r + 2);
    GOOD(MPI_Irecv(&mine, 1, MPI_INT, (rank + size - 1) % size, 3,
                   MPI_COMM_WORLD, &user));
    GOOD(MPI_Is_matched(&r[0], &flag));
    CHECK(!flag);
    SAYS(MPI_ERR_REQUEST, "not matched", MPI_Enqueue_startall(q, 4, r));
    GOOD(MPI_Matchall(4, r, MPI_STATUSES_IGNORE));
    GOOD(MPI_Is_matched(&r[0], &flag));
    CHECK(flag);
    for (int n = 0; n < 100; n++) {
        from[0] = n + rank;
        from[1] = -n - rank;
        GOOD(MPI_Enqueue_startall(q, 4, r));
        if (n % 2) GOOD(MPI_Enqueue_waitall(q));
        else GOOD(MPI_Enqueue_waitlist(q, 4, r));
        GOOD(MPI_Queue_wait(q));
        const int last = (rank + size - 1) % size;
        CHECK(to[0] == n + last && to[1] == -n - last);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Test(&user, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    from[0] = 77;
    GOOD(MPI_Send(from, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD));
    GOOD(MPI_Wait(&user, MPI_STATUS_IGNORE));
    CHECK(mine == 77);
    free_both(r);
    free_both(r + 2);
    GOOD(MPI_Comm_free(&comm));
}

/* Matched and plain persistent requests, started by the host together. */
static void host_starts(void)
{
    MPI_Request r[5];
    MPI_Status s[5];
    int from[2] = {rank, 100 + rank}, to[2], done, flag = 0, index, count;
    int indices[5];
    const int last = (rank + size - 1) % size;
    make_ring(MPI_COMM_WORLD, 5, &to[0], &from[0], r);
    make_ring(MPI_COMM_WORLD, 6, &to[1], &from[1], r + 2);
    r[4] = MPI_REQUEST_NULL;
    GOOD(MPI_Matchall(2, r, MPI_STATUSES_IGNORE));
    for (int way = 0; way < 5; way++) {
        to[0] = to[1] = -1;
        GOOD(MPI_Startall(4, r));
        if (way == 0) GOOD(MPI_Waitall(5, r, s));
        if (way == 0) {
            CHECK(s[0].MPI_SOURCE == last && s[0].MPI_TAG == 5);
            GOOD(MPI_Get_count(&s[0], MPI_INT, &count));
            CHECK(count == 1);
        }
        for (flag = 0; way == 1 && !flag;) GOOD(MPI_Testall(5, r, &flag, s));
        for (done = 0; way == 2 && done < 4; done++) {
            GOOD(MPI_Waitany(5, r, &index, s));
            CHECK(index >= 0 && index < 4);
        }
        for (done = 0; way == 3 && done < 4; done += count)
            GOOD(MPI_Waitsome(5, r, &count, indices, s));
        for (int k = 0; way == 4 && k < 4; k++) GOOD(MPI_Wait(&r[k], &s[k]));
        CHECK(to[0] == last && to[1] == 100 + last);
        GOOD(MPI_Waitany(5, r, &index, s)); /* none is active */
        CHECK(index == MPI_UNDEFINED);
        GOOD(MPI_Testsome(5, r, &count, indices, s));
        CHECK(count == MPI_UNDEFINED);
    }
    SAYS(MPI_ERR_REQUEST, "cannot be cancelled", MPI_Cancel(&r[0]));
    free_both(r);
    free_both(r + 2);
}

/* A match is a request for MPI's waits, beside others. */
static void matches(MPI_Queue q)
{
    MPI_Request r[2], match[2], plain;
    int from = rank, to = -1, flag = 1, mine = -1;
    const int last = (rank + size - 1) % size;
    make_ring(MPI_COMM_WORLD, 7, &to, &from, r);
    GOOD(MPI_Imatch(&r[0], &match[0]));
    if (size > 1) MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Test(&match[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag && match[0] != MPI_REQUEST_NULL);
    GOOD(MPI_Request_get_status(match[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    SAYS(MPI_ERR_REQUEST, "being matched", MPI_Match(&r[0], MPI_STATUS_IGNORE));
    SAYS(MPI_ERR_REQUEST, "not matched", MPI_Enqueue_start(q, &r[0]));
    SAYS(MPI_ERR_REQUEST, "wait for it", MPI_Request_free(&match[0]));
    if (size > 1) MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Imatchall(1, &r[1], &match[1]));
    GOOD(MPI_Irecv(&mine, 1, MPI_INT, last, 8, MPI_COMM_WORLD, &plain));
    GOOD(MPI_Send(&from, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD));
    MPI_Request all[] = {match[0], plain, match[1]};
    GOOD(MPI_Waitall(3, all, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 3; k++) CHECK(all[k] == MPI_REQUEST_NULL);
    CHECK(mine == last);
    GOOD(MPI_Enqueue_startall(q, 2, r));
    GOOD(MPI_Enqueue_wait(q, &r[0]));
    GOOD(MPI_Enqueue_wait(q, &r[1]));
    GOOD(MPI_Queue_wait(q));
    CHECK(to == last);
    free_both(r);
}

static void refusals(MPI_Queue q)
{
    MPI_Request r = MPI_REQUEST_NULL, two[2];
    MPI_Datatype pair;
    MPI_Queue none = MPI_QUEUE_NULL;
    double x = 0.0;
    int from = 1, to = 0;
    long wide = 0;
    SAYS(MPI_ERR_REQUEST, "not a persistent", MPI_Match(&r, MPI_STATUS_IGNORE));
    GOOD(MPI_Recv_init(&x, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                       &r));
    SAYS(MPI_ERR_REQUEST, "any rank", MPI_Match(&r, MPI_STATUS_IGNORE));
    GOOD(MPI_Request_free(&r));
    GOOD(MPI_Bsend_init(&x, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &r));
    SAYS(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Bsend_init",
         MPI_Match(&r, MPI_STATUS_IGNORE));
    GOOD(MPI_Request_free(&r));
    GOOD(MPI_Type_contiguous(2, MPI_INT, &pair));
    GOOD(MPI_Type_commit(&pair));
    GOOD(MPI_Type_set_name(pair, "pair of ints"));
    GOOD(MPI_Send_init(&x, 1, pair, rank, 0, MPI_COMM_WORLD, &r));
    SAYS(MPI_ERR_UNSUPPORTED_OPERATION, "pair of ints",
         MPI_Match(&r, MPI_STATUS_IGNORE));
    GOOD(MPI_Request_free(&r));
    GOOD(MPI_Type_free(&pair));
    if (MPI_Queue_use_gpu() != MPI_SUCCESS) /* and nothing has changed */
        CHECK(strstr(tacit_error_message(), "GPU") != NULL);
    SAYS(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Queue_use_gpu",
         MPI_Queue_init(&none, MPI_QUEUE_KERNEL, NULL));
    CHECK(MPI_Queue_wait(none) == MPI_ERR_ARG);
    GOOD(MPI_Recv_init(&wide, 1, MPI_LONG, rank, 9, MPI_COMM_WORLD, &two[0]));
    GOOD(MPI_Send_init(&from, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &two[1]));
    SAYS(MPI_ERR_REQUEST, "elements I32",
         MPI_Matchall(2, two, MPI_STATUSES_IGNORE));
    GOOD(MPI_Request_free(&two[0]));
    GOOD(MPI_Recv_init(&to, 4, MPI_BYTE, rank, 9, MPI_COMM_WORLD, &two[0]));
    GOOD(MPI_Matchall(2, two, MPI_STATUSES_IGNORE)); /* the send once more */
    GOOD(MPI_Enqueue_startall(q, 2, two));
    SAYS(MPI_ERR_REQUEST, "in another queue",
         MPI_Wait(&two[0], MPI_STATUS_IGNORE));
    GOOD(MPI_Enqueue_waitall(q));
    GOOD(MPI_Queue_wait(q));
    GOOD(MPI_Wait(&two[0], MPI_STATUS_IGNORE)); /* not active: at once */
    CHECK(to == 1);
    free_both(two);
}

int main(int argc, char **argv)
{
    MPI_Queue q;
    void *stream = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    GOOD(MPI_Queue_init(&q, CXI, &stream));
    queues(q);
    host_starts();
    matches(q);
    refusals(q);
    GOOD(MPI_Queue_free(&q));
    CHECK(q == MPI_QUEUE_NULL);
    if (rank == 0) printf("%d ranks: all as it should be\n", size);
    return MPI_Finalize();
}
