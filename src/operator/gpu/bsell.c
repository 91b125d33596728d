/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/bsell.c - sliced ELL of dense b x b blocks, b = 2 to 6, on a
 * GPU: layout.h. A block has one column index. */
#include "operator/gpu/slices.h"

static const char *const no_blocks =
    "no dense blocks of 2 to 6 rows that take fewer bytes than rows do";

static const tct_block_ops bsell_ops = {.name = "bsell",
                                        .rounded = tct_gpu_slices_rounded,
                                        .destroy = tct_gpu_slices_destroy};

static double bsell_bytes(const tct_local *A, const char **reason)
{
    const int b = tct_gpu_best_block(A);
    if (b) return tct_gpu_slices_bytes(A, b, GPU_ANY_KIND, A->store, reason);
    if (reason) *reason = no_blocks;
    return -1.0;
}

static tacit_status bsell_create(tct_local *A, tct_team *team, tct_block **out)
{
    (void)team;
    const int b = A->dense > 0 ? A->dense : tct_gpu_best_block(A);
    if (!b) FAIL(TACIT_UNSUPPORTED, "format bsell: %s", no_blocks);
    return tct_gpu_slices_create(A, b, GPU_ANY_KIND, A->store, &bsell_ops, out);
}

tacit_status tct_gpu_bsell_of_rows(const struct tct_store_rows *R, int b,
                                   bool floats, tct_block **out)
{
    return tct_gpu_slices_of_rows(R, b, GPU_ANY_KIND, floats ? "f32" : "f64",
                                  &bsell_ops, out);
}

const tct_format tct_format_gpu_bsell = {
    .about = {"bsell", "cuda", "slices of 32 rows of dense 2x2 to 6x6 blocks",
              true},
    .kind = TCT_KIND_GPU,
    .bytes = bsell_bytes,
    .create = bsell_create,
    .refill = tct_gpu_slices_refill,
};
