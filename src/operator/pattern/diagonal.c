/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/diagonal.c - the diagonal of a rank's own rows. */
#include "device/parallel.h"
#include "operator/format.h"

/* Columns of a row ascend. The search has no branch that depends on them. */
static double diagonal_of(const tct_local *A, int64_t i)
{
    const int64_t n = A->ptr[i + 1] - A->ptr[i];
    const int32_t *col = A->col + A->ptr[i], *from = col;
    for (int64_t left = n; left > 1;) {
        const int64_t half = left / 2;
        from += from[half] <= i ? half : 0;
        left -= half;
    }
    return n > 0 && *from == i ? A->val[from - A->col] : 0.0;
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
