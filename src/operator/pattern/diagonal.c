/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/diagonal.c - the diagonal of a rank's own rows. */
#include "operator/format.h"

/* Columns of a row ascend. */
static double diagonal_of(const tct_local *A, int64_t i)
{
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (A->col[mid] < i) low = mid + 1;
        else high = mid;
    }
    return low < A->ptr[i + 1] && A->col[low] == i ? A->val[low] : 0.0;
}

void tct_local_diagonal(const tct_local *A, double *d)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < A->rows; i++) d[i] = diagonal_of(A, i);
}
