/* SPDX-License-Identifier: BSD-3-Clause
 * operator/product.c - divide the products of the host among its threads: each
 * multiplies its part and its share of (x, y); shares are added in thread
 * order, so that a dot has the same bits every time. */
#include "device/isa.h"
#include "operator/kernels.h"

enum { THREADS_MOST = 1024 };

const tct_kernels *tct_kernels_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return &tct_kernels_avx512;
    if (isa == TCT_ISA_AVX2) return &tct_kernels_avx2;
#endif
    return &tct_kernels_base;
}

/* Rows kept apart have been stored as empty: put in what they are. */
static double long_rows(const tct_slices *S, const double *x, double *y,
                        bool dot)
{
    const tct_csr_rows A = {S->long_ptr, S->long_col, S->long_val};
    const tct_kernels *kernels = tct_kernels_best();
    double share = 0.0;
    for (int64_t r = 0; r < S->long_rows; r++) {
        const tct_csr_rows row = {A.ptr + r, A.col, A.val};
        double sum = 0.0;
        kernels->rows(row, 0, 1, x, &sum, false);
        y[S->long_row[r]] = sum;
        if (dot) share += x[S->long_row[r]] * sum;
    }
    return share;
}

void tct_slices_multiply(const tct_block *block, int threads, const double *x,
                         double *y, double *dot)
{
    (void)threads; /* the parts it was built for */
    const tct_slices *S = (const tct_slices *)(const void *)block;
    const tct_kernels *kernels = tct_kernels_best();
    double share[THREADS_MOST];
    if (S->parts == 1)
        share[0] = kernels->slices(S, 0, S->slices, x, y, dot != NULL);
#pragma omp parallel for schedule(static, 1) num_threads(S->parts) if (S->parts > 1)
    for (int t = 0; t < (S->parts > 1 ? S->parts : 0); t++)
        share[t] = kernels->slices(S, S->split[t], S->split[t + 1], x, y,
                                   dot != NULL);
    const double apart = long_rows(S, x, y, dot != NULL);
    if (!dot) return;
    double total = 0.0;
    for (int t = 0; t < S->parts; t++) total += share[t];
    *dot = total + apart;
}

void tct_slices_multiply_pair(const tct_block *block, int threads,
                              const double *x0, double *y0, const double *x1,
                              double *y1)
{
    (void)threads;
    const tct_slices *S = (const tct_slices *)(const void *)block;
    const tct_kernels *kernels = tct_kernels_best();
#pragma omp parallel for schedule(static, 1) num_threads(S->parts) if (S->parts > 1)
    for (int t = 0; t < S->parts; t++)
        kernels->slices_pair(S, S->split[t], S->split[t + 1], x0, y0, x1, y1);
    long_rows(S, x0, y0, false);
    long_rows(S, x1, y1, false);
}
