/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/solve.c - L L' X = B, panel by panel: down the numbers with L, up with
 * L', or U, divided by D between. The columns of an element of X stand side by side,
 * so that a panel's rows are dense matrices; one column has loops of its own. Where
 * panels are single rows, those of an incomplete factor, there are loops over rows. */
#include "device/isa.h"
#include "triangular/factor/dense.h"
#include "triangular/factor/factor.h"
#include "triangular/factor/one_column.h"

typedef tct_sweep_panel panel;

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

/* Rows are panels, and their entries stand one behind the other, the pivot first,
 * d = 1 / pivot. Of kind ILU0 that of L is 1. */
static void rows_down_one(const tacit_factor_panels *P, const double *d,
                          double *x)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *l = P->value;
    const bool unit = P->upper != NULL;
    for (int64_t k = 0; k < P->rows; k++) {
        const double found = unit ? x[k] : (x[k] *= d[k]);
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            x[row[e]] -= l[e] * found;
    }
}

static void rows_up_one(const tacit_factor_panels *P, const double *d,
                        double *x)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *u = P->upper ? P->upper : P->value;
    for (int64_t k = P->rows; k-- > 0;) {
        double left = x[k];
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            left -= u[e] * x[row[e]];
        x[k] = left * d[k];
    }
}

static void rows_down(const tacit_factor_panels *P, const double *d, int64_t c,
                      double *X)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *l = P->value;
    const bool unit = P->upper != NULL;
    for (int64_t k = 0; k < P->rows; k++) {
        double *x = X + k * c;
        for (int64_t j = 0; j < c && !unit; j++) x[j] *= d[k];
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            for (int64_t j = 0; j < c; j++) X[row[e] * c + j] -= l[e] * x[j];
    }
}

static void rows_up(const tacit_factor_panels *P, const double *d, int64_t c,
                    double *X)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *u = P->upper ? P->upper : P->value;
    for (int64_t k = P->rows; k-- > 0;) {
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

const tct_one_column *tct_one_column_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return &tct_one_column_avx512;
    if (isa == TCT_ISA_AVX2) return &tct_one_column_avx2;
#endif
    return &tct_one_column_base;
}

static void panels_down(const tacit_factor_panels *P, int64_t c, double *X,
                        double *T)
{
    const char *why;
    const tct_one_column *S = tct_one_column_best();
    const tct_dense *D = tct_dense_get(&why);
    const int threads = c > 1 ? D->threads(1) : 0;
    for (int32_t K = 0; K < P->panels; K++) {
        const panel p = panel_of(P, P->value, K);
        if (c == 1) S->down(&p, X, T);
        else down(D, &p, c, X, T);
    }
    if (c > 1) D->threads(threads);
}

static void panels_up(const tacit_factor_panels *P, int64_t c, double *X,
                      double *T)
{
    const char *why;
    const tct_one_column *S = tct_one_column_best();
    const tct_dense *D = tct_dense_get(&why);
    const int threads = c > 1 ? D->threads(1) : 0;
    divide(P, c, X);
    for (int32_t K = P->panels - 1; K >= 0; K--) {
        const panel p = panel_of(P, upper_of(P), K);
        if (c == 1) S->up(&p, X, T);
        else up(D, &p, c, X, T);
    }
    if (c > 1) D->threads(threads);
}

void tct_panels_down(const tacit_factor_panels *P, const double *inverse,
                     int64_t c, double *X, double *T)
{
    if (inverse && c == 1) rows_down_one(P, inverse, X);
    else if (inverse) rows_down(P, inverse, c, X);
    else panels_down(P, c, X, T);
}

void tct_panels_up(const tacit_factor_panels *P, const double *inverse,
                   int64_t c, double *X, double *T)
{
    if (inverse && c == 1) rows_up_one(P, inverse, X);
    else if (inverse) rows_up(P, inverse, c, X);
    else panels_up(P, c, X, T);
}

static void solve_here(const tacit_factor *L, int64_t c, double *X, double *T)
{
    tct_panels_down(&L->panels, L->inverse, c, X, T);
    tct_panels_up(&L->panels, L->inverse, c, X, T);
}

static void solve_block(const tacit_factor *L, const int32_t *place, int64_t c,
                        const double *B, size_t ldb, double *X, size_t ldx,
                        double *scratch)
{
    const tacit_factor_panels *P = &L->panels;
    if (c == 1 && L->in_place && L->inverse && place == P->original) {
        if (X != B) memcpy(X, B, (size_t)P->rows * sizeof *X);
        solve_here(L, 1, X, NULL);
        return;
    }
    for (int64_t k = 0; k < P->rows; k++)
        for (int64_t j = 0; j < c; j++)
            scratch[k * c + j] = B[place[k] + j * (int64_t)ldb];
    solve_here(L, c, scratch, scratch + P->rows * c);
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
