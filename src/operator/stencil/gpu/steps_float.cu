/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/steps_float.cu - kernels of grids of floats. The intrinsics
 * are never fused: results have the bits of the host. */
#define TCT_REAL           float
#define TCT_ADD(a, b)      __fadd_rn((a), (b))
#define TCT_MUL(a, b)      __fmul_rn((a), (b))
#define TCT_FMA(a, b, sum) __fmaf_rn((a), (b), (sum))
#include "operator/stencil/gpu/boxes.cuh"
#include "operator/stencil/gpu/visit.cuh"

extern "C" const tct_step_kernels tct_step_kernels_float = {
    TCT_HOST(fill), TCT_HOST(step), TCT_HOST(boxes), TCT_HOST(visit),
    TCT_HOST(change)};
