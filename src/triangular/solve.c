/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/solve.c - L L' X = B, panel by panel: down the numbers with L, up with
 * L', or U, divided by D between. The columns of an element of X stand side by side,
 * so that a panel's rows are dense matrices; one column has loops of its own, since
 * it takes as long as it takes to read L. Where panels are single rows, those of an
 * incomplete factor, there are loops over rows. */
#include "triangular/dense.h"
#include "triangular/factor.h"

/* Panel K as both directions see it. */
typedef struct {
    int64_t w, h;        /* columns, rows                      */
    const double *value; /* [h w]                              */
    const int32_t *row;  /* [h - w] below its columns          */
    int64_t first;       /* column                             */
    bool dense;          /* its rows below follow one another  */
} panel;

static panel panel_of(const tacit_factor_panels *P, const double *value,
                      int32_t K)
{
    panel p = {.w = P->first[K + 1] - P->first[K],
               .h = P->row_start[K + 1] - P->row_start[K],
               .value = value + P->value_start[K],
               .first = P->first[K]};
    p.row = P->row + P->row_start[K] + p.w;
    const int64_t m = p.h - p.w;
    p.dense = m > 0 && p.row[m - 1] - p.row[0] == m - 1;
    return p;
}

/* --- one column --------------------------------------------------------------- */

/* y = y + A x, of four columns */
static void add_four(int64_t m, const double *A, int64_t lda, const double *x,
                     double *y)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    for (int64_t i = 0; i < m; i++)
        y[i] += (A[i] * x[0] + a1[i] * x[1]) + (a2[i] * x[2] + a3[i] * x[3]);
}

/* y = L x of the rows below */
static void multiply(const panel *p, const double *x, double *y)
{
    const int64_t m = p->h - p->w;
    const double *l = p->value + p->w;
    int64_t j = 0;
    for (int64_t i = 0; i < m; i++) y[i] = 0.0;
    for (; j + 4 <= p->w; j += 4, l += 4 * p->h) add_four(m, l, p->h, x + j, y);
    for (; j < p->w; j++, l += p->h)
        for (int64_t i = 0; i < m; i++) y[i] += l[i] * x[j];
}

static void down_one(const panel *p, double *X, double *t)
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

static void up_one(const panel *p, double *X, double *t)
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

/* --- several ------------------------------------------------------------------- */

static void down(const tct_dense *D, const panel *p, int64_t c, double *X,
                 double *T)
{
    const int64_t m = p->h - p->w;
    double *x = X + p->first * c, *t = p->dense ? X + p->row[0] * c : T;
    D->solve(true, c, p->w, p->value, p->h, x, c);
    if (m == 0) return;
    D->subtract(true, c, m, p->w, x, c, p->value + p->w, p->h,
                p->dense ? 1.0 : 0.0, t, c);
    for (int64_t i = 0; i < m && !p->dense; i++)
        for (int64_t j = 0; j < c; j++) X[p->row[i] * c + j] += T[i * c + j];
}

static void up(const tct_dense *D, const panel *p, int64_t c, double *X,
               double *T)
{
    const int64_t m = p->h - p->w;
    double *x = X + p->first * c;
    const double *t = p->dense ? X + p->row[0] * c : T;
    for (int64_t i = 0; i < m && !p->dense; i++)
        memcpy(T + i * c, X + p->row[i] * c, (size_t)c * sizeof *T);
    if (m > 0)
        D->subtract(false, c, p->w, m, t, c, p->value + p->w, p->h, 1.0, x, c);
    D->solve(false, c, p->w, p->value, p->h, x, c);
}

/* --- rows ------------------------------------------------------------------------ */

/* Rows are panels, and their entries stand one behind the other, the pivot first.
 * Of kind ILU0 that of L is 1. */
static void solve_rows_one(const tacit_factor *L, double *x)
{
    const int64_t *start = L->panels.row_start;
    const int32_t *row = L->panels.row;
    const double *l = L->panels.value, *d = L->inverse,
                 *u = L->panels.upper ? L->panels.upper : l;
    const bool unit = L->panels.upper != NULL;
    for (int64_t k = 0; k < L->panels.rows; k++) {
        const double found = unit ? x[k] : (x[k] *= d[k]);
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            x[row[e]] -= l[e] * found;
    }
    for (int64_t k = L->panels.rows; k-- > 0;) {
        double left = x[k];
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            left -= u[e] * x[row[e]];
        x[k] = left * d[k];
    }
}

static void solve_rows(const tacit_factor *L, int64_t c, double *X)
{
    const int64_t *start = L->panels.row_start;
    const int32_t *row = L->panels.row;
    const double *l = L->panels.value, *d = L->inverse,
                 *u = L->panels.upper ? L->panels.upper : l;
    const bool unit = L->panels.upper != NULL;
    for (int64_t k = 0; k < L->panels.rows; k++) {
        double *x = X + k * c;
        for (int64_t j = 0; j < c && !unit; j++) x[j] *= d[k];
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            for (int64_t j = 0; j < c; j++) X[row[e] * c + j] -= l[e] * x[j];
    }
    for (int64_t k = L->panels.rows; k-- > 0;) {
        double *x = X + k * c;
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            for (int64_t j = 0; j < c; j++) x[j] -= u[e] * X[row[e] * c + j];
        for (int64_t j = 0; j < c; j++) x[j] *= d[k];
    }
}

/* --- all panels ------------------------------------------------------------------ */

/* What stands between L and L'. */
static void divide(const tacit_factor_panels *P, int64_t c, double *X)
{
    for (int64_t k = 0; P->diagonal && k < P->rows; k++)
        for (int64_t j = 0; j < c; j++) X[k * c + j] /= P->diagonal[k];
}

static const double *upper_of(const tacit_factor_panels *P)
{
    return P->upper ? P->upper : P->value;
}

static void solve_one(const tacit_factor_panels *P, double *X, double *T)
{
    for (int32_t K = 0; K < P->panels; K++) {
        const panel p = panel_of(P, P->value, K);
        down_one(&p, X, T);
    }
    divide(P, 1, X);
    for (int32_t K = P->panels - 1; K >= 0; K--) {
        const panel p = panel_of(P, upper_of(P), K);
        up_one(&p, X, T);
    }
}

static void solve_several(const tacit_factor_panels *P, int64_t c, double *X,
                          double *T)
{
    const char *why;
    const tct_dense *D = tct_dense_get(&why);
    const int threads = D->threads(1);
    for (int32_t K = 0; K < P->panels; K++) {
        const panel p = panel_of(P, P->value, K);
        down(D, &p, c, X, T);
    }
    divide(P, c, X);
    for (int32_t K = P->panels - 1; K >= 0; K--) {
        const panel p = panel_of(P, upper_of(P), K);
        up(D, &p, c, X, T);
    }
    D->threads(threads);
}

static void solve_block(const tacit_factor *L, const int32_t *place, int64_t c,
                        const double *B, size_t ldb, double *X, size_t ldx,
                        double *scratch)
{
    const tacit_factor_panels *P = &L->panels;
    if (c == 1 && L->in_place && L->inverse && place == P->original) {
        if (X != B) memcpy(X, B, (size_t)P->rows * sizeof *X);
        solve_rows_one(L, X);
        return;
    }
    for (int64_t k = 0; k < P->rows; k++)
        for (int64_t j = 0; j < c; j++)
            scratch[k * c + j] = B[place[k] + j * (int64_t)ldb];
    if (L->inverse && c == 1) solve_rows_one(L, scratch);
    else if (L->inverse) solve_rows(L, c, scratch);
    else if (c == 1) solve_one(P, scratch, scratch + P->rows);
    else solve_several(P, c, scratch, scratch + P->rows * c);
    for (int64_t k = 0; k < P->rows; k++)
        for (int64_t j = 0; j < c; j++)
            X[place[k] + j * (int64_t)ldx] = scratch[k * c + j];
}

size_t tct_factor_scratch(const tacit_factor *L, int columns)
{
    const int at_once =
        columns < TCT_SOLVE_COLUMNS ? columns : TCT_SOLVE_COLUMNS;
    return (size_t)(L->panels.rows + L->most) * (size_t)at_once;
}

void tct_factor_apply(const tacit_factor *L, const int32_t *place, int columns,
                      const double *B, size_t ldb, double *X, size_t ldx,
                      double *scratch)
{
    if (!place) place = L->panels.original;
    for (int j = 0; j < columns; j += TCT_SOLVE_COLUMNS) {
        const int left = columns - j;
        solve_block(
            L, place, left < TCT_SOLVE_COLUMNS ? left : TCT_SOLVE_COLUMNS,
            B + (size_t)j * ldb, ldb, X + (size_t)j * ldx, ldx, scratch);
    }
}
