/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/product.h - divides a product of the host among its threads, by
 * chunks of rows. */
#ifndef TCT_OPERATOR_HOST_PRODUCT_H
#define TCT_OPERATOR_HOST_PRODUCT_H
#include "operator/host/kernels.h"

/* Multiply the rows [from, to) of a chunk. */
typedef void (*tct_chunk_fn)(const tct_kernels *kernels, const void *work,
                             int64_t from, int64_t to);

/* Run `fn` on every chunk of `B`; if `dot` is not NULL, *dot = (x, y). */
void tct_product(const tct_block *B, const tct_chunks *c, tct_chunk_fn fn,
                 const void *work, const double *x, const double *y,
                 double *dot);

typedef struct tct_rows_work {
    tct_csr_view A;
    tct_panel x, y;
} tct_rows_work;
void tct_work_rows(const tct_kernels *kernels, const void *work, int64_t from,
                   int64_t to);

#endif
