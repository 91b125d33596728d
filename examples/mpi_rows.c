/* SPDX-License-Identifier: BSD-3-Clause
 * examples/mpi_rows.c - many processes, each with its own rows, on a
 * communicator that the program already has.
 *
 *     cc mpi_rows.c -o mpi_rows $(pkg-config --cflags --libs tacit-mpi) -lm
 *     mpirun -np 4 ./mpi_rows
 *
 * The five-point Laplacian of an N x N grid, rows dealt out in bands. A matrix
 * has global 64-bit columns; which of them belong to other ranks, and what
 * must be sent to whom, is the library's affair. The right-hand side is A
 * times a known vector, and the program checks the solution against it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacit/mpi.h>
#include <tacit/tacit.h>

enum { N = 120, ROWS = N * N };

/* The entries of row `i`, into `col` and `val` [5]. */
static int row(int64_t i, int64_t *col, double *val)
{
    const int64_t x = i % N, y = i / N;
    int count = 0;
    if (y > 0) col[count] = i - N, val[count++] = -1.0;
    if (x > 0) col[count] = i - 1, val[count++] = -1.0;
    col[count] = i, val[count++] = 4.0;
    if (x < N - 1) col[count] = i + 1, val[count++] = -1.0;
    if (y < N - 1) col[count] = i + N, val[count++] = -1.0;
    return count;
}

static double known(int64_t i)
{
    return sin(0.1 * (double)i);
}

/* On an error the whole job ends; one sentence, by the rank that met it. */
static void must(tacit_world *world, tacit_status status)
{
    if (status == TACIT_OK) return;
    fprintf(stderr, "%s: %s\n", tacit_status_name(status),
            tacit_error_message());
    tacit_world_abort(world, 1);
}

static double solve(tacit_world *world, int64_t first, int64_t n, int64_t *ptr,
                    int64_t *cols, double *vals, double *b_host, double *x_host)
{
    tacit_queue *q = NULL;
    tacit_matrix *matrix = NULL;
    tacit_operator *A = NULL;
    tacit_solver *solver = NULL;
    double *b = NULL, *x = NULL;
    tacit_result result = {.size = sizeof result};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-10, .max_iterations = 2000};

    must(world, tacit_queue_create(world, "host", 0, &q));
    must(world, tacit_matrix_from_rows(world, ROWS, first, n, ptr, cols, vals,
                                       &matrix));
    must(world, tacit_operator_create(q, matrix, "auto", &A));
    tacit_matrix_destroy(&matrix); /* the operator has its own copy */
    must(world, tacit_solver_create(q, A, "pipelined", &solver));
    must(world, tacit_queue_alloc(q, (size_t)n, &b));
    must(world, tacit_queue_alloc(q, (size_t)n, &x));
    must(world, tacit_queue_put(q, (size_t)n, b_host, b));
    must(world, tacit_queue_put(q, (size_t)n, x_host, x));
    must(world, tacit_solver_run(solver, b, x, &stop, &result));
    must(world, tacit_queue_get(q, (size_t)n, x, x_host));
    if (tacit_world_rank(world) == 0)
        printf("%d ranks: %lld iterations, ||b - A x|| / ||b|| = %.1e\n",
               tacit_world_size(world), (long long)result.iterations,
               result.true_relative_residual);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_solver_destroy(&solver);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    return result.true_relative_residual;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tacit_world *world = NULL;
    must(world, tacit_world_from_mpi(MPI_COMM_WORLD, &world));
    const int64_t rank = tacit_world_rank(world),
                  size = tacit_world_size(world);
    const int64_t first = ROWS * rank / size, end = ROWS * (rank + 1) / size;
    const int64_t n = end - first;

    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    int64_t *cols = malloc(5 * (size_t)n * sizeof *cols);
    double *vals = malloc(5 * (size_t)n * sizeof *vals);
    double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x);
    if (!ptr || !cols || !vals || !b || !x) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = ptr[i];
        ptr[i + 1] = k + row(first + i, &cols[k], &vals[k]);
        for (int64_t j = k; j < ptr[i + 1]; j++)
            b[i] += vals[j] * known(cols[j]);
    }

    solve(world, first, n, ptr, cols, vals, b, x);
    double error = 0.0;
    for (int64_t i = 0; i < n; i++)
        error = fmax(error, fabs(x[i] - known(first + i)));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("largest error %.1e\n", error);

    free(x);
    free(b);
    free(vals);
    free(cols);
    free(ptr);
    tacit_world_destroy(&world); /* before MPI_Finalize */
    MPI_Finalize();
    return error < 1e-6 ? 0 : 1;
}
