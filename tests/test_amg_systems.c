/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_systems.c - multigrid set-up for systems by the device's
 * tasks, run on the host in any order: each level equals the host's, and a
 * cycle has the same bits.
 *
 * RUN: np=1 */
#include "amg_levels.h"
#include "bodies.h"

/* Rigid-body modes, of levels with 8,232 and 2,058 rows. */
static void levels_of_systems_are_those_of_the_host(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "float", "auto"};
    for (int k = 0; k < 3; k++) {
        const tacit_precond_options o = {.size = sizeof o,
                                         .precision = precisions[k]};
        expect_same(gallery_matrix("elasticity3d:14"), precisions[k], &o, 2);
    }
    expect_same(gallery_matrix("elasticity3d:60x5x5"), "a bar", NULL, 1);
}

/* Nodes of 1 to 3 rows, with a hole, of which some columns of P are 0. */
static void so_they_are_of_a_body(void **state)
{
    (void)state;
    char body[512];
    write_body(4, body);
    expect_same(gallery_matrix(body), "a body", NULL, 1);
    discard_body();
}

/* One to nine vectors, nodes of three rows; nine are the host's. */
static void so_they_are_with_any_vectors(void **state)
{
    (void)state;
    for (int k = 1; k <= 9; k += 2) {
        tacit_matrix *m = gallery_matrix("elasticity3d:12");
        const size_t n = (size_t)m->A.rows;
        double *w = random_vector(n * (size_t)k, 17);
        for (size_t i = 0; i < n * (size_t)k; i++) w[i] += i / n == i % 3;
        const tacit_precond_options o = {.size = sizeof o,
                                         .vectors = k,
                                         .near_null = w,
                                         .node_rows = 3,
                                         .levels = 3};
        expect_same(m, "vectors", &o, k < 9);
        assert_int_equal(told_left, k == 9);
        free(w);
    }
}

/* Nodes without any coupling, or only to each other. */
static int in_nodes(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    const int64_t from = i - i % 3 - (i >= 300 && i / 3 % 5 ? 3 : 0);
    const int64_t to = i - i % 3 + (i >= 300 && i / 3 % 5 != 4 ? 6 : 3);
    for (int64_t j = from; j < to; j++)
        if (j >= 0 && j < n) col[count++] = j;
    return count;
}
static double nodes(int64_t i, int64_t j)
{
    if (i % 3 != j % 3) return 0.0;
    return i == j ? 2.0 : i / 3 == j / 3 ? 0.0 : -1.0;
}

static void so_they_are_of_nodes_alone(void **state)
{
    (void)state;
    tacit_matrix *m = matrix_of(3000, in_nodes, nodes);
    const size_t n = (size_t)m->A.rows;
    double *w = calloc(3 * n, sizeof *w);
    assert_non_null(w);
    for (size_t i = 0; i < n; i++) w[i % 3 * n + i] = 1.0;
    const tacit_precond_options o = {
        .size = sizeof o, .vectors = 3, .near_null = w, .node_rows = 3};
    expect_same(m, "nodes alone", &o, 0);
    free(w);
}

/* times D A D, with D near 1. */
static tacit_matrix *scaled_matrix(const char *name, double times)
{
    tacit_matrix *m = gallery_matrix(name);
    tct_csr *A = &m->A;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k);
            A->val[k] *= times * (1.0 + (double)(i % 5) / 16.0) *
                         (1.0 + (double)(j % 5) / 16.0);
        }
    return m;
}

/* Both get the values of `m`. */
static void update_both(levels_problem *p, tacit_operator *here,
                        tacit_operator *there, tacit_matrix *m)
{
    OK(tacit_operator_update(p->A, m));
    OK(tacit_precond_update(here, m));
    tct_amg_kernels_instead = &twin_kernels;
    OK(tacit_precond_update(there, m));
    tct_amg_kernels_instead = NULL;
    tacit_matrix_destroy(&p->m);
    p->m = m;
    expect_same_levels(here, there, "new values");
    expect_same_cycle(p, here, there, "new values", 0.0);
}

/* New values take the P of levels that were made there; values far from 1 are
 * the host's, which has P, too. */
static void new_values_keep_p(void **state)
{
    (void)state;
    levels_problem p;
    open_levels(&p, gallery_matrix("elasticity3d:14"));
    tacit_operator *here = make_levels(&p, NULL, NULL);
    tacit_operator *there = make_levels(&p, &twin_kernels, NULL);
    assert_int_equal(told_there, 2);
    update_both(&p, here, there, scaled_matrix("elasticity3d:14", 1.0));
    assert_int_equal(told_there, 4);
    update_both(&p, here, there, scaled_matrix("elasticity3d:14", 0x1p100));
    assert_int_equal(told_there, 4);
    update_both(&p, here, there, scaled_matrix("elasticity3d:14", 3.0));
    assert_int_equal(told_there, 6);
    tacit_operator_destroy(&here);
    tacit_operator_destroy(&there);
    close_levels(&p);
}

/* Whichever allocation fails, M is made by the host or not at all. */
static void memory_of_systems_that_is_not_there_is_missed(void **state)
{
    (void)state;
    levels_problem p;
    open_levels(&p, gallery_matrix("elasticity3d:8"));
    tct_amg_kernels_instead = &twin_kernels;
    expect_missed(p.A, p.m);
    tct_amg_kernels_instead = NULL;
    close_levels(&p);
}

/* --- the inverse ---------------------------------------------------------- */

/* A graph's Laplacian in two parts, plus `more` on its diagonal. */
static double dense_entry(int64_t n, int64_t i, int64_t j, double more)
{
    const int64_t half = n / 2 + 1;
    const bool part = (i < half) == (j < half);
    if (i == j) return (double)(i < half ? half : n - half) - 1.0 + more;
    return part ? -1.0 : 0.0;
}

static double *dense_matrix(int64_t n, double more)
{
    double *a = calloc((size_t)(n * n), sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = dense_entry(n, i, j, more);
    return a;
}

/* The inverse of what is singular takes a vector orthogonal to its null space
 * to a solution, too: (1, -1, 0, ...) to itself over the part's rows. */
static void check_inverse(int64_t n, double more)
{
    tacit_queue *q = open_queue("host");
    double *a = dense_matrix(n, more);
    bool positive = false;
    OK(tct_amg_device_dense(q, n, a, &positive));
    assert_int_equal(positive, more >= 0.0);
    const double rows = (double)(n / 2 + 1) + more;
    for (int64_t i = 0; positive && i < n; i++) {
        const double got = a[i * n] - a[i * n + 1];
        const double wanted = (i == 0 ? 1.0 : i == 1 ? -1.0 : 0.0) / rows;
        if (!(fabs(got - wanted) <= 1e-8 / rows))
            fail_msg("%d rows, %g: %g for %g in row %d", (int)n, more, got,
                     wanted, (int)i);
        for (int64_t j = 0; j < i; j++)
            assert_true(a[i * n + j] == a[j * n + i]);
    }
    free(a);
    tacit_queue_destroy(&q);
}

static void a_dense_matrix_is_inverted_there(void **state)
{
    (void)state;
    tct_amg_kernels kernels = twin_kernels;
    kernels.dense = 8;
    tct_amg_kernels_instead = &kernels;
    static const int64_t sizes[] = {8, 9, 23, 64, 101};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_inverse(sizes[k], 1.0);
        check_inverse(sizes[k], 0.0);
        check_inverse(sizes[k], -1.0);
    }
    tct_amg_kernels_instead = NULL;
}

static int inverses;

static void count_inverses(tacit_queue *q, tct_amg_task task, int64_t n,
                           const tct_amg_work *g)
{
    inverses += task == TCT_AMG_dense_mirror;
    twin_each(q, task, n, g);
}

/* A cycle differs from that of the host's inverse by rounding. */
static void a_cycle_may_end_with_it(void **state)
{
    (void)state;
    tct_amg_kernels kernels = twin_kernels;
    kernels.dense = 32;
    kernels.each = count_inverses;
    levels_problem p;
    open_levels(&p, gallery_matrix("elasticity3d:10"));
    tacit_operator *here = make_levels(&p, NULL, NULL);
    tacit_operator *there = make_levels(&p, &kernels, NULL);
    assert_int_equal(inverses, 1);
    expect_same_levels(here, there, "the inverse");
    expect_same_cycle(&p, here, there, "the inverse", 1e-11);
    tacit_operator_destroy(&here);
    tacit_operator_destroy(&there);
    close_levels(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_systems_are_those_of_the_host),
        cmocka_unit_test(so_they_are_of_a_body),
        cmocka_unit_test(so_they_are_with_any_vectors),
        cmocka_unit_test(so_they_are_of_nodes_alone),
        cmocka_unit_test(new_values_keep_p),
        cmocka_unit_test(a_dense_matrix_is_inverted_there),
        cmocka_unit_test(a_cycle_may_end_with_it),
        cmocka_unit_test(memory_of_systems_that_is_not_there_is_missed),
    };
    tacit_set_log(listen, NULL);
    TEST_MPI_MAIN(tests);
}
