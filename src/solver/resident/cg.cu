/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg.cu - cg without a preconditioner, and what there is of
 * cg. */
#include "solver/resident/cg.cuh"

static constexpr tct_resident_kernel plain = {
    TCT_HOST(&tct_method_cg),
    3,
    3,
    false,
    -1,
    0,
    {0, 2, TCT_IS_X, TCT_IS_DIAGONAL, 1},
    1,
    TCT_HOST(tct_kernel<cg_kernels<false, false>>),
    TCT_HOST(tct_kernel<cg_kernels<false, true>>)};
extern "C" const tct_resident_kernel tct_resident_cg[2] = {
    plain, tct_with_m(plain, 4, 0, TCT_HOST(tct_cg_diagonal),
                      TCT_HOST(tct_cg_peered_diagonal))};
