/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/grid_kernels.h - products with the rows of a grid on the host,
 * compiled once per instruction set. */
#ifndef TCT_OPERATOR_HOST_GRID_KERNELS_H
#define TCT_OPERATOR_HOST_GRID_KERNELS_H
#include "operator/stencil/grid_rows.h"

/* Rows [from, to), at most CHUNK, of y = A x. A row is summed in the order of
 * its columns, as in all formats. */
typedef void tct_grid_kernel(const tct_grid_rows *g, int64_t from, int64_t to,
                             const double *x, double *y);

extern tct_grid_kernel tct_grid_product_base, tct_grid_product_avx2,
    tct_grid_product_avx512;

#endif
