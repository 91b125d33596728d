/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/gpu/fused_coarse.h - the fused coarse levels on a GPU: a
 * block whose product is one kernel (fused_coarse.cu), and the distribution of
 * items to threads (fused_coarse.c). */
#ifndef TCT_PRECOND_AMG_CYCLE_GPU_FUSED_COARSE_H
#define TCT_PRECOND_AMG_CYCLE_GPU_FUSED_COARSE_H
#include "device/gpu/gpu.h"
#include "precond/amg/cycle/fused_coarse.h"

enum { TCT_FUSED_WARPS = 1024 / GPU_WAVE /* of a block */ };

/* In a step the first `warps` warps of each block have items. A warp takes
 * GPU_WAVE / lanes adjacent rows at a time, lanes = 2^shift, or a set, of which it reads
 * as many rows at a time. */
typedef struct tct_gpu_fused {
    tct_gpu_block base; /* first member */
    tacit_queue *q;
    tct_amg_step *step; /* [count] on the device */
    int count, blocks;
    uint64_t *counter; /* of the barrier, then a ticket, on the device; both 0
                   * between kernels */
} tct_gpu_fused;

#ifdef __cplusplus
extern "C" {
#endif
/* See tct_gpu_block_ops; the steps hold the addresses of `x` and `y`. */
void tct_gpu_fused_multiply(const tct_gpu_block *B, const tct_gpu_launch *L,
                            const double *x, double *y);
#ifdef __cplusplus
}
#endif
#endif
