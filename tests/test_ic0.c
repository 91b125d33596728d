/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_ic0.c - incomplete Cholesky factors, with A's pattern and with
 * fill of level 1, against those of the dense algorithm; their effect on
 * iterations.
 *
 * RUN: np=1,3
 * THREADS: 2 */
#include "gpu.h"
#include "matrix/matrix.h"
#include "problem.h"
#include <float.h>

/* --- the dense algorithm -------------------------------------------------- */

/* This rank's rows and columns of `m`, n x n. */
static double *dense_of(const tacit_matrix *m)
{
    const tct_csr *A = &m->A;
    const size_t n = (size_t)A->rows;
    double *a = host_vector(n * n, 0.0);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k) - A->first;
            const double v = A->val[k];
            if (j >= 0 && j < A->rows)
                a[i * A->rows + j] = v == 0.0 ? DBL_MIN : v; /* stored */
        }
    return a;
}

/* Places (i, j) with entries (i, k) and (j, k) of some k before both. */
static void add_level_1(size_t n, double *a)
{
    double *had = host_vector(n * n, 0.0);
    memcpy(had, a, n * n * sizeof *a);
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = k + 1; had[i * n + k] != 0.0 && j < n; j++)
                if (had[j * n + k] != 0.0 && a[i * n + j] == 0.0)
                    a[i * n + j] = DBL_MIN;
    free(had);
}

/* By columns, in place: what a column changes is dropped where A has
 * nothing. */
static void factor_dense(size_t n, double *a)
{
    double *had = host_vector(n * n, 0.0);
    memcpy(had, a, n * n * sizeof *a);
    for (size_t k = 0; k < n; k++) {
        a[k * n + k] = sqrt(a[k * n + k]);
        for (size_t i = k + 1; i < n; i++) a[i * n + k] /= a[k * n + k];
        for (size_t j = k + 1; j < n; j++)
            for (size_t i = j; i < n; i++)
                if (had[i * n + j] != 0.0)
                    a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
    free(had);
}

/* x = (L L')^-1 x */
static void solve_dense(size_t n, const double *l, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) x[i] -= l[i * n + j] * x[j];
        x[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) x[i] -= l[j * n + i] * x[j];
        x[i] /= l[i * n + i];
    }
}

/* --- tests ---------------------------------------------------------------- */

static void expect_factor(const char *precond, bool fills)
{
    static const char *const matrices[] = {"poisson2d:13", "jump3d:6,1e4,1",
                                           "tet3d:4,3", "elasticity3d:3"};
    static const char *const devices[] = {"host", "memcheck:host"};
    for (int i = 0; i < 8; i++) {
        tacit_queue *q = open_queue(devices[i % 2]);
        tacit_matrix *m = gallery_matrix(matrices[i / 2]);
        tacit_operator *A = operator_of(q, m, "csr"), *M = NULL;
        const size_t n = (size_t)m->A.rows;
        double *x = random_vector(n, i), *l = dense_of(m);
        OK(tacit_precond_create_of(A, m, precond, NULL, &M));
        double *got = image_of(M, q, n, x);
        if (fills) add_level_1(n, l);
        factor_dense(n, l);
        solve_dense(n, l, x);
        const double error = distance_of(n, got, x) / norm_of(n, x);
        if (!(error <= 1e-11))
            fail_msg("%s, %s: %g", precond, matrices[i / 2], error);
        free(got);
        free(l);
        free(x);
        tacit_operator_destroy(&M);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&m);
        tacit_queue_destroy(&q);
    }
}

static void it_is_the_factor(void **state)
{
    (void)state;
    expect_factor("ic0", false);
    expect_factor("ic1", true);
}

/* Iterations with b = 1; `format` with an order of rows. */
static int64_t iterations_of(tacit_matrix *m, const char *format,
                             const char *precond)
{
    problem p = {.m = m, .result.size = sizeof p.result};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    tacit_operator *M = NULL;
    p.q = open_queue("host");
    OK(tacit_operator_create(p.q, p.m, format, &p.A));
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    p.n = (size_t)tacit_operator_local_rows(p.A);
    OK(tacit_queue_alloc(p.q, p.n, &p.b));
    OK(tacit_queue_alloc(p.q, p.n, &p.x));
    OK(tacit_queue_fill(p.q, p.n, 1.0, p.b));
    OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
    OK(tacit_precond_create_of(p.A, p.m, precond, NULL, &M));
    OK(tacit_solver_set_precond(p.s, M));
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_true(p.result.true_relative_residual <= 1e-8);
    OK(tacit_solver_set_precond(p.s, NULL));
    tacit_operator_destroy(&M);
    close_problem(&p);
    return p.result.iterations;
}

/* On one rank as many as by the design's own measurement. */
static void it_saves_iterations(void **state)
{
    (void)state;
    const int64_t k =
        iterations_of(gallery_matrix("poisson3d:48"), "csr", "ic0");
    if (tacit_world_size(test_world()) == 1) assert_int_equal(k, 52);
    assert_true(k < 90);
    const int64_t jacobi =
        iterations_of(gallery_matrix("jump3d:16,1e4,1"), "csr", "jacobi");
    assert_true(
        2 * iterations_of(gallery_matrix("jump3d:16,1e4,1"), "csr@rcm", "ic0") <
        jacobi);
}

static void fill_saves_more(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson2d:40", "poisson3d:16",
                                           "jump3d:12,1e4,1"};
    for (int i = 0; i < 3; i++) {
        const int64_t some =
            iterations_of(gallery_matrix(matrices[i]), "csr", "ic0");
        const int64_t fewer =
            iterations_of(gallery_matrix(matrices[i]), "csr", "ic1");
        const int64_t sorted =
            iterations_of(gallery_matrix(matrices[i]), "csr@rcm", "ic1");
        assert_true(fewer < some && sorted < some);
    }
}

/* New values of the same pattern make the factor that they make anew. */
static void new_values_make_a_new_factor(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = gallery_matrix("jump3d:6,1e4,1"),
                 *other = gallery_matrix("jump3d:6,1e4,2");
    tacit_operator *A = operator_of(q, m, "csr"), *M = NULL, *fresh = NULL;
    const size_t n = (size_t)m->A.rows;
    double *x = random_vector(n, 5);
    OK(tacit_precond_create_of(A, m, "ic1", NULL, &M));
    double *before = image_of(M, q, n, x);
    OK(tacit_operator_update(A, other));
    OK(tacit_precond_update(M, other));
    OK(tacit_precond_create_of(A, other, "ic1", NULL, &fresh));
    double *now = image_of(M, q, n, x), *want = image_of(fresh, q, n, x);
    assert_true(same_bits(now, want, n));
    assert_false(same_bits(now, before, n));
    free(before);
    free(now);
    free(want);
    free(x);
    tacit_operator_destroy(&fresh);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&other);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* Without memory for the fill it is refused, and nothing leaks. */
static void memory_is_checked(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = gallery_matrix("poisson2d:9");
    tacit_operator *A = operator_of(q, m, "csr"), *M = NULL;
    tacit_status status = TACIT_NO_MEMORY;
    long k = 1;
    for (; status == TACIT_NO_MEMORY && k < 200; k++) {
        tct_memory_fail_at(k);
        status = tacit_precond_create_of(A, m, "ic1", NULL, &M);
        tct_memory_fail_at(0);
        if (status < 0) assert_null(M);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(k > 10);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* Kershaw 1978: positive definite, but a pivot of the incomplete factor is
 * not. */
static int kershaw_columns(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    (void)n;
    for (int64_t j = i - i % 4; j < i - i % 4 + 4; j++)
        if (llabs(i - j) != 2) col[count++] = j;
    return count;
}

static double kershaw_value(int64_t i, int64_t j)
{
    return i == j ? 3.0 : llabs(i - j) == 3 ? 2.0 : -2.0;
}

static void a_pivot_that_is_negative_is_mended(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) > 1) skip();
    tacit_matrix *m = matrix_of(4, kershaw_columns, kershaw_value);
    double *l = dense_of(m);
    factor_dense(4, l);
    assert_true(isnan(l[15])); /* or else this shows nothing */
    free(l);
    assert_true(iterations_of(m, "csr", "ic0") <= 4);
}

/* Zeros above the diagonal, every third row, and below it elsewhere: such an
 * entry is no part of the factor's pattern, or is without harm. */
static int one_sided_columns(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    if (i % 3 == 1 && i > 3) col[count++] = i - 4;
    for (int64_t j = i - 1; j <= i + 1; j++)
        if (j >= 0 && j < n) col[count++] = j;
    if (i % 3 == 0 && i + 2 < n) col[count++] = i + 2;
    return count;
}

static double one_sided_value(int64_t i, int64_t j)
{
    return i == j ? 2.5 : llabs(i - j) == 1 ? -1.0 : 0.0;
}

static void entries_on_one_side_do_no_harm(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) > 1) skip();
    tacit_matrix *m = matrix_of(400, one_sided_columns, one_sided_value);
    assert_true(iterations_of(m, "csr", "ic0") <= 2);
    m = matrix_of(400, one_sided_columns, one_sided_value);
    assert_true(iterations_of(m, "csr", "ic1") <= 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_factor),
        cmocka_unit_test(it_saves_iterations),
        cmocka_unit_test(fill_saves_more),
        cmocka_unit_test(new_values_make_a_new_factor),
        cmocka_unit_test(memory_is_checked),
        cmocka_unit_test(a_pivot_that_is_negative_is_mended),
        cmocka_unit_test(entries_on_one_side_do_no_harm),
    };
    TEST_MPI_MAIN(tests);
}
