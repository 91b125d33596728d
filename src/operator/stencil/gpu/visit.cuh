/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/visit.cuh - launches of tiles, for the type TCT_REAL. */
#ifndef TCT_OPERATOR_STENCIL_GPU_VISIT_CUH
#define TCT_OPERATOR_STENCIL_GPU_VISIT_CUH
#include "operator/stencil/gpu/boxes.cuh"
#include "operator/stencil/gpu/tiles.cuh"
#include "operator/stencil/gpu/tiles3_box.cuh"

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

#endif
