/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/device.c - fields in the memory of a GPU. */
#include "stencil/device.h"

static size_t buffer_bytes(const tacit_field *f)
{
    return (size_t)f->block.stored * f->s.bytes;
}

static size_t weights_bytes(const tacit_field *f)
{
    if (!f->coefficient) return 0;
    return (size_t)f->s.about->points * (size_t)f->block.cells * f->s.bytes;
}

static size_t outside_bytes(const tacit_field *f)
{
    return ((size_t)f->block.n[0] + 2) * f->s.bytes;
}

static tacit_status take(tacit_queue *q, size_t bytes, char **out)
{
    if (bytes == 0) return TACIT_OK;
    *out = q->device->alloc(q, bytes);
    if (*out) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY,
         "no GPU memory for a grid's %.3g GiB: take a smaller one, or device "
         "host",
         (double)bytes / 0x1p30);
}

/* Cells beyond the rows are the boundary value in both buffers. */
static tacit_status take_all(tacit_field *f, tct_field_device *d)
{
    tacit_queue *q = f->queue;
    const int64_t cells = (int64_t)(buffer_bytes(f) / f->s.bytes);
    for (int k = 0; k < 2; k++) {
        if (f->halo) d->buffer[k] = f->halo_buffer[k];
        else TRY(take(q, buffer_bytes(f), &d->buffer[k]));
        d->steps->fill(q, d->buffer[k], cells, f->s.single, f->s.boundary);
    }
    TRY(take(q, outside_bytes(f), &d->outside));
    d->steps->fill(q, d->outside, f->block.n[0] + 2, f->s.single,
                   f->s.boundary);
    TRY(take(q, weights_bytes(f), &d->coefficient));
    return q_status(q);
}

tacit_status tct_field_open_device(tacit_field *f)
{
    tacit_queue *q = f->queue;
    if (q->device->kind != TCT_KIND_GPU) return TACIT_OK;
    q_enter(q);
    const tct_device_steps *steps = tct_device_steps_on(q);
    if (!steps)
        FAIL(TACIT_UNSUPPORTED, "device %s has no kernels for grids",
             q->device->name);
    f->device = tct_calloc(sizeof *f->device);
    if (!f->device) FAIL(TACIT_NO_MEMORY, "no memory for a grid");
    f->device->steps = steps;
    f->device->host_is_newer = true;
    return take_all(f, f->device);
}

static void give(tacit_queue *q, void *p)
{
    if (p) q->device->free(q, p);
}

void tct_field_close_device(tacit_field *f)
{
    tct_field_device *d = f->device;
    if (!d) return;
    q_enter(f->queue);
    give(f->queue, d->changes);
    give(f->queue, d->coefficient);
    give(f->queue, d->outside);
    for (int k = 0; k < 2 && !f->halo; k++) give(f->queue, d->buffer[k]);
    tct_free(d);
    f->device = NULL;
}

tacit_status tct_field_to_host(const tacit_field *f)
{
    tct_field_device *d = f->device;
    if (!d || !d->host_is_older) return TACIT_OK;
    q_enter(f->queue);
    d->steps->get(f->queue, f->buffer[f->now], d->buffer[d->now],
                  buffer_bytes(f));
    TRY(q_status(f->queue));
    d->host_is_older = false;
    return TACIT_OK;
}

tacit_status tct_field_to_device(tacit_field *f)
{
    tct_field_device *d = f->device;
    if (!d || !d->host_is_newer) return TACIT_OK;
    q_enter(f->queue);
    d->steps->put(f->queue, d->buffer[d->now], f->buffer[f->now],
                  buffer_bytes(f));
    if (d->coefficient)
        d->steps->put(f->queue, d->coefficient, f->coefficient,
                      weights_bytes(f));
    TRY(q_status(f->queue));
    d->host_is_newer = false;
    return TACIT_OK;
}

tacit_status tct_field_measures(tacit_field *f)
{
    tct_field_device *d = f->device;
    char *room = NULL;
    if (!d || d->changes) return TACIT_OK;
    const int64_t count = tct_field_all_blocks(f);
    TRY(take(f->queue, (size_t)count * sizeof *d->changes, &room));
    d->changes = (double *)(void *)room;
    return TACIT_OK;
}

tacit_status tct_field_change(tacit_field *f)
{
    TRY(tct_field_to_host(f));
    f->changed = true;
    if (f->device) f->device->host_is_newer = true;
    return TACIT_OK;
}

int *tct_field_now(tacit_field *f)
{
    return f->device ? &f->device->now : &f->now;
}
