/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/device_tiles.c - way tiles on GPUs. Of a small grid a launch takes
 * longer than a visit: tiles stay in shared memory, and one kernel makes many
 * visits, as of way cached. Of others a visit is a kernel. */
#include "stencil/device.h"
#include "stencil/field_halo.h"
#include "stencil/own_device.h"

typedef struct engine {
    const tct_way_ops *ops; /* those that make the visits */
    void *state;
    int depth;
} engine;

/* A link that was asked for carries the messages. Collective. */
static const tct_way_ops *ops_for(const tacit_field *f, int depth)
{
    const bool in_place = !f->halo || !tct_field_why_packed(f);
    if (in_place && f->boundary_tiles == 0 && tct_device_is_small(f, depth))
        return &tct_device_cached;
    return f->halo ? &tct_ranks_tiles : &tct_device_tiles;
}

static tacit_status open(tacit_field *f, int depth, void **state)
{
    const int *depths = NULL;
    void *inner = NULL;
    TRY(tct_device_tiles_check(f, depth, &depths));
    const tct_way_ops *ops = ops_for(f, depth);
    TRY(ops->open(f, depth, &inner));
    engine *e = tct_calloc(sizeof *e);
    if (!e) {
        ops->close(inner);
        FAIL(TACIT_NO_MEMORY, "no memory for steps of a grid");
    }
    *e = (engine){ops, inner, depth};
    *state = e;
    return TACIT_OK;
}

static void visit(void *state, int depth, double *changes)
{
    const engine *e = state;
    e->ops->visit(e->state, depth, changes);
}

static void describe(const void *state, tacit_field_result *out)
{
    const engine *e = state;
    e->ops->describe(e->state, out);
}

static void finish(void *state)
{
    const engine *e = state;
    e->ops->finish(e->state);
}

static void close(void *state)
{
    engine *e = state;
    e->ops->close(e->state);
    tct_free(e);
}

static int most(const tacit_field *f, const void *state)
{
    const engine *e = state;
    return e->ops->most ? e->ops->most(f, e->state) : e->depth;
}

/* Edges among the inner cells are a trial beside edges of their own. */
static const int *boundaries(const tacit_field *f)
{
    static const int none[] = {-1, 0};
    const bool can = f->halo && !tct_field_why_packed(f);
    return can && !tct_device_fits_chip(f, 1) ? none : NULL;
}

const tct_way_ops tct_gpu_tiles = {.open = open,
                                   .visit = visit,
                                   .describe = describe,
                                   .finish = finish,
                                   .close = close,
                                   .depths = tct_device_tiles_depths,
                                   .boundaries = boundaries,
                                   .most = most};
