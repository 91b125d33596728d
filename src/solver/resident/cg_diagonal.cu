/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg_diagonal.cu - cg with a preconditioner on one GPU. */
#include "solver/resident/cg.cuh"

extern "C" const void *tct_cg_diagonal(int b, int store, int walk)
{
    return tct_kernel<cg_kernels<true, false>>(b, store, walk);
}
