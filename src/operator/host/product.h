/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/product.h - divides a product of the host among its threads, by
 * chunks of rows. */
#ifndef TCT_OPERATOR_HOST_PRODUCT_H
#define TCT_OPERATOR_HOST_PRODUCT_H
#include "device/host_vector.h"
#include "operator/host/kernels.h"

/* Multiply the rows [from, to) of a chunk. */
typedef void (*tct_chunk_fn)(const tct_kernels *kernels, const void *work,
                             int64_t from, int64_t to);

/* Run `fn` on every chunk of `B`; if `dot` is not NULL, *dot = (x, y). */
void tct_product(const tct_block *B, const tct_chunks *c, tct_chunk_fn fn,
                 const void *work, const double *x, const double *y,
                 double *dot);

/* Multiply rows [from, to) of a chunk by each column. */
typedef void (*tct_columns_fn)(const tct_kernels *kernels, const tct_block *B,
                               int64_t from, int64_t to, const tct_panel *x,
                               const tct_panel *y);

/* multiply_pass of tct_block_ops, for any block that is multiplied by chunks. */
void tct_product_pass(const tct_block *B, const tct_chunks *c,
                      tct_columns_fn fn, const tct_op *op,
                      tct_host_range range);

typedef struct tct_rows_work {
    tct_csr_view A;
    tct_panel x, y;
} tct_rows_work;
void tct_work_rows(const tct_kernels *kernels, const void *work, int64_t from,
                   int64_t to);

#endif
