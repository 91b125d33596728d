/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/one_column.c - one panel and one right-hand side, which takes as long as it
 * takes to read L, compiled once per instruction set. */
#include "triangular/factor/one_column.h"
#include "device/isa.h"

/* y = y + A x, of four columns */
static void add_four(int64_t m, const double *A, int64_t lda, const double *x,
                     double *y)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    for (int64_t i = 0; i < m; i++)
        y[i] += (A[i] * x[0] + a1[i] * x[1]) + (a2[i] * x[2] + a3[i] * x[3]);
}

/* y = L x of the rows below */
static void multiply(const tct_sweep_panel *p, const double *x, double *y)
{
    const int64_t m = p->h - p->w;
    const double *l = p->value + p->w;
    int64_t j = 0;
    for (int64_t i = 0; i < m; i++) y[i] = 0.0;
    for (; j + 4 <= p->w; j += 4, l += 4 * p->h) add_four(m, l, p->h, x + j, y);
    for (; j < p->w; j++, l += p->h)
        for (int64_t i = 0; i < m; i++) y[i] += l[i] * x[j];
}

static void down_one(const tct_sweep_panel *p, double *X, double *t)
{
    double *x = X + p->first;
    for (int64_t j = 0; j < p->w; j++) {
        const double *l = p->value + j * p->h;
        x[j] /= l[j];
        for (int64_t i = j + 1; i < p->w; i++) x[i] -= l[i] * x[j];
    }
    multiply(p, x, t);
    for (int64_t i = 0; i < p->h - p->w; i++) X[p->row[i]] -= t[i];
}

static double dot(int64_t n, const double *x, const double *y)
{
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* x = x - A' y, of four columns */
static void subtract_dots(int64_t m, const double *A, int64_t lda,
                          const double *y, double *x)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < m; i++) {
        s0 += A[i] * y[i];
        s1 += a1[i] * y[i];
        s2 += a2[i] * y[i];
        s3 += a3[i] * y[i];
    }
    x[0] -= s0;
    x[1] -= s1;
    x[2] -= s2;
    x[3] -= s3;
}

static void up_one(const tct_sweep_panel *p, double *X, double *t)
{
    const int64_t m = p->h - p->w;
    const double *l = p->value + p->w;
    double *x = X + p->first;
    int64_t j = 0;
    for (int64_t i = 0; i < m; i++) t[i] = X[p->row[i]];
    for (; j + 4 <= p->w; j += 4, l += 4 * p->h)
        subtract_dots(m, l, p->h, t, x + j);
    for (; j < p->w; j++, l += p->h) x[j] -= dot(m, l, t);
    for (j = p->w - 1; j >= 0; j--) {
        l = p->value + j * p->h;
        x[j] = (x[j] - dot(p->w - j - 1, l + j + 1, x + j + 1)) / l[j];
    }
}

#define tct_sweep_isa TCT_ISA_NAME(tct_sweep)
const tct_sweep tct_sweep_isa = {.down = down_one, .up = up_one};
