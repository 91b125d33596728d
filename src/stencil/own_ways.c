/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_ways.c - ways free, free2 and cached: tiles have owners that stay
 * for all steps. On the host free2 is free whose first and last planes are
 * tiles of their own. */
#include "stencil/field_halo.h"
#include "stencil/own_cached.h"
#include "stencil/own_device.h"
#include "stencil/own_host.h"
#include "stencil/way.h"

enum { STAY = 1 << 16 /* steps of a visit: the host needs no limit */ };

/* All cells of a tile, from one buffer of the field to the other. */
static void step_tile(tct_own_host *h, int tile, int from, int steps, bool last)
{
    const tacit_field *f = h->field;
    const tct_box *box = &h->tiles.box[tile];
    const tct_row_fn step = f->rows->step[f->s.shape][f->s.weights];
    (void)steps;
    (void)last;
    if (!tct_field_computes(f)) return;
    for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++) {
            const tct_row_inputs r = tct_own_inputs(f, from, z, y, box->lo[0]);
            step(&r, tct_field_cell(f, from ^ 1, z, y, box->lo[0]), 0, 1,
                 box->hi[0] - box->lo[0]);
            tct_own_close_row(f, from ^ 1, box, z, y);
        }
}

static tacit_status free_open(tacit_field *f, int depth, void **state)
{
    (void)depth;
    return tct_own_host_create(f, 1, false, step_tile, (tct_own_host **)state);
}

static tacit_status free2_open(tacit_field *f, int depth, void **state)
{
    (void)depth;
    return tct_own_host_create(f, 1, true, step_tile, (tct_own_host **)state);
}

static tacit_status cached_open(tacit_field *f, int depth, void **state)
{
    return tct_own_cached_create(f, depth, (tct_own_host **)state);
}

static void free_visit(void *state, int depth, double *changes)
{
    tct_own_host_run(state, depth);
    if (changes) tct_own_host_measure(state, changes);
}

/* A measured step is a run of its own: all cells are stored before and after
 * it. */
static void cached_visit(void *state, int depth, double *changes)
{
    tct_own_host_run(state, changes ? depth - 1 : depth);
    if (!changes) return;
    tct_own_host_run(state, 1);
    tct_own_host_measure(state, changes);
}

static void describe(const void *state, tacit_field_result *out)
{
    const tct_own_host *h = state;
    const tacit_field *f = h->field;
    const int weights = f->coefficient ? f->s.about->points : 0;
    out->threads = h->threads;
    out->tiles = h->tiles.count;
    out->boundary_tiles = h->tiles.of_layer;
    out->boundary_formula = h->tiles.formula;
    out->moved_bytes =
        (double)f->block.cells * (double)f->s.bytes * (2 + weights);
    if (h->memory) out->moved_bytes = tct_own_cached_bytes(h);
    if (f->halo) out->halo_bytes = tct_field_sent_bytes(f, h->reach);
}

static void destroy(void *state)
{
    tct_own_host *h = state;
    tct_own_host_destroy(&h);
}

static int stay(const tacit_field *f, const void *state)
{
    (void)f;
    (void)state;
    return STAY;
}

static const int *cached_depths(const tacit_field *f)
{
    static const int depths[] = {8, 1, 0};
    return f->coefficient ? NULL : depths;
}

/* On the host they show the work of a GPU, and tiles are faster: only if asked
 * for by name. */
static const tct_way_ops host_free = {.open = free_open,
                                      .layers = true,
                                      .visit = free_visit,
                                      .describe = describe,
                                      .close = destroy,
                                      .most = stay,
                                      .named = true};
static const tct_way_ops host_free2 = {.open = free2_open,
                                       .layers = true,
                                       .visit = free_visit,
                                       .describe = describe,
                                       .close = destroy,
                                       .most = stay,
                                       .named = true};
static const tct_way_ops host_cached = {.open = cached_open,
                                        .visit = cached_visit,
                                        .describe = describe,
                                        .close = destroy,
                                        .depths = cached_depths,
                                        .most = stay,
                                        .named = true};

const tct_way tct_way_free = {
    {"free",
     "one persistent kernel for all steps, halos put by its boundary blocks "
     "(the paper's CPU-Free)",
     NULL, false},
    &host_free,
    &tct_device_free,
    NULL};

const tct_way tct_way_free2 = {
    {"free2",
     "two persistent kernels, inner cells and boundary (the paper's "
     "alternative to CPU-Free)",
     NULL, false},
    &host_free2,
    &tct_device_free2,
    NULL};

const tct_way tct_way_cached = {
    {"cached",
     "as free, the cells kept in registers and shared memory (the paper's "
     "CPU-Free with PERKS); of depth k an exchange in k steps",
     NULL, true},
    &host_cached,
    &tct_device_cached,
    NULL};
