/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/ghost.h - the ghost block on a GPU: the rows of host/ghost.c, a
 * thread each. */
#ifndef TCT_OPERATOR_GPU_GHOST_H
#define TCT_OPERATOR_GPU_GHOST_H
#include "device/gpu/gpu.h"

/* The arrays; pointers into device memory. Kernels get a copy of it. */
typedef struct tct_gpu_ghost_arrays {
    int64_t rows;
    const int32_t *row; /* [rows]     */
    const int64_t *ptr; /* [rows + 1] */
    const int32_t *col; /* [nonzeros] */
    double *val;        /* [nonzeros] */
} tct_gpu_ghost_arrays;

typedef struct tct_gpu_ghost {
    tct_gpu_block base;
    tct_gpu_ghost_arrays d;
} tct_gpu_ghost;

#ifdef __cplusplus
extern "C" {
#endif
extern const tct_gpu_block_ops tct_gpu_ghost_ops; /* gpu/ghost.cu */
#ifdef __cplusplus
}
#endif

#endif
