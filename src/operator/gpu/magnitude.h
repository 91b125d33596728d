/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/magnitude.h - |A| |x| on a GPU, for the backward error of a
 * solution: once a solve, not in its loop. Only with a GPU (magnitude.cu). */
#ifndef TCT_OPERATOR_GPU_MAGNITUDE_H
#define TCT_OPERATOR_GPU_MAGNITUDE_H
#include "device/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue y = |B| |x|, for a block with `magnitude`. */
void tct_gpu_magnitude(tacit_queue *q, const tct_block *B, const double *x,
                       double *y);
/* Enqueue y += |G| |g| for the ghost block G. */
void tct_gpu_add_magnitude(tacit_queue *q, const tct_block *G, const double *g,
                           double *y);

#ifdef __cplusplus
}
#endif
#endif
