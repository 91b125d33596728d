/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_pivots.c - L U of matrices that need pivots: matchings, factors of
 * the permuted and scaled matrix, solves of one process, on grids and by method
 * direct; singular matrices are refused.
 *
 * RUN: np=1,2,4 */
#include "by_entries.h"
#include "factor/matching.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "said.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacit/factor.h>
#include <tacit/trsv.h>
#include <unistd.h>

static int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static int size_of(void)
{
    return tacit_world_size(test_world());
}
/* --- matrices ------------------------------------------------------------- */

/* Symmetric, the last third of the diagonal is 0. */
static double saddle(int64_t n, int64_t i, int64_t j)
{
    const int64_t m = n - n / 3, a = i < j ? i : j, b = i < j ? j : i;
    if (a >= m) return 0.0;
    if (b < m) return a == b ? 2.0 : b - a == 1 ? -1.0 : 0.0;
    return fabs(noise(a, b)) < 0.02 || a == 2 * (b - m) ? 1.0 + noise(b, a)
                                                        : 0.0;
}
/* No diagonal at all. */
static double hollow(int64_t n, int64_t i, int64_t j)
{
    if (i == j) return 0.0;
    return (i + 7) % n == j || fabs(noise(i, j)) < 0.01 ? noise(j, i) : 0.0;
}
/* Of 1 and -1: leading blocks are singular. */
static double signs(int64_t n, int64_t i, int64_t j)
{
    const bool has = i == j || labs((long)(i - j)) == 1 || i + j == n - 1 ||
                     fabs(noise(i, j)) < 0.015;
    return !has ? 0.0 : noise(j, i) < 0.0 ? -1.0 : 1.0;
}
/* ... its rows and columns scaled by up to 1e8 either way. */
static double scaled(int64_t n, int64_t i, int64_t j)
{
    return signs(n, i, j) * pow(10.0, 16.0 * noise(i, 5)) *
           pow(10.0, 16.0 * noise(j, 6));
}
/* A diagonal of rounding errors in a matrix of ones nearby. */
static double tiny(int64_t n, int64_t i, int64_t j)
{
    return i == j ? 1e-17 : hollow(n, i, j);
}

static const struct {
    const char *name;
    entry_fn entry;
    bool symmetric;
} zoo[] = {{"saddle", saddle, true},
           {"hollow", hollow, false},
           {"signs", signs, false},
           {"scaled", scaled, false},
           {"tiny", tiny, false}};
enum { ZOO = sizeof zoo / sizeof *zoo };

/* --- matchings ------------------------------------------------------------ */

enum { SMALL = 6 };

/* The largest product of a matching of rows from `i` on to columns not in
 * `taken`. */
static double best_of(double A[SMALL][SMALL], int i, unsigned taken)
{
    double best = 0.0;
    if (i == SMALL) return 1.0;
    for (int j = 0; j < SMALL; j++)
        if (!(taken >> j & 1) && A[i][j] != 0.0)
            best =
                fmax(best, fabs(A[i][j]) * best_of(A, i + 1, taken | 1u << j));
    return best;
}

static void fill_small(int k, double A[SMALL][SMALL])
{
    for (int i = 0; i < SMALL; i++)
        for (int j = 0; j < SMALL; j++) {
            const double x = noise(36 * k + 6 * i + j, 3);
            A[i][j] = fabs(x) > (k % 5) * 0.09
                          ? x * pow(10.0, 12.0 * noise(36 * k + 6 * i + j, 4))
                          : 0.0;
        }
}

static void expect_scaled(const tct_csr *A, const tct_matching *M, int k)
{
    for (int j = 0; j < SMALL; j++)
        for (int64_t e = A->ptr[M->row[j]]; e < A->ptr[M->row[j] + 1]; e++) {
            const double a = fabs(A->val[e]) * M->row_scale[M->row[j]] *
                             M->col_scale[A->col32[e]];
            if (!(a <= 1.0 + 1e-12) ||
                (A->col32[e] == j && !(fabs(a - 1.0) <= 1e-12)))
                fail_msg("matrix %d: %d %d comes to %.17g", k, j, A->col32[e],
                         a);
        }
}

/* Found by trying all, of some hundred; those without one are refused. */
static void matchings_have_the_largest_product(void **state)
{
    (void)state;
    int matched = 0, refused = 0;
    for (int k = 0; k < 400; k++) {
        double A[SMALL][SMALL], product = 1.0;
        int64_t ptr[SMALL + 1] = {0};
        int32_t cols[SMALL * SMALL];
        double vals[SMALL * SMALL];
        tct_matching M;
        fill_small(k, A);
        for (int i = 0; i < SMALL; i++) {
            ptr[i + 1] = ptr[i];
            for (int j = 0; j < SMALL; j++) {
                if (A[i][j] == 0.0) continue;
                cols[ptr[i + 1]] = j;
                vals[ptr[i + 1]++] = A[i][j];
            }
        }
        const tct_csr csr = {.global_rows = SMALL,
                             .global_cols = SMALL,
                             .rows = SMALL,
                             .ptr = ptr,
                             .col32 = cols,
                             .val = vals};
        const double best = best_of(A, 0, 0);
        if (best == 0.0) {
            REFUSES(TACIT_INPUT, "is singular", tct_matching_create(&csr, &M));
            refused++;
            continue;
        }
        OK(tct_matching_create(&csr, &M));
        for (int j = 0; j < SMALL; j++) product *= fabs(A[M.row[j]][j]);
        if (!(product >= best * (1.0 - 1e-12)))
            fail_msg("matrix %d: %g, and %g is possible", k, product, best);
        expect_scaled(&csr, &M, k);
        tct_matching_clear(&M);
        matched++;
    }
    assert_true(matched > 100 && refused > 10);
}

/* --- factors -------------------------------------------------------------- */

static tacit_factor *factor_of(const tacit_matrix *m, int leaves)
{
    const tacit_factor_options o = {
        .size = sizeof o, .kind = TACIT_FACTOR_LU, .leaves = leaves};
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

static double *dense_of(const tacit_factor_panels *P, const double *value)
{
    const int64_t n = P->rows;
    double *L = tct_calloc((size_t)(n * n) * sizeof *L);
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++)
            for (int64_t i = j - P->first[K]; i < h; i++)
                L[j * n + P->row[P->row_start[K] + i]] =
                    value[P->value_start[K] + (j - P->first[K]) * h + i];
    }
    return L;
}

/* L U is the permuted and scaled matrix, as the panels tell. */
static void expect_product(entry_fn a, const tacit_factor_panels *P,
                           const char *name)
{
    const int64_t n = P->rows;
    double *L = dense_of(P, P->value), *U = dense_of(P, P->upper);
    assert_true(P->row_order && P->row_scale && P->col_scale);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int32_t row = P->row_order[P->original[i]],
                          col = P->original[j];
            const double is =
                a(n, row, col) * P->row_scale[row] * P->col_scale[col];
            double sum = 0.0, terms = fabs(is);
            for (int64_t k = 0; k <= (i < j ? i : j); k++) {
                sum += L[k * n + i] * U[k * n + j];
                terms += fabs(L[k * n + i] * U[k * n + j]);
            }
            if (!(fabs(sum - is) <= 1e-13 * terms))
                fail_msg("%s: entry %d %d: %g, not %g", name, (int)i, (int)j,
                         sum, is);
        }
    TCT_FREE(L, U);
}

static void products_are_the_permuted_matrix(void **state)
{
    (void)state;
    if (size_of() > 1) return;
    tacit_world *alone = NULL;
    OK(tacit_world_self(&alone));
    const size_t before = tct_memory_blocks();
    for (int k = 0; k < ZOO; k++)
        for (int leaves = 1; leaves <= 4; leaves *= 4) {
            tacit_factor_info info = {.size = sizeof info};
            tacit_matrix *m = whole_by(alone, zoo[k].entry, 120);
            tacit_factor *F = factor_of(m, leaves);
            const tacit_factor_panels P = view_of(F);
            expect_product(zoo[k].entry, &P, zoo[k].name);
            OK(tacit_factor_describe(F, &info));
            assert_true(info.trials > 0 && info.repaired == 0);
            assert_true(info.refined_error <= 1e-14);
            /* these need more than a matching */
            if (zoo[k].entry == signs) assert_true(info.trials > 1);
            tacit_factor_destroy(&F);
            tacit_matrix_destroy(&m);
        }
    assert_int_equal(tct_memory_blocks(), before);
    tacit_world_destroy(&alone);
}

/* --- solves --------------------------------------------------------------- */

enum { COLUMNS = 3, N = 300 };

/* x apart from b and in its place; the factors of some need refinement. */
static void solves_are_backward_stable(void **state)
{
    (void)state;
    if (size_of() > 1) return;
    tacit_world *alone = NULL;
    OK(tacit_world_self(&alone));
    double *b = tct_alloc(COLUMNS * N * sizeof *b),
           *x = tct_alloc(COLUMNS * N * sizeof *x);
    for (int k = 0; k < ZOO; k++) {
        tacit_matrix *m = whole_by(alone, zoo[k].entry, N);
        tacit_factor *F = factor_of(m, 2);
        for (int i = 0; i < COLUMNS * N; i++) b[i] = noise(i, 9);
        OK(tacit_factor_solve(F, COLUMNS, b, N, x, N));
        for (int c = 0; c < COLUMNS; c++) {
            const double e = backward_error(m, x + c * N, b + c * N);
            if (!(e <= 1e-14)) fail_msg("%s: %.1e is left", zoo[k].name, e);
        }
        OK(tacit_factor_solve(F, COLUMNS, b, N, b, N));
        assert_memory_equal(b, x, COLUMNS * N * sizeof *b);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
    TCT_FREE(b, x);
    tacit_world_destroy(&alone);
}

/* On all grids of this many ranks, with the factor on rank 0. */
static void grids_solve(const tacit_factor_panels *P, const tacit_matrix *m,
                        const char *name, const int grid[3])
{
    const tacit_trsv_options o = {.size = sizeof o,
                                  .grid = {grid[0], grid[1], grid[2]},
                                  .columns = COLUMNS};
    tacit_trsv *T = NULL;
    double *b = tct_alloc(COLUMNS * N * sizeof *b),
           *x = tct_calloc(COLUMNS * N * sizeof *x);
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
    TCT_FREE(b, x);
}

static void grids_have_the_rows_of_b(void **state)
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
        if (rank_of() == 0) {
            m = whole_by(alone, zoo[k].entry, N);
            F = factor_of(m, 4);
            P = view_of(F);
        }
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            if (grids[g][0] * grids[g][1] * grids[g][2] == size_of())
                grids_solve(F ? &P : NULL, m, zoo[k].name, grids[g]);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
    tacit_world_destroy(&alone);
}

/* --- method direct -------------------------------------------------------- */

/* On one rank or several; in `format` csr rows have the matrix's order, in sell
 * another. */
static void expect_direct(int k, const char *format)
{
    const int64_t first = N * rank_of() / size_of(),
                  end = N * (rank_of() + 1) / size_of();
    const tacit_precond_options options = {.size = sizeof options,
                                           .kind = "auto"};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-6};
    const size_t n = (size_t)(end - first), all = COLUMNS * n;
    tacit_matrix *m = rows_by(test_world(), zoo[k].entry, N, first, end);
    tacit_queue *q = NULL;
    tacit_operator *A = NULL, *M = NULL;
    tacit_result results[COLUMNS];
    double *B = NULL, *X = NULL;
    double *b = tct_alloc(all * sizeof *b);
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    OK(tacit_operator_create(q, m, format, &A));
    OK(tacit_precond_create_of(A, m, "direct", &options, &M));
    OK(tacit_queue_alloc(q, all, &B));
    OK(tacit_queue_alloc(q, all, &X));
    for (size_t i = 0; i < all; i++)
        b[i] = noise(first + (int64_t)(i % n), 20 + (int64_t)(i / n));
    OK(tacit_queue_put(q, all, b, B));
    OK(tacit_queue_fill(q, all, 0.0, X));
    for (int c = 0; c < COLUMNS; c++)
        results[c] = (tacit_result){.size = sizeof *results};
    OK(tacit_precond_solve(A, M, COLUMNS, B, n, X, n, &stop, results));
    for (size_t c = 0; c < COLUMNS; c++) { /* far below what was asked for */
        tacit_backward e = {.size = sizeof e};
        OK(tacit_backward_error(A, B + c * n, X + c * n, &e));
        if (!(e.normwise <= 1e-15))
            fail_msg("%s, %s: %.1e is left", zoo[k].name, format, e.normwise);
    }
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tct_free(b);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

static void method_direct_refines_to_the_end(void **state)
{
    (void)state;
    for (int k = 0; k < ZOO; k++) {
        if (zoo[k].entry == scaled) continue; /* its norm is of few rows */
        expect_direct(k, "csr");
        expect_direct(k, "sell");
    }
}

/* --- singular ones -------------------------------------------------------- */

/* Neumann's; twice the same row; a block of zeros that is too large. */
static double neumann(int64_t n, int64_t i, int64_t j)
{
    if (i == j) return i == 0 || i == n - 1 ? 0.3 : 0.6;
    return labs((long)(i - j)) == 1 ? -0.3 : 0.0;
}
static double twins(int64_t n, int64_t i, int64_t j)
{
    return hollow(n, i == n - 1 ? 11 : i, j);
}
static double too_few(int64_t n, int64_t i, int64_t j)
{
    return i >= n / 3 && j >= n / 3 ? 0.0 : 1.0 + noise(i, j);
}

static void singular_ones_are_refused(void **state)
{
    (void)state;
    static const struct {
        entry_fn entry;
        const char *said[2];
    } all[] = {{neumann, {"comes to the pivot", "singular, or nearly"}},
               {twins, {"comes to the pivot", "singular, or nearly"}},
               {too_few, {"comes to the pivot", "in only"}}};
    const tacit_factor_options o = {.size = sizeof o, .kind = TACIT_FACTOR_LU};
    if (size_of() > 1) return;
    tacit_world *alone = NULL;
    OK(tacit_world_self(&alone));
    const size_t before = tct_memory_blocks();
    for (int k = 0; k < 3; k++) {
        tacit_matrix *m = whole_by(alone, all[k].entry, 90);
        tacit_factor *F = NULL;
        REFUSES(TACIT_INPUT, all[k].said[0], tacit_factor_create(m, &o, &F));
        if (!strstr(tacit_error_message(), all[k].said[1]))
            fail_msg("no '%s' in '%s'", all[k].said[1], tacit_error_message());
        assert_null(F);
        tacit_matrix_destroy(&m);
    }
    assert_int_equal(tct_memory_blocks(), before);
    tacit_world_destroy(&alone);
}

/* --- memory --------------------------------------------------------------- */

/* Each allocation of a factor, of its trials and of a solve fails once. */
static void no_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    if (size_of() > 1) return;
    const tacit_factor_options o = {.size = sizeof o, .kind = TACIT_FACTOR_LU};
    tacit_matrix *m = whole_by(test_world(), signs, 60);
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

/* --- real matrices -------------------------------------------------------- */

static const char *const real[] = {"ACTIVSg200_AC_kkt_01",
                                   "CSky2d100",
                                   "add20",
                                   "adder_dcop_05",
                                   "arc130",
                                   "arrow",
                                   "bfwa62",
                                   "big",
                                   "bips98_606",
                                   "bp_1200",
                                   "cage5",
                                   "cryg2500",
                                   "fidap007",
                                   "fs_183_6",
                                   "fs_541_1",
                                   "g20",
                                   "g4",
                                   "hangGlider_2",
                                   "nnc1374",
                                   "olm1000",
                                   "olm500",
                                   "pde2961",
                                   "pores_2",
                                   "rajat19",
                                   "rdb2048l",
                                   "reorientation_1",
                                   "sherman1",
                                   "sherman3",
                                   "sherman4",
                                   "sherman5",
                                   "tumorAntiAngiogenesis_2",
                                   "watt_2",
                                   "west0067",
                                   "west0479",
                                   "west0497"};
enum { REAL = sizeof real / sizeof *real };

/* x = x + F^-1 (b - A x) */
static void refine(const tacit_factor *F, const tacit_matrix *m,
                   const double *b, double *x)
{
    tacit_rows rows;
    OK(tacit_matrix_view_rows(m, &rows));
    const size_t n = (size_t)rows.count;
    double *r = tct_alloc(n * sizeof *r);
    for (size_t i = 0; i < n; i++) {
        r[i] = b[i];
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++)
            r[i] -= rows.vals[k] * x[rows.cols32[k]];
    }
    OK(tacit_factor_solve(F, 1, r, n, r, n));
    for (size_t i = 0; i < n; i++) x[i] += r[i];
    tct_free(r);
}

/* Returns 1 if it needed pivots; others are refined by one step, as by method
 * direct. */
static int expect_real(const tacit_matrix *m, const char *name)
{
    tacit_factor_info info = {.size = sizeof info};
    tacit_factor *F = factor_of(m, 1);
    OK(tacit_factor_describe(F, &info));
    const size_t n = (size_t)info.rows;
    double *b = tct_alloc(n * sizeof *b), *x = tct_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) b[i] = noise((int64_t)i, 9);
    OK(tacit_factor_solve(F, 1, b, n, x, n));
    if (info.trials == 0) refine(F, m, b, x);
    const double e = backward_error(m, x, b);
    if (!(e <= 1e-14)) fail_msg("%s: %.1e is left", name, e);
    TCT_FREE(b, x);
    tacit_factor_destroy(&F);
    return info.trials > 0;
}

static void real_ones_are_all_solved(void **state)
{
    (void)state;
    const char *folder = getenv("TACIT_MATRICES");
    int found = 0, pivoted = 0;
    if (size_of() > 1) return;
    tacit_world *alone = NULL;
    OK(tacit_world_self(&alone));
    for (int k = 0; k < REAL; k++) {
        char path[1024];
        tacit_matrix *m = NULL;
        snprintf(path, sizeof path, "%s/lu/%s.mtx.gz", folder ? folder : "",
                 real[k]);
        if (!folder || access(path, R_OK) != 0) continue;
        OK(tacit_matrix_open(alone, path, NULL, &m));
        pivoted += expect_real(m, real[k]);
        tacit_matrix_destroy(&m);
        found++;
    }
    tacit_world_destroy(&alone);
    if (found < REAL)
        printf("skipped: TACIT_MATRICES has %d of the %d\n", found, REAL);
    else assert_int_equal(pivoted, 12);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matchings_have_the_largest_product),
        cmocka_unit_test(products_are_the_permuted_matrix),
        cmocka_unit_test(solves_are_backward_stable),
        cmocka_unit_test(grids_have_the_rows_of_b),
        cmocka_unit_test(method_direct_refines_to_the_end),
        cmocka_unit_test(singular_ones_are_refused),
        cmocka_unit_test(no_memory_is_an_error_and_no_leak),
        cmocka_unit_test(real_ones_are_all_solved),
    };
    TEST_MPI_MAIN(tests);
}
