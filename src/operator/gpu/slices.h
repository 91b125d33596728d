/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices.h - sliced ELL on a GPU: blocks stored as in layout.h,
 * for sell32, sell and bsell. */
#ifndef TCT_OPERATOR_GPU_SLICES_H
#define TCT_OPERATOR_GPU_SLICES_H
#include "device/gpu/gpu.h"
#include "operator/format.h"
#include "operator/layout/layout.h"
#include "operator/layout/slices_build.h"

typedef struct tct_gpu_slices {
    tct_gpu_block base; /* first member */
    tct_gpu_arrays d;   /* device       */
    uint64_t pattern;   /* hash of the pattern, compared by a refill */
    tct_gpu_kinds kinds;
    char store[16]; /* as asked for */
    bool lossy;
} tct_gpu_slices;

/* --- gpu/slices.c --------------------------------------------------------- */

/* Build it on the host, copy it to the device. `A` stays as it is.
 * Errors      UNSUPPORTED, NO_MEMORY (host or device), DEVICE. */
tacit_status tct_gpu_slices_create(const tct_local *A, int b,
                                   tct_gpu_kinds kinds, const char *store,
                                   const tct_block_ops *ops, tct_block **out);
/* The same on the device, of rows in its memory. */
struct tct_store_rows;
tacit_status tct_gpu_slices_of_rows(const struct tct_store_rows *R, int b,
                                    tct_gpu_kinds kinds, const char *store,
                                    const tct_block_ops *ops, tct_block **out);
void tct_gpu_slices_destroy(tct_block *block);

/* New values, same pattern. Errors INVALID, NO_MEMORY, DEVICE. A lossless store
 * that cannot hold the new values is replaced. */
tacit_status tct_gpu_slices_refill(tct_block *block, const tct_local *A);

/* As `rounded` of tct_block_ops, for doubles without rows kept apart. */
tacit_status tct_gpu_slices_rounded(const tct_block *block, tacit_queue *q,
                                    tct_block **out);

/* The share of a matrix of `bytes` to keep in an L2 of `l2` bytes between
 * products; vectors need the rest. (Measured on an H200 with 42 to 57 MB: 0.4
 * beats 0, 0.65 and more by 7 to 20 %.) */
static inline float tct_l2_share(double bytes, size_t l2)
{
    const double share = bytes > 0.0 ? 0.4 * (double)l2 / bytes : 1.0;
    return share >= 1.0 ? 1.0f : share > 0.05 ? (float)share : 0.0f;
}

/* --- gpu/sell.c, gpu/bsell.c ---------------------------------------------- */

/* Slices of rows on the device, and of dense b x b blocks of them; `floats`:
 * values are floats. */
tacit_status tct_gpu_sell_of_rows(const struct tct_store_rows *R, bool floats,
                                  tct_block **out);
tacit_status tct_gpu_bsell_of_rows(const struct tct_store_rows *R, int b,
                                   bool floats, tct_block **out);

/* --- gpu/slices.cu -------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif
extern const tct_gpu_block_ops tct_gpu_slices_ops;

/* --- gpu/fused_epilogue.cu ------------------------------------------------ */

/* Does it have a kernel of MULTIPLY_PASS? The launch. */
bool tct_gpu_takes_pass(const tct_gpu_slices *S);
void tct_gpu_multiply_pass(const tct_gpu_slices *S, const tct_gpu_launch *L,
                           const tct_op *op);

/* --- gpu/columns.cu ------------------------------------------------------- */

/* The most columns of one pass; 2 or less: use the kernels of two vectors. */
int tct_gpu_columns_most(const tct_gpu_slices *S);
/* Y = B X in one pass, 3 to that many columns, with L's epilogue. */
void tct_gpu_columns(const tct_gpu_slices *S, const tct_gpu_launch *L,
                     const tct_panel *X, const tct_panel *Y);
#ifdef __cplusplus
}
#endif

#endif
