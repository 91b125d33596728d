/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/visit.cuh - launches of tiles, for the type TCT_REAL. */
#ifndef TCT_OPERATOR_STENCIL_GPU_VISIT_CUH
#define TCT_OPERATOR_STENCIL_GPU_VISIT_CUH
#include "operator/stencil/gpu/boxes.cuh"
#include "operator/stencil/gpu/tiles.cuh"
#include "operator/stencil/gpu/tiles3_box.cuh"
#include "operator/stencil/gpu/tiles3_ranks.cuh"

/* --- two dimensions ------------------------------------------------------- */

template <class T> static void launch(tacit_queue *q, const tct_step_work *w)
{
    const gpu_stream stream = stream_of(q);
    const tct_tile_grid g = tct_tile_grid_of(w);
    const tct_strips c = cut_rows<T>(&g, tct_gpu_of(q)->sms);
    const unsigned blocks = (unsigned)tct_strips_blocks(&c);
    visit_kernel<T>
        <<<blocks, TILE_WARPS * GPU_WAVE, sizeof(tct_rings), stream>>>(g, c);
    tct_gpu_ok(q, gpu_last_error(), "a visit of a grid");
}

template <int SHAPE, int WEIGHTS>
static void visit_depth(tacit_queue *q, const tct_step_work *w, int depth)
{
    if constexpr (SHAPE == TCT_STAR2 && sizeof(TCT_REAL) == 4)
        if (depth == 16) return launch<tct_row_tile<SHAPE, WEIGHTS, 16>>(q, w);
    if (depth == 8) launch<tct_row_tile<SHAPE, WEIGHTS, 8>>(q, w);
    else launch<tct_row_tile<SHAPE, WEIGHTS, 4>>(q, w);
}

template <int WEIGHTS>
static void visit_flat(tacit_queue *q, const tct_step_work *w, int depth)
{
    if (w->shape == TCT_STAR2) visit_depth<TCT_STAR2, WEIGHTS>(q, w, depth);
    else visit_depth<TCT_BOX2, WEIGHTS>(q, w, depth);
}

/* --- three dimensions ----------------------------------------------------- */

typedef void (*tct_cut_kernel)(const tct_tile_grid, const tct_cut3);

template <class T>
static void launch_solid(tacit_queue *q, tct_cut_kernel kernel,
                         const tct_tile_grid &g, const tct_cut3 *cut)
{
    const int bytes = (int)sizeof(tct_block_memory<T>);
    const gpu_stream stream = stream_of(q);
    const unsigned blocks =
        (unsigned)(cut->tiles[0] * cut->tiles[1] * cut->tiles[2]);
    if (!tct_gpu_ok(q,
                    gpu_function_attribute((const void *)kernel,
                                           GPU_DYNAMIC_SHARED, bytes),
                    "shared memory of a visit"))
        return;
    kernel<<<blocks, T::THREADS, bytes, stream>>>(g, *cut);
    tct_gpu_ok(q, gpu_last_error(), "a visit of a grid");
}

/* The shape of tiles that computes the least twice. */
template <class WIDE, class HIGH>
static void visit_planes(tacit_queue *q, const tct_step_work *w,
                         tct_cut_kernel wide, tct_cut_kernel high)
{
    double cost[2];
    const tct_tile_grid g = tct_tile_grid_of(w);
    const int sms = tct_gpu_of(q)->sms;
    const tct_cut3 a = cut_planes<WIDE>(&g, sms, &cost[0]);
    const tct_cut3 b = cut_planes<HIGH>(&g, sms, &cost[1]);
    if (cost[0] < cost[1]) launch_solid<WIDE>(q, wide, g, &a);
    else launch_solid<HIGH>(q, high, g, &b);
}

template <int WEIGHTS>
static void visit_star(tacit_queue *q, const tct_step_work *w)
{
    typedef tct_plane_tile<WEIGHTS, 32> wide;
    typedef tct_plane_tile<WEIGHTS, 16> high;
    visit_planes<wide, high>(q, w, solid_kernel<wide>, solid_kernel<high>);
}

template <int WEIGHTS>
static void visit_box(tacit_queue *q, const tct_step_work *w)
{
    typedef tct_box_tile<WEIGHTS, 32> wide;
    typedef tct_box_tile<WEIGHTS, 16> high;
    visit_planes<wide, high>(q, w, box_kernel<wide>, box_kernel<high>);
}

template <int WEIGHTS>
static void visit_any(tacit_queue *q, const tct_step_work *w, int depth)
{
    if (w->shape == TCT_STAR3) visit_star<WEIGHTS>(q, w);
    else if (w->shape == TCT_BOX3) visit_box<WEIGHTS>(q, w);
    else visit_flat<WEIGHTS>(q, w, depth);
}

static void visit(tacit_queue *q, const tct_step_work *w, int depth)
{
    if (w->weights == TACIT_WEIGHTS_CONSTANT)
        visit_any<TACIT_WEIGHTS_CONSTANT>(q, w, depth);
    else visit_any<TACIT_WEIGHTS_MEAN>(q, w, depth);
}

/* --- three dimensions, with an exchange ------------------------------------ */

/* Waits of a block for the exchange that brought the ghosts. */
struct tct_visit_wait {
    const tct_peer_common &C;
    const tct_step_halo &h;
    const uint64_t &last;
    __device__ __forceinline__ void operator()() const
    {
        tct_await_neighbours(C, h, last);
    }
};

template <class T>
static __global__ void __launch_bounds__(T::THREADS, 1)
    ranks_kernel(const __grid_constant__ tct_solid_ranks r,
                 const __grid_constant__ tct_step_halo h,
                 const __grid_constant__ tct_peer_common C)
{
    extern __shared__ __align__(16) char tct_tile_memory[];

    const unsigned parts = (unsigned)end_blocks(r);
    const bool last = blockIdx.x < parts;
    __shared__ uint64_t number; /* all threads store the same */
    number = last ? tct_load_fresh(h.number) : 0;
    const tct_visit_wait wait = {C, h, number};
    solid_ranks_block<T>(r, h, wait, tct_tile_memory);
    if (last) tell_neighbours(h, number + 1, parts);
}

/* `h` NULL: nothing is enqueued. */
template <class T>
static bool launch_ranks(tacit_queue *q, const tct_tile_grid &g,
                         const tct_cut3 *cut, const tct_step_halo *h)
{
    tct_solid_ranks r = tct_solid_ranks_of(&g, cut);
    const int bytes = (int)sizeof(tct_block_memory<T>);
    if (!make_ranks_fit<T>(&r)) return false;
    if (!h) return true;
    const unsigned blocks =
        (unsigned)(r.cut.tiles[0] * r.cut.tiles[1] * r.cut.tiles[2]);
    const gpu_stream stream = stream_of(q);
    const tct_peer_common C = tct_await_common(q, h);
    if (!tct_gpu_ok(q,
                    gpu_function_attribute((const void *)ranks_kernel<T>,
                                           GPU_DYNAMIC_SHARED, bytes),
                    "shared memory of a visit"))
        return true;
    ranks_kernel<T><<<blocks, T::THREADS, bytes, stream>>>(r, *h, C);
    tct_gpu_ok(q, gpu_last_error(), "a visit of a grid with its exchange");
    return true;
}

template <int WEIGHTS>
static bool ranks_solid(tacit_queue *q, const tct_step_work *w,
                        const tct_step_halo *h)
{
    typedef tct_plane_tile<WEIGHTS, 32> wide;
    typedef tct_plane_tile<WEIGHTS, 16> high;
    double cost[2];
    const tct_tile_grid g = tct_tile_grid_of(w);
    const int sms = tct_gpu_of(q)->sms;
    const tct_cut3 a = cut_planes<wide>(&g, sms, &cost[0]);
    const tct_cut3 b = cut_planes<high>(&g, sms, &cost[1]);
    if (cost[0] < cost[1]) return launch_ranks<wide>(q, g, &a, h);
    return launch_ranks<high>(q, g, &b, h);
}

/* Only planes are divided among ranks. */
static bool visit_puts(tacit_queue *q, const tct_step_work *w, int depth,
                       const tct_step_halo *h)
{
    for (int d = 0; d < 2; d++)
        if (w->low[d] < 0 || w->high[d] > w->n[d]) return false;
    if (w->shape != TCT_STAR3 || depth != 4) return false;
    return w->weights == TACIT_WEIGHTS_CONSTANT
               ? ranks_solid<TACIT_WEIGHTS_CONSTANT>(q, w, h)
               : ranks_solid<TACIT_WEIGHTS_MEAN>(q, w, h);
}

#endif
