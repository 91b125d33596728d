/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/entries.c - changes to assembled rows: a shift of the diagonal,
 * removal of stored zeros. */
#include "sparse/csr.h"
#include "sparse/parallel.h"
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

tacit_status tct_csr_shift(tct_csr *A, double shift, const char *where)
{
    REQUIRE(A != NULL && A->ptr != NULL && isfinite(shift));
    REQUIRE(A->global_rows == A->global_cols);
    int64_t missing = 0, bad = A->rows;
    TCT_OMP(omp parallel for schedule(static) reduction(+ : missing))
    for (int64_t i = 0; i < A->rows; i++)
        missing += !has_diagonal(A, i, place_of_diagonal(A, i));
    if (missing > 0) TRY(complete_diagonal(A, missing));
    TCT_OMP(omp parallel for schedule(static) reduction(min : bad))
    for (int64_t i = 0; i < A->rows; i++) {
        double *d = &A->val[place_of_diagonal(A, i)];
        *d += shift;
        if (!isfinite(*d) && i < bad) bad = i;
    }
    if (bad == A->rows) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: the diagonal of row %lld (counting from 1) is too large to add "
         "%g to it",
         where, (long long)(A->first + bad + 1), shift);
}

int64_t tct_csr_count_zeros(const tct_csr *A)
{
    const int64_t n = tct_csr_nonzeros(A);
    int64_t zeros = 0;
    TCT_OMP(omp parallel for schedule(static) reduction(+ : zeros))
    for (int64_t k = 0; k < n; k++) zeros += A->val[k] == 0;
    return zeros;
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
