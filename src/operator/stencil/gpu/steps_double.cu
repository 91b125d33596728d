/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/steps_double.cu - kernels of grids of doubles. The intrinsics
 * are never fused: results have the bits of the host. */
#define TCT_REAL           double
#define TCT_ADD(a, b)      __dadd_rn((a), (b))
#define TCT_MUL(a, b)      __dmul_rn((a), (b))
#define TCT_FMA(a, b, sum) __fma_rn((a), (b), (sum))
#include "operator/stencil/gpu/boxes.cuh"
#include "operator/stencil/gpu/visit.cuh"

extern "C" const tct_step_kernels tct_step_kernels_double = {
    TCT_HOST(fill), TCT_HOST(step), TCT_HOST(boxes), TCT_HOST(visit),
    TCT_HOST(change)};
