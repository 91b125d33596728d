/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg_peered.cu - cg on several GPUs. */
#include "solver/resident/cg.cuh"

extern "C" const void *tct_cg_peered(int b, int store, int walk)
{
    return tct_kernel<cg_kernels<false, true>>(b, store, walk);
}
extern "C" const void *tct_cg_peered_diagonal(int b, int store, int walk)
{
    return tct_kernel<cg_kernels<true, true>>(b, store, walk);
}
