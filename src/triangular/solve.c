/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/solve.c - L L' X = B, panel by panel: down the numbers with L, up with
 * L', or U, divided by D between. The columns of an element of X stand side by side,
 * so that a panel's rows are dense matrices; one column has loops of its own. */
#include "device/isa.h"
#include "triangular/dense.h"
#include "triangular/factor.h"
#include "triangular/one_column.h"

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

static const tct_sweep *best_sweep(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return &tct_sweep_avx512;
    if (isa == TCT_ISA_AVX2) return &tct_sweep_avx2;
#endif
    return &tct_sweep_base;
}

static void solve_one(const tacit_factor_panels *P, double *X, double *T)
{
    const tct_sweep *S = best_sweep();
    for (int32_t K = 0; K < P->panels; K++) {
        const panel p = panel_of(P, P->value, K);
        S->down(&p, X, T);
    }
    divide(P, 1, X);
    for (int32_t K = P->panels - 1; K >= 0; K--) {
        const panel p = panel_of(P, upper_of(P), K);
        S->up(&p, X, T);
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
    for (int64_t k = 0; k < P->rows; k++)
        for (int64_t j = 0; j < c; j++)
            scratch[k * c + j] = B[place[k] + j * (int64_t)ldb];
    if (c == 1) solve_one(P, scratch, scratch + P->rows);
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
    for (int j = 0; j < columns; j += TCT_SOLVE_COLUMNS) {
        const int left = columns - j;
        solve_block(
            L, place, left < TCT_SOLVE_COLUMNS ? left : TCT_SOLVE_COLUMNS,
            B + (size_t)j * ldb, ldb, X + (size_t)j * ldx, ldx, scratch);
    }
}
