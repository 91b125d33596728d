/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/solve.cu - both triangular solves in one kernel, for
 * grids of one GPU. */
#include "trisolve/gpu/kernels/tasks.cuh"

template <int TILES, bool SHARED>
static __global__ void __launch_bounds__(TCT_SOLVE_THREADS, TILES == 0 ? 4 : 2)
    solve_kernel(const __grid_constant__ tct_tri_job J)
{
    d_solve<TILES, SHARED>(J);
}

/* --- which one ------------------------------------------------------------ */

typedef void (*kernel)(const tct_tri_job);

template <bool SHARED> static kernel kernel_for(int columns)
{
    switch (tct_tri_stride(columns)) {
    case 1: return solve_kernel<0, SHARED>;
    case TCT_SOLVE_TILE: return solve_kernel<1, SHARED>;
    case 4 * TCT_SOLVE_TILE: return solve_kernel<4, SHARED>;
    default: return solve_kernel<TCT_SOLVE_TILES, SHARED>;
    }
}

gpu_error tct_tri_occupancy(int columns, int *blocks)
{
    return gpu_occupancy(blocks, kernel_for<false>(columns), TCT_SOLVE_THREADS,
                         0);
}

gpu_error tct_tri_launch(const tct_tri_job *job, int blocks, gpu_stream stream)
{
    const kernel run = job->shared ? kernel_for<true>(job->columns)
                                   : kernel_for<false>(job->columns);
    run<<<blocks, TCT_SOLVE_THREADS, 0, stream>>>(*job);
    return gpu_last_error();
}
