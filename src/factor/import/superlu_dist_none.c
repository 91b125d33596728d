/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/superlu_dist_none.c - SuperLU_DIST's factors in a build without
 * it. */
#include "factor/import/adapters.h"

tacit_status tacit_factor_import_superlu_dist(
    int64_t rows, const void *LU, const void *scale_perm, const void *grid,
    const tacit_factor_options *options, tacit_factor **out)
{
    (void)rows, (void)LU, (void)scale_perm, (void)grid, (void)options;
    (void)out;
    FAIL(TACIT_UNSUPPORTED, "factors of SuperLU_DIST are %s",
         TCT_SUPERLU_DIST_MISSING);
}
