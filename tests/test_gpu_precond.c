/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_precond.c - preconditioners on the cuda device: every method,
 * loop, format and precision against the host device; their cost; solves that
 * restart, switch the method, or change the preconditioner; and refusals of
 * loop resident.
 *
 * LABEL: gpu */
#include "gpu_rig.h"
#include "matrix/matrix.h"
#include <tacit/precond.h>

static bool on_cuda(void)
{
    return strcmp(TEST_DEVICE, "cuda") == 0;
}

/* A problem for solvers with jacobi. */
static void open_jacobi(reference *ref, const char *name, tacit_matrix *m)
{
    open_reference(ref, name, m, 5);
    ref->precond = "jacobi";
}

/* --- everything together -------------------------------------------------- */

static void everything_converges_as_on_the_host(void **state)
{
    (void)state;
    static const char *const gallery[] = {"jump3d:14,1e4,1", "tet3d:9,3",
                                          "elasticity3d:6"};
    for (size_t i = 0; i < sizeof gallery / sizeof *gallery; i++)
        check_matrix(gallery[i], gallery_matrix(gallery[i]), "jacobi", false);
}

static void rows_kept_apart_are_summed_by_every_loop(void **state)
{
    (void)state;
    check_rows_kept_apart("jacobi");
}

/* A chain of blocks of `block` rows, whose diagonals differ. */
static int block;
static int chain_columns(int64_t n, int64_t i, int64_t *col)
{
    const int64_t at = i / block, last = n / block - 1;
    int64_t k = 0;
    for (int64_t j = at > 0 ? at - 1 : 0; j <= at + 1 && j <= last; j++)
        for (int c = 0; c < block; c++) col[k++] = j * block + c;
    return (int)k;
}
static double chain_value(int64_t i, int64_t j)
{
    if (i == j) return 3.0 * block + (double)(i % 101);
    return -0.9 + 0.01 * (double)((i + j) % 13);
}

/* Blocks of 4 and 5 have no kernels; where blocks have, they are taken. */
static void blocks_of_every_size_are_solved(void **state)
{
    (void)state;
    for (block = 2; block <= 6; block++) {
        char name[32];
        reference ref;
        rig r;
        snprintf(name, sizeof name, "blocks of %d", block);
        open_jacobi(&ref, name,
                    matrix_of(3000 * block, chain_columns, chain_value));
        solve_on_host(&ref);
        const bool kernels = block != 4 && block != 5;
        const char *const format = on_cuda() ? "bsell/f64" : "bsell";
        FOR_METHODS(m)
        FOR_LOOPS(l)
        {
            if (kernels || strcmp(loop_of(l), "resident") != 0) {
                if (!open_rig(&r, &ref, TEST_DEVICE, format, method_of(m),
                              loop_of(l)))
                    continue;
                OK(solve(&r, 1e-8, 0));
                check_solution(&r, m, false, false);
                close_rig(&r);
                continue;
            }
            assert_true(
                open_rig(&r, &ref, TEST_DEVICE, format, method_of(m), "host"));
            EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(r.s, "resident"));
            if (on_cuda() && strcmp(method_of(m), "cg") == 0)
                assert_non_null(strstr(tacit_error_message(),
                                       "no kernel of cg with jacobi for this "
                                       "format and its store; for stencil; "
                                       "sell, sell32: f64 f32 dict8; bsell "
                                       "2x2:"));
            close_rig(&r);
        }
        close_reference(&ref);
    }
}

/* --- what they cost ------------------------------------------------------- */

/* Products, sums, scalars summed and bytes moved by 30 iterations. */
typedef struct {
    double of[4];
} cost;

static cost cost_of(rig *r)
{
    cost c = {{0.0}};
    for (int k = 0; k < 2; k++) {
        tacit_queue_clear_tally(r->q);
        EXPECT(TACIT_NOT_CONVERGED, solve(r, 0.0, k ? 35 : 5));
        const tacit_tally *t = tacit_queue_tally(r->q);
        const double now[4] = {(double)t->spmv.count, (double)t->reduce.count,
                               t->reduce.bytes / 8, t->moved_bytes};
        for (int i = 0; i < 4; i++) c.of[i] = now[i] - c.of[i];
    }
    return c;
}

/* All loops count what the method's text says, with M. */
static void loops_cost_what_the_methods_state(void **state)
{
    (void)state;
    reference ref;
    open_jacobi(&ref, "tet3d:9,3", gallery_matrix("tet3d:9,3"));
    FOR_METHODS(m)
    {
        const tacit_method *about = tacit_method_at(m);
        cost host = {{0.0}};
        FOR_LOOPS(l)
        {
            rig r;
            if (!open_rig(&r, &ref, "count:" TEST_DEVICE, PLAIN, about->name,
                          loop_of(l)))
                continue;
            const cost c = cost_of(&r);
            if (l == 0) host = c;
            /* whose blocks have no vectors that are not used */
            const bool fewer =
                about->steps && strcmp(loop_of(l), "resident") == 0;
            if (fewer) assert_true(c.of[0] >= 30.0 * about->products);
            for (int i = 0; i < 4; i++)
                if (fewer ? c.of[i] > host.of[i] : c.of[i] != host.of[i])
                    fail_msg("%s: cost %d is %g, %g in loop host", r.what, i,
                             c.of[i], host.of[i]);
            if (!about->first) { /* else two methods in one run */
                const int more = strcmp(about->name, "flexible") != 0 &&
                                 strcmp(about->name, "minres") != 0;
                assert_true(c.of[0] == 30.0 * about->products);
                assert_true(c.of[1] == 30.0 * about->reductions);
                assert_true(c.of[2] == 30.0 * (about->scalars + more));
            }
            close_rig(&r);
        }
    }
    close_reference(&ref);
}

/* --- solves that go on ---------------------------------------------------- */

/* A rod of stretches that conduct differently: as many iterations as it has
 * rows, and a diagonal that is worth something. */
static int rod_columns(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    for (int64_t j = i - 1; j <= i + 1; j++)
        if (j >= 0 && j < n) col[count++] = j;
    return count;
}
static double conducts(int64_t i)
{
    return 1.0 + (double)(i * 5 % 7);
}
static double rod_value(int64_t i, int64_t j)
{
    return i == j ? conducts(i) + conducts(i + 1) : -conducts(i > j ? i : j);
}

/* More iterations than looks can be under way: the kernel is started again. */
static void long_solves_go_on(void **state)
{
    (void)state;
    static const int64_t limits[] = {4097, 6000};
    reference ref;
    open_jacobi(&ref, "a rod", matrix_of(20000, rod_columns, rod_value));
    check_long_solves(&ref, limits, 1e-5);
    close_reference(&ref);
}

/* A solve to `rtol` in every loop, of which `went_on` says whether it did what
 * the test is about; iterations are those of the host device. */
static void check_goes_on(const reference *ref, const char *format,
                          const char *method, double rtol,
                          bool (*went_on)(const tacit_result *))
{
    rig r;
    assert_true(open_rig(&r, ref, "host", "csr", method, "host"));
    OK(solve(&r, rtol, 0));
    const int64_t host = r.result.iterations;
    close_rig(&r);
    FOR_LOOPS(l)
    {
        if (!open_rig(&r, ref, TEST_DEVICE, format, method, loop_of(l)))
            continue;
        OK(solve(&r, rtol, 0));
        if (!went_on(&r.result))
            fail_msg("%s: did not go on by another way", r.what);
        if (strstr(r.result.loop_detail, "loop host from"))
            fail_msg("%s: %s", r.what, r.result.loop_detail);
        const bool low = strchr(format, '+') != NULL; /* as check_solution */
        if (low ? r.result.iterations > 5 * host / 2 + 20
                : llabs(r.result.iterations - host) > host / 10 + 5)
            fail_msg("%s: %lld iterations, %lld on the host", r.what,
                     (long long)r.result.iterations, (long long)host);
        close_rig(&r);
    }
}

static bool started_over(const tacit_result *result)
{
    return result->restarts > 0;
}
static bool updated(const tacit_result *result)
{
    return result->reliable_updates > 0 || result->fell_back;
}
static bool s_was_formed_anew(const tacit_result *result)
{
    return result->replacements > 0 && !result->rescued_by;
}

/* What goes on has a p to begin with, and an r that M has not seen. */
static void solves_go_on_from_the_true_residual(void **state)
{
    (void)state;
    reference ref;
    open_jacobi(&ref, "tet3d:20,2", gallery_matrix("tet3d:20,2"));
    FOR_METHODS(m)
    if (!tacit_method_at(m)->steps) /* which forms r anew before it is wrong */
        check_goes_on(&ref, PLAIN, method_of(m), 4e-16, started_over);
    if (on_cuda()) /* cg and single have kernels for both precisions */
        for (int m = 0; m < 2; m++)
            check_goes_on(&ref, "sell/f64+low32", m ? "single" : "cg", 1e-12,
                          updated);
    close_reference(&ref);
}

static void pipe_pr_forms_s_anew(void **state)
{
    (void)state;
    reference ref;
    open_jacobi(&ref, "a rod", matrix_of(2000, rod_columns, rod_value));
    check_goes_on(&ref, PLAIN, "pipe-pr", 1e-8, s_was_formed_anew);
    close_reference(&ref);
}

/* --- what comes and goes -------------------------------------------------- */

static void assert_solves_to(rig *r, double **want, const char *precond)
{
    OK(tacit_solver_set(r->s, "precond", precond));
    OK(solve(r, 1e-9, 0));
    if (strstr(r->result.loop_detail, "loop host from"))
        fail_msg("%s: %s: %s", r->what, precond, r->result.loop_detail);
    double *x = host_copy(r->q, r->n, r->x);
    if (!*want) {
        *want = x;
        return;
    }
    if (!same_bits(x, *want, r->n))
        fail_msg("%s: %s: x has other bits", r->what, precond);
    free(x);
}

/* A loop keeps what both ways need, whichever was there when it was set. */
static void a_preconditioner_may_come_and_go(void **state)
{
    (void)state;
    reference ref;
    open_reference(&ref, "jump3d:14,1e4,1", gallery_matrix("jump3d:14,1e4,1"),
                   5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        double *plain = NULL, *jacobi = NULL;
        for (int with = 0; with < 2; with++) {
            rig r;
            ref.precond = with ? "jacobi" : NULL;
            if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m),
                          loop_of(l)))
                continue;
            for (int again = 0; again < 2; again++) {
                assert_solves_to(&r, &plain, "none");
                assert_solves_to(&r, &jacobi, "jacobi");
            }
            assert_false(same_bits(plain, jacobi, r.n));
            close_rig(&r);
        }
        free(plain);
        free(jacobi);
    }
    close_reference(&ref);
}

/* Values that are larger by a power of 2: the run after them has the new
 * diagonal, and the same iterations. */
static void jacobi_follows_the_operator(void **state)
{
    (void)state;
    reference ref;
    open_jacobi(&ref, "jump3d:14,1e4,1", gallery_matrix("jump3d:14,1e4,1"));
    tct_csr *A = &ref.m->A;
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        OK(solve(&r, 1e-8, 0));
        const int64_t before = r.result.iterations;
        for (int64_t k = 0; k < A->ptr[A->rows]; k++) A->val[k] *= 0x1p30;
        OK(tacit_operator_update(r.A, ref.m));
        OK(solve(&r, 1e-8, 0));
        if (r.result.iterations != before)
            fail_msg("%s: %d iterations, then %d", r.what, (int)before,
                     (int)r.result.iterations);
        assert_true(r.result.true_relative_residual <= 1e-8);
        for (int64_t k = 0; k < A->ptr[A->rows]; k++) A->val[k] *= 0x1p-30;
        close_rig(&r);
    }
    close_reference(&ref);
}

static void auto_knows_the_loops_with_jacobi(void **state)
{
    (void)state;
    reference ref;
    open_jacobi(&ref, "jump3d:14,1e4,1", gallery_matrix("jump3d:14,1e4,1"));
    FOR_METHODS(m)
    {
        rig r;
        assert_true(
            open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), "auto"));
        OK(solve(&r, 1e-8, 0));
        if (always_resident(PLAIN, method_of(m))) /* a small matrix takes it */
            assert_string_equal(r.result.loop, "resident");
        close_rig(&r);
    }
    close_reference(&ref);
}

/* --- refused -------------------------------------------------------------- */

/* Pairs of rows; of one the diagonal is near 0, and below. */
static int pair_columns(int64_t n, int64_t i, int64_t *col)
{
    (void)n;
    col[0] = i & ~(int64_t)1;
    col[1] = i | 1;
    return 2;
}
static double pair_value(int64_t i, int64_t j)
{
    if (i / 2 != 7) return i == j ? 10.0 : 1.0;
    return i != j ? -9.0 : i % 2 ? 10.0 : -0.01;
}

/* p'Ap is positive at first, r'Mr is not. */
static void what_is_not_positive_is_named(void **state)
{
    (void)state;
    reference ref;
    open_reference(&ref, "a negative diagonal",
                   matrix_of(200, pair_columns, pair_value), 0);
    ref.precond = "jacobi";
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        if (tacit_method_at(m)->indefinite) { /* M is of |diagonal| then */
            OK(solve(&r, 1e-9, 0));
            close_rig(&r);
            continue;
        }
        EXPECT(TACIT_BREAKDOWN, solve(&r, 1e-9, 0));
        /* cg goes on where M r is inferred: its first direction is another */
        const char *const what = r.result.breakdown_quantity;
        const bool last = r.result.rescued_by && strcmp(what, "p'Ap") == 0;
        if ((!last && strcmp(what, "r'Mr") != 0) ||
            !(r.result.breakdown_value < -70.0))
            fail_msg("%s: %s = %g", r.what, r.result.breakdown_quantity,
                     r.result.breakdown_value);
        close_rig(&r);
    }
    close_reference(&ref);
}

static tacit_status never(void *ctx, tacit_queue *q, const double *x, double *y)
{
    (void)ctx, (void)q, (void)x, (void)y;
    return TACIT_INVALID;
}

/* What M does is nobody's knowledge: there is no kernel for it. */
static void a_function_is_no_diagonal(void **state)
{
    (void)state;
    reference ref;
    rig r;
    tacit_operator *M = NULL;
    open_reference(&ref, "poisson3d:10", gallery_matrix("poisson3d:10"), 5);
    assert_true(open_rig(&r, &ref, TEST_DEVICE, PLAIN, "cg", "host"));
    const tacit_operator_function f = {
        .size = sizeof f, .apply = never, .norm = 1.0};
    OK(tacit_operator_from_function(r.q, (int64_t)r.n, &f, &M));
    OK(tacit_solver_set_precond(r.s, M));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(r.s, "resident"));
    assert_non_null(
        strstr(tacit_error_message(), on_cuda() ? "a diagonal" : "cuda"));
    OK(tacit_solver_set_precond(r.s, NULL));
    OK(solve(&r, 1e-8, 0));
    close_rig(&r);
    tacit_operator_destroy(&M);
    close_reference(&ref);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_converges_as_on_the_host),
        cmocka_unit_test(rows_kept_apart_are_summed_by_every_loop),
        cmocka_unit_test(blocks_of_every_size_are_solved),
        cmocka_unit_test(loops_cost_what_the_methods_state),
        cmocka_unit_test(long_solves_go_on),
        cmocka_unit_test(solves_go_on_from_the_true_residual),
        cmocka_unit_test(pipe_pr_forms_s_anew),
        cmocka_unit_test(a_preconditioner_may_come_and_go),
        cmocka_unit_test(jacobi_follows_the_operator),
        cmocka_unit_test(auto_knows_the_loops_with_jacobi),
        cmocka_unit_test(what_is_not_positive_is_named),
        cmocka_unit_test(a_function_is_no_diagonal),
    };
    TEST_GPU_MAIN(tests);
}
