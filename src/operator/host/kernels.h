/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/kernels.h - the inner loops of the host's products, one table
 * per instruction set. */
#ifndef TCT_OPERATOR_HOST_KERNELS_H
#define TCT_OPERATOR_HOST_KERNELS_H
#include "operator/host/slices.h"

typedef struct tct_csr_view { /* compressed rows, local columns */
    const int64_t *ptr;
    const int32_t *col;
    const double *val;
    /* [rows] how many rows from each on have the same columns, at most
     * TCT_SAME_ROWS_MOST; NULL: few have */
    const uint8_t *alike;
} tct_csr_view;
enum { TCT_SAME_ROWS_MOST = 4 };

typedef struct tct_kernels {
    /* Chunk `chunk` of y = B x; rows kept apart become 0. */
    void (*slices)(const tct_slices *B, int64_t chunk, const double *x,
                   double *y);
    /* The same of 2 or 4 vectors at once. */
    void (*slices_some)(const tct_slices *B, int64_t chunk, int vectors,
                        const double *const *x, double *const *y);
    /* The same of |B|. */
    void (*slices_magnitude)(const tct_slices *B, int64_t chunk,
                             const double *x, double *y);
    /* Rows [from, to) of y = A x. */
    void (*rows)(tct_csr_view A, int64_t from, int64_t to, const double *x,
                 double *y);
    void (*rows_some)(tct_csr_view A, int64_t from, int64_t to, int vectors,
                      const double *const *x, double *const *y);
    /* Rows [from, to) of y = |A| x. */
    void (*rows_magnitude)(tct_csr_view A, int64_t from, int64_t to,
                           const double *x, double *y);
    /* (x, y) of n elements, always in the same order. */
    double (*dot)(int64_t n, const double *x, const double *y);
} tct_kernels;

extern const tct_kernels tct_kernels_base, tct_kernels_avx2, tct_kernels_avx512;

/* The table for this processor. */
const tct_kernels *tct_kernels_best(void);

#endif
