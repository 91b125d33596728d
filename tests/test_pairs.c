/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_pairs.c - L D L' of symmetric matrices that need pivots of 2 x 2:
 * products, inertia, solves of one process, on grids and by method direct.
 *
 * RUN: np=1,2,4 */
#include "by_entries.h"
#include "factor/factor.h"
#include "mpi_main.h"
#include "trisolve/gpu/supernodes.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

static int size_of(void)
{
    return tacit_world_size(test_world());
}
static bool is_first(void)
{
    return tacit_world_rank(test_world()) == 0;
}

/* --- matrices ------------------------------------------------------------- */

static double even_noise(int64_t i, int64_t j)
{
    return i < j ? noise(j, i) : noise(i, j);
}
/* [H B'; B 0], H of the first two thirds positive definite. */
static double saddle(int64_t n, int64_t i, int64_t j)
{
    const int64_t m = n - n / 3, a = i < j ? i : j, b = i < j ? j : i;
    if (a >= m) return 0.0;
    if (b < m) return a == b ? 2.5 : b - a == 1 ? -1.0 : 0.0;
    return a == 2 * (b - m)           ? 1.0
           : fabs(noise(a, b)) < 0.02 ? noise(b, a)
                                      : 0.0;
}
/* [0 C; C' 0] with dominant diagonals of C, rows in turns. */
static double halves(int64_t n, int64_t i, int64_t j)
{
    if ((i + j) % 2 == 0) return 0.0;
    if (i / 2 == j / 2 && (n % 2 == 0 || i / 2 < n / 2)) return 4.0;
    return fabs(even_noise(i, j)) < 0.01 ? even_noise(i, j) : 0.0;
}
/* Triangles [0 1 1; 1 0 1; 1 1 0], whose eigenvalues are 2, -1 and -1. */
static double triangles(int64_t n, int64_t i, int64_t j)
{
    const bool same = i % (n / 3) == j % (n / 3);
    if (i == j) return 0.0;
    return same ? 1.0 : fabs(even_noise(i, j)) < 0.01 ? even_noise(i, j) : 0.0;
}
/* ... their rows and columns scaled by up to 1e8 either way. */
static double scaled(int64_t n, int64_t i, int64_t j)
{
    return triangles(n, i, j) * pow(10.0, 16.0 * noise(i, 5)) *
           pow(10.0, 16.0 * noise(j, 5));
}
/* -I and I with full coupling, diagonals 0 throughout. */
static double full(int64_t n, int64_t i, int64_t j)
{
    const double turned = i + j == n - 1 ? 30.0 : 0.0;
    return i == j ? 0.0 : turned + even_noise(i, j);
}

static const struct {
    const char *name;
    entry_fn entry;
    int positive, negative; /* thirds, or halves, of the eigenvalues */
} zoo[] = {{"saddle", saddle, 2, 1},
           {"halves", halves, 1, 1},
           {"triangles", triangles, 1, 2},
           {"scaled", scaled, 1, 2},
           {"full", full, 1, 1}};
enum { ZOO = sizeof zoo / sizeof *zoo, N = 180, COLUMNS = 3 };

static tacit_factor *factor_of(const tacit_matrix *m, int leaves, int width)
{
    const tacit_factor_options o = {.size = sizeof o,
                                    .kind = TACIT_FACTOR_LDLT,
                                    .leaves = leaves,
                                    .width = width};
    tacit_factor *F = NULL;
    OK(tacit_factor_create(m, &o, &F));
    return F;
}

static tacit_factor_panels view_of(const tacit_factor *F)
{
    tacit_factor_panels P = {.size = sizeof P};
    OK(tacit_factor_view(F, &P));
    OK(tacit_factor_check(&P));
    return P;
}

/* --- products ------------------------------------------------------------- */

/* L into the first, L D into the second of two dense matrices. */
static void fill_dense(const tacit_factor_panels *P, double *L, double *LD)
{
    const int64_t n = P->rows;
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++)
            for (int64_t i = j - P->first[K]; i < h; i++)
                L[j * n + P->row[P->row_start[K] + i]] =
                    P->value[P->value_start[K] + (j - P->first[K]) * h + i];
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const double e = P->off_diagonal[j], l = L[j * n + i];
            LD[j * n + i] += l * P->diagonal[j];
            if (e == 0.0) continue;
            LD[(j + 1) * n + i] += l * e;
            LD[j * n + i] += L[(j + 1) * n + i] * e;
        }
}

/* L D L' is the scaled matrix in the order of the panels. */
static void expect_product(entry_fn a, const tacit_factor_panels *P,
                           const char *name)
{
    const int64_t n = P->rows;
    double *L = tct_calloc((size_t)(2 * n * n) * sizeof *L), *LD = L + n * n;
    assert_true(P->off_diagonal && P->row_scale && !P->row_order);
    fill_dense(P, L, LD);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int32_t row = P->original[i], col = P->original[j];
            const double is =
                a(n, row, col) * P->row_scale[row] * P->col_scale[col];
            double sum = 0.0, terms = fabs(is);
            for (int64_t k = 0; k <= j; k++) {
                sum += LD[k * n + i] * L[k * n + j];
                terms += fabs(LD[k * n + i] * L[k * n + j]);
            }
            if (!(fabs(sum - is) <= 1e-12 * (terms + 1.0)))
                fail_msg("%s: entry %d %d: %g, not %g", name, (int)i, (int)j,
                         sum, is);
        }
    tct_free(L);
}

static void products_and_inertia_are_those_of_the_matrix(void **state)
{
    (void)state;
    if (size_of() > 1) return;
    const size_t before = tct_memory_blocks();
    static const int widths[] = {0, 2, 7, 32};
    for (int k = 0; k < ZOO; k++)
        for (int c = 0; c < 4; c++) {
            tacit_factor_info info = {.size = sizeof info};
            tacit_matrix *m = whole_by(test_world(), zoo[k].entry, N);
            tacit_factor *F = factor_of(m, c % 2 ? 4 : 1, widths[c]);
            const tacit_factor_panels P = view_of(F);
            const int all = zoo[k].positive + zoo[k].negative;
            expect_product(zoo[k].entry, &P, zoo[k].name);
            OK(tacit_factor_describe(F, &info));
            assert_true(info.trials == 1 && info.repaired == 0);
            assert_true(info.pairs > 0 && info.refined_error <= 1e-14);
            assert_int_equal(info.positive, N * zoo[k].positive / all);
            assert_int_equal(info.negative, N * zoo[k].negative / all);
            tacit_factor_destroy(&F);
            tacit_matrix_destroy(&m);
        }
    assert_int_equal(tct_memory_blocks(), before);
}

/* --- solves --------------------------------------------------------------- */

static void solves_are_backward_stable(void **state)
{
    (void)state;
    static double b[COLUMNS * N], x[COLUMNS * N];
    if (size_of() > 1) return;
    for (int k = 0; k < ZOO; k++) {
        tacit_matrix *m = whole_by(test_world(), zoo[k].entry, N);
        tacit_factor *F = factor_of(m, 2, 0);
        for (int i = 0; i < COLUMNS * N; i++) b[i] = noise(i, 9);
        OK(tacit_factor_solve(F, COLUMNS, b, N, x, N));
        for (int c = 0; c < COLUMNS; c++) {
            const double e = backward_error(m, x + c * N, b + c * N);
            if (!(e <= 1e-14)) fail_msg("%s: %.1e is left", zoo[k].name, e);
        }
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
}

static void hear(void *ctx, int level, const char *text)
{
    *(int *)ctx += level == 0 && strstr(text, "a residual of") != NULL;
}

/* By a factor whose D was changed, refinement comes to no end. */
static void large_residuals_are_warned_of(void **state)
{
    (void)state;
    double b[N], x[N];
    int heard = 0;
    if (size_of() > 1) return;
    tacit_matrix *m = whole_by(test_world(), full, N);
    tacit_factor *F = factor_of(m, 1, 0);
    tacit_set_log(hear, &heard);
    for (int i = 0; i < N; i++) b[i] = noise(i, 9);
    OK(tacit_factor_solve(F, 1, b, N, x, N));
    assert_int_equal(heard, 0);
    for (int i = 0; i < N; i++) F->off_diagonal[i] *= 0.25;
    OK(tacit_factor_solve(F, 1, b, N, x, N));
    assert_int_equal(heard, 1);
    tacit_set_log(NULL, NULL);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
}

static void grid_solves(const tacit_factor_panels *P, const tacit_matrix *m,
                        const char *name, const int grid[3])
{
    const tacit_trsv_options o = {.size = sizeof o,
                                  .grid = {grid[0], grid[1], grid[2]},
                                  .columns = COLUMNS};
    static double b[COLUMNS * N], x[COLUMNS * N];
    tacit_trsv *T = NULL;
    memset(x, 0, sizeof x);
    for (int i = 0; i < COLUMNS * N; i++) b[i] = noise(i, 9);
    OK(tacit_trsv_create(test_world(), P, &o, &T));
    OK(tacit_trsv_solve(T, COLUMNS, b, N, x, N));
    OK(tacit_world_reduce(test_world(), TACIT_SUM, COLUMNS * N, x));
    for (int c = 0; m && c < COLUMNS; c++) {
        const double e = backward_error(m, x + c * N, b + c * N);
        if (!(e <= 1e-8))
            fail_msg("%s on %dx%dx%d: %.1e is left", name, grid[0], grid[1],
                     grid[2], e);
    }
    tacit_trsv_destroy(&T);
}

/* With the factor on rank 0. */
static void grids_have_the_pivots(void **state)
{
    (void)state;
    static const int grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2},
                                   {2, 2, 1}, {1, 1, 4}, {2, 1, 2}};
    tacit_world *alone = NULL;
    OK(tacit_world_self(&alone));
    for (int k = 0; k < ZOO; k++) {
        tacit_matrix *m = NULL;
        tacit_factor *F = NULL;
        tacit_factor_panels P = {.size = sizeof P};
        if (is_first()) {
            m = whole_by(alone, zoo[k].entry, N);
            F = factor_of(m, 4, 16);
            P = view_of(F);
        }
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            if (grids[g][0] * grids[g][1] * grids[g][2] == size_of())
                grid_solves(F ? &P : NULL, m, zoo[k].name, grids[g]);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
    tacit_world_destroy(&alone);
}

/* --- method direct -------------------------------------------------------- */

static void expect_direct(int k)
{
    const int rank = tacit_world_rank(test_world());
    const int64_t first = N * rank / size_of(),
                  end = N * (rank + 1) / size_of();
    const tacit_precond_options options = {.size = sizeof options,
                                           .kind = "auto"};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-6};
    const size_t n = (size_t)(end - first);
    tacit_precond_info about = {.size = sizeof about};
    tacit_result result = {.size = sizeof result};
    tacit_matrix *m = rows_by(test_world(), zoo[k].entry, N, first, end);
    tacit_queue *q = NULL;
    tacit_operator *A = NULL, *M = NULL;
    double *b = NULL, *x = NULL;
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    OK(tacit_operator_create(q, m, "csr", &A));
    OK(tacit_precond_create_of(A, m, "direct", &options, &M));
    OK(tacit_precond_describe(M, &about));
    assert_int_equal(about.factor_info->kind, TACIT_FACTOR_LDLT);
    assert_true(about.factor_info->pairs > 0);
    OK(tacit_queue_alloc(q, n, &b));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_queue_fill(q, n, 1.0, b));
    OK(tacit_queue_fill(q, n, 0.0, x));
    OK(tacit_precond_solve(A, M, 1, b, n, x, n, &stop, &result));
    tacit_backward e = {.size = sizeof e};
    OK(tacit_backward_error(A, b, x, &e));
    if (!(e.normwise <= 1e-15))
        fail_msg("%s: %.1e is left", zoo[k].name, e.normwise);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

static void method_direct_takes_it_by_itself(void **state)
{
    (void)state;
    for (int k = 0; k < ZOO; k++)
        if (zoo[k].entry != scaled) expect_direct(k); /* norms of few rows */
}

/* --- what cannot be ------------------------------------------------------- */

/* Twice the same row and column; a block of zeros that is too large. */
static double twins(int64_t n, int64_t i, int64_t j)
{
    return triangles(n, i == n - 1 ? 11 : i, j == n - 1 ? 11 : j);
}
static double too_few(int64_t n, int64_t i, int64_t j)
{
    return i >= n / 3 && j >= n / 3 ? 0.0 : 1.0 + even_noise(i, j);
}

static void singular_ones_are_refused(void **state)
{
    (void)state;
    const tacit_factor_options o = {.size = sizeof o,
                                    .kind = TACIT_FACTOR_LDLT};
    static const entry_fn all[] = {twins, too_few};
    if (size_of() > 1) return;
    const size_t before = tct_memory_blocks();
    for (int k = 0; k < 2; k++) {
        tacit_matrix *m = whole_by(test_world(), all[k], 90);
        tacit_factor *F = NULL;
        REFUSES(TACIT_INPUT, "the matrix is singular",
                tacit_factor_create(m, &o, &F));
        assert_null(F);
        tacit_matrix_destroy(&m);
    }
    assert_int_equal(tct_memory_blocks(), before);
}

/* Blocks that are no pivots; a caller that knows of none. */
static void broken_blocks_are_told(void **state)
{
    (void)state;
    if (size_of() > 1) return;
    tacit_matrix *m = whole_by(test_world(), halves, 12);
    tacit_factor *F = factor_of(m, 1, 0);
    tacit_factor_panels P = view_of(F);
    double d[12], e[12];
    for (int k = 0; k < 4; k++) {
        memcpy(d, P.diagonal, sizeof d);
        memcpy(e, P.off_diagonal, sizeof e);
        int at = 0;
        while (e[at] == 0.0) at++;
        if (k == 0) e[at] = 0.0; /* d is 0 there */
        if (k == 1) e[at + 1] = 1.0;
        if (k == 2) d[at] = d[at + 1] = e[at];
        if (k == 3) e[11] = 1.0;
        tacit_factor_panels broken = P;
        broken.diagonal = d;
        broken.off_diagonal = e;
        REFUSES(TACIT_INPUT, k ? "the pivot of 2 x 2" : "D of row",
                tacit_factor_check(&broken));
    }
    tct_tri_plan plan;
    REFUSES(TACIT_UNSUPPORTED, "take kind lu",
            tct_tri_plan_create(&P, 16, &plan)); /* which is of GPUs */
    P.size = offsetof(tacit_factor_panels, off_diagonal);
    REFUSES(TACIT_INVALID, "the caller's header", tacit_factor_view(F, &P));
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
}

/* Each allocation fails once. */
static void no_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    if (size_of() > 1) return;
    const tacit_factor_options o = {.size = sizeof o,
                                    .kind = TACIT_FACTOR_LDLT};
    tacit_matrix *m = whole_by(test_world(), triangles, 60);
    double x[60] = {1.0};
    const size_t before = tct_memory_blocks();
    int failed = 0;
    for (long k = 1, done = 0; !done; k++) {
        tacit_factor *F = NULL;
        tct_memory_fail_at(k);
        tacit_status status = tacit_factor_create(m, &o, &F);
        if (status >= 0) status = tacit_factor_solve(F, 1, x, 60, x, 60);
        tct_memory_fail_at(0);
        failed += status == TACIT_NO_MEMORY;
        done = status == TACIT_OK;
        if (!done) assert_int_equal(status, TACIT_NO_MEMORY);
        tacit_factor_destroy(&F);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(failed > 60);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_inertia_are_those_of_the_matrix),
        cmocka_unit_test(solves_are_backward_stable),
        cmocka_unit_test(large_residuals_are_warned_of),
        cmocka_unit_test(grids_have_the_pivots),
        cmocka_unit_test(method_direct_takes_it_by_itself),
        cmocka_unit_test(singular_ones_are_refused),
        cmocka_unit_test(broken_blocks_are_told),
        cmocka_unit_test(no_memory_is_an_error_and_no_leak),
    };
    TEST_MPI_MAIN(tests);
}
