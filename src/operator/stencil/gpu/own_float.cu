/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_float.cu - kernels that stay, of grids of floats. The
 * intrinsics are never fused: results have the bits of the host. */
#define TCT_REAL           float
#define TCT_ADD(a, b)      __fadd_rn((a), (b))
#define TCT_MUL(a, b)      __fmul_rn((a), (b))
#define TCT_FMA(a, b, sum) __fmaf_rn((a), (b), (sum))
#define TCT_CELLS_ONLY
#include "operator/stencil/gpu/own_cached.cuh"
#include "operator/stencil/gpu/own_chip.cuh"
#include "operator/stencil/gpu/own_free.cuh"
#include "operator/stencil/gpu/own_kept.cuh"

extern "C" const tct_own_kernels tct_own_kernels_float = {
    TCT_HOST(find_free), TCT_HOST(find_cached),
    OWN_WIDTH,           sizeof(tct_own_block) + sizeof(tct_own_place),
    TCT_HOST(find_chip), TCT_HOST(find_kept),
    FREE_WIDTH,          FREE_V};
