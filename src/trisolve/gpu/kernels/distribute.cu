/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/distribute.cu - both triangular solves, with recursive
 * doubling between grids, in one kernel on each GPU of a grid. Tasks are
 * distributed (trisolve/gpu/distribute.h); a result is stored in the memory of
 * its readers and signalled (trisolve/gpu/peer_signals.h). */
#include "trisolve/gpu/kernels/tasks.cuh"

struct tct_distribution_job : tct_tri_job {
    tct_distribution_side side;
};

/* --- synchronization among several GPUs ----------------------------------- */

static __device__ inline bool d_begin(const tct_distribution_job &J)
{
    return tct_peer_signals_begin(&J.round, &J.side.signals);
}
static __device__ inline bool d_await(const tct_distribution_job &J,
                                      const tct_worker_state &hand,
                                      const tct_task &t)
{
    return tct_peer_signals_await(&J.round, &J.side.signals, &hand, &t);
}
static __device__ inline void d_done(const tct_distribution_job &J,
                                     const tct_worker_state &hand,
                                     const tct_task &t)
{
    tct_peer_signals_done(&J.round, &J.side.signals, &hand, &t);
}
static __device__ inline void d_end(const tct_distribution_job &J,
                                    const tct_worker_state &hand)
{
    tct_peer_signals_end(&J.round, &J.side.signals, &hand, gridDim.x);
}

/* --- results -------------------------------------------------------------- */

/* Store v at each process that reads it. */
template <int W>
static __device__ inline void d_give(double *const *at, unsigned readers,
                                     int64_t element, const tct_pack<W> &v)
{
    for (; readers != 0; readers &= readers - 1)
        d_store(at[tct_first_lane(readers)] + element, v);
}

template <int STRIDE, int W>
static __device__ inline void d_put_down(const tct_distribution_job &J,
                                         const tct_node &N, int i, int n,
                                         tct_pack<W> v)
{
    if (i >= N.w) {
        const int64_t update = N.below + i - N.w;
        d_store(J.side.u[tct_read_only(&J.side.to_u[update])] +
                    update * STRIDE + n,
                v);
        return;
    }
    const int j = N.first + i;
    d_scale(J, j, v);
    d_give(J.side.y, tct_read_only(&J.side.to[j].y), (int64_t)j * STRIDE + n,
           v);
}
template <int STRIDE, int W>
static __device__ inline void d_put_up(const tct_distribution_job &J,
                                       const tct_node &N, int i, int n,
                                       tct_pack<W> v)
{
    const int j = N.first + i;
    d_give(J.side.x, tct_read_only(&J.side.to[j].x), (int64_t)j * STRIDE + n,
           v);
    d_put_result(J, j, n, v);
}

template <int STRIDE>
static __device__ inline void d_put_together(const tct_distribution_job &J,
                                             const tct_node &N, int from,
                                             int to)
{
    constexpr int BATCH = 4, W = tct_pack_width<STRIDE>;
    const int first = N.first + from;
    d_each<STRIDE, tct_block_team, BATCH>(
        from, to - from, to,
        [&](const tct_numbering<BATCH> &at, tct_pack<W>(&v)[BATCH]) {
            d_wanted<STRIDE>(J, N, false, at, v);
        },
        [&](int i, int n, const tct_pack<W> &v) {
            d_give(J.side.x, tct_read_only(&J.side.to[first + i].v),
                   (int64_t)(first + i) * STRIDE + n, v);
        });
}

/* A thread passes on the elements that it has summed. */
template <int STRIDE>
static __device__ inline void d_put_sums(const tct_distribution_job &J,
                                         int32_t from, int32_t to)
{
    for (int e = (int)threadIdx.x; e < (to - from) * STRIDE;
         e += TCT_SOLVE_THREADS) {
        const int64_t row = tct_read_only(&J.doubling.row[from + e / STRIDE]);
        const int64_t element = row * STRIDE + e % STRIDE;
        d_give(J.side.y, tct_read_only(&J.side.to[row].sum), element,
               tct_pack<1>{{J.a.y[element]}});
    }
}

/* --- kernels -------------------------------------------------------------- */

template <int TILES>
static __global__ void __launch_bounds__(TCT_SOLVE_THREADS, TILES == 0 ? 4 : 2)
    distributed_kernel(const __grid_constant__ tct_distribution_job J)
{
    d_solve<TILES, true>(J);
}

typedef void (*kernel)(const tct_distribution_job);

static kernel kernel_for(int columns)
{
    switch (tct_tri_stride(columns)) {
    case 1: return distributed_kernel<0>;
    case TCT_SOLVE_TILE: return distributed_kernel<1>;
    case 4 * TCT_SOLVE_TILE: return distributed_kernel<4>;
    default: return distributed_kernel<TCT_SOLVE_TILES>;
    }
}

gpu_error tct_distribution_occupancy(int columns, int *blocks)
{
    return gpu_occupancy(blocks, kernel_for(columns), TCT_SOLVE_THREADS, 0);
}

gpu_error tct_distribution_launch(const tct_tri_job *job,
                                  const tct_distribution_side *side, int blocks,
                                  gpu_stream stream)
{
    tct_distribution_job all;
    static_cast<tct_tri_job &>(all) = *job;
    all.side = *side;
    kernel_for(job->columns)<<<blocks, TCT_SOLVE_THREADS, 0, stream>>>(all);
    return gpu_last_error();
}
