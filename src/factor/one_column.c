/* SPDX-License-Identifier: BSD-3-Clause
 * factor/one_column.c - a panel and one right-hand side, limited by reading L;
 * compiled for each instruction set. */
#include "factor/one_column.h"
#include "device/isa.h"

enum { AT_ONCE = 4 }; /* columns */

/* y = y - A x, of four columns */
static void subtract_four(int64_t m, const double *restrict A, int64_t lda,
                          const double *restrict x, double *restrict y)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    for (int64_t i = 0; i < m; i++)
        y[i] -= (A[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
}

static void subtract_one(int64_t m, const double *restrict A, double x,
                         double *restrict y)
{
    for (int64_t i = 0; i < m; i++) y[i] -= A[i] * x;
}

static void subtract(int64_t m, int64_t n, const double *A, int64_t lda,
                     const double *x, double *y)
{
    int64_t j = 0;
    for (; j + AT_ONCE <= n; j += AT_ONCE, A += AT_ONCE * lda)
        subtract_four(m, A, lda, x + j, y);
    for (; j < n; j++, A += lda) subtract_one(m, A, x[j], y);
}

static void multiply(int64_t m, int64_t n, const double *A, int64_t lda,
                     const double *x, double *y)
{
    for (int64_t i = 0; i < m; i++) y[i] = 0.0;
    subtract(m, n, A, lda, x, y);
}

static double dot(int64_t n, const double *x, const double *y)
{
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* y = y - A' x, for four columns: halves the loads of x */
static void subtract_dots(int64_t m, const double *A, int64_t lda,
                          const double *x, double *y)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < m; i++) {
        s0 += A[i] * x[i];
        s1 += a1[i] * x[i];
        s2 += a2[i] * x[i];
        s3 += a3[i] * x[i];
    }
    y[0] -= s0;
    y[1] -= s1;
    y[2] -= s2;
    y[3] -= s3;
}

static void multiply_transposed(int64_t m, int64_t n, const double *A,
                                int64_t lda, const double *x, double *y)
{
    int64_t j = 0;
    for (; j + AT_ONCE <= n; j += AT_ONCE, A += AT_ONCE * lda)
        subtract_dots(m, A, lda, x, y + j);
    for (; j < n; j++, A += lda) y[j] -= dot(m, A, x);
}

/* For n <= AT_ONCE columns; quotients are independent. */
static void solve_few(bool transposed, int64_t n, const double *L, int64_t ldl,
                      double *x)
{
    double inverse[AT_ONCE];
    for (int64_t j = 0; j < n; j++) inverse[j] = 1.0 / L[j * ldl + j];
    for (int64_t j = 0; !transposed && j < n; j++) {
        const double found = x[j] *= inverse[j];
        for (int64_t i = j + 1; i < n; i++) x[i] -= L[j * ldl + i] * found;
    }
    for (int64_t j = n - 1; transposed && j >= 0; j--) {
        double left = x[j];
        for (int64_t i = j + 1; i < n; i++) left -= L[j * ldl + i] * x[i];
        x[j] = left * inverse[j];
    }
}

/* Blocks of a few columns, each with the columns beside its diagonal block. */
static void solve(bool transposed, int64_t n, const double *L, int64_t ldl,
                  double *x)
{
    const int64_t even = n / AT_ONCE * AT_ONCE;
    for (int64_t j = 0; !transposed && j < even; j += AT_ONCE) {
        const double *l = L + j * (ldl + 1);
        solve_few(false, AT_ONCE, l, ldl, x + j);
        subtract_four(n - j - AT_ONCE, l + AT_ONCE, ldl, x + j,
                      x + j + AT_ONCE);
    }
    solve_few(transposed, n - even, L + even * (ldl + 1), ldl, x + even);
    for (int64_t j = even; transposed && (j -= AT_ONCE) >= 0;) {
        const double *l = L + j * (ldl + 1);
        subtract_dots(n - j - AT_ONCE, l + AT_ONCE, ldl, x + j + AT_ONCE,
                      x + j);
        solve_few(true, AT_ONCE, l, ldl, x + j);
    }
}

static void down_one(const tct_sweep_panel *p, double *X, double *t)
{
    const int64_t m = p->h - p->w;
    double *x = X + p->first;
    solve(false, p->w, p->value, p->h, x);
    if (p->dense) {
        subtract(m, p->w, p->value + p->w, p->h, x, X + p->row[0]);
        return;
    }
    multiply(m, p->w, p->value + p->w, p->h, x, t);
    for (int64_t i = 0; i < m; i++) X[p->row[i]] += t[i];
}

static void up_one(const tct_sweep_panel *p, double *X, double *t)
{
    const int64_t m = p->h - p->w;
    double *x = X + p->first;
    const double *y = p->dense ? X + p->row[0] : t;
    for (int64_t i = 0; i < m && !p->dense; i++) t[i] = X[p->row[i]];
    multiply_transposed(m, p->w, p->value + p->w, p->h, y, x);
    solve(true, p->w, p->value, p->h, x);
}

#define tct_one_column_isa TCT_ISA_NAME(tct_one_column)
const tct_one_column tct_one_column_isa = {.down = down_one,
                                           .up = up_one,
                                           .solve = solve,
                                           .subtract = subtract,
                                           .multiply = multiply,
                                           .multiply_transposed =
                                               multiply_transposed};
