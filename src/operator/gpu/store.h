/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/store.h - rows in a GPU's memory, and slices made from them
 * there. */
#ifndef TCT_OPERATOR_GPU_STORE_H
#define TCT_OPERATOR_GPU_STORE_H
#include "device/gpu/gpu.h"
#include "device/staged_copy.h"
#include "operator/layout/store_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- store.c -------------------------------------------------------------- */

/* Bytes of rows that are worth the ring's pinned memory: fewer are copied by the
 * driver. */
enum { TCT_GPU_STAGED = 96 << 20 };

extern const tct_store_kernels tct_gpu_store_kernels;

/* Copy the rows of `A` through the ring to the memory of `R`.
 * Errors      NO_MEMORY (pinned), DEVICE. */
tacit_status tct_gpu_rows_send(tacit_queue *q, const tct_local *A,
                               tct_store_rows *R);

/* --- store.cu ------------------------------------------------------------- */

/* A task for each index below `n`. */
void tct_gpu_store_each(tacit_queue *q, tct_store_task task, int64_t n,
                        const tct_store_work *g);

/* Load these kernels for rows; for dense blocks; those of products of rows:
 * slices.cu. The driver does it on first use otherwise. */
void tct_gpu_store_load(void);
void tct_gpu_store_load_blocks(void);
void tct_gpu_slices_load(void);

#ifdef __cplusplus
}
#endif
#endif
