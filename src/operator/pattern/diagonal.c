/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/diagonal.c - the diagonal of a rank's own rows. */
#include "device/parallel.h"
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

typedef struct {
    const tct_local *A;
    double *d;
} diagonal;

static void find_rows(void *work, int64_t from, int64_t to)
{
    const diagonal *w = work;
    for (int64_t i = from; i < to; i++) w->d[i] = diagonal_of(w->A, i);
}

void tct_local_diagonal(const tct_local *A, double *d)
{
    tct_parallel(A->rows, TCT_SHORT, find_rows, &(diagonal){A, d});
}
