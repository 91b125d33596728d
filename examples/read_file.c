/* SPDX-License-Identifier: BSD-3-Clause
 * examples/read_file.c - a matrix from a file, many right-hand sides, and a
 * monitor that watches them converge.
 *
 *     cc read_file.c -o read_file $(pkg-config --cflags --libs tacit) -lm
 *     ./read_file MATRIX        any file that `tacit info` understands, or a
 *                               gallery name (default: poisson2d:40)
 *
 * Reading, planning and choosing a format happen once; each right-hand side
 * then costs only its iterations. */
#include <stdio.h>
#include <tacit/tacit.h>

enum { SIDES = 3 };

/* Say every hundredth residual; give up on a residual that has exploded. */
static int watch(void *ctx, int64_t iteration, double relative_residual)
{
    const int *side = ctx;
    if (iteration % 100 == 0)
        printf("side %d  iteration %6lld  ||r|| / ||b|| = %.2e\n", *side,
               (long long)iteration, relative_residual);
    return relative_residual > 1e12;
}

/* Solve for a manufactured x* by its seed, and compare. */
static tacit_status solve_side(tacit_queue *q, const tacit_operator *A,
                               const tacit_matrix *matrix, tacit_solver *solver,
                               int side, double *v[3])
{
    double *xstar = v[0], *b = v[1], *x = v[2], error = 0.0;
    const size_t n = (size_t)tacit_operator_local_rows(A);
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-8,
                             .monitor = watch,
                             .monitor_ctx = &side};
    tacit_result result = {.size = sizeof result};
    tacit_status s = tacit_operator_manufacture(A, matrix, side, xstar, b);
    if (s != TACIT_OK) return s;
    /* x still holds the solution before this one: as good a guess as any */
    s = tacit_solver_run(solver, b, x, &stop, &result);
    if (s < 0) return s;
    const tacit_status distance = tacit_queue_distance(q, n, x, xstar, &error);
    if (distance != TACIT_OK) return distance;
    printf("side %d  %s after %lld iterations, ||x - x*|| = %.1e\n", side,
           result.converged ? "solved" : "NOT solved",
           (long long)result.iterations, error);
    return s;
}

static tacit_status solve_all(tacit_queue *q, const tacit_operator *A,
                              const tacit_matrix *matrix, tacit_solver *solver)
{
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *v[3] = {NULL, NULL, NULL};
    tacit_status s = TACIT_OK;
    for (int i = 0; i < 3 && s == TACIT_OK; i++)
        s = tacit_queue_alloc(q, n, &v[i]);
    if (s == TACIT_OK) /* the first guess: some vector of norm 1 */
        s = tacit_operator_manufacture(A, matrix, 0, v[2], v[1]);
    for (int side = 1; side <= SIDES && s == TACIT_OK; side++)
        s = solve_side(q, A, matrix, solver, side, v);
    for (int i = 0; i < 3; i++) tacit_queue_free(q, &v[i]);
    return s;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "poisson2d:40";
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    tacit_matrix *matrix = NULL;
    tacit_operator *A = NULL;
    tacit_solver *solver = NULL;
    tacit_status s = tacit_world_self(&world);
    if (s == TACIT_OK) s = tacit_queue_create(world, "host", 0, &q);
    if (s == TACIT_OK) s = tacit_matrix_open(world, name, NULL, &matrix);
    if (s == TACIT_OK) s = tacit_matrix_check_symmetric(matrix);
    /* the entries move into the operator; the row numbers stay */
    if (s == TACIT_OK) s = tacit_operator_take(q, matrix, "auto", &A);
    if (s == TACIT_OK) s = tacit_solver_create(q, A, "cg", &solver);
    if (s == TACIT_OK) s = solve_all(q, A, matrix, solver);
    if (s != TACIT_OK) fprintf(stderr, "%s\n", tacit_error_message());
    tacit_solver_destroy(&solver);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&matrix);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return s == TACIT_OK ? 0 : 1;
}
