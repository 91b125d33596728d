/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nccl.h - link nccl: arguments of its kernels. Exchanges use the
 * device's own pack and unpack. */
#ifndef TCT_COMM_LINK_GPU_NCCL_H
#define TCT_COMM_LINK_GPU_NCCL_H
#include "device/gpu/gpu.h"

enum {
    TCT_NCCL_SLOTS = TCT_SUM_MOST + 1 /* scalars of a sum, and the flags */
};

/* The sums of a queue, in device memory. */
typedef struct tct_nccl_sums {
    int rank, ranks;
    tct_outbox *outbox;
    double *all; /* [ranks * TCT_NCCL_SLOTS] the ranks' parts */
} tct_nccl_sums;

#ifdef __cplusplus
extern "C" {
#endif

/* The doubles that each rank contributes to the sum `op`. */
static inline size_t tct_nccl_slots(const tct_op *op)
{
    return (size_t)(op->count * tct_op_batch(op)) + 1;
}

/* Copy this rank's scalars and flags to its place in S->all. */
void tct_nccl_collect(const tct_nccl_sums *S, const tct_op *op, double flags,
                      const tct_gpu_launch *L);
/* Add up the parts of all ranks, then run the epilogue. */
void tct_nccl_add(const tct_nccl_sums *S, const tct_op *op,
                  const tct_gpu_launch *L);

#ifdef __cplusplus
}
#endif
#endif
