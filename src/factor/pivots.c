/* SPDX-License-Identifier: BSD-3-Clause
 * factor/pivots.c - accuracy lost without pivoting. Either a pivot is the
 * difference of much larger terms and has no correct digits; or a term is so
 * much larger than the values it is subtracted from that their digits are lost.
 * A sum of magnitudes detects the first, a test solve the second; a limit on
 * pivots themselves would depend on the scaling of rows. */
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "the check of a factor's pivots";

#define BACKWARD_LEAST 1e-6
#define ADVICE                                                          \
    "nothing is pivoted here: permute or scale the matrix so that its " \
    "diagonal is safe, or solve another one, A + shift I"

/* The advice after a bad pivot; none of kinds LU and LDLT, which go on with
 * other pivots (matched.c, paired.c). */
static const char *advice(const tacit_factor *L, bool singular)
{
    if (L->panels.kind == TACIT_FACTOR_LU ||
        L->panels.kind == TACIT_FACTOR_LDLT)
        return "";
    return singular ? ": the matrix is singular, or " ADVICE : ": " ADVICE;
}

static int64_t original_of(const tacit_factor *L, int64_t row)
{
    if (L->b_row) return L->b_row[row];
    return L->order.old ? L->order.old[row] : row;
}

/* --- pivots --------------------------------------------------------------- */

static double share_of(double pivot, double weight)
{
    return fabs(pivot) < weight ? fabs(pivot) / weight : 1.0;
}

bool tct_divides(double pivot)
{
    return isfinite(pivot) && isfinite(1.0 / pivot);
}

tacit_status tct_refuse_pivot(const tacit_factor *L, int64_t row, double pivot,
                              double weight)
{
    const char *kind = tct_factor_kind_name(L->panels.kind);
    if (!tct_divides(pivot))
        FAIL(TACIT_INPUT, "factor %s: row %" PRId64 " comes to the pivot %g%s",
             kind, original_of(L, row) + 1, tct_as_given(L, pivot),
             advice(L, true));
    FAIL(TACIT_INPUT,
         "factor %s: row %" PRId64 " comes to the pivot %g, which is but "
         "rounding beside the terms of %g that it is the difference of%s",
         kind, original_of(L, row) + 1, tct_as_given(L, pivot),
         tct_as_given(L, weight), advice(L, true));
}

void tct_note_pivot(tacit_factor *L, int64_t row, double pivot, double weight)
{
    const double share = share_of(pivot, weight);
    tacit_factor_info *info = &L->info;
    if (info->least_share > 0.0 && info->least_share <= share) return;
    info->least_share = share;
    info->least_pivot = tct_as_given(L, pivot);
    info->least_row = original_of(L, row);
}

void tct_warn_of_pivots(const tacit_factor *L)
{
    const tacit_factor_info *info = &L->info;
    if (info->least_share == 0.0 || info->least_share >= TCT_PIVOT_SMALL)
        return;
    tct_log(TCT_WARN,
            "factor %s: row %" PRId64 " comes to the pivot %g, %.1e of the "
            "terms that it is the difference of: it has lost as many digits",
            tct_factor_kind_name(L->panels.kind), info->least_row + 1,
            info->least_pivot, info->least_share);
}

/* of panels */

typedef struct {
    double *weight; /* [rows] sum of |l_ik u_ki|, k < i */
    double largest; /* multiplier                                          */
    int64_t column; /* the pivot of it                                     */
} weights;

static double pivot_of(const tacit_factor *L, int64_t column, int64_t at)
{
    return L->diagonal ? L->diagonal[column] : L->upper[at];
}

static void weigh_column(const tacit_factor *L, int32_t q, int64_t j,
                         weights *w)
{
    const int64_t h = L->row_start[q + 1] - L->row_start[q];
    const int64_t column = L->first[q] + j, at = L->value_start[q] + j * h;
    const int32_t *row = L->row + L->row_start[q];
    const double *l = L->value + at, *u = L->upper ? L->upper + at : l;
    const double p = pivot_of(L, column, at + j), d = L->upper ? 1.0 : p;
    double largest = 0.0;
    for (int64_t i = j + 1; i < h; i++) {
        w->weight[row[i]] += fabs(l[i] * (d * u[i]));
        largest = fmax(largest, fabs(l[i]));
        if (L->upper) largest = fmax(largest, fabs(u[i] / p));
    }
    if (largest <= w->largest) return;
    w->largest = largest;
    w->column = column;
}

/* Pivot `p` of column `c` is rounding; huge multipliers of an earlier pivot may
 * be the cause. */
static tacit_status refuse(const tacit_factor *L, const weights *w, int64_t c,
                           double p)
{
    if (w->largest * TCT_PIVOT_SMALL < 1.0 || w->column >= c)
        return tct_refuse_pivot(L, c, p, w->weight[c]);
    FAIL(TACIT_INPUT,
         "factor %s: the pivot of row %" PRId64 " is 1 / %.1e of what it is to "
         "eliminate, so that row %" PRId64 " comes to %g, which is but "
         "rounding beside terms of %g%s",
         tct_factor_kind_name(L->panels.kind), original_of(L, w->column) + 1,
         w->largest, original_of(L, c) + 1, tct_as_given(L, p),
         tct_as_given(L, w->weight[c]), advice(L, false));
}

static tacit_status judge_pivots(tacit_factor *L, const weights *w)
{
    for (int32_t q = 0; q < L->info.panels; q++) {
        const int64_t h = L->row_start[q + 1] - L->row_start[q];
        for (int64_t c = L->first[q]; c < L->first[q + 1]; c++) {
            const int64_t at = L->value_start[q] + (c - L->first[q]) * (h + 1);
            const double p = pivot_of(L, c, at);
            if (!tct_divides(p) || share_of(p, w->weight[c]) < TCT_PIVOT_LEAST)
                return refuse(L, w, c, p);
            tct_note_pivot(L, c, p, w->weight[c]);
        }
    }
    return TACIT_OK;
}

/* --- test solve ----------------------------------------------------------- */

/* b = A x, size = |A| |x| */
static void multiply(const tct_entries *A, const double *x, double *b,
                     double *size)
{
    for (int64_t i = 0; i < A->rows; i++) {
        b[i] = size[i] = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const double t = A->value[k] * x[A->col[k]];
            b[i] += t;
            size[i] += fabs(t);
        }
    }
}

/* Backward errors of x from the factor, b in `v` [4 rows]: the largest
 * |b - A x| over |A| |x| + |b| of its row [OP64], into `*norm` over the largest
 * one. */
static double backward_error(const tacit_factor *L, const tct_entries *A,
                             double *v, double *scratch, double *norm)
{
    const int64_t n = A->rows;
    double *b = v, *x = b + n, *got = x + n, *size = got + n, worst = 0.0;
    double largest = 0.0, of = 0.0;
    tct_factor_apply(L, NULL, NULL, 1, b, (size_t)n, x, (size_t)n, scratch);
    multiply(A, x, got, size);
    for (int64_t i = 0; i < n; i++) {
        const double r = fabs(b[i] - got[i]), s = size[i] + fabs(b[i]);
        if (!isfinite(s)) return *norm = INFINITY;
        if (r / s > worst) worst = r / s; /* NaN of an empty row: no error */
        largest = fmax(largest, r);
        of = fmax(of, s);
    }
    *norm = of > 0.0 ? largest / of : 0.0;
    return worst;
}

/* Of two systems: one with a solution of numbers alike, whose rows all count;
 * and one with a right-hand side of random numbers, as real ones are, whose
 * solution may be large. */
static double worst_error(const tacit_factor *L, const tct_entries *A,
                          double *v, double *scratch)
{
    const int64_t n = A->rows;
    double *b = v, *x = b + n, norm;
    for (int64_t i = 0; i < n; i++) x[i] = 0.5 + tct_uniform((uint64_t)i, 17);
    multiply(A, x, b, x + 2 * n);
    const double alike = backward_error(L, A, v, scratch, &norm);
    for (int64_t i = 0; i < n; i++) b[i] = tct_uniform((uint64_t)i, 17) - 0.5;
    (void)backward_error(L, A, v, scratch, &norm);
    return fmax(alike, norm);
}

static tacit_status judge_solve(tacit_factor *L, const weights *w)
{
    const double error = L->info.backward_error;
    const char *kind = tct_factor_kind_name(L->panels.kind);
    const int64_t row = original_of(L, w->column) + 1;
    L->weak_row = row;
    L->weakness = w->largest;
    if (error < BACKWARD_LEAST) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "factor %s: a solve leaves a residual of %.1e: the pivot of row "
         "%" PRId64 " is 1 / %.1e of what it is to eliminate%s",
         kind, error, row, w->largest, advice(L, false));
}

static tacit_status try_solve(tacit_factor *L, const tct_entries *A,
                              const weights *w)
{
    double *v = NULL, *scratch = NULL;
    tacit_status status = TCT_ALLOC(4 * A->rows, what, &v);
    if (status >= 0)
        status = TCT_ALLOC(tct_factor_scratch(L, 1, 1), what, &scratch);
    if (status >= 0) {
        L->info.backward_error = worst_error(L, A, v, scratch);
        status = judge_solve(L, w);
    }
    TCT_FREE(v, scratch);
    return status;
}

static tacit_status weigh_all(const tacit_factor *L, int64_t rows, weights *w)
{
    TRY(TCT_ALLOC(rows, what, &w->weight));
    memset(w->weight, 0, (size_t)rows * sizeof *w->weight);
    for (int32_t q = 0; q < L->info.panels; q++)
        for (int64_t j = 0; j < L->first[q + 1] - L->first[q]; j++)
            weigh_column(L, q, j, w);
    return TACIT_OK;
}

tacit_status tct_factor_note_pivots(tacit_factor *L)
{
    weights w = {.column = 0};
    TRY(weigh_all(L, L->info.rows, &w));
    for (int32_t q = 0; q < L->info.panels; q++) {
        const int64_t h = L->row_start[q + 1] - L->row_start[q];
        for (int64_t c = L->first[q]; c < L->first[q + 1]; c++) {
            const int64_t at = L->value_start[q] + (c - L->first[q]) * (h + 1);
            tct_note_pivot(L, c, pivot_of(L, c, at), w.weight[c]);
        }
    }
    tct_free(w.weight);
    return TACIT_OK;
}

tacit_status tct_factor_weigh(tacit_factor *L, const tct_entries *A)
{
    weights w = {.column = 0};
    TRY(weigh_all(L, A->rows, &w));
    tacit_status status = judge_pivots(L, &w);
    tct_free(w.weight);
    if (status >= 0) status = try_solve(L, A, &w);
    return status;
}

/* --- warnings ------------------------------------------------------------- */

static void warn_of_matched(const tacit_factor *L)
{
    const tacit_factor_info *info = &L->info;
    if (info->backward_error < TCT_BACKWARD_SMALL) return;
    tct_log(TCT_WARN,
            "factor %s: a solve leaves a residual of %.1e, of %.1e after "
            "iterative refinement, which triangular solves by themselves do "
            "not have",
            tct_factor_kind_name(L->panels.kind), info->backward_error,
            info->refined_error);
}

void tct_factor_warn(const tacit_factor *L)
{
    const tacit_factor_kind kind = L->panels.kind;
    const double error = L->info.backward_error;
    if (kind != TACIT_FACTOR_LDLT && kind != TACIT_FACTOR_LU) return;
    if (L->match.row) {
        warn_of_matched(L);
        return;
    }
    tct_warn_of_pivots(L);
    if (error < TCT_BACKWARD_SMALL) return;
    tct_log(TCT_WARN,
            "factor %s: a solve leaves a residual of %.1e: the pivot of row "
            "%" PRId64 " is 1 / %.1e of what it is to eliminate",
            tct_factor_kind_name(kind), error, L->weak_row, L->weakness);
}

/* --- of L L' -------------------------------------------------------------- */

static double diagonal_of(const tct_entries *A, int64_t i)
{
    double a = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (A->col[k] == i) a = A->value[k];
    return a;
}

tacit_status tct_refuse_indefinite(const tacit_factor *L, const tct_entries *A,
                                   int64_t row, double pivot)
{
    const int64_t i = original_of(L, row);
    const double a = diagonal_of(A, i);
    if (share_of(pivot, a) >= TCT_PIVOT_LEAST)
        FAIL(TACIT_INPUT,
             "the matrix is not positive definite: its row %" PRId64
             " comes to the pivot %g: factor it as L D L' (kind ldlt), or "
             "solve another matrix, A + shift I",
             i + 1, tct_as_given(L, pivot));
    FAIL(TACIT_INPUT,
         "the matrix is singular, or not positive definite: its row %" PRId64
         " comes to the pivot %g, which is but rounding beside its diagonal "
         "%g: method direct has other pivots, and methods cg and minres solve "
         "it for b in its range; else solve another matrix, A + shift I",
         i + 1, tct_as_given(L, pivot), tct_as_given(L, a));
}

/* For LLT the terms of a pivot add up to the diagonal of A. */
tacit_status tct_check_definite(const tacit_factor *L, const tct_entries *A)
{
    for (int32_t q = 0; q < L->info.panels; q++) {
        const int64_t h = L->row_start[q + 1] - L->row_start[q];
        for (int64_t c = L->first[q]; c < L->first[q + 1]; c++) {
            const double l =
                L->value[L->value_start[q] + (c - L->first[q]) * (h + 1)];
            const double a = diagonal_of(A, original_of(L, c));
            if (share_of(l * l, a) < TCT_PIVOT_LEAST)
                return tct_refuse_indefinite(L, A, c, l * l);
        }
    }
    return TACIT_OK;
}
