/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/fix.c - rows that are fixed for a regular matrix.
 *
 * Let S be rows in which the null vectors Z are independent. A + D with a
 * diagonal D that is not 0 in S alone is regular, and for b in the range of A
 * its solution solves A x = b: Z'(A + D) x = Z_S' D_S x_S = Z'b = 0, so that
 * x_S = 0. */
#include "matrix/matrix.h"
#include "operator/null/null_space.h"
#include <math.h>

static const char *const what = "the rows of a null space";

/* --- choice --------------------------------------------------------------- */

/* The first row of a component, on the lowest rank that has rows of it, and all
 * rows of zeros. `N->sum` gets the rank. */
static tacit_status fix_components(tct_null_space *N, tacit_world *w)
{
    if (!N->label) return TACIT_OK;
    for (int64_t c = 0; c < N->components; c++) N->sum[c] = w->size;
    for (int64_t i = 0; i < N->rows; i++)
        if (N->label[i] >= 0) N->sum[N->label[i]] = w->rank;
    TRY(tct_reduce_f64(w, TCT_MIN, (size_t)N->components, N->sum));
    for (int64_t i = 0; i < N->rows; i++) {
        const int64_t c = N->label[i];
        N->fixed[i] = c < -1 || (c >= 0 && N->sum[c] == w->rank);
        if (c >= 0 && N->fixed[i]) N->sum[c] = -1.0; /* one row is enough */
    }
    return TACIT_OK;
}

/* Subtract from `v` its value in the fixed row of each component. */
static tacit_status vanish_there(tct_null_space *N, tacit_world *w, double *v)
{
    if (!N->label) return TACIT_OK;
    for (int64_t c = 0; c < N->components; c++) N->sum[c] = 0.0;
    for (int64_t i = 0; i < N->rows; i++)
        if (N->fixed[i] && N->label[i] >= 0) N->sum[N->label[i]] = v[i];
    TRY(tct_reduce_f64(w, TCT_SUM, (size_t)N->components, N->sum));
    for (int64_t i = 0; i < N->rows; i++)
        if (N->label[i] >= 0) v[i] -= N->sum[N->label[i]];
    return TACIT_OK;
}

/* The largest of v, of all ranks; `*row` is its row on one rank, -1 on
 * others. */
static tacit_status find_largest(tacit_world *w, int64_t n, const double *v,
                                 double *most, int64_t *row)
{
    int64_t mine = -1, owner = w->size;
    *most = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(v[i]) > *most)) continue;
        *most = fabs(v[i]);
        mine = i;
    }
    const double local = *most;
    TRY(tct_reduce_f64(w, TCT_MAX, 1, most));
    if (mine >= 0 && local == *most) owner = w->rank;
    TRY(tct_reduce_i64(w, TCT_MIN, 1, &owner));
    *row = owner == w->rank ? mine : -1;
    return TACIT_OK;
}

/* Eliminate row `row` of the `left` vectors after `v` by `v`. */
static tacit_status eliminate(tct_null_space *N, tacit_world *w, int64_t row,
                              double *v, int left)
{
    double value[TCT_NULL_VECTORS_MOST + 1] = {0.0};
    const int64_t n = N->rows;
    for (int j = 0; row >= 0 && j <= left; j++) value[j] = v[j * n + row];
    TRY(tct_reduce_f64(w, TCT_SUM, (size_t)left + 1, value));
    for (int j = 1; j <= left; j++)
        for (int64_t i = 0; i < n; i++)
            v[j * n + i] -= value[j] / value[0] * v[i];
    return TACIT_OK;
}

/* A row for each of the vectors, by elimination with pivots. */
static tacit_status fix_vectors(tct_null_space *N, tacit_world *w, double *v)
{
    for (int j = 0; j < N->vectors; j++)
        TRY(vanish_there(N, w, v + (int64_t)j * N->rows));
    for (int j = 0; j < N->vectors; j++) {
        double *now = v + (int64_t)j * N->rows, most = 0.0;
        int64_t row = -1;
        TRY(find_largest(w, N->rows, now, &most, &row));
        if (most == 0.0) continue;
        if (row >= 0) N->fixed[row] = true;
        TRY(eliminate(N, w, row, now, N->vectors - 1 - j));
    }
    return TACIT_OK;
}

tacit_status tct_null_choose_rows(tct_null_space *N, tacit_world *w)
{
    const size_t count = (size_t)N->vectors * (size_t)N->rows;
    double *v = NULL;
    for (int64_t i = 0; i < N->rows; i++) N->fixed[i] = false;
    TRY(tct_agree(w, TCT_ALLOC(count, what, &v)));
    if (count > 0) memcpy(v, N->z, count * sizeof *v);
    tacit_status status = fix_components(N, w);
    if (status >= 0) status = fix_vectors(N, w, v);
    tct_free(v);
    return status;
}

/* --- the regular matrix --------------------------------------------------- */

static bool is_fixed(const tct_null_space *N, bool zeros_only, int64_t i)
{
    const bool zeros = N->label && N->label[i] < -1;
    return zeros || (!zeros_only && N->fixed[i]);
}

static bool has_diagonal(const tct_csr *A, int64_t i)
{
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (tct_csr_col(A, k) == A->first + i) return true;
    return false;
}

/* Copy row i to place `to` of B, with `add` on the diagonal, which exists or is
 * put in. Returns the place after it. */
static int64_t copy_row(const tct_csr *A, int64_t i, double add, tct_csr *B,
                        int64_t to)
{
    const int64_t own = A->first + i;
    bool todo = add != 0.0 && !has_diagonal(A, i);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++, to++) {
        if (todo && tct_csr_col(A, k) > own) {
            tct_csr_set_col(B, to, own);
            B->val[to++] = add;
            todo = false;
        }
        tct_csr_set_col(B, to, tct_csr_col(A, k));
        B->val[to] = A->val[k] + (tct_csr_col(A, k) == own ? add : 0.0);
    }
    if (!todo) return to;
    tct_csr_set_col(B, to, own);
    B->val[to] = add;
    return to + 1;
}

/* Added to the diagonal of a fixed row: as much as is there. */
static double added(const tacit_operator *A, const tct_csr *rows, int64_t i)
{
    const double d = tct_csr_diagonal(rows, i);
    if (d != 0.0) return d;
    return A->norm > 0.0 ? ldexp(A->norm, A->exponent) : 1.0;
}

tacit_status tct_null_fix(const tacit_operator *A, const tacit_matrix *m,
                          bool zeros_only, tct_csr *own)
{
    const tct_csr *from = &m->A;
    const tct_null_space *N = A->null;
    int64_t to = 0, more = 0;
    for (int64_t i = 0; i < from->rows; i++)
        more += is_fixed(N, zeros_only, i) && !has_diagonal(from, i);
    TRY(tct_csr_rows(own, from->global_rows, from->global_cols, from->first,
                     from->rows));
    TRY(tct_csr_entries(own, tct_csr_nonzeros(from) + more));
    for (int64_t i = 0; i < from->rows; i++) {
        const bool fixed = is_fixed(N, zeros_only, i);
        to = copy_row(from, i, fixed ? added(A, from, i) : 0.0, own, to);
        own->ptr[i + 1] = to;
    }
    return TACIT_OK;
}

tacit_status tct_null_diagonal(const tacit_operator *A, double *d)
{
    const tct_null_space *N = A->null;
    if (!N || N->zero_rows == 0) return TACIT_OK;
    double *mine = N->scratch;
    q_get(A->q, (size_t)A->n, d, mine);
    for (int64_t k = 0; k < A->n; k++)
        if (N->label[A->order ? A->order->old[k] : k] < -1) mine[k] = 1.0;
    q_put(A->q, (size_t)A->n, mine, d);
    return q_own_status(A->q);
}
