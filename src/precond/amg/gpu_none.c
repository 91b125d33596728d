/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/gpu_none.c - multigrid's device functions in a build without
 * CUDA: none. */
#include "precond/amg/cycle/fused_coarse.h"
#include "precond/amg/device/setup_kernels.h"

const tct_amg_kernels *tct_amg_kernels_on(const tacit_queue *q)
{
    (void)q;
    return NULL;
}

const tct_amg_fused_kernels *tct_amg_fused_on(const tacit_queue *q)
{
    (void)q;
    return NULL;
}
