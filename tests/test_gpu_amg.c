/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_amg.c - algebraic multigrid on the cuda device: in the loops that
 * take it as few iterations as on the host device, the same bits in two solves,
 * symmetric and positive definite there, too.
 *
 * LABEL: gpu
 * RUN: np=1,2
 * PROCESSES: 2 */
#include "gpu.h"
#include "problem.h"

typedef struct {
    problem p;
    tacit_operator *M;
} amg;

static void open_amg(amg *a, const char *device, const char *matrix,
                     const char *format, const char *cycle)
{
    const tacit_precond_options o = {.size = sizeof o, .cycle = cycle};
    problem *p = &a->p;
    *a = (amg){.M = NULL};
    p->result.size = sizeof p->result;
    p->m = gallery_matrix(matrix);
    p->q = open_queue(device);
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, "cg", &p->s));
    OK(tacit_precond_create_of(p->A, p->m, "amg", &o, &a->M));
    OK(tacit_solver_set_precond(p->s, a->M));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
}

static void close_amg(amg *a)
{
    OK(tacit_solver_set_precond(a->p.s, NULL));
    tacit_operator_destroy(&a->M);
    close_problem(&a->p);
}

static int64_t solve(amg *a)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-8, .max_iterations = 300};
    OK(tacit_queue_fill(a->p.q, a->p.n, 0.0, a->p.x));
    OK(tacit_solver_run(a->p.s, a->p.b, a->p.x, &stop, &a->p.result));
    assert_true(a->p.result.true_relative_residual <= 1e-8);
    return a->p.result.iterations;
}

static void check_solves(amg *a, const char *what, int64_t wanted)
{
    const int64_t first = solve(a);
    double *x = host_copy(a->p.q, a->p.n, a->p.x);
    const int64_t second = solve(a);
    double *y = host_copy(a->p.q, a->p.n, a->p.x);
    if (llabs(first - wanted) > 1 || first != second)
        fail_msg("%s: %d and %d iterations, %d on the host", what, (int)first,
                 (int)second, (int)wanted);
    if (!same_bits(x, y, a->p.n)) fail_msg("%s: other bits", what);
    free(x);
    free(y);
}

static void iterations_are_those_of_the_host(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson3d:24", "jump3d:16,1e4,1",
                                           "tet3d:12,1", "elasticity3d:7"};
    static const char *const formats[] = {"sell", "csr", "sell/f64@rcm"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            const char *cycle = k == 1 ? "w" : "v";
            amg host, a;
            open_amg(&host, "host", matrices[i], "csr@none", cycle);
            const int64_t wanted = solve(&host);
            close_amg(&host);
            const bool cuda = strcmp(TEST_DEVICE, "cuda") == 0;
            open_amg(&a, TEST_DEVICE, matrices[i], cuda ? formats[k] : "sell",
                     cycle);
            for (int d = 0; tacit_loop_at(d); d++) {
                char what[128];
                const char *loop = tacit_loop_at(d)->name;
                if (tacit_solver_set_loop(a.p.s, loop) < 0) continue;
                assert_string_not_equal(loop, "resident");
                snprintf(what, sizeof what, "%s in %s, loop %s", matrices[i],
                         formats[k], loop);
                check_solves(&a, what, wanted);
            }
            close_amg(&a);
        }
}

static void auto_takes_a_loop_that_can(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, TEST_DEVICE, "poisson3d:20", "auto", "v");
    OK(tacit_solver_set_loop(a.p.s, "auto"));
    solve(&a);
    assert_string_not_equal(a.p.result.loop, "resident");
    close_amg(&a);
}

static void it_is_symmetric_and_positive(void **state)
{
    (void)state;
    static const char *const cycles[] = {"v", "w"};
    for (int c = 0; c < 2; c++) {
        amg a;
        open_amg(&a, TEST_DEVICE, "jump3d:15,1e5,1", "sell", cycles[c]);
        const size_t n = a.p.n;
        double *u = random_vector(n, 3), *v = random_vector(n, 4);
        double *mu = image_of(a.M, a.p.q, n, u),
               *mv = image_of(a.M, a.p.q, n, v);
        const double uu = dot_of(n, u, mu), vv = dot_of(n, v, mv);
        assert_true(uu > 0.0 && vv > 0.0);
        assert_true(fabs(dot_of(n, u, mv) - dot_of(n, v, mu)) <=
                    1e-12 * sqrt(uu * vv));
        free(u);
        free(v);
        free(mu);
        free(mv);
        close_amg(&a);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_those_of_the_host),
        cmocka_unit_test(auto_takes_a_loop_that_can),
        cmocka_unit_test(it_is_symmetric_and_positive),
    };
    TEST_GPU_MAIN(tests);
}
