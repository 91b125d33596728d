/* SPDX-License-Identifier: BSD-3-Clause
 * examples/serial_arrays.c - one process, a matrix from three arrays.
 *
 *     cc serial_arrays.c -o serial_arrays $(pkg-config --cflags --libs tacit) -lm
 *
 * A chain of springs between two walls: K u = f, where K has 2 on the diagonal
 * and -1 beside it. Under the same force everywhere it sags like a parabola,
 * u_i = i (n + 1 - i) / 2, and the program checks that it does. */
#include <math.h>
#include <stdio.h>
#include <tacit/tacit.h>

enum { N = 1000 };
static int64_t ptr[N + 1], cols[3 * N];
static double vals[3 * N], f[N], u[N];

static void chain(void)
{
    int64_t k = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= N) continue;
            cols[k] = j;
            vals[k++] = i == j ? 2.0 : -1.0;
        }
        ptr[i + 1] = k;
        f[i] = 1.0;
    }
}

static tacit_status solve(tacit_world *world, tacit_queue **q,
                          tacit_matrix **matrix, tacit_operator **A,
                          tacit_solver **cg)
{
    double *x = NULL, *b = NULL; /* vectors of the device */
    tacit_result result = {.size = sizeof result};
    tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    tacit_status s;

    if ((s = tacit_queue_create(world, "host", 0, q)) < 0) return s;
    if ((s = tacit_matrix_from_rows(world, N, 0, N, ptr, cols, vals, matrix)) <
        0)
        return s;
    if ((s = tacit_operator_create(*q, *matrix, "auto", A)) < 0) return s;
    if ((s = tacit_solver_create(*q, *A, "cg", cg)) < 0) return s;

    if ((s = tacit_queue_alloc(*q, N, &b)) == TACIT_OK &&
        (s = tacit_queue_alloc(*q, N, &x)) == TACIT_OK &&
        (s = tacit_queue_put(*q, N, f, b)) == TACIT_OK &&
        (s = tacit_queue_put(*q, N, u, x)) == TACIT_OK && /* guess: 0 */
        (s = tacit_solver_run(*cg, b, x, &stop, &result)) == TACIT_OK)
        s = tacit_queue_get(*q, N, x, u);
    tacit_queue_free(*q, &b);
    tacit_queue_free(*q, &x);
    if (s == TACIT_OK)
        printf("%lld iterations, ||b - A x|| / ||b|| = %.1e\n",
               (long long)result.iterations, result.true_relative_residual);
    return s;
}

int main(void)
{
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    tacit_matrix *matrix = NULL;
    tacit_operator *A = NULL;
    tacit_solver *cg = NULL;
    chain();
    tacit_status s = tacit_world_self(&world);
    if (s == TACIT_OK) s = solve(world, &q, &matrix, &A, &cg);
    if (s != TACIT_OK) fprintf(stderr, "%s\n", tacit_error_message());
    /* what is used is freed before what it uses; NULL is fine */
    tacit_solver_destroy(&cg);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&matrix);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    if (s != TACIT_OK) return 1;

    double worst = 0.0;
    for (int64_t i = 0; i < N; i++) {
        const double exact = 0.5 * (double)(i + 1) * (double)(N - i);
        worst = fmax(worst, fabs(u[i] / exact - 1.0));
    }
    printf("largest relative error %.1e\n", worst);
    return worst < 1e-6 ? 0 : 1;
}
