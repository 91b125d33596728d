/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/sell.c - sliced ELL of rows on a GPU: sell32, plain, with 32-bit
 * columns and doubles, and sell, which saves bytes: layout.h. */
#include "operator/gpu/slices.h"

/* --- sell32 --------------------------------------------------------------- */

static const tct_block_ops sell32_ops = {.name = "sell32",
                                         .rounded = tct_gpu_slices_rounded,
                                         .destroy = tct_gpu_slices_destroy};

static const char *sell32_store(const tct_local *A)
{
    return A->store ? A->store : "f64";
}

static double sell32_bytes(const tct_local *A, const char **reason)
{
    return tct_gpu_slices_bytes(A, 1, GPU_ONLY_FAR, sell32_store(A), reason);
}

static tacit_status sell32_create(tct_local *A, tct_team *team, tct_block **out)
{
    (void)team;
    return tct_gpu_slices_create(A, 1, GPU_ONLY_FAR, sell32_store(A),
                                 &sell32_ops, out);
}

const tct_format tct_format_gpu_sell32 = {
    .about = {"sell32", "cuda",
              "slices of 32 rows; 32-bit columns, values as doubles", false},
    .kind = TCT_KIND_GPU,
    .bytes = sell32_bytes,
    .create = sell32_create,
    .refill = tct_gpu_slices_refill,
};

/* --- sell ----------------------------------------------------------------- */

static const tct_block_ops sell_ops = {.name = "sell",
                                       .rounded = tct_gpu_slices_rounded,
                                       .destroy = tct_gpu_slices_destroy};

static double sell_bytes(const tct_local *A, const char **reason)
{
    return tct_gpu_slices_bytes(A, 1, GPU_ANY_KIND, A->store, reason);
}

static tacit_status sell_create(tct_local *A, tct_team *team, tct_block **out)
{
    (void)team;
    return tct_gpu_slices_create(A, 1, GPU_ANY_KIND, A->store, &sell_ops, out);
}

tacit_status tct_gpu_sell_of_rows(const struct tct_store_rows *R, bool floats,
                                  tct_block **out)
{
    return tct_gpu_slices_of_rows(R, 1, GPU_ANY_KIND, floats ? "f32" : "f64",
                                  &sell_ops, out);
}

const tct_format tct_format_gpu_sell = {
    .about = {"sell", "cuda",
              "slices of 32 rows; columns as runs, 16-bit offsets or 32 bits; "
              "values as doubles, exact floats or a dictionary",
              true},
    .kind = TCT_KIND_GPU,
    .bytes = sell_bytes,
    .create = sell_create,
    .refill = tct_gpu_slices_refill,
};
