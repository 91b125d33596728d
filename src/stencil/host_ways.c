/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/host_ways.c - ways of the host: copy is a visit of one step, tiles of
 * several. */
#include "stencil/sweep.h"
#include "stencil/way.h"

static tacit_status sweep_open(tacit_field *f, int depth, void **state)
{
    tct_tile_sweep *s = NULL;
    TRY(tct_sweep_create(f, depth, &s));
    *state = s;
    return TACIT_OK;
}

static void sweep_visit(void *state, int depth, double *changes)
{
    tct_sweep_visit(state, depth, changes);
}

static void sweep_describe(const void *state, tacit_field_result *out)
{
    out->moved_bytes = tct_sweep_bytes(state);
    out->threads = tct_sweep_threads(state);
}

static void sweep_close(void *state)
{
    tct_tile_sweep *s = state;
    tct_sweep_destroy(&s);
}

static const int *tiles_depths(const tacit_field *f)
{
    static const int flat[] = {8, 4, 16, 0}, solid[] = {4, 2, 6, 0};
    return f->s.about->dimensions == 2 ? flat : solid;
}

static const tct_way_ops host_copy = {.open = sweep_open,
                                      .visit = sweep_visit,
                                      .describe = sweep_describe,
                                      .close = sweep_close};
static const tct_way_ops host_tiles = {.open = sweep_open,
                                       .visit = sweep_visit,
                                       .describe = sweep_describe,
                                       .close = sweep_close,
                                       .depths = tiles_depths};

const tct_way tct_way_copy = {
    {"copy", "a kernel a step, started by the CPU (the paper's Baseline Copy)",
     NULL, false},
    &host_copy,
    &tct_device_copy};

const tct_way tct_way_tiles = {
    {"tiles",
     "several steps a visit of a tile, while it is in the cache or, on a GPU, "
     "in registers",
     NULL, true},
    &host_tiles,
    &tct_device_tiles};
