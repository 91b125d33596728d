/* SPDX-License-Identifier: BSD-3-Clause
 * examples/triggered_halo.c - the halo exchange of the paper's figures 2 and 3,
 * completed: ranks in a torus of two dimensions, eight neighbours each. A step
 * is enqueued as a whole: receives, pack, sends, wait, unpack. The host waits
 * once, at the end. The names in MPI_ are the paper's; MPI_Enqueue_task stands
 * for the launch of a kernel.
 *
 *     mpirun -n 4 ./triggered_halo */
#include <stdio.h>
#include <tacit/triggered_mpi.h>

enum { NEIGHBOURS = 8, CELLS = 64, STEPS = 100 };

/* Directions, so that 7 - n is opposite to n. */
static const int DX[NEIGHBOURS] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int DY[NEIGHBOURS] = {-1, -1, -1, 0, 0, 1, 1, 1};

typedef struct {
    MPI_Comm comm;
    MPI_Queue queue;
    void *stream; /* none on the host */
    int rank, neighbour[NEIGHBOURS];
    double owned[NEIGHBOURS][CELLS], ghost[NEIGHBOURS][CELLS];
    MPI_Request requests[2 * NEIGHBOURS];
    int packed, unpacked, wrong;
} halo;

static double value(int rank, int step, int direction, int cell)
{
    return rank * 1e6 + step * 1e4 + direction * 100 + cell;
}

static void pack(void *ctx)
{
    halo *h = ctx;
    for (int n = 0; n < NEIGHBOURS; n++)
        for (int i = 0; i < CELLS; i++)
            h->owned[n][i] = value(h->rank, h->packed, n, i);
    h->packed++;
}

static void unpack(void *ctx)
{
    halo *h = ctx;
    for (int n = 0; n < NEIGHBOURS; n++)
        for (int i = 0; i < CELLS; i++)
            h->wrong +=
                h->ghost[n][i] != value(h->neighbour[n], h->unpacked, 7 - n, i);
    h->unpacked++;
}

static int create(halo *h)
{
    int size, n[2] = {0, 0}, at[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, n);
    MPI_Cart_create(MPI_COMM_WORLD, 2, n, (const int[]){1, 1}, 0, &h->comm);
    MPI_Comm_rank(h->comm, &h->rank);
    MPI_Cart_coords(h->comm, h->rank, 2, at);
    int code = MPI_Queue_init(&h->queue, CXI, &h->stream);
    for (int k = 0; k < NEIGHBOURS && code == MPI_SUCCESS; k++) {
        const int to[] = {at[0] + DX[k], at[1] + DY[k]};
        MPI_Cart_rank(h->comm, to, &h->neighbour[k]);
        MPI_Recv_init(h->ghost[k], sizeof h->ghost[k], MPI_BYTE,
                      h->neighbour[k], 7 - k, h->comm, &h->requests[k]);
        MPI_Send_init(h->owned[k], sizeof h->owned[k], MPI_BYTE,
                      h->neighbour[k], k, h->comm,
                      &h->requests[NEIGHBOURS + k]);
    }
    if (code != MPI_SUCCESS) return code;
    return MPI_Matchall(2 * NEIGHBOURS, h->requests, MPI_STATUSES_IGNORE);
}

static int enqueue_gather(halo *h)
{
    int code = MPI_Enqueue_startall(h->queue, NEIGHBOURS, h->requests);
    MPI_Enqueue_task(h->queue, pack, h);
    if (code == MPI_SUCCESS)
        code = MPI_Enqueue_startall(h->queue, NEIGHBOURS,
                                    &h->requests[NEIGHBOURS]);
    if (code == MPI_SUCCESS) code = MPI_Enqueue_waitall(h->queue);
    MPI_Enqueue_task(h->queue, unpack, h);
    return code;
}

int main(int argc, char **argv)
{
    static halo h;
    MPI_Init(&argc, &argv);
    int code = create(&h);
    for (int k = 0; k < STEPS && code == MPI_SUCCESS; k++)
        code = enqueue_gather(&h);
    if (code == MPI_SUCCESS) code = MPI_Queue_wait(h.queue);
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "%s\n", tacit_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int k = 0; k < 2 * NEIGHBOURS; k++) MPI_Request_free(&h.requests[k]);
    MPI_Queue_free(&h.queue);
    if (h.rank == 0) printf("%d steps, %d values wrong\n", h.unpacked, h.wrong);
    MPI_Comm_free(&h.comm);
    MPI_Finalize();
    return h.wrong > 0 || h.unpacked != STEPS;
}
