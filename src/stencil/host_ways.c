/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/host_ways.c - ways of the host: copy is a visit of one step, tiles of
 * several. */
#include "comm/world/world.h"
#include "stencil/field_halo.h"
#include "stencil/sweep.h"
#include "stencil/way.h"

typedef struct engine {
    tct_tile_sweep *sweep;
    tct_field_ghosts ghosts;
} engine;

static void sweep_close(void *state)
{
    engine *e = state;
    tct_field_ghosts_close(&e->ghosts);
    tct_sweep_destroy(&e->sweep);
    tct_free(e);
}

static tacit_status sweep_open(tacit_field *f, int depth, void **state)
{
    engine *e = tct_calloc(sizeof *e);
    tacit_status status = TACIT_NO_MEMORY;
    if (!e) tacit_error_set(status, "no memory for steps of a grid");
    else status = tct_sweep_create(f, depth, &e->sweep);
    status = tct_agree(f->queue->world, status);
    if (status >= 0) status = tct_field_ghosts_open(f, depth, &e->ghosts);
    if (status >= 0) *state = e;
    else if (e) sweep_close(e);
    return status;
}

static void sweep_visit(void *state, int depth, double *changes)
{
    engine *e = state;
    tacit_field *f = e->ghosts.field;
    if (tct_field_communicates(f)) tct_field_ghosts_exchange(&e->ghosts);
    if (tct_field_computes(f)) tct_sweep_visit(e->sweep, depth, changes);
    else f->now ^= 1;
}

static void sweep_describe(const void *state, tacit_field_result *out)
{
    const engine *e = state;
    out->moved_bytes = tct_sweep_bytes(e->sweep);
    out->halo_bytes = tct_field_sent_bytes(e->ghosts.field, e->ghosts.depth);
    out->threads = tct_sweep_threads(e->sweep);
}

static const int *tiles_depths(const tacit_field *f)
{
    static const int flat[] = {8, 4, 16, 0}, solid[] = {4, 2, 3, 0};
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
    &tct_device_copy,
    &tct_ranks_copy};

const tct_way tct_way_tiles = {
    {"tiles",
     "several steps a visit of a tile, while it is in the cache or, on a GPU, "
     "in registers",
     NULL, true},
    &host_tiles,
    &tct_gpu_tiles,
    NULL};
