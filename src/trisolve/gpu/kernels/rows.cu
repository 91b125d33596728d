/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/rows.cu - the kernel of rows.h. */
#include "device/gpu/epilogue.cuh"
#include "trisolve/gpu/kernels/rows.cuh"

enum {
    WARPS = TCT_ROWS_THREADS / GPU_WAVE,
    AT_ONCE = 4 /* entries in flight per lane */
};

template <bool NODES>
static __global__ void __launch_bounds__(TCT_ROWS_THREADS)
    solve(const __grid_constant__ tct_rows_kernel K,
          const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    const bool odd = tct_load_fresh(K.solves) % 2 != 0;
    double *const u = K.u[odd], *const next = K.u[!odd];
    const tct_row_lane l = tct_row_lane_of(K);
    tct_row_wait w = {K.late, 0, 0, false};
    for (int64_t task = (int64_t)tct_warp() * gridDim.x + blockIdx.x;
         task < 2 * K.slices; task += warps) {
        const bool up = task >= K.slices;
        const int64_t s = up ? task - K.slices : task;
        tct_row_slice<AT_ONCE> slice =
            tct_row_open<AT_ONCE, NODES>(K, up ? K.up : K.down, l, s);
        const bool first = slice.first;
        const int32_t p = slice.p;
        if (!up) {
            tct_row_close<AT_ONCE, NODES>(K, K.down, l, slice,
                                          first ? x[K.down.at[p]] : 0.0,
                                          nullptr, K.t, w);
            continue;
        }
        double *const own = first ? K.t + K.own[p] : nullptr;
        const double found =
            tct_row_close<AT_ONCE, NODES>(K, K.up, l, slice, 0.0, own, u, w);
        if (!first) continue;
        y[K.up.at[p]] = found;
        next[p] = tct_unset();
        *own = tct_unset(); /* its readers in L are done: this row waited for
                             * them */
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    tct_fence();
    if (tct_draw(K.ticket) != gridDim.x - 1) return;
    tct_renew(K.ticket);
    ++*K.solves;
}

static __global__ void clear(const __grid_constant__ tct_rows_kernel K)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < K.n) K.t[i] = K.u[0][i] = K.u[1][i] = tct_unset();
    if (i == 0) {
        *K.solves = 0;
        *K.ticket = 0;
    }
}

extern "C" int tct_rows_resident(bool nodes)
{
    const auto kernel = nodes ? solve<true> : solve<false>;
    int blocks = 0;
    if (gpu_occupancy(&blocks, kernel, TCT_ROWS_THREADS, 0) != GPU_OK) return 0;
    return blocks;
}

extern "C" void tct_rows_launch(tacit_queue *q, const tct_rows_kernel *k,
                                int blocks, const double *x, double *y)
{
    const auto kernel = k->near ? solve<true> : solve<false>;
    kernel<<<blocks, TCT_ROWS_THREADS, 0, tct_gpu_of(q)->stream>>>(*k, x, y);
    tct_gpu_ok(q, gpu_last_error(), "a triangular solve");
}

extern "C" void tct_rows_unset(tacit_queue *q, const tct_rows_kernel *k)
{
    clear<<<tct_blocks_for(k->n, TCT_ROWS_THREADS, INT32_MAX), TCT_ROWS_THREADS,
            0, tct_gpu_of(q)->stream>>>(*k);
    tct_gpu_ok(q, gpu_last_error(), "a triangular solve's memory");
}
