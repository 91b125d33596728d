/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/host_stepper.c - steps of a block on the host. It has one lane: what
 * overlaps on a GPU comes one after the other, in the same order. */
#include "stencil/stepper.h"
#include "stencil/sweep.h"

static tct_tile_sweep *sweep_of(const tct_stepper *s)
{
    return s->state;
}

static tacit_status host_open(tct_stepper *s)
{
    tct_tile_sweep *sweep = NULL;
    TRY(tct_sweep_create(s->field, 1, &sweep));
    s->state = sweep;
    return TACIT_OK;
}

static void host_close(tct_stepper *s)
{
    tct_tile_sweep *sweep = sweep_of(s);
    tct_sweep_destroy(&sweep);
}

static void whole(tct_stepper *s, int depth, double *changes)
{
    const int64_t *n = s->field->block.n;
    const tct_cell_box all = {{0, 0, 0}, {n[0], n[1], n[2]}};
    tct_sweep_box(sweep_of(s), depth, &all, changes);
}

static void edges(tct_stepper *s, int depth)
{
    for (int k = 0; k < s->split.edges; k++)
        tct_sweep_box(sweep_of(s), depth, &s->split.edge[k], NULL);
}

static void inner(tct_stepper *s, int depth)
{
    if (!tct_box_is_empty(&s->split.inner))
        tct_sweep_box(sweep_of(s), depth, &s->split.inner, NULL);
}

/* Store the cells of a direction into the neighbour's ghosts. */
static void put(const tct_stepper *s, const tct_halo_put *p, int slot)
{
    const size_t each = s->field->s.bytes;
    const size_t bytes = (size_t)p->extent[0] * each;
    const int64_t x = p->send[0];
    for (int64_t z = p->send[2]; z < p->send[2] + p->extent[2]; z++)
        for (int64_t y = p->send[1]; y < p->send[1] + p->extent[1]; y++)
            memcpy(p->at[slot] + z * p->plane + y * p->pitch +
                       x * (int64_t)each,
                   tct_field_cell(s->field, slot, z, y, x - s->field->halo_x),
                   bytes);
}

void tct_host_stepper_put(const tct_stepper *s)
{
    for (int k = 0; k < s->puts; k++) put(s, &s->put[k], s->field->now ^ 1);
}

static void step(tct_stepper *s, int edges_do)
{
    tacit_halo *h = s->field->halo;
    const int slot = s->field->now ^ 1;
    const bool computes = tct_field_computes(s->field);
    if ((edges_do & TCT_EDGES_WAIT) && s->pending == TCT_EDGES)
        tct_halo_finish(h);
    if (computes) edges(s, 1);
    if (edges_do & TCT_EDGES_PUT) tct_host_stepper_put(s);
    if (edges_do & TCT_EDGES_TELL) tct_halo_start(h, slot, TCT_HALO_SIGNALS);
    if (computes) inner(s, 1);
}

static void await(tct_stepper *s)
{
    tct_halo_finish(s->field->halo);
}

const tct_stepper_ops tct_host_stepper = {.open = host_open,
                                          .close = host_close,
                                          .whole = whole,
                                          .edges = edges,
                                          .inner = inner,
                                          .step = step,
                                          .await = await};
