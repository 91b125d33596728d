/* SPDX-License-Identifier: BSD-3-Clause
 * tests/jacobi_kernel.cu - Jacobi's iteration as a kernel that stays on a GPU:
 * a barrier with a sum per iteration. */
#define TEST_JACOBI_KERNEL 1
#include "device/gpu/persistent_grid.cuh"
#include "jacobi_kernel.h"

struct jacobi_job {
    tct_persistent_job grid;
    int lines;
    int64_t first;
    const double *b;
    double *x[2];
};

/* Point i of `n`, from x to y; returns the square of its residual. */
static __device__ double relax_point(const double *b, const double *x,
                                     double *y, int i, int n)
{
    const int column = i % JACOBI_WIDTH;
    double sum = b[i];
    if (i >= JACOBI_WIDTH) sum += tct_load_fresh(&x[i - JACOBI_WIDTH]);
    if (i + JACOBI_WIDTH < n) sum += tct_load_fresh(&x[i + JACOBI_WIDTH]);
    if (column > 0) sum += tct_load_fresh(&x[i - 1]);
    if (column < JACOBI_WIDTH - 1) sum += tct_load_fresh(&x[i + 1]);
    const double r = sum - JACOBI_DIAGONAL * tct_load_fresh(&x[i]);
    tct_store_through(&y[i], sum / JACOBI_DIAGONAL);
    return r * r;
}

static __global__ void jacobi(const __grid_constant__ jacobi_job J)
{
    __shared__ double c[TCT_SCALARS];
    tct_persistent_grid<false> grid = tct_persistent_open<false>(J.grid, c);
    tct_barrier_status barrier = TCT_GO;
    const int n = J.lines * JACOBI_WIDTH;
    int64_t k = 0;
    while (k < J.grid.most) {
        const int64_t at = J.first + k;
        double rr[1] = {0.0};
        tct_poll_host(grid, k);
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
             i += gridDim.x * blockDim.x)
            rr[0] += relax_point(J.b, J.x[at % 2], J.x[(at + 1) % 2], i, n);
        barrier = tct_grid_sum(grid, rr);
        if (barrier == TCT_LATE) break;
        if (threadIdx.x == 0) c[C_RR] = rr[0];
        __syncthreads();
        tct_check(grid, c, ++k);
        if (barrier == TCT_END || tct_at_rest(c)) break;
    }
    tct_conclude(grid, c, barrier != TCT_LATE, k);
}

/* The barrier's memory is that of the kernel before, which has ended. */
extern "C" bool jacobi_launch(tacit_queue *q, int lines, int64_t first,
                              int64_t checks, const double *b,
                              double *const x[2], double *c)
{
    static void *room = nullptr;
    const int blocks = tct_gpu_of(q)->sms;
    if (!room &&
        tct_gpu_upload(nullptr, tct_persistent_bytes(blocks), &room) < TACIT_OK)
        return tct_gpu_ok(q, GPU_NO_MEMORY, "memory of a persistent kernel");
    jacobi_job J = {tct_persistent_job_of(q, room, c, checks),
                    lines,
                    first,
                    b,
                    {x[0], x[1]}};
    const tct_persistent_kernel kernel = {(const void *)jacobi, &J, blocks,
                                          tct_persistent_threads(blocks), 0};
    return tct_persistent_start(q, &J.grid, &kernel);
}
