/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nccl.h - link nccl: what its kernels are given. What is
 * exchanged the device's own kernels pack and unpack. */
#ifndef TCT_COMM_LINK_GPU_NCCL_H
#define TCT_COMM_LINK_GPU_NCCL_H
#include "device/gpu/gpu.h"

enum {
    TCT_NCCL_SLOTS = TCT_SUM_MOST + 1 /* scalars of a sum, and the flags */
};

/* Sums of a queue; memory of the device. */
typedef struct tct_nccl_sums {
    int rank, ranks;
    tct_outbox *outbox;
    double *all; /* [ranks * TCT_NCCL_SLOTS] what each rank has, side by side */
} tct_nccl_sums;

#ifdef __cplusplus
extern "C" {
#endif

/* What each rank has for the sum `op`. */
static inline size_t tct_nccl_slots(const tct_op *op)
{
    return (size_t)(op->count * tct_op_batch(op)) + 1;
}

/* Put what this rank has, with its flags, into its place of S->all. */
void tct_nccl_collect(const tct_nccl_sums *S, const tct_op *op, double flags,
                      const tct_gpu_launch *L);
/* Add up what all have; the tail at the end. */
void tct_nccl_add(const tct_nccl_sums *S, const tct_op *op,
                  const tct_gpu_launch *L);

#ifdef __cplusplus
}
#endif
#endif
