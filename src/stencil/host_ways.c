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

const tct_way tct_way_copy = {
    .about = {"copy",
              "a sweep a step, started by the CPU (the paper's Baseline Copy)",
              NULL, false},
    .open = sweep_open,
    .visit = sweep_visit,
    .describe = sweep_describe,
    .close = sweep_close,
};

const tct_way tct_way_tiles = {
    .about = {"tiles",
              "several steps a visit of a tile, while it is in the cache", NULL,
              true},
    .open = sweep_open,
    .visit = sweep_visit,
    .describe = sweep_describe,
    .close = sweep_close,
};
