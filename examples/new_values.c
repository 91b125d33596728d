/* SPDX-License-Identifier: BSD-3-Clause
 * examples/new_values.c - one process, one pattern, values that change: what
 * was set up for the first values is given the next.
 *
 *     cc new_values.c -o new_values $(pkg-config --cflags --libs tacit) -lm
 *
 * Heat in a cube whose conductivity depends on its temperature u, which is 0
 * outside: -div (1 + u^2) grad u = f. Each round takes the conductivity from
 * the u of the one before, and the program checks that u comes to rest. */
#include <math.h>
#include <stdio.h>
#include <tacit/tacit.h>

enum { SIDE = 24, N = SIDE * SIDE * SIDE, ROUNDS = 40 };
static const double REST = 1e-6;
static int64_t ptr[N + 1], cols[7 * N];
static double vals[7 * N], f[N], u[N], before[N];

typedef struct {
    tacit_world *world;
    tacit_queue *q;
    tacit_matrix *K;
    tacit_operator *A, *M;
    tacit_solver *cg;
    double *x, *b; /* vectors of the device */
} heat;

/* The temperature at point i and beside it, in direction `d`, as columns and
 * values of row i; outside it is 0. */
static int64_t add_neighbour(int64_t i, int d, int64_t k, double *diagonal)
{
    static const int64_t step[] = {1, SIDE, SIDE * SIDE};
    const int64_t at = i / step[d / 2] % SIDE + (d % 2 ? 1 : -1);
    const int64_t j = i + (d % 2 ? step[d / 2] : -step[d / 2]);
    const int inside = at >= 0 && at < SIDE;
    const double mean = 0.5 * (u[i] + (inside ? u[j] : 0.0));
    const double conductivity = 1.0 + mean * mean;
    *diagonal += conductivity;
    if (!inside) return k;
    cols[k] = j;
    vals[k] = -conductivity;
    return k + 1;
}

/* K(u), the same pattern for any u. */
static tacit_status assemble(heat *h)
{
    int64_t k = 0;
    for (int64_t i = 0; i < N; i++) {
        const int64_t own = k++;
        cols[own] = i;
        vals[own] = 0.0;
        for (int d = 0; d < 6; d++) k = add_neighbour(i, d, k, &vals[own]);
        ptr[i + 1] = k;
    }
    tacit_matrix_destroy(&h->K);
    return tacit_matrix_from_rows(h->world, N, 0, N, ptr, cols, vals, &h->K);
}

static tacit_status set_up(heat *h)
{
    tacit_status s;
    if ((s = tacit_queue_create(h->world, "host", 0, &h->q)) < 0) return s;
    if ((s = assemble(h)) < 0) return s;
    if ((s = tacit_operator_create(h->q, h->K, "auto", &h->A)) < 0) return s;
    if ((s = tacit_precond_create_of(h->A, h->K, "amg", NULL, &h->M)) < 0)
        return s;
    if ((s = tacit_solver_create(h->q, h->A, "cg", &h->cg)) < 0) return s;
    if ((s = tacit_solver_set_precond(h->cg, h->M)) < 0) return s;
    if ((s = tacit_queue_alloc(h->q, N, &h->b)) < 0) return s;
    if ((s = tacit_queue_alloc(h->q, N, &h->x)) < 0) return s;
    for (int64_t i = 0; i < N; i++) f[i] = 10.0 / (SIDE * SIDE);
    return tacit_queue_put(h->q, N, f, h->b);
}

/* The operator first, then what was made of it. */
static tacit_status renew(heat *h)
{
    tacit_status s;
    if ((s = assemble(h)) < 0) return s;
    if ((s = tacit_operator_update(h->A, h->K)) < 0) return s;
    return tacit_precond_update(h->M, h->K);
}

/* From the u of the round before. */
static tacit_status solve(heat *h, int round)
{
    tacit_result result = {.size = sizeof result};
    tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    tacit_status s;
    if ((s = tacit_queue_put(h->q, N, u, h->x)) < 0) return s;
    if ((s = tacit_solver_run(h->cg, h->b, h->x, &stop, &result)) != TACIT_OK)
        return s;
    for (int64_t i = 0; i < N; i++) before[i] = u[i];
    if ((s = tacit_queue_get(h->q, N, h->x, u)) < 0) return s;
    printf("round %d: %lld iterations\n", round, (long long)result.iterations);
    return s;
}

static double change(void)
{
    double most = 0.0, largest = 0.0;
    for (int64_t i = 0; i < N; i++) {
        most = fmax(most, fabs(u[i] - before[i]));
        largest = fmax(largest, fabs(u[i]));
    }
    return most / largest;
}

int main(void)
{
    heat h = {.world = NULL};
    tacit_status s = tacit_world_self(&h.world);
    if (s == TACIT_OK) s = set_up(&h);
    if (s == TACIT_OK) s = solve(&h, 1);
    for (int k = 2; s == TACIT_OK && k <= ROUNDS && change() > REST; k++) {
        s = renew(&h);
        if (s == TACIT_OK) s = solve(&h, k);
    }
    if (s != TACIT_OK) fprintf(stderr, "%s\n", tacit_error_message());
    /* what is used is freed before what it uses; NULL is fine */
    tacit_solver_destroy(&h.cg);
    tacit_queue_free(h.q, &h.b);
    tacit_queue_free(h.q, &h.x);
    tacit_operator_destroy(&h.M);
    tacit_operator_destroy(&h.A);
    tacit_matrix_destroy(&h.K);
    tacit_queue_destroy(&h.q);
    tacit_world_destroy(&h.world);
    if (s != TACIT_OK) return 1;
    printf("the last round changed u by %.1e of itself\n", change());
    return change() <= REST ? 0 : 1;
}
