/* SPDX-License-Identifier: BSD-3-Clause
 * factor/entries.c - the entries of a matrix by rows, each with its transposed
 * entry. */
#include "factor/factor.h"
#include <math.h>

static const char *const what = "the entries of a factor's matrix";

void tct_entries_close(tct_entries *E)
{
    TCT_FREE(E->own[0], E->own[1], E->own[2], E->own[3]);
    *E = (tct_entries){.rows = 0};
}

/* A' */
typedef struct {
    int64_t *ptr;
    int32_t *col;
    double *val;
} transposed;

static tacit_status transpose(const tct_csr *A, transposed *T)
{
    const int64_t n = A->rows;
    TRY(TCT_ALLOC(n + 2, what, &T->ptr));
    TRY(TCT_ALLOC(A->ptr[n], what, &T->col));
    TRY(TCT_ALLOC(A->ptr[n], what, &T->val));
    int64_t *next = T->ptr + 1;
    memset(T->ptr, 0, (size_t)(n + 2) * sizeof *T->ptr);
    for (int64_t k = 0; k < A->ptr[n]; k++) next[A->col32[k] + 1]++;
    for (int64_t j = 0; j < n; j++) next[j + 1] += next[j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t at = next[A->col32[k]]++;
            T->col[at] = (int32_t)i;
            T->val[at] = A->val[k];
        }
    return TACIT_OK;
}

/* Merge row i of A and A'; returns the number of columns. Outputs may all be
 * NULL. */
static int64_t merge(const tct_csr *A, const transposed *T, int64_t i,
                     int32_t *col, double *value, double *mirror)
{
    int64_t k = A->ptr[i], t = T->ptr[i], count = 0;
    const int64_t end = A->ptr[i + 1], last = T->ptr[i + 1];
    for (; k < end || t < last; count++) {
        const int32_t a = k < end ? A->col32[k] : INT32_MAX,
                      b = t < last ? T->col[t] : INT32_MAX;
        const double x = a <= b ? A->val[k] : 0.0, y = b <= a ? T->val[t] : 0.0;
        if (col) {
            col[count] = a < b ? a : b;
            value[count] = x;
            mirror[count] = y;
        }
        k += a <= b;
        t += b <= a;
    }
    return count;
}

static tacit_status unite(const tct_csr *A, const transposed *T, tct_entries *E)
{
    const int64_t n = A->rows;
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    double *value = NULL, *mirror = NULL;
    TRY(TCT_ALLOC(n + 1, what, &ptr));
    E->ptr = E->own[0] = ptr;
    ptr[0] = 0;
    for (int64_t i = 0; i < n; i++)
        ptr[i + 1] = ptr[i] + merge(A, T, i, NULL, NULL, NULL);
    TRY(TCT_ALLOC(ptr[n], what, &col));
    E->col = E->own[1] = col;
    TRY(TCT_ALLOC(ptr[n], what, &value));
    E->value = E->own[2] = value;
    TRY(TCT_ALLOC(ptr[n], what, &mirror));
    E->mirror = E->own[3] = mirror;
    for (int64_t i = 0; i < n; i++)
        merge(A, T, i, col + ptr[i], value + ptr[i], mirror + ptr[i]);
    E->added = ptr[n] - A->ptr[n];
    return TACIT_OK;
}

tacit_status tct_entries_open(const tct_csr *A, bool symmetric,
                              tct_entries *out)
{
    *out = (tct_entries){.rows = A->rows};
    if (symmetric) {
        out->ptr = A->ptr;
        out->col = A->col32;
        out->value = out->mirror = A->val;
        return TACIT_OK;
    }
    transposed T = {.ptr = NULL};
    tacit_status status = tct_memory_require(
        40.0 * (double)tct_csr_nonzeros(A) + 16.0 * (double)A->rows, what);
    if (status >= 0) status = transpose(A, &T);
    if (status >= 0) status = unite(A, &T, out);
    TCT_FREE(T.ptr, T.col, T.val);
    return status;
}

/* --- permuted and scaled -------------------------------------------------- */

static void take_matched(const tct_csr *A, int exponent, const tct_matching *m,
                         tct_csr *to)
{
    to->ptr[0] = 0;
    for (int64_t j = 0, at = 0; j < A->rows; j++) {
        const int64_t i = m->row[j];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++, at++) {
            to->col32[at] = A->col32[k];
            to->val[at] = ldexp(A->val[k], -exponent) * m->row_scale[i] *
                          m->col_scale[A->col32[k]];
        }
        to->ptr[j + 1] = at;
    }
}

tacit_status tct_entries_matched(const tct_csr *A, int exponent,
                                 const tct_matching *match, tct_entries *out)
{
    tct_csr own = {.rows = A->rows};
    *out = (tct_entries){.rows = A->rows};
    tacit_status status = TCT_ALLOC(A->rows + 1, what, &own.ptr);
    if (status >= 0) status = TCT_ALLOC(A->ptr[A->rows], what, &own.col32);
    if (status >= 0) status = TCT_ALLOC(A->ptr[A->rows], what, &own.val);
    if (status >= 0) {
        take_matched(A, exponent, match, &own);
        status = tct_entries_open(&own, false, out);
    }
    TCT_FREE(own.ptr, own.col32, own.val);
    return status;
}

/* --- powers of two -------------------------------------------------------- */

static tacit_status own_values(tct_entries *E)
{
    double *val = NULL;
    TRY(TCT_ALLOC(E->ptr[E->rows], what, &val));
    memcpy(val, E->value, (size_t)E->ptr[E->rows] * sizeof *val);
    E->value = E->mirror = E->own[2] = val;
    return TACIT_OK;
}

tacit_status tct_entries_scale(tct_entries *E, int exponent)
{
    if (exponent == 0) return TACIT_OK;
    if (!E->own[2]) TRY(own_values(E));
    for (int side = 2; side < 4; side++) {
        double *val = E->own[side];
        for (int64_t k = 0; val && k < E->ptr[E->rows]; k++)
            val[k] = ldexp(val[k], -exponent);
    }
    E->exponent = exponent;
    return TACIT_OK;
}
