/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/device_ways.c - ways of one GPU, started by the CPU: copy is a kernel
 * a step, tiles one for several steps. A visit is enqueued; one whose change is
 * measured ends when the change is known. */
#include "stencil/device.h"
#include "stencil/way.h"

tct_step_work tct_device_work(const tacit_field *f)
{
    const tct_field_device *d = f->device;
    const tct_grid_stencil *s = &f->s;
    const tct_grid_block *b = &f->block;
    const size_t first = (size_t)b->origin * s->bytes;
    tct_step_work w = {.in = d->buffer[d->now] + first,
                       .out = d->buffer[d->now ^ 1] + first,
                       .pitch = b->pitch,
                       .plane = b->plane,
                       .outside = d->outside + s->bytes,
                       .coefficient = d->coefficient,
                       .cells = b->cells,
                       .single = s->single,
                       .shape = s->shape,
                       .weights = s->weights,
                       .boundary = s->boundary,
                       .centre = s->centre,
                       .neighbours = s->neighbours};
    for (int k = 0; k < 3; k++) {
        w.n[k] = (int)b->n[k];
        w.low[k] = (int)b->low[k];
        w.high[k] = (int)b->high[k];
        w.closes[k] = b->closes[k];
    }
    return w;
}

static void one_step(tacit_field *f)
{
    const tct_step_work w = tct_device_work(f);
    f->device->steps->step(f->queue, &w);
    f->device->now ^= 1;
}

void tct_device_measure(tacit_field *f, double *changes)
{
    tct_field_device *d = f->device;
    const size_t count = (size_t)tct_field_all_blocks(f);
    tct_step_work w = tct_device_work(f);
    d->steps->change(f->queue, &w, TCT_CHANGE_BLOCK, d->changes);
    d->steps->get(f->queue, changes, d->changes, count * sizeof *changes);
}

typedef struct engine {
    tacit_field *field;
    int depth;         /* 1: copy                       */
    const int *depths; /* of kernels, NULL: one step    */
} engine;

static void visit(void *state, int depth, double *changes)
{
    const engine *e = state;
    tacit_field *f = e->field;
    const tct_device_steps *steps = f->device->steps;
    int left = changes ? depth - 1 : depth;
    for (const int *k = e->depths; k && *k > 0; k++)
        for (; left >= *k; left -= *k) {
            const tct_step_work w = tct_device_work(f);
            steps->visit(f->queue, &w, *k);
            f->device->now ^= 1;
        }
    for (; left > 0; left--) one_step(f);
    if (changes) {
        one_step(f);
        tct_device_measure(f, changes);
    }
    f->device->host_is_older = true;
}

/* --- the ways ------------------------------------------------------------- */

static tacit_status open(tacit_field *f, int depth, const int *depths,
                         void **state)
{
    engine *e = tct_calloc(sizeof *e);
    if (!e) FAIL(TACIT_NO_MEMORY, "no memory for steps of a grid");
    *e = (engine){f, depth, depths};
    *state = e;
    return TACIT_OK;
}

static tacit_status copy_open(tacit_field *f, int depth, void **state)
{
    return open(f, depth, NULL, state);
}

const int *tct_device_tiles_depths(const tacit_field *f)
{
    const char *reason;
    return f->device->steps->depths(&f->s, &reason);
}

tacit_status tct_device_tiles_check(const tacit_field *f, int depth,
                                    const int **out)
{
    const char *reason = NULL;
    const int *depths = f->device->steps->depths(&f->s, &reason);
    if (!depths)
        FAIL(TACIT_UNSUPPORTED,
             "way 'tiles' is not for this grid: %s: take way copy", reason);
    if (depth > depths[0])
        FAIL(TACIT_UNSUPPORTED,
             "depth %d: a GPU's registers hold tiles of %d steps: take a depth "
             "of at most %d, or device host",
             depth, depths[0], depths[0]);
    *out = depths;
    return TACIT_OK;
}

static tacit_status tiles_open(tacit_field *f, int depth, void **state)
{
    const int *depths = NULL;
    TRY(tct_device_tiles_check(f, depth, &depths));
    return open(f, depth, depths, state);
}

static void describe(const void *state, tacit_field_result *out)
{
    const engine *e = state;
    out->threads = 1;
    out->moved_bytes = tct_field_touched(e->field) / e->depth;
}

static void finish(void *state)
{
    const engine *e = state;
    tacit_queue *q = e->field->queue;
    q->device->sync(q);
}

static void close(void *state)
{
    tct_free(state);
}

const tct_way_ops tct_device_copy = {.open = copy_open,
                                     .visit = visit,
                                     .describe = describe,
                                     .finish = finish,
                                     .close = close};
const tct_way_ops tct_device_tiles = {.open = tiles_open,
                                      .visit = visit,
                                      .describe = describe,
                                      .finish = finish,
                                      .close = close,
                                      .depths = tct_device_tiles_depths};
