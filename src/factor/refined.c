/* SPDX-License-Identifier: BSD-3-Clause
 * factor/refined.c - iterative refinement of solves with a matched factor, which
 * keeps its matrix, permuted and scaled: repaired pivots leave a factor of a
 * matrix nearby, and few steps make up for that. Vectors are of that system, but
 * in tct_factor_solve_refined. */
#include "factor/factor.h"
#include <math.h>

static const char *const what = "the refinement of a solve";

enum { STEPS = 10 };
/* Componentwise backward error at the level of rounding, and what a step must
 * leave less of. */
#define ROUNDING 0x1p-50
#define FALLING  0.5
/* Residual, beside |A| |x| + |b|, of an x that is no solution. */
#define RESIDUAL_MOST 1e-10

tacit_status tct_refinement_open(const tacit_factor *L, tct_refinement *R)
{
    *R = (tct_refinement){.scaled = *L};
    R->scaled.b_row = NULL;
    R->scaled.b_scale = R->scaled.x_scale = NULL;
    TRY(TCT_ALLOC(5 * L->info.rows, what, &R->v));
    return TCT_ALLOC(tct_factor_scratch(L, 1, tct_lent_threads(L->lent)), what,
                     &R->scratch);
}

void tct_refinement_close(tct_refinement *R)
{
    TCT_FREE(R->v, R->scratch);
    R->v = R->scratch = NULL;
}

/* r = b - A x; the errors of x, componentwise [OP64] and by largest norms. */
static void measure(tct_refinement *R, const tct_entries *A, double *error,
                    double *norm)
{
    const int64_t n = A->rows;
    const double *b = R->v, *x = b + n;
    double *r = R->v + 2 * n, worst = 0.0, largest = 0.0, of = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double sum = b[i], size = fabs(b[i]);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const double t = A->value[k] * x[A->col[k]];
            sum -= t;
            size += fabs(t);
        }
        r[i] = sum;
        if (size > 0.0 && !(fabs(sum) / size <= worst))
            worst = fabs(sum) / size;
        if (!(fabs(sum) <= largest)) largest = fabs(sum);
        if (!(size <= of)) of = size;
    }
    *error = worst;
    *norm = of > 0.0 ? largest / of : 0.0;
}

/* x = x + M r. Returns whether the error falls enough for another step; x keeps
 * the least error. */
static bool step(tct_refinement *R, tct_team *team, const tct_entries *A)
{
    const int64_t n = A->rows;
    double *x = R->v + n, *r = x + n, *z = r + n, *old = z + n, error, norm;
    tct_factor_apply(&R->scaled, team, NULL, 1, r, (size_t)n, z, (size_t)n,
                     R->scratch);
    for (int64_t i = 0; i < n; i++) {
        old[i] = x[i];
        x[i] += z[i];
    }
    measure(R, A, &error, &norm);
    const bool better = R->steps == 0 || error < R->error,
               falls = R->steps == 0 || error < FALLING * R->error;
    if (!better) memcpy(x, old, (size_t)n * sizeof *x);
    else {
        R->error = error;
        R->norm = norm;
    }
    if (R->steps++ == 0) R->first = error;
    return falls && error > ROUNDING && R->steps < STEPS;
}

void tct_refine(tct_refinement *R, tct_team *team, const tct_entries *A)
{
    const size_t n = (size_t)A->rows;
    R->steps = 0;
    memset(R->v + n, 0, n * sizeof *R->v);
    memcpy(R->v + 2 * n, R->v, n * sizeof *R->v);
    while (step(R, team, A)) continue;
}

/* A factor that passed its tests may fail for one right-hand side. */
static void warn(const tacit_factor *L, double norm)
{
    if (norm <= RESIDUAL_MOST) return;
    tct_log(TCT_WARN,
            "a solve with a factor %s leaves a residual of %.1e beside |A| |x| "
            "+ |b|: the matrix is singular, or nearly so: solve another "
            "matrix, A + shift I, or scale it",
            tct_factor_kind_name(L->panels.kind), norm);
}

tacit_status tct_factor_solve_refined(const tacit_factor *L, tct_team *team,
                                      int columns, const double *B, size_t ldb,
                                      double *X, size_t ldx)
{
    const tct_matching *m = &L->match;
    const int64_t n = L->info.rows;
    double worst = 0.0;
    tct_refinement R;
    tacit_status status = tct_refinement_open(L, &R);
    for (size_t c = 0; status >= 0 && c < (size_t)columns; c++) {
        double *b = R.v, *x = b + n;
        for (int64_t j = 0; j < n; j++)
            b[j] = B[c * ldb + (size_t)m->row[j]] * m->row_scale[m->row[j]];
        tct_refine(&R, team, &L->system);
        if (!(R.norm <= worst)) worst = R.norm;
        for (int64_t j = 0; j < n; j++)
            X[c * ldx + (size_t)j] = x[j] * m->col_scale[j];
    }
    tct_refinement_close(&R);
    if (status >= 0) warn(L, worst);
    return status;
}
