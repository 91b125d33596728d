/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/bsell.c - sliced ELL of dense b x b blocks, b = 2 to 6, found
 * from the pattern: see slices.h. A block has one column index. */
#include "operator/host/slices.h"

static const tct_block_ops bsell_ops = {
    .name = "bsell",
    .multiply = tct_slices_multiply,
    .multiply_block = tct_slices_multiply_block,
    .multiply_pass = tct_slices_multiply_pass,
    .magnitude = tct_slices_magnitude,
    .rounded = tct_slices_rounded,
    .destroy = tct_slices_destroy,
};

/* The block size with the fewest bytes; 0 if none fits. */
int tct_slices_best_block(const tct_local *A)
{
    double bytes = -1.0;
    return tct_best_block(A, &bytes, tct_slices_bytes);
}

static double bsell_bytes(const tct_local *A, const char **reason)
{
    double bytes = -1.0;
    if (A->dense > 0) return tct_slices_bytes(A, A->dense);
    if (!A->dense && tct_best_block(A, &bytes, tct_slices_bytes)) return bytes;
    if (reason) *reason = "no dense blocks of 2 to 6 rows";
    return -1.0;
}

static tacit_status bsell_create(tct_local *A, tct_team *team, tct_block **out)
{
    const int b = A->dense ? A->dense : tct_slices_best_block(A);
    if (b <= 0)
        FAIL(TACIT_UNSUPPORTED,
             "format bsell: the matrix has no dense blocks of 2 to 6 rows");
    return tct_slices_create(A, b, &bsell_ops, team, out);
}

const tct_format tct_format_bsell = {
    .about = {"bsell", "host", "slices of 8 rows of dense 2x2 to 6x6 blocks",
              false},
    .kind = TCT_KIND_HOST,
    .bytes = bsell_bytes,
    .create = bsell_create,
    .refill = tct_slices_refill,
    .diagonal = tct_slices_diagonal,
};
