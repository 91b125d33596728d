/* SPDX-License-Identifier: BSD-3-Clause
 * examples/halo_mpi.c - heat on a ring of cells, a block a rank: the halo
 * exchange by MPI's persistent requests. halo_triggered.c is the same program,
 * triggered, and docs/guide/triggered.md has the difference.
 *
 *     mpirun -n 4 ./halo_mpi */
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 1000, STEPS = 200 };

typedef struct {
    double old[CELLS + 2], now[CELLS + 2]; /* with a ghost at each end */
} ring;

static void smooth(void *ctx)
{
    ring *r = ctx;
    for (int i = 1; i <= CELLS; i++)
        r->now[i] = (r->old[i - 1] + r->old[i] + r->old[i + 1]) / 3.0;
    for (int i = 1; i <= CELLS; i++) r->old[i] = r->now[i];
}

static void make_requests(ring *r, int rank, int size, MPI_Request q[4])
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    const MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Recv_init(&r->old[0], 1, MPI_DOUBLE, left, 0, comm, &q[0]);
    MPI_Recv_init(&r->old[CELLS + 1], 1, MPI_DOUBLE, right, 1, comm, &q[1]);
    MPI_Send_init(&r->old[CELLS], 1, MPI_DOUBLE, right, 0, comm, &q[2]);
    MPI_Send_init(&r->old[1], 1, MPI_DOUBLE, left, 1, comm, &q[3]);
}

int main(int argc, char **argv)
{
    static ring r;
    MPI_Request q[4];
    int rank, size;
    double own = 0.0, all = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_requests(&r, rank, size, q);
    if (rank == 0) r.old[1] = 1.0;
    for (int k = 0; k < STEPS; k++) {
        MPI_Startall(4, q);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        smooth(&r);
    }
    for (int i = 1; i <= CELLS; i++) own += i * rank * r.old[i] + r.old[i];
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks, %a\n", size, all);
    for (int k = 0; k < 4; k++) MPI_Request_free(&q[k]);
    MPI_Finalize();
    return rank == 0 && !(all > 0.0);
}
