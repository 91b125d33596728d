/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/one_column.c - one panel and one right-hand side, which takes as long as it
 * takes to read L, compiled once per instruction set. */
#include "triangular/factor/one_column.h"
#include "device/isa.h"

/* y = y - A x, of four columns */
static void subtract_four(int64_t m, const double *A, int64_t lda,
                          const double *x, double *y)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    for (int64_t i = 0; i < m; i++)
        y[i] -= (A[i] * x[0] + a1[i] * x[1]) + (a2[i] * x[2] + a3[i] * x[3]);
}

static void multiply(int64_t m, int64_t n, const double *A, int64_t lda,
                     const double *x, double *y)
{
    int64_t j = 0;
    for (int64_t i = 0; i < m; i++) y[i] = 0.0;
    for (; j + 4 <= n; j += 4, A += 4 * lda) subtract_four(m, A, lda, x + j, y);
    for (; j < n; j++, A += lda)
        for (int64_t i = 0; i < m; i++) y[i] -= A[i] * x[j];
}

static double dot(int64_t n, const double *x, const double *y)
{
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* y = y - A' x, of four columns: loads of x are half the work */
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
    for (; j + 4 <= n; j += 4, A += 4 * lda) subtract_dots(m, A, lda, x, y + j);
    for (; j < n; j++, A += lda) y[j] -= dot(m, A, x);
}

static void solve(bool transposed, int64_t n, const double *L, int64_t ldl,
                  double *x)
{
    for (int64_t j = 0; !transposed && j < n; j++) {
        const double *l = L + j * ldl;
        x[j] /= l[j];
        for (int64_t i = j + 1; i < n; i++) x[i] -= l[i] * x[j];
    }
    for (int64_t j = n - 1; transposed && j >= 0; j--) {
        const double *l = L + j * ldl;
        x[j] = (x[j] - dot(n - j - 1, l + j + 1, x + j + 1)) / l[j];
    }
}

static void down_one(const tct_sweep_panel *p, double *X, double *t)
{
    const int64_t m = p->h - p->w;
    double *x = X + p->first;
    solve(false, p->w, p->value, p->h, x);
    multiply(m, p->w, p->value + p->w, p->h, x, t);
    for (int64_t i = 0; i < m; i++) X[p->row[i]] += t[i];
}

static void up_one(const tct_sweep_panel *p, double *X, double *t)
{
    const int64_t m = p->h - p->w;
    double *x = X + p->first;
    for (int64_t i = 0; i < m; i++) t[i] = X[p->row[i]];
    multiply_transposed(m, p->w, p->value + p->w, p->h, t, x);
    solve(true, p->w, p->value, p->h, x);
}

#define tct_one_column_isa TCT_ISA_NAME(tct_one_column)
const tct_one_column tct_one_column_isa = {.down = down_one,
                                           .up = up_one,
                                           .solve = solve,
                                           .multiply = multiply,
                                           .multiply_transposed =
                                               multiply_transposed};
