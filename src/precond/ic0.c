/* SPDX-License-Identifier: BSD-3-Clause
 * precond/ic0.c - M = (L L')^-1, L the incomplete Cholesky factor that has entries
 * where A has them and no others (Meijerink and van der Vorst 1977). Of several
 * ranks each has that of its own rows and columns. Where a pivot is not positive,
 * A is taken with a larger diagonal, D + s D (Manteuffel 1980). */
#include "matrix/matrix.h"
#include "precond/precond.h"
#include <math.h>

typedef struct {
    int64_t n;
    int64_t *ptr;    /* [n + 1]                                     */
    int32_t *col;    /* [ptr[n]] below the diagonal, ascending      */
    double *val;     /* [ptr[n]]                                    */
    double *inverse; /* [n] of the diagonal                         */
} lower;

typedef struct {
    tacit_operator base;
    lower L;
} ic0;

/* --- applied ------------------------------------------------------------------ */

/* y = L^-1 x, by rows; then y = L'^-1 y, each value taken off the rows above it. */
static tacit_status solve(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const lower *L = ctx;
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int64_t i = 0; i < L->n; i++) {
        double left = x[i];
        for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; k++)
            left -= L->val[k] * y[L->col[k]];
        y[i] = left * L->inverse[i];
    }
    for (int64_t i = L->n; i-- > 0;) {
        const double found = y[i] *= L->inverse[i];
        for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; k++)
            y[L->col[k]] -= L->val[k] * found;
    }
    return TACIT_OK;
}

static void ic0_apply(const tacit_operator *M, tacit_queue *q, const double *x,
                      double *y, double *dot)
{
    const ic0 *I = (const ic0 *)(const void *)M;
    q_call(q, solve, (void *)(uintptr_t)&I->L, x, y);
    if (dot) q_dot(q, (size_t)M->n, x, y, dot);
}

static void free_lower(lower *L)
{
    TCT_FREE(L->ptr, L->col, L->val, L->inverse);
}

static void ic0_destroy(tacit_operator *M)
{
    free_lower(&((ic0 *)(void *)M)->L);
}

/* --- set up -------------------------------------------------------------------- */

/* Rows of the matrix in the order of the operator. */
typedef struct {
    const tacit_matrix *m;
    const tct_order *order;
    int exponent;
} source;

static int64_t row_of(const source *from, int64_t k)
{
    return from->order ? from->order->old[k] : k;
}

/* Where entry `e` of the matrix stands; -1: with another rank. */
static int64_t column_of(const source *from, int64_t e)
{
    const tct_csr *A = &from->m->A;
    const int64_t j = tct_csr_col(A, e) - A->first;
    if (j < 0 || j >= A->rows) return -1;
    return from->order ? from->order->now[j] : j;
}

/* For each entry above the diagonal, row after row: into the row of L that is its
 * column, where `next` then is one further. Columns of L come in ascending order;
 * the first time they are only counted. */
static void transpose(const source *from, lower *L, int64_t *next)
{
    const tct_csr *A = &from->m->A;
    for (int64_t i = 0; i < L->n; i++) {
        const int64_t row = row_of(from, i);
        for (int64_t e = A->ptr[row]; e < A->ptr[row + 1]; e++) {
            const int64_t j = column_of(from, e);
            if (j <= i) continue;
            if (L->col) {
                L->col[next[j]] = (int32_t)i;
                L->val[next[j]] = ldexp(A->val[e], -from->exponent);
            }
            next[j]++;
        }
    }
}

/* The part of A below the diagonal. */
static tacit_status take_pattern(const source *from, lower *L, int64_t *next)
{
    transpose(from, L, next);
    for (int64_t i = 0; i < L->n; i++) {
        L->ptr[i + 1] = L->ptr[i] + next[i];
        next[i] = L->ptr[i];
    }
    TRY(TCT_ALLOC(L->ptr[L->n], "preconditioner ic0", &L->col));
    return TCT_ALLOC(L->ptr[L->n], "preconditioner ic0", &L->val);
}

/* Row i of L: l_ik = (a_ik - sum_{j < k} l_ij l_kj) / l_kk, by way of `row`, which
 * is 0 before and after. False: the pivot is not positive, or next to nothing. */
static bool find_row(lower *L, int64_t i, double diagonal, double *row)
{
    static const double LEAST = 1e-8; /* of the diagonal */
    double pivot = diagonal;
    const int64_t from = L->ptr[i], to = L->ptr[i + 1];
    for (int64_t k = from; k < to; k++) row[L->col[k]] = L->val[k];
    for (int64_t k = from; k < to; k++) {
        const int32_t c = L->col[k];
        double left = row[c];
        for (int64_t j = L->ptr[c]; j < L->ptr[c + 1]; j++)
            left -= L->val[j] * row[L->col[j]];
        L->val[k] = row[c] = left * L->inverse[c];
        pivot -= row[c] * row[c];
    }
    for (int64_t k = from; k < to; k++) row[L->col[k]] = 0.0;
    L->inverse[i] = 1.0 / sqrt(pivot);
    return pivot > LEAST * diagonal;
}

/* L, `next` and `row` being scratch [n]. The row whose pivot is not positive, or
 * n. */
static int64_t factor(const source *from, double shift, lower *L, int64_t *next,
                      double *row)
{
    for (int64_t i = 0; i < L->n; i++) next[i] = L->ptr[i];
    transpose(from, L, next);
    for (int64_t i = 0; i < L->n; i++) {
        const double d = tct_csr_diagonal(&from->m->A, row_of(from, i));
        if (!find_row(L, i, ldexp(d, -from->exponent) * (1.0 + shift), row))
            return i;
    }
    return L->n;
}

/* With the least shift of 0, 1e-3, 2e-3, 4e-3, ... that leaves all pivots
 * positive; a diagonally dominant matrix is one, so there is an end. */
static tacit_status build(const source *from, lower *L, int64_t *next,
                          double *row)
{
    double shift = 0.0;
    TRY(take_pattern(from, L, next));
    for (;;) {
        const int64_t bad = factor(from, shift, L, next, row);
        if (bad == L->n) break;
        shift = shift > 0.0 ? 2.0 * shift : 1e-3;
        if (!isfinite(shift))
            FAIL(TACIT_INPUT,
                 "preconditioner ic0: row %lld has entries that are too large",
                 (long long)(tct_original(from->m, row_of(from, bad)) + 1));
    }
    if (shift > 0.0)
        tct_log(TCT_NOTE,
                "preconditioner ic0: the diagonal is taken %g times as large, "
                "so that all pivots are positive",
                1.0 + shift);
    return TACIT_OK;
}

/* L of `matrix`, which is A's; nothing in it on failure. */
static tacit_status make(const tacit_operator *A, const tacit_matrix *matrix,
                         lower *L)
{
    const int64_t n = matrix->A.rows;
    const source rows = {matrix, A->order, A->exponent};
    int64_t *next = tct_calloc((size_t)(n + 1) * sizeof *next);
    double *row = tct_calloc((size_t)(n + 1) * sizeof *row);
    *L = (lower){.n = n, .ptr = tct_calloc((size_t)(n + 1) * sizeof *L->ptr)};
    tacit_status status = tct_check_diagonal(matrix, "preconditioner ic0");
    if (status >= 0) status = TCT_ALLOC(n, "preconditioner ic0", &L->inverse);
    if (status >= 0 && !(next && row && L->ptr))
        status =
            tacit_error_set(TACIT_NO_MEMORY, "no memory for a preconditioner");
    if (status >= 0) status = build(&rows, L, next, row);
    TCT_FREE(next, row);
    if (status < 0) free_lower(L);
    return status;
}

static tacit_status ic0_renew(tacit_operator *M, const tacit_matrix *matrix)
{
    lower *old = &((ic0 *)(void *)M)->L, fresh;
    const tacit_status own = make(M->made_for, matrix, &fresh);
    const tacit_status status = tct_agree(M->world, own);
    if (status < 0) {
        if (own >= 0) free_lower(&fresh);
        return status;
    }
    free_lower(old);
    *old = fresh;
    return status;
}

static const tct_operator_ops ic0_ops = {.name = "ic0",
                                         .apply = ic0_apply,
                                         .renew = ic0_renew,
                                         .destroy = ic0_destroy};

tacit_status tct_ic0_create(const tacit_operator *A,
                            const tct_precond_source *from,
                            tacit_operator **out)
{
    if (A->q->device->kind != TCT_KIND_HOST)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner ic0 is for device host: jacobi and amg are for "
             "others, too");
    if (from->matrix->A.rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED, "preconditioner ic0: more than 2^31 rows on a "
                                "rank: take more ranks");
    ic0 *I = tct_calloc(sizeof *I);
    if (!I) FAIL(TACIT_NO_MEMORY, "no memory for a preconditioner");
    tct_precond_begin(&I->base, &ic0_ops, A);
    *out = &I->base;
    return make(A, from->matrix, &I->L);
}
