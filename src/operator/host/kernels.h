/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/kernels.h - the inner loops of the host's products, one table per
 * instruction set. */
#ifndef TCT_KERNELS_H
#define TCT_KERNELS_H
#include "operator/host/slices.h"

typedef struct tct_csr_rows { /* compressed rows, local columns */
    const int64_t *ptr;
    const int32_t *col;
    const double *val;
} tct_csr_rows;

typedef struct tct_kernels {
    /* Chunk `chunk` of y = B x; rows kept apart become 0. */
    void (*slices)(const tct_slices *B, int64_t chunk, const double *x,
                   double *y);
    void (*slices_pair)(const tct_slices *B, int64_t chunk, const double *x0,
                        double *y0, const double *x1, double *y1);
    /* Rows [from, to) of y = A x. */
    void (*rows)(tct_csr_rows A, int64_t from, int64_t to, const double *x,
                 double *y);
    void (*rows_pair)(tct_csr_rows A, int64_t from, int64_t to,
                      const double *x0, double *y0, const double *x1,
                      double *y1);
    /* (x, y) of n elements, always in the same order. */
    double (*dot)(int64_t n, const double *x, const double *y);
} tct_kernels;

extern const tct_kernels tct_kernels_base, tct_kernels_avx2, tct_kernels_avx512;

/* Those for this processor. */
const tct_kernels *tct_kernels_best(void);

#endif
