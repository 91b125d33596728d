/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_sstep.c - s-step iterations as one kernel: as many iterations
 * as recorded ones, as small a residual, and one sum per block.
 *
 * LABEL: gpu */
#include "gpu_rig.h"

static void need_a_gpu(void)
{
    if (strcmp(TEST_DEVICE, "cuda") == 0) return;
    puts("skipped: the host device has no kernels");
    skip();
}

static void set(rig *r, const char *name, const char *value)
{
    OK(tacit_solver_set(r->s, name, value));
}

/* The result of a solve to `rtol`; its residual, formed on the host, into
 * `residual`. */
static tacit_result solved(const reference *ref, const char *format,
                           const char *loop, const char *steps,
                           const char *basis, double rtol, double *residual)
{
    rig r;
    assert_true(open_rig(&r, ref, TEST_DEVICE, format, "sstep", loop));
    set(&r, "steps", steps);
    set(&r, "basis", basis);
    const tacit_status status = solve(&r, rtol, 0);
    assert_true(status == TACIT_OK || rtol == 0.0);
    if (strstr(r.result.loop_detail, "loop host"))
        fail_msg("%s: %s", r.what, r.result.loop_detail);
    double *x = host_copy(r.q, r.n, r.x);
    *residual = true_residual(ref, ref->b, x);
    free(x);
    const tacit_result result = r.result;
    close_rig(&r);
    return result;
}

typedef struct {
    const char *matrix, *format, *precond;
} problem;

static const problem problems[] = {{"poisson2d:64", "sell/f64", NULL},
                                   {"poisson2d:200", "sell", NULL},
                                   {"poisson3d:30", "sell", "jacobi"},
                                   {"tet3d:12,2", "sell/f64", NULL},
                                   {"jump3d:24,100,1", "sell", "jacobi"},
                                   {"elasticity3d:8", "bsell/f64", NULL},
                                   {"poisson3d:64", "sell", NULL}};
static const char *const many[] = {"1", "3", "4", "8", "11", "16"};

/* The same iterations as in loop graph, but for a block at the end, and for
 * lengths that a recording has only one of; and as small a residual as can
 * be. */
static void a_kernel_does_what_is_recorded(void **state)
{
    (void)state;
    need_a_gpu();
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        reference ref;
        open_reference(&ref, problems[p].matrix,
                       gallery_matrix(problems[p].matrix), 5);
        ref.precond = problems[p].precond;
        for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
            double a, b;
            const char *format = problems[p].format;
            const tacit_result graph =
                solved(&ref, format, "graph", many[k], "chebyshev", 1e-9, &a);
            const tacit_result one = solved(&ref, format, "resident", many[k],
                                            "chebyshev", 1e-9, &b);
            const int64_t more = llabs(one.iterations - graph.iterations);
            printf("%s, %s: s = %s: %lld iterations, %lld recorded; %.2e, "
                   "%.2e; %lld and %lld times r anew\n",
                   ref.name, format, many[k], (long long)one.iterations,
                   (long long)graph.iterations, b, a,
                   (long long)one.replacements, (long long)graph.replacements);
            if (more > atoi(many[k]) + graph.iterations / 20)
                fail_msg("%s, s = %s: %lld iterations, %lld recorded", ref.name,
                         many[k], (long long)one.iterations,
                         (long long)graph.iterations);
            assert_true(b <= 1.001e-9);
        }
        close_reference(&ref);
    }
}

/* Where no target ends it, and b is not scaled to 1. */
static void it_comes_as_near(void **state)
{
    (void)state;
    need_a_gpu();
    reference ref;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    for (size_t i = 0; i < ref.n; i++) ref.b[i] *= 1e-200;
    for (size_t k = 1; k < sizeof many / sizeof *many; k++) {
        double a, b;
        (void)solved(&ref, PLAIN, "graph", many[k], "chebyshev", 0.0, &a);
        (void)solved(&ref, PLAIN, "resident", many[k], "chebyshev", 0.0, &b);
        printf("s = %s: %.2e, %.2e recorded\n", many[k], b, a);
        assert_true(b <= 10.0 * a && b < 1e-13);
    }
    close_reference(&ref);
}

static void every_basis_goes(void **state)
{
    (void)state;
    static const char *const bases[] = {"chebyshev", "newton", "monomial"};
    need_a_gpu();
    reference ref;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    for (int M = 0; M < 2; M++)
        for (int i = 0; i < 3; i++) {
            double a, b;
            ref.precond = M ? "jacobi" : NULL;
            const tacit_result graph =
                solved(&ref, PLAIN, "graph", "4", bases[i], 1e-8, &a);
            const tacit_result one =
                solved(&ref, PLAIN, "resident", "4", bases[i], 1e-8, &b);
            assert_true(llabs(one.iterations - graph.iterations) <= 8);
            assert_true(b <= 1.001e-8);
        }
    close_reference(&ref);
}

/* A block more is a sum more. */
static void a_block_has_one_sum(void **state)
{
    (void)state;
    enum { S = 5, FIRST = 20, BLOCKS = 3 };
    need_a_gpu();
    reference ref;
    rig r;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    assert_true(
        open_rig(&r, &ref, "count:" TEST_DEVICE, PLAIN, "sstep", "resident"));
    set(&r, "steps", "5");
    int64_t sums[2], products[2];
    for (int k = 0; k < 2; k++) {
        tacit_queue_clear_tally(r.q);
        EXPECT(TACIT_NOT_CONVERGED,
               solve(&r, 0.0, FIRST + (1 + k * BLOCKS) * S));
        sums[k] = tacit_queue_tally(r.q)->reduce.count;
        products[k] = tacit_queue_tally(r.q)->spmv.count;
    }
    assert_int_equal(sums[1] - sums[0], BLOCKS);
    assert_int_equal(products[1] - products[0], BLOCKS * S);
    close_rig(&r);
    close_reference(&ref);
}

/* Every length of a solve, with blocks that have to be shorter at its end. */
static void limits_are_kept(void **state)
{
    (void)state;
    need_a_gpu();
    reference ref;
    rig r;
    open_reference(&ref, "poisson2d:64", gallery_matrix("poisson2d:64"), 5);
    assert_true(open_rig(&r, &ref, TEST_DEVICE, PLAIN, "sstep", "resident"));
    for (int most = 1; most < 90; most++) {
        EXPECT(TACIT_NOT_CONVERGED, solve(&r, 1e-14, most));
        assert_int_equal(r.result.iterations, most);
        if (!(r.result.relative_residual <=
              2.0 * r.result.true_relative_residual + 1e-12))
            fail_msg("%d iterations: %.3e, truly %.3e", most,
                     r.result.relative_residual,
                     r.result.true_relative_residual);
    }
    close_rig(&r);
    close_reference(&ref);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_does_what_is_recorded),
        cmocka_unit_test(it_comes_as_near),
        cmocka_unit_test(every_basis_goes),
        cmocka_unit_test(a_block_has_one_sum),
        cmocka_unit_test(limits_are_kept),
    };
    TEST_GPU_MAIN(tests);
}
