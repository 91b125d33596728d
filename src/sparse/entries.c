/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/entries.c - what may be done to rows once they are there, whatever
 * they came from: a multiple of the identity added, zeros forgotten. */
#include "device/parallel.h"
#include "sparse/csr.h"
#include <math.h>

/* The position of the diagonal of local row `i`, or where it would be inserted:
 * the first entry not left of it. */
static int64_t place_of_diagonal(const tct_csr *A, int64_t i)
{
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (tct_csr_col(A, mid) < A->first + i) low = mid + 1;
        else high = mid;
    }
    return low;
}

static bool has_diagonal(const tct_csr *A, int64_t i, int64_t place)
{
    return place < A->ptr[i + 1] && tct_csr_col(A, place) == A->first + i;
}

/* Insert a zero diagonal entry in each row that lacks one. */
static tacit_status complete_diagonal(tct_csr *A, int64_t missing)
{
    tct_csr B = {0};
    TRY(tct_csr_rows(&B, A->global_rows, A->global_cols, A->first, A->rows));
    const tacit_status status =
        tct_csr_entries(&B, tct_csr_nonzeros(A) + missing);
    if (status < 0) {
        tct_csr_clear(&B);
        return status;
    }
    int64_t to = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t place = place_of_diagonal(A, i);
        const bool lacks = !has_diagonal(A, i, place);
        for (int64_t k = A->ptr[i]; k <= A->ptr[i + 1]; k++) {
            if (k == place && lacks) {
                tct_csr_set_col(&B, to, A->first + i);
                B.val[to++] = 0;
            }
            if (k == A->ptr[i + 1]) break;
            tct_csr_set_col(&B, to, tct_csr_col(A, k));
            B.val[to++] = A->val[k];
        }
        B.ptr[i + 1] = to;
    }
    tct_csr_clear(A);
    *A = B;
    return TACIT_OK;
}

static int64_t count_missing(const void *work, int64_t from, int64_t to)
{
    const tct_csr *A = work;
    int64_t missing = 0;
    for (int64_t i = from; i < to; i++)
        missing += !has_diagonal(A, i, place_of_diagonal(A, i));
    return missing;
}

typedef struct {
    const tct_csr *A;
    double shift;
} shifting;

/* The first row whose diagonal is too large then. */
static int64_t shift_rows(const void *work, int64_t from, int64_t to)
{
    const shifting *s = work;
    int64_t bad = INT64_MAX;
    for (int64_t i = from; i < to; i++) {
        double *d = &s->A->val[place_of_diagonal(s->A, i)];
        *d += s->shift;
        if (!isfinite(*d) && i < bad) bad = i;
    }
    return bad;
}

tacit_status tct_csr_shift(tct_csr *A, double shift, const char *where)
{
    ENSURE(A != NULL && A->ptr != NULL && isfinite(shift));
    ENSURE(A->global_rows == A->global_cols);
    const int64_t missing =
        tct_parallel_sum(A->rows, TCT_SHORT, count_missing, A);
    if (missing > 0) TRY(complete_diagonal(A, missing));
    const int64_t bad =
        tct_parallel_min(A->rows, TCT_SHORT, shift_rows, &(shifting){A, shift});
    if (bad == INT64_MAX) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: the diagonal of row %lld is too large to add "
         "%g to it",
         where, (long long)(A->first + bad + 1), shift);
}

static int64_t count_zeros(const void *work, int64_t from, int64_t to)
{
    const double *val = work;
    int64_t zeros = 0;
    for (int64_t k = from; k < to; k++) zeros += val[k] == 0;
    return zeros;
}

int64_t tct_csr_count_zeros(const tct_csr *A)
{
    return tct_parallel_sum(tct_csr_nonzeros(A), 10 * TCT_SHORT, count_zeros,
                            A->val);
}

void tct_csr_drop_zeros(tct_csr *A)
{
    if (tct_csr_count_zeros(A) == 0) return;
    int64_t to = 0, k = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (; k < A->ptr[i + 1]; k++) {
            if (A->val[k] == 0) continue;
            tct_csr_set_col(A, to, tct_csr_col(A, k));
            A->val[to++] = A->val[k];
        }
        A->ptr[i + 1] = to;
    }
}
