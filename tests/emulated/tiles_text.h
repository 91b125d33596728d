/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/tiles_text.h - the kernels of tiles for the emulator, for the
 * type TCT_REAL of the file that includes this. */
#ifndef TESTS_EMULATED_TILES_TEXT_H
#define TESTS_EMULATED_TILES_TEXT_H
#include "operator/stencil/gpu/tiles.cuh"
#include "operator/stencil/gpu/tiles3.cuh"
#include "operator/stencil/gpu/tiles3_box.cuh"
#include "tiles.h"

template <class CUT> struct run_args {
    tct_tile_grid g;
    CUT cut;
};

template <class T> static void flat_thread(const void *args)
{
    const run_args<tct_strips> *a = (const run_args<tct_strips> *)args;
    visit_kernel<T>(a->g, a->cut);
}

template <class T>
static void flat_run(const tct_step_work *w, const emulated_visit *v)
{
    run_args<tct_strips> a = {tct_tile_grid_of(w), {}};
    a.cut = cut_rows<T>(&a.g, v->sms);
    emulator_run(tct_strips_blocks(&a.cut), TILE_WARPS * GPU_WAVE,
                 sizeof(tct_rings), flat_thread<T>, &a, v->seed);
}

template <class T> static void solid_thread(const void *args)
{
    const run_args<tct_cut3> *a = (const run_args<tct_cut3> *)args;
    solid_kernel<T>(a->g, a->cut);
}

template <class T>
static void solid_run(const tct_step_work *w, const emulated_visit *v)
{
    double cost;
    run_args<tct_cut3> a = {tct_tile_grid_of(w), {}};
    a.cut = cut_planes<T>(&a.g, v->sms, &cost);
    static_assert(sizeof(tct_block_memory<T>) <= EMULATOR_SHARED_MOST, "fits");
    emulator_run(a.cut.tiles[0] * a.cut.tiles[1] * a.cut.tiles[2], T::THREADS,
                 sizeof(tct_block_memory<T>), solid_thread<T>, &a, v->seed);
}

template <class T> static void box_thread(const void *args)
{
    const run_args<tct_cut3> *a = (const run_args<tct_cut3> *)args;
    box_kernel<T>(a->g, a->cut);
}

template <class T>
static void box_run(const tct_step_work *w, const emulated_visit *v)
{
    double cost;
    run_args<tct_cut3> a = {tct_tile_grid_of(w), {}};
    a.cut = cut_planes<T>(&a.g, v->sms, &cost);
    emulator_run(a.cut.tiles[0] * a.cut.tiles[1] * a.cut.tiles[2], T::THREADS,
                 sizeof(tct_block_memory<T>), box_thread<T>, &a, v->seed);
}

template <int SHAPE, int WEIGHTS>
static void flat_visit(const tct_step_work *w, const emulated_visit *v)
{
    if constexpr (SHAPE == TCT_STAR2 && sizeof(TCT_REAL) == 4)
        if (v->depth == 16)
            return flat_run<tct_row_tile<SHAPE, WEIGHTS, 16>>(w, v);
    if (v->depth == 8) flat_run<tct_row_tile<SHAPE, WEIGHTS, 8>>(w, v);
    else flat_run<tct_row_tile<SHAPE, WEIGHTS, 4>>(w, v);
}

template <int WEIGHTS>
static void any_visit(const tct_step_work *w, const emulated_visit *v)
{
    if (w->shape == TCT_STAR2) flat_visit<TCT_STAR2, WEIGHTS>(w, v);
    else if (w->shape == TCT_BOX2) flat_visit<TCT_BOX2, WEIGHTS>(w, v);
    else if (w->shape == TCT_BOX3 && v->group == 16)
        box_run<tct_box_tile<WEIGHTS, 16>>(w, v);
    else if (w->shape == TCT_BOX3) box_run<tct_box_tile<WEIGHTS, 32>>(w, v);
    else if (v->group == 16) solid_run<tct_plane_tile<WEIGHTS, 16>>(w, v);
    else solid_run<tct_plane_tile<WEIGHTS, 32>>(w, v);
}

static void emulate(const tct_step_work *w, const emulated_visit *v)
{
    if (w->weights == TACIT_WEIGHTS_CONSTANT)
        any_visit<TACIT_WEIGHTS_CONSTANT>(w, v);
    else any_visit<TACIT_WEIGHTS_MEAN>(w, v);
}

#endif
