/* SPDX-License-Identifier: BSD-3-Clause
 * factor/dense.c - dense kernels without LAPACK: column updates, four columns
 * at a time. */
#include "factor/dense.h"
#include <math.h>

/* y = y - X w, for four columns of X. */
static void subtract_four(int64_t n, const double *X, int64_t ldx,
                          const double w[4], double *y)
{
    const double *x1 = X + ldx, *x2 = x1 + ldx, *x3 = x2 + ldx;
    for (int64_t i = 0; i < n; i++)
        y[i] -= (X[i] * w[0] + x1[i] * w[1]) + (x2[i] * w[2] + x3[i] * w[3]);
}

/* y = y - X w, for k columns; weights have stride `step`. */
static void subtract_columns(int64_t n, int64_t k, const double *X, int64_t ldx,
                             const double *w, int64_t step, double *y)
{
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
        const double four[4] = {w[p * step], w[(p + 1) * step],
                                w[(p + 2) * step], w[(p + 3) * step]};
        subtract_four(n, X + p * ldx, ldx, four, y);
    }
    for (; p < k; p++)
        for (int64_t i = 0; i < n; i++) y[i] -= X[p * ldx + i] * w[p * step];
}

/* y = beta y; exactly 0 for beta = 0, even if y is NaN */
static void scale(int64_t n, double beta, double *y)
{
    for (int64_t i = 0; i < n && beta != 1.0; i++)
        y[i] = beta == 0.0 ? 0.0 : beta * y[i];
}

static void own_subtract(bool transposed, int64_t m, int64_t n, int64_t k,
                         const double *A, int64_t lda, const double *B,
                         int64_t ldb, double beta, double *C, int64_t ldc)
{
    for (int64_t j = 0; j < n; j++) {
        scale(m, beta, C + j * ldc);
        subtract_columns(m, k, A, lda, transposed ? B + j : B + j * ldb,
                         transposed ? ldb : 1, C + j * ldc);
    }
}

static void own_square(int64_t n, int64_t k, const double *A, int64_t lda,
                       double beta, double *C, int64_t ldc)
{
    for (int64_t j = 0; j < n; j++) {
        scale(n - j, beta, C + j * ldc + j);
        subtract_columns(n - j, k, A + j, lda, A + j, lda, C + j * ldc + j);
    }
}

static int64_t own_factor(int64_t n, double *A, int64_t lda)
{
    for (int64_t j = 0; j < n; j++) {
        double *a = A + j * lda;
        subtract_columns(n - j, j, A + j, lda, A + j, lda, a + j);
        if (!(a[j] > 0.0)) return j + 1;
        a[j] = sqrt(a[j]);
        for (int64_t i = j + 1; i < n; i++) a[i] /= a[j];
    }
    return 0;
}

static void own_solve(bool transposed, int64_t m, int64_t n, const double *L,
                      int64_t ldl, double *B, int64_t ldb)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t j = transposed ? k : n - 1 - k;
        double *b = B + j * ldb;
        if (transposed) subtract_columns(m, j, B, ldb, L + j, ldl, b);
        else subtract_columns(m, k, b + ldb, ldb, L + j * ldl + j + 1, 1, b);
        for (int64_t i = 0; i < m; i++) b[i] /= L[j * ldl + j];
    }
}

static void own_begin(int threads)
{
    (void)threads;
}
static void own_end(void) {}

const tct_dense tct_dense_own = {.name = "own",
                                 .factor = own_factor,
                                 .solve = own_solve,
                                 .square = own_square,
                                 .subtract = own_subtract,
                                 .begin = own_begin,
                                 .end = own_end};
