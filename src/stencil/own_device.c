/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_device.c - ways free, free2 and cached on a GPU: a call is one
 * kernel for all its steps, or two beside each other. */
#include "stencil/own_device.h"
#include "operator/stencil/own_steps.h"
#include "stencil/device.h"

typedef struct engine {
    tacit_field *field;
    const tct_own_steps *ops;
    bool keeps; /* cells stay on chip: one buffer is not complete */
    void *state;
} engine;

static tacit_status open(tacit_field *f, tct_own_kind kind, int depth,
                         void **state)
{
    const tct_step_work w = tct_field_work(f);
    const tct_own_steps *ops = tct_own_steps_on(f->queue);
    engine *e = tct_calloc(sizeof *e);
    if (!e) FAIL(TACIT_NO_MEMORY, "no memory for steps of a grid");
    *e = (engine){f, ops, kind == TCT_OWN_CACHED, NULL};
    const tacit_status status =
        ops->open(f->queue, &f->block, &w, kind, depth, &e->state);
    if (status < 0) tct_free(e);
    else *state = e;
    return status;
}

static tacit_status free_open(tacit_field *f, int depth, void **state)
{
    return open(f, TCT_OWN_FREE, depth, state);
}

static tacit_status free2_open(tacit_field *f, int depth, void **state)
{
    return open(f, TCT_OWN_FREE2, depth, state);
}

static tacit_status cached_open(tacit_field *f, int depth, void **state)
{
    return open(f, TCT_OWN_CACHED, depth, state);
}

static void run(const engine *e, int steps)
{
    const tct_step_work w = tct_field_work(e->field);
    if (steps > 0 && e->ops->run(e->state, &w, steps))
        e->field->device->now ^= 1;
}

/* A measured step needs all cells before and after it. */
static void visit(void *state, int depth, double *changes)
{
    const engine *e = state;
    const bool apart = changes && e->keeps;
    run(e, apart ? depth - 1 : depth);
    if (apart) run(e, 1);
    if (changes) tct_field_measure(e->field, changes);
    e->field->device->host_is_older = true;
}

static void describe(const void *state, tacit_field_result *out)
{
    const engine *e = state;
    const tacit_field *f = e->field;
    const tct_own_about about = e->ops->about(e->state);
    const int arrays = 2 + (f->coefficient ? f->s.about->points : 0);
    out->threads = 1;
    out->moved_bytes = about.exchanged * (double)f->s.bytes * arrays;
}

static void finish(void *state)
{
    const engine *e = state;
    e->field->queue->device->sync(e->field->queue);
}

static void destroy(void *state)
{
    engine *e = state;
    e->ops->close(e->state);
    tct_free(e);
}

/* About a second, if a GPU makes 2e11 cells a second or a step a microsecond:
 * a wait for it has a limit. */
static int most(const tacit_field *f)
{
    const double steps = 2e11 / (double)f->block.cells;
    return steps > 1e6 ? 1000000 : steps < 1.0 ? 1 : (int)steps;
}

static const int *cached_depths(const tacit_field *f)
{
    static const int depths[] = {8, 1, 0};
    return f->coefficient || f->s.about->dimensions == 3 ? NULL : depths;
}

const tct_way_ops tct_device_free = {.open = free_open,
                                     .visit = visit,
                                     .describe = describe,
                                     .finish = finish,
                                     .close = destroy,
                                     .most = most};
const tct_way_ops tct_device_free2 = {.open = free2_open,
                                      .visit = visit,
                                      .describe = describe,
                                      .finish = finish,
                                      .close = destroy,
                                      .most = most};
const tct_way_ops tct_device_cached = {.open = cached_open,
                                       .visit = visit,
                                       .describe = describe,
                                       .finish = finish,
                                       .close = destroy,
                                       .depths = cached_depths,
                                       .most = most};
