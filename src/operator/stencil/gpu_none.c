/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu_none.c - a build without CUDA has no steps on a
 * device. */
#include "operator/stencil/own_steps.h"

const tct_own_steps *tct_own_steps_on(const tacit_queue *q)
{
    (void)q;
    return NULL;
}

const tct_device_steps *tct_device_steps_on(const tacit_queue *q)
{
    (void)q;
    return NULL;
}
