/* SPDX-License-Identifier: BSD-3-Clause
 * examples/matrix_free.c - an operator that is a function: no matrix at all.
 *
 *     cc matrix_free.c -o matrix_free $(pkg-config --cflags --libs tacit) -lm
 *     ./matrix_free
 *
 * or, for any number of processes,
 *
 *     cc -DEXAMPLE_MPI=1 matrix_free.c -o matrix_free \
 *         $(pkg-config --cflags --libs tacit-mpi) -lm
 *     mpirun -np 4 ./matrix_free
 *
 * The seven-point Laplacian of an N x N x N grid, cut along z into slabs, one
 * for each process. A slab needs the plane below it and the plane above it:
 * they travel while the planes inside are worked on. The right-hand side is A
 * times a known vector, written down without that function, and the program
 * checks the solution against it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef EXAMPLE_MPI
#include <tacit/mpi.h>
#endif
#include <tacit/tacit.h>

enum { N = 40, PLANE = N * N };

/* Planes first .. first + planes - 1 of the grid. */
typedef struct {
    tacit_world *world;
    int64_t first, planes;
    tacit_exchange *halo;
    int below, above; /* is there a rank? */
} slab;

/* On an error the whole job ends; one sentence, by the rank that met it. */
static void must(tacit_world *world, tacit_status status)
{
    if (status == TACIT_OK) return;
    fprintf(stderr, "%s: %s\n", tacit_status_name(status),
            tacit_error_message());
    tacit_world_abort(world, 1);
}

/* y = A x on one plane, whose neighbours are `below` and `above`; NULL: the
 * boundary, where x is 0. */
static void multiply_plane(const double *below, const double *x,
                           const double *above, double *y)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            const int k = j * N + i;
            double sum = 6.0 * x[k];
            if (i > 0) sum -= x[k - 1];
            if (i < N - 1) sum -= x[k + 1];
            if (j > 0) sum -= x[k - N];
            if (j < N - 1) sum -= x[k + N];
            if (below) sum -= below[k];
            if (above) sum -= above[k];
            y[k] = sum;
        }
}

static tacit_status apply(void *ctx, tacit_queue *queue, const double *x,
                          double *y)
{
    const slab *s = ctx;
    const int64_t last = s->planes - 1;
    (void)queue;
    tacit_exchange_begin(s->halo, x, 0, 1);
    for (int64_t z = 1; z < last; z++) /* those that need no ghosts */
        multiply_plane(x + (z - 1) * PLANE, x + z * PLANE, x + (z + 1) * PLANE,
                       y + z * PLANE);
    const double *ghosts = tacit_exchange_end(s->halo);
    const double *below = s->below ? ghosts : NULL;
    const double *above = s->above ? ghosts + s->below * PLANE : NULL;
    if (last == 0) {
        multiply_plane(below, x, above, y);
    } else {
        multiply_plane(below, x, x + PLANE, y);
        multiply_plane(x + (last - 1) * PLANE, x + last * PLANE, above,
                       y + last * PLANE);
    }
    return TACIT_OK;
}

/* The lowest plane goes down and the highest up; as much comes back. */
static void plan_halo(slab *s, tacit_queue *q)
{
    const int rank = tacit_world_rank(s->world);
    tacit_channel channel[2];
    int32_t *index = malloc(2 * PLANE * sizeof *index);
    int channels = 0;
    if (!index) tacit_world_abort(s->world, 1);
    s->below = rank > 0;
    s->above = rank < tacit_world_size(s->world) - 1;
    for (int side = 0; side < 2; side++) {
        if (!(side == 0 ? s->below : s->above)) continue;
        const int32_t from = side == 0 ? 0 : (int32_t)(s->planes - 1) * PLANE;
        for (int32_t k = 0; k < PLANE; k++)
            index[channels * PLANE + k] = from + k;
        channel[channels++] = (tacit_channel){
            .rank = side == 0 ? rank - 1 : rank + 1, .count = PLANE};
    }
    must(s->world, tacit_exchange_create(q, channels, channel, index, channels,
                                         channel, 1, &s->halo));
    free(index);
}

static double known(int64_t i)
{
    return sin(0.1 * (double)i);
}

/* Row `i` of A times that. */
static double right_hand_side(int64_t i)
{
    const int64_t x = i % N, y = i / N % N, z = i / PLANE;
    double sum = 6.0 * known(i);
    if (x > 0) sum -= known(i - 1);
    if (x < N - 1) sum -= known(i + 1);
    if (y > 0) sum -= known(i - N);
    if (y < N - 1) sum -= known(i + N);
    if (z > 0) sum -= known(i - PLANE);
    if (z < N - 1) sum -= known(i + PLANE);
    return sum;
}

/* Solve A x = A known; the largest error on this rank. */
static double solve(slab *s, tacit_queue *q, const tacit_operator *A)
{
    const size_t n = (size_t)s->planes * PLANE;
    const int64_t offset = s->first * PLANE;
    tacit_solver *solver = NULL;
    tacit_result result = {.size = sizeof result};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-10, .max_iterations = 1000};
    double *b = NULL, *x = NULL, error = 0.0;
    double *host = malloc(n * sizeof *host);
    if (!host) tacit_world_abort(s->world, 1);
    must(s->world, tacit_queue_alloc(q, n, &b));
    must(s->world, tacit_queue_alloc(q, n, &x));
    for (size_t i = 0; i < n; i++)
        host[i] = right_hand_side(offset + (int64_t)i);
    must(s->world, tacit_queue_put(q, n, host, b));
    must(s->world, tacit_queue_fill(q, n, 0.0, x));
    must(s->world, tacit_solver_create(q, A, "pipelined", &solver));
    must(s->world, tacit_solver_run(solver, b, x, &stop, &result));
    must(s->world, tacit_queue_get(q, n, x, host));
    for (size_t i = 0; i < n; i++)
        error = fmax(error, fabs(host[i] - known(offset + (int64_t)i)));
    if (tacit_world_rank(s->world) == 0)
        printf("%d ranks: %lld iterations, ||b - A x|| / ||b|| = %.1e\n",
               tacit_world_size(s->world), (long long)result.iterations,
               result.true_relative_residual);
    tacit_solver_destroy(&solver);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    free(host);
    return error;
}

int main(int argc, char **argv)
{
    slab s = {0};
    tacit_queue *q = NULL;
    tacit_operator *A = NULL;
#ifdef EXAMPLE_MPI
    MPI_Init(&argc, &argv);
    must(s.world, tacit_world_from_mpi(MPI_COMM_WORLD, &s.world));
#else
    (void)argc;
    (void)argv;
    must(s.world, tacit_world_self(&s.world));
#endif
    const int64_t rank = tacit_world_rank(s.world),
                  size = tacit_world_size(s.world);
    if (size > N)
        must(s.world, tacit_error_set(TACIT_INVALID, "at most %d", N));
    s.first = N * rank / size;
    s.planes = N * (rank + 1) / size - s.first;
    must(s.world, tacit_queue_create(s.world, "host", 0, &q));
    plan_halo(&s, q);
    const tacit_operator_function function = {
        .size = sizeof function, .apply = apply, .ctx = &s, .norm = 12.0};
    must(s.world,
         tacit_operator_from_function(q, s.planes * PLANE, &function, &A));

    double error = solve(&s, q, A);
    must(s.world, tacit_world_reduce(s.world, TACIT_MAX, 1, &error));
    if (rank == 0) printf("largest error %.1e\n", error);

    tacit_operator_destroy(&A);
    tacit_exchange_destroy(&s.halo); /* before its queue */
    tacit_queue_destroy(&q);
    tacit_world_destroy(&s.world);
#ifdef EXAMPLE_MPI
    MPI_Finalize();
#endif
    return error < 1e-6 ? 0 : 1;
}
