/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/tiles_text.h - the kernels of tiles for the emulator, for the
 * type TCT_REAL of the file that includes this. */
#ifndef TESTS_EMULATED_TILES_TEXT_H
#define TESTS_EMULATED_TILES_TEXT_H
#include "operator/stencil/gpu/tiles.cuh"
#include "operator/stencil/gpu/tiles3_box.cuh"
#include "operator/stencil/gpu/tiles3_ranks.cuh"
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

/* --- with an exchange ------------------------------------------------------ */

struct wait_of_emulator {
    const emulated_wait *w;
    void operator()() const
    {
        w->come(w->ctx);
        emulator_barrier();
    }
};

struct ranks_args {
    tct_solid_ranks r;
    const tct_step_halo *h;
    wait_of_emulator wait;
};

extern char tct_tile_memory[];

template <class T> static void ranks_thread(const void *args)
{
    const ranks_args *a = (const ranks_args *)args;
    solid_ranks_block<T>(a->r, *a->h, a->wait, tct_tile_memory);
}

template <class T>
static bool ranks_run(const tct_step_work *w, const emulated_visit *v,
                      const tct_step_halo *h, const emulated_wait *wait)
{
    double cost;
    const tct_tile_grid g = tct_tile_grid_of(w);
    const tct_cut3 cut = cut_planes<T>(&g, v->sms, &cost);
    ranks_args a = {tct_solid_ranks_of(&g, &cut), h, {wait}};
    if (!make_ranks_fit<T>(&a.r)) return false;
    const int *tiles = a.r.cut.tiles;
    emulator_run(tiles[0] * tiles[1] * tiles[2], T::THREADS,
                 sizeof(tct_block_memory<T>), ranks_thread<T>, &a, v->seed);
    return true;
}

static bool emulate_ranks(const tct_step_work *w, const emulated_visit *v,
                          const tct_step_halo *h, const emulated_wait *wait)
{
    constexpr auto CONSTANT = TACIT_WEIGHTS_CONSTANT;
    constexpr auto MEAN = TACIT_WEIGHTS_MEAN;
    if (w->weights == TACIT_WEIGHTS_CONSTANT)
        return ranks_run<tct_plane_tile<CONSTANT, 16>>(w, v, h, wait);
    return ranks_run<tct_plane_tile<MEAN, 32>>(w, v, h, wait);
}

#endif
