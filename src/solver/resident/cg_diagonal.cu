/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg_diagonal.cu - cg with a preconditioner, which is a
 * diagonal: a unit of its own, since both together take a minute to compile. */
#include "solver/resident/cg.cuh"

extern "C" const void *tct_cg_diagonal(int b, int store, int walk)
{
    return tct_kernel<cg_kernels<true, false>>(b, store, walk);
}
extern "C" const void *tct_cg_peered_diagonal(int b, int store, int walk)
{
    return tct_kernel<cg_kernels<true, true>>(b, store, walk);
}
