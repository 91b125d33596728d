/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_interface.c - multigrid set-up by the devices of several
 * ranks, whose tasks run on the host: matrices are P'A P across ranks,
 * iterations few more than with aggregates across ranks, and all ranks use it
 * or none.
 *
 * RUN: np=2,3 */
#include "amg_problem.h"
#include "amg_twin.h"

/* Levels told of as made there, and as left to the host. */
static int told_there, told_left;

static void listen(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    told_there += strstr(text, "on the device") != NULL;
    told_left += strstr(text, "the host makes") != NULL;
}

static void open_there(amg *a, tacit_matrix *m, const char *precision,
                       const char *smoother, const tct_amg_kernels *kernels)
{
    const tacit_precond_options o = {
        .size = sizeof o, .precision = precision, .smoother = smoother};
    told_there = told_left = 0;
    tct_amg_kernels_instead = kernels;
    open_amg_of(a, "host", m, "sell@none", "cg", &o);
    tct_amg_kernels_instead = NULL;
}

static const char *const matrices[] = {"poisson3d:24", "poisson2d:90",
                                       "jump3d:20,1e4,1",
                                       "anisotropic3d:21,0.01", "tet3d:26,1"};
enum { MATRICES = sizeof matrices / sizeof *matrices };

/* P e, of what level L has made there; P' y. */
static void prolong(const tct_amg_level *L, const double *e, double *x)
{
    const int32_t *of = (const int32_t *)(const void *)L->down.of;
    const int64_t k = L->down.sets.width;
    for (int64_t i = 0; i < L->n; i++) {
        x[i] = 0.0;
        for (int64_t c = 0; c < k && of[i] >= 0; c++)
            x[i] += L->down.weight[i * k + c] * e[of[i] * k + c];
    }
}
static void restrict_to(const tct_amg_level *L, const double *y, double *r)
{
    const int32_t *of = (const int32_t *)(const void *)L->down.of;
    const int64_t k = L->down.sets.width;
    memset(r, 0, (size_t)(L->down.sets.count * k) * sizeof *r);
    for (int64_t i = 0; i < L->n; i++)
        for (int64_t c = 0; c < k && of[i] >= 0; c++)
            r[of[i] * k + c] += L->down.weight[i * k + c] * y[i];
}

static double *zeros(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Zero columns of P have a diagonal entry all the same. */
static void leave_out_zeros(const tct_amg_level *L, double *z)
{
    const int64_t k = L->down.sets.width;
    for (int64_t i = 0; L->smooth && i < L->down.sets.count * k; i++)
        if (L->smooth[i * k + i % k] == 0.0) z[i] = 0.0;
}

static void expect_product(const tct_amg_level *L, const tct_amg_level *next,
                           const char *what, double tolerance)
{
    const size_t n = (size_t)L->n, coarse = (size_t)next->n;
    double *e = random_vector(coarse, 5), *x = zeros(n), *y = zeros(n);
    double *r = zeros(coarse), *z = zeros(coarse);
    assert_int_equal(tct_amg_restricted(&L->down), next->n);
    prolong(L, e, x);
    OK(tacit_operator_apply(L->A, x, y));
    restrict_to(L, y, r);
    OK(tacit_operator_apply(next->A, e, z));
    leave_out_zeros(L, z);
    if (!(distance_of(coarse, r, z) <= tolerance * norm_of(coarse, r)))
        fail_msg("%s: P'A P e is %g away, of %g", what,
                 distance_of(coarse, r, z), norm_of(coarse, r));
    free(e);
    free(x);
    free(y);
    free(r);
    free(z);
}

/* Returns how many levels were made there. */
static int expect_products(const amg *a, const char *what, double tolerance)
{
    const tct_amg *M = (const tct_amg *)(const void *)a->M;
    int made = 0;
    for (int l = 0; l + 1 < M->levels; l++) {
        const tct_amg_level *L = &M->level[l];
        if ((L->smooth && !L->blocks) || !L[1].A || L->e) continue;
        expect_product(L, L + 1, what, tolerance);
        made++;
    }
    return made;
}

static void matrices_are_products(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "float"};
    for (int k = 0; k < 2 * MATRICES; k++) {
        const bool floats = k >= MATRICES;
        const char *what = matrices[k % MATRICES];
        amg a;
        open_there(&a, gallery_matrix(what), precisions[floats], NULL,
                   &twin_kernels);
        if (expect_products(&a, what, floats ? 1e-6 : 1e-13) < 1)
            fail_msg("%s: no level was made there", what);
        close_amg(&a);
    }
}

/* --- systems -------------------------------------------------------------- */

/* Twice as stiff in every second layer. */
static tacit_matrix *layers(const char *name)
{
    tacit_matrix *m = gallery_matrix(name);
    tct_csr *A = &m->A;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t p = (A->first + i) / 600 % 2;
            const int64_t q = tct_csr_col(A, k) / 600 % 2;
            A->val[k] *= (p ? 1.5 : 1.0) * (q ? 1.5 : 1.0);
        }
    return m;
}

/* Levels of 17,496 and some 4,400 rows, or of 11,520
 * and some 2,900; new values take the same P. */
static void matrices_of_systems_are_products(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "float", "auto"};
    for (int k = 0; k < 3; k++) {
        amg a;
        const char *name = k == 0 ? "elasticity3d:18" : "elasticity3d:8x8x60";
        const double tolerance = k == 0 ? 1e-13 : 1e-6;
        open_there(&a, gallery_matrix(name), precisions[k], NULL,
                   &twin_kernels);
        assert_int_equal(expect_products(&a, precisions[k], tolerance), 2);
        tacit_matrix *m = layers(name);
        OK(tacit_operator_update(a.p.A, m));
        tct_amg_kernels_instead = &twin_kernels;
        OK(tacit_precond_update(a.M, m));
        tct_amg_kernels_instead = NULL;
        assert_int_equal(expect_products(&a, precisions[k], tolerance), 2);
        tacit_matrix_destroy(&m);
        close_amg(&a);
    }
}

static void iterations_of_systems_are_few_more(void **state)
{
    (void)state;
    static const char *const names[] = {"elasticity3d:8x8x60",
                                        "elasticity3d:6x6x90"};
    for (int k = 0; k < 2; k++) {
        amg here, there, again;
        open_there(&here, layers(names[k]), "auto", NULL, NULL);
        open_there(&there, layers(names[k]), "auto", NULL, &twin_kernels);
        if (test_world()->rank == 0) assert_true(told_there > 0);
        open_there(&again, layers(names[k]), "auto", NULL, &twin_kernels);
        const int64_t wanted = solve_amg(&here, 1e-8);
        const int64_t got = solve_amg(&there, 1e-8);
        if (got > wanted + wanted / 5 + 1)
            fail_msg("%s: %d iterations, %d by the host", names[k], (int)got,
                     (int)wanted);
        assert_int_equal(solve_amg(&again, 1e-8), got);
        assert_true(same_bits(there.p.x, again.p.x, there.p.n));
        close_amg(&here);
        close_amg(&there);
        close_amg(&again);
    }
}

/* 13^3 nodes of three rows are no two or three equal parts of whole nodes. */
static void nodes_of_several_ranks_are_left_to_the_host(void **state)
{
    (void)state;
    amg a;
    open_there(&a, gallery_matrix("elasticity3d:13"), "auto", NULL,
               &twin_kernels);
    if (test_world()->rank == 0) assert_int_equal(told_left, 1);
    assert_int_equal(told_there, 0);
    solve_amg(&a, 1e-8);
    close_amg(&a);
}

/* --- cycles --------------------------------------------------------------- */

/* (u, M v) = (v, M u) */
static void cycles_are_symmetric(void **state)
{
    (void)state;
    amg a;
    open_there(&a, gallery_matrix("jump3d:20,1e4,1"), "double", NULL,
               &twin_kernels);
    const size_t n = a.p.n;
    double *u = random_vector(n, 3), *v = random_vector(n, 4);
    double *mu = image_of(a.M, a.p.q, n, u), *mv = image_of(a.M, a.p.q, n, v);
    double sums[] = {dot_of(n, u, mv), dot_of(n, v, mu), dot_of(n, u, mu),
                     dot_of(n, v, mv)};
    OK(tct_reduce_f64(test_world(), TCT_SUM, 4, sums));
    assert_true(fabs(sums[0] - sums[1]) <= 1e-12 * sqrt(sums[2] * sums[3]));
    free(u);
    free(v);
    free(mu);
    free(mv);
    close_amg(&a);
}

static void iterations_are_few_more(void **state)
{
    (void)state;
    static const char *const smoothers[] = {"chebyshev", "l1-jacobi", "jacobi"};
    for (int k = 0; k < MATRICES; k++) {
        const char *smoother = smoothers[k % 3];
        amg here, there, again;
        open_there(&here, gallery_matrix(matrices[k]), "auto", smoother, NULL);
        assert_int_equal(told_there, 0);
        open_there(&there, gallery_matrix(matrices[k]), "auto", smoother,
                   &twin_kernels);
        if (test_world()->rank == 0) assert_true(told_there > 0);
        open_there(&again, gallery_matrix(matrices[k]), "auto", smoother,
                   &twin_kernels);
        const int64_t wanted = solve_amg(&here, 1e-8);
        const int64_t got = solve_amg(&there, 1e-8);
        if (got > wanted + wanted / 5 + 1)
            fail_msg("%s: %d iterations, %d by the host", matrices[k], (int)got,
                     (int)wanted);
        assert_int_equal(solve_amg(&again, 1e-8), got);
        assert_true(same_bits(there.p.x, again.p.x, there.p.n));
        close_amg(&here);
        close_amg(&there);
        close_amg(&again);
    }
}

static void new_values_make_them_anew(void **state)
{
    (void)state;
    amg a, fresh;
    open_there(&a, gallery_matrix("jump3d:20,1e4,1"), "double", NULL,
               &twin_kernels);
    tacit_matrix *m = gallery_matrix("jump3d:20,1e4,2");
    ((tct_amg *)(void *)a.M)->overcorrection =
        1.07; /* of values before these */
    OK(tacit_operator_update(a.p.A, m));
    tct_amg_kernels_instead = &twin_kernels;
    OK(tacit_precond_update(a.M, m));
    tct_amg_kernels_instead = NULL;
    open_there(&fresh, m, "double", NULL, &twin_kernels);
    assert_int_equal(solve_amg(&a, 1e-8), solve_amg(&fresh, 1e-8));
    assert_true(same_bits(a.p.x, fresh.p.x, a.p.n));
    close_amg(&a);
    close_amg(&fresh);
}

/* This rank's rows of a symmetric matrix of `n` rows with two entries in
 * most. */
typedef int64_t neighbour(int64_t n, int64_t i);

static tacit_matrix *matrix_of_pairs(int64_t n, neighbour *of)
{
    const tacit_world *w = test_world();
    const int64_t first = tct_share(n, w->size, w->rank);
    const int64_t rows = tct_share(n, w->size, w->rank + 1) - first;
    int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);
    int64_t *col = calloc(2 * (size_t)rows, sizeof *col);
    double *val = calloc(2 * (size_t)rows, sizeof *val);
    tacit_matrix *m = NULL;
    assert_true(ptr && col && val);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t own = first + i, other = of(n, own), at = ptr[i];
        const bool before = other < own, two = other != own;
        ptr[i + 1] = at + 1 + two;
        col[at + (two && before)] = own;
        val[at + (two && before)] = 1.5;
        if (!two) continue;
        col[at + !before] = other;
        val[at + !before] = -1.0;
    }
    OK(tacit_matrix_from_rows(test_world(), n, first, rows, ptr, col, val, &m));
    free(ptr);
    free(col);
    free(val);
    return m;
}

/* The row half of all rows away, which another rank has as a rule. */
static int64_t far_away(int64_t n, int64_t i)
{
    return (i + n / 2) % n;
}

/* Rows in pairs, and of each rank but the last the last row with the next one's
 * first. */
static int64_t across(int64_t n, int64_t i)
{
    const int size = test_world()->size;
    int r = 0;
    while (i >= tct_share(n, size, r + 1)) r++;
    const int64_t first = tct_share(n, size, r);
    const int64_t end = tct_share(n, size, r + 1);
    if (i == first) return r > 0 ? i - 1 : i;
    if (i == end - 1) return r + 1 < size ? i + 1 : i;
    const int64_t k = i - first - 1;
    return k % 2 == 1 ? i - 1 : i + 2 < end ? i + 1 : i;
}

/* A row that depends on another rank's alone is no row apart. */
static void rows_may_depend_on_other_ranks_alone(void **state)
{
    (void)state;
    amg a;
    open_there(&a, matrix_of_pairs(6000, across), "double", NULL,
               &twin_kernels);
    const tct_amg *M = (const tct_amg *)(const void *)a.M;
    const int32_t *of = (const int32_t *)(const void *)M->level[0].down.of;
    const int64_t n = M->level[0].n;
    assert_true(M->levels > 1 && !M->level[0].smooth);
    if (test_world()->rank > 0) assert_true(of[0] >= 0);
    else assert_int_equal(of[0], -1);
    if (test_world()->rank + 1 < test_world()->size)
        assert_true(of[n - 1] >= 0);
    solve_amg(&a, 1e-8);
    close_amg(&a);
}

/* Of the finest level, whose matrix is the same: what l1-jacobi divides by. */
static void row_sums_have_columns_of_all_ranks(void **state)
{
    (void)state;
    for (int k = 0; k < MATRICES; k++) {
        amg here, there;
        open_there(&here, gallery_matrix(matrices[k]), "double", "l1-jacobi",
                   NULL);
        open_there(&there, gallery_matrix(matrices[k]), "double", "l1-jacobi",
                   &twin_kernels);
        const tct_amg_level *h = ((const tct_amg *)(const void *)here.M)->level;
        const tct_amg_level *t =
            ((const tct_amg *)(const void *)there.M)->level;
        for (int64_t i = 0; i < h->n; i++)
            if (!(fabs(h->smoother.d[i] - t->smoother.d[i]) <=
                  1e-14 * h->smoother.d[i]))
                fail_msg("%s, row %d: %.17g, not %.17g", matrices[k], (int)i,
                         t->smoother.d[i], h->smoother.d[i]);
        close_amg(&here);
        close_amg(&there);
    }
}

static void all_leave_it_to_the_host_or_none(void **state)
{
    (void)state;
    amg a;
    open_there(&a, matrix_of_pairs(6000, far_away), "double", NULL,
               &twin_kernels);
    if (test_world()->rank == 0) assert_int_equal(told_left, 1);
    assert_int_equal(told_there, 0);
    solve_amg(&a, 1e-8);
    close_amg(&a);
}

/* Whichever allocation fails on a rank, all have M or none, and nothing is left
 * behind. */
static void memory_that_is_not_there_is_missed(void **state)
{
    (void)state;
    problem p = {.m = gallery_matrix("poisson3d:14")};
    p.q = open_queue("host");
    OK(tacit_operator_create(p.q, p.m, "sell@none", &p.A));
    size_t before = 0;
    int64_t missed = 0, met = 0;
    tct_amg_kernels_instead = &twin_kernels;
    for (long k = 0; met < 100; k++) { /* 0: none fails */
        tacit_operator *M = NULL;
        if (test_world()->rank == 1) tct_memory_fail_at(k);
        const tacit_status status =
            tacit_precond_create_of(p.A, p.m, "amg", NULL, &M);
        tct_memory_fail_at(0);
        if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
        assert_int_equal(M == NULL, status < 0);
        missed += status < 0;
        met = status < 0 || k == 0 ? 0 : met + 1;
        tacit_operator_destroy(&M);
        const size_t now = tct_memory_blocks();
        assert_true(k == 0 || now <= before); /* less: a link was given up */
        before = now;
    }
    tct_amg_kernels_instead = NULL;
    assert_true(missed > 100);
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_products),
        cmocka_unit_test(matrices_of_systems_are_products),
        cmocka_unit_test(iterations_of_systems_are_few_more),
        cmocka_unit_test(nodes_of_several_ranks_are_left_to_the_host),
        cmocka_unit_test(cycles_are_symmetric),
        cmocka_unit_test(iterations_are_few_more),
        cmocka_unit_test(new_values_make_them_anew),
        cmocka_unit_test(rows_may_depend_on_other_ranks_alone),
        cmocka_unit_test(row_sums_have_columns_of_all_ranks),
        cmocka_unit_test(all_leave_it_to_the_host_or_none),
        cmocka_unit_test(memory_that_is_not_there_is_missed),
    };
    tacit_set_log(listen, NULL);
    TEST_MPI_MAIN(tests);
}
