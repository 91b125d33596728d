/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/own_text.h - kernels that stay for the emulator, for the type
 * TCT_REAL of the file that includes this. */
#ifndef TESTS_EMULATED_OWN_TEXT_H
#define TESTS_EMULATED_OWN_TEXT_H
#define TCT_CELLS_ONLY
#define TCT_EMULATED
#define _Thread_local thread_local /* C's word, in device/signals.h */
#include "operator/stencil/gpu/own_kept.cuh"
#include "own.h"
#include <stdlib.h>

/* The shared memory of a block. */
struct alignas(64) own_memory {
    tct_own_place p;
    tct_kept_tile t;
};

typedef struct own_args {
    const emulated_own *k;
    int step;
} own_args;

static own_memory &memory_of(const own_args *a)
{
    return *(own_memory *)(void *)(a->k->memory + blockIdx.x * a->k->each);
}

template <class PLANES> static void kept_thread(const void *args)
{
    const own_args *a = (const own_args *)args;
    const tct_own_job &J = a->k->job;
    own_memory &m = memory_of(a);
    const uint64_t *mine = tct_own_open(J, m.p);
    if (a->step == 0) {
        if (threadIdx.x == 0)
            m.t = kept_tile_of(J.box[m.p.tile], m.p, J.more, (char *)(&m + 1));
        __syncthreads();
        fill_kept(J.w, m.t);
    }
    if (!kept_visit<PLANES>(J, m.p, mine, m.t, a->step)) abort();
    tct_own_done(J, m.p, a->step + 1);
}

template <int SHAPE, int WEIGHTS> static void free_thread(const void *args)
{
    constexpr bool MARCHES = tct_free_kind<SHAPE, WEIGHTS>::MARCHES;
    const own_args *a = (const own_args *)args;
    const tct_own_job &J = a->k->job;
    own_memory &m = memory_of(a);
    const uint64_t *mine = tct_own_open(J, m.p);
    const tct_box box = J.box[m.p.tile];
    const int end = MARCHES ? tct_own_end(m.p) : 0;
    const tct_free_work<MARCHES> work = work_of<MARCHES>(box, end);
    if (!free_visit<SHAPE, WEIGHTS>(J, m.p, mine, box, end, work, a->step))
        abort();
    tct_own_done(J, m.p, a->step + 1);
}

template <class PLANES> static void kept_run(const own_args *a, uint64_t seed)
{
    emulator_run(a->k->tiles, TCT_MARCH_THREADS, 0, kept_thread<PLANES>, a,
                 seed);
}

template <int SHAPE, int WEIGHTS>
static void free_run(const own_args *a, uint64_t seed)
{
    emulator_run(a->k->tiles, tct_free_kind<SHAPE, WEIGHTS>::THREADS, 0,
                 free_thread<SHAPE, WEIGHTS>, a, seed);
}

template <int WEIGHTS> static void own_any(const own_args *a, uint64_t seed)
{
    const tct_shape shape = a->k->job.w.shape;
    if (a->k->keeps && shape == TCT_STAR3)
        kept_run<tct_kept_star<WEIGHTS, TCT_REAL>>(a, seed);
    else if (a->k->keeps) kept_run<tct_kept_box<WEIGHTS, TCT_REAL>>(a, seed);
    else if (shape == TCT_STAR2) free_run<TCT_STAR2, WEIGHTS>(a, seed);
    else if (shape == TCT_BOX2) free_run<TCT_BOX2, WEIGHTS>(a, seed);
    else if (shape == TCT_STAR3) free_run<TCT_STAR3, WEIGHTS>(a, seed);
    else free_run<TCT_BOX3, WEIGHTS>(a, seed);
}

static void emulate_own(const emulated_own *k, int step, uint64_t seed)
{
    const own_args a = {k, step};
    if (k->job.w.weights == TACIT_WEIGHTS_MEAN)
        own_any<TACIT_WEIGHTS_MEAN>(&a, seed);
    else own_any<TACIT_WEIGHTS_CONSTANT>(&a, seed);
}

static size_t own_bytes(int columns, int rows)
{
    const size_t cells = (size_t)rows * (size_t)kept_stride(columns);
    return (sizeof(own_memory) + cells * sizeof(TCT_REAL) + 63) / 64 * 64;
}

#endif
