/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/gpu_none.c - set-up on a device in a build without CUDA: the host
 * does it. */
#include "precond/amg/kernels.h"

const tct_amg_kernels *tct_amg_kernels_on(const tacit_queue *q)
{
    (void)q;
    return NULL;
}
