/* SPDX-License-Identifier: BSD-3-Clause
 * tests/triggered_names_gpu.c - MPI's names of the triggered queue with buffers
 * on GPUs and a queue on a stream: a ring, whose messages the stream writes and
 * reads. Only in builds with CUDA. */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <tacit/triggered_mpi.h>

enum { SMALL = 5, LARGE = 100000, ROUNDS = 200 };

static int rank, size;

static void check(bool good, const char *what, int line)
{
    if (good) return;
    fprintf(stderr, "line %d, rank %d: %s (%s)\n", line, rank, what,
            tacit_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(what) check((what), #what, __LINE__)
#define GOOD(call)  CHECK((call) == 0)

/* Round k of a message from a rank begins and ends with this value. */
static int value(int from, int count, int k)
{
    return from * 100000 + count % 1000 + k;
}

static void set(int *to, int v, cudaStream_t stream)
{
    GOOD(cudaMemcpyAsync(to, &v, sizeof v, cudaMemcpyHostToDevice, stream));
}

/* The host looks in the end alone: all rounds are in the stream by then. */
static void ring(MPI_Queue q, cudaStream_t stream, int count)
{
    int *from = NULL, *to = NULL, *seen = NULL;
    int last[2 * ROUNDS];
    MPI_Request r[2];
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    GOOD(cudaMalloc((void **)&from, (size_t)count * sizeof *from));
    GOOD(cudaMalloc((void **)&to, (size_t)count * sizeof *to));
    GOOD(cudaMalloc((void **)&seen, sizeof last));
    GOOD(MPI_Recv_init(to, count, MPI_INT, before, 3, MPI_COMM_WORLD, &r[0]));
    GOOD(MPI_Send_init(from, count, MPI_INT, next, 3, MPI_COMM_WORLD, &r[1]));
    GOOD(MPI_Matchall(2, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k < ROUNDS; k++) {
        set(from, value(rank, count, k), stream);
        set(from + count - 1, value(rank, count, k), stream);
        GOOD(MPI_Enqueue_startall(q, 2, r));
        GOOD(MPI_Enqueue_waitall(q));
        GOOD(cudaMemcpyAsync(seen + 2 * k, to, sizeof *to,
                             cudaMemcpyDeviceToDevice, stream));
        GOOD(cudaMemcpyAsync(seen + 2 * k + 1, to + count - 1, sizeof *to,
                             cudaMemcpyDeviceToDevice, stream));
    }
    GOOD(MPI_Queue_wait(q));
    GOOD(cudaMemcpy(last, seen, sizeof last, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 2 * ROUNDS; k++)
        CHECK(last[k] == value(before, count, k / 2));
    for (int k = 0; k < 2; k++) GOOD(MPI_Request_free(&r[k]));
    GOOD(MPI_Barrier(MPI_COMM_WORLD)); /* both ends are freed */
    GOOD(cudaFree(from));
    GOOD(cudaFree(to));
    GOOD(cudaFree(seen));
}

int main(int argc, char **argv)
{
    MPI_Queue q;
    cudaStream_t stream;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no GPU\n");
        return 77; /* CTest's SKIP_RETURN_CODE */
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    GOOD(cudaSetDevice(rank % count));
    GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GOOD(MPI_Queue_use_gpu());
    GOOD(MPI_Queue_init(&q, CXI, &stream));
    ring(q, stream, SMALL);
    ring(q, stream, LARGE);
    GOOD(MPI_Queue_free(&q));
    GOOD(cudaStreamDestroy(stream));
    if (rank == 0) printf("%d ranks: all as it should be\n", size);
    return MPI_Finalize();
}
