/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/sell.c - sliced ELL of rows (blocks of 1): see slices.h. */
#include "operator/host/slices.h"

static const tct_block_ops sell_ops = {
    .name = "sell",
    .multiply = tct_slices_multiply,
    .multiply_block = tct_slices_multiply_block,
    .multiply_pass = tct_slices_multiply_pass,
    .magnitude = tct_slices_magnitude,
    .rounded = tct_slices_rounded,
    .destroy = tct_slices_destroy,
};

static double sell_bytes(const tct_local *A, const char **reason)
{
    (void)reason;
    const double bytes = tct_slices_bytes(A, 1);
    return bytes > 0.0 ? bytes : 0.0;
}

static tacit_status sell_create(tct_local *A, tct_team *team, tct_block **out)
{
    return tct_slices_create(A, 1, &sell_ops, team, out);
}

const tct_format tct_format_sell = {
    .about = {"sell", "host",
              "slices of 8 rows; columns as runs, 16-bit offsets or 32 bits; "
              "values as doubles, exact floats or a dictionary",
              false},
    .kind = TCT_KIND_HOST,
    .bytes = sell_bytes,
    .create = sell_create,
    .refill = tct_slices_refill,
    .diagonal = tct_slices_diagonal,
};
