/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/field.c - fields: memory, and values in and out. */
#include "stencil/field.h"
#include "comm/world/world.h"
#include "device/parallel.h"
#include "stencil/device.h"
#include "stencil/tiling.h"
#include <math.h>

enum {
    WORTH = 1 << 15,    /* steps of cells: some 10 us */
    STREAMED = 16 << 20 /* bytes of a buffer that caches do not keep */
};

/* --- memory --------------------------------------------------------------- */

static double weights_bytes(const tct_grid_stencil *s, const tct_grid_block *b)
{
    if (s->weights != TACIT_WEIGHTS_CELLS) return 0.0;
    return (double)b->cells * (double)s->bytes * s->about->points;
}

static double buffer_bytes(const tct_grid_stencil *s, const tct_grid_block *b)
{
    return (double)b->stored * (double)s->bytes;
}

double tacit_stencil_bytes(const tacit_stencil *stencil)
{
    tct_grid_stencil s;
    tct_grid_block b;
    if (!stencil || tct_stencil_read(stencil, &s) < 0) return (double)NAN;
    tct_block_make(&s, (const int[3]){1, 1, 1}, 0, 0, &b);
    return 2.0 * buffer_bytes(&s, &b) + weights_bytes(&s, &b);
}

/* Buffers of a field in the host's memory. */
static int buffers_of(const tacit_queue *q)
{
    return q->device->kind == TCT_KIND_GPU ? 1 : 2;
}

static tacit_status check_memory(const tacit_queue *q,
                                 const tct_grid_stencil *s,
                                 const tct_grid_block *b)
{
    const double bytes =
        buffers_of(q) * buffer_bytes(s, b) + weights_bytes(s, b);
    const double free = (double)tct_memory_available();
    if (bytes <= free || bytes < 0x1p20) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY,
         "the grid needs %.3g GiB of memory, %.3g GiB are free: take a smaller "
         "one%s",
         bytes / 0x1p30, free / 0x1p30, s->single ? "" : ", or type float");
}

/* Cells that a step of a row reads, at most. */
static int64_t outside_cells(const tacit_field *f)
{
    return f->block.n[0] + 2 * TACIT_FIELD_DEPTH_MOST + 4;
}

static tacit_status allocate(tacit_field *f)
{
    const tct_grid_stencil *s = &f->s;
    TRY(check_memory(f->queue, s, &f->block));
    const size_t bytes = (size_t)f->block.stored * s->bytes;
    for (int k = 0; k < buffers_of(f->queue); k++)
        TRY(TCT_ALLOC(bytes, "the grid", &f->buffer[k]));
    TRY(TCT_ALLOC((size_t)outside_cells(f) * s->bytes, "the boundary",
                  &f->outside));
    if (s->weights != TACIT_WEIGHTS_CELLS) return TACIT_OK;
    return TCT_ALLOC((size_t)s->about->points * (size_t)f->block.cells *
                         s->bytes,
                     "the coefficients", &f->coefficient);
}

/* `count` cells of one value. */
static void fill(const tct_grid_stencil *s, char *cells, int64_t count,
                 double value)
{
    float *floats = (float *)(void *)cells;
    double *doubles = (double *)(void *)cells;
    for (int64_t x = 0; x < count; x++)
        if (s->single) floats[x] = (float)value;
        else doubles[x] = value;
}

/* Rows of all that is stored; each thread is the first that touches its. */
static void bound_rows(void *work, int64_t from, int64_t to)
{
    const tacit_field *f = work;
    const int64_t pitch = f->block.pitch;
    for (int k = 0; k < 2 && f->buffer[k]; k++)
        fill(&f->s, f->buffer[k] + (size_t)(from * pitch) * f->s.bytes,
             (to - from) * pitch, f->s.boundary);
}

static void clear_rows(void *work, int64_t from, int64_t to)
{
    const tacit_field *f = work;
    for (int k = 0; k < 2 && f->buffer[k]; k++)
        for (int64_t row = from; row < to; row++) {
            char *cells = tct_field_row(f, k, row);
            fill(&f->s, cells, f->block.n[0], 0.0);
            tct_field_close_row(f, cells);
        }
}

static void clear_weights(void *work, int64_t from, int64_t to)
{
    const tacit_field *f = work;
    const size_t each = (size_t)f->s.about->points * f->s.bytes;
    memset(f->coefficient + (size_t)from * each, 0, (size_t)(to - from) * each);
}

static void clear(tacit_field *f)
{
    TCT_THREADS_OF(f->queue->team);
    const tct_grid_block *b = &f->block;
    const int64_t least = 1 + TCT_SHORT / b->n[0];
    tct_parallel(b->stored / b->pitch, least, bound_rows, f);
    tct_parallel(tct_block_rows(b), least, clear_rows, f);
    if (f->coefficient) tct_parallel(b->cells, TCT_SHORT, clear_weights, f);
    fill(&f->s, f->outside, outside_cells(f), f->s.boundary);
}

static tacit_status check_queue(const tacit_queue *q)
{
    if (q->world->size > 1)
        FAIL(TACIT_UNSUPPORTED,
             "grids are not divided among processes yet, and here are %d: "
             "start one",
             q->world->size);
    return TACIT_OK;
}

tacit_status tacit_field_create(tacit_queue *queue,
                                const tacit_stencil *stencil, tacit_field **out)
{
    REQUIRE(queue != NULL && stencil != NULL && out != NULL);
    TRY(check_queue(queue));
    tct_grid_stencil s;
    TRY(tct_stencil_read(stencil, &s));
    tacit_field *f = tct_calloc(sizeof *f);
    if (!f) FAIL(TACIT_NO_MEMORY, "no memory for a grid");
    f->queue = queue;
    f->s = s;
    tct_block_make(&s, (const int[3]){1, 1, 1}, 0, 0, &f->block);
    f->streams = buffer_bytes(&s, &f->block) >= (double)STREAMED;
    f->room = tct_tiling_room();
    f->worth = WORTH;
    f->rows = tct_host_rows_of(&s);
    f->stream = tct_host_stream_best();
    tacit_status status = allocate(f);
    if (status >= 0) status = tct_field_open_device(f);
    if (status < 0) {
        tacit_field_destroy(&f);
        return status;
    }
    clear(f);
    *out = f;
    return TACIT_OK;
}

void tacit_field_destroy(tacit_field **field)
{
    tacit_field *f = *field;
    if (!f) return;
    tct_field_close_device(f);
    TCT_FREE(f->coefficient, f->outside, f->buffer[1], f->buffer[0], f);
    *field = NULL;
}

/* --- values --------------------------------------------------------------- */

void tct_field_close_row(const tacit_field *f, char *row)
{
    const size_t each = f->s.bytes;
    char *end = row + (size_t)f->block.n[0] * each;
    if (!f->block.closes[0]) return;
    memcpy(row - each, end - each, each);
    memcpy(end, row, each);
}

static void to_cells(const tct_grid_stencil *s, const double *values,
                     int64_t count, char *cells)
{
    float *floats = (float *)(void *)cells;
    if (!s->single) memcpy(cells, values, (size_t)count * sizeof *values);
    else
        for (int64_t k = 0; k < count; k++) floats[k] = (float)values[k];
}

static void from_cells(const tct_grid_stencil *s, const char *cells,
                       int64_t count, double *values)
{
    const float *floats = (const float *)(const void *)cells;
    if (!s->single) memcpy(values, cells, (size_t)count * sizeof *values);
    else
        for (int64_t k = 0; k < count; k++) values[k] = (double)floats[k];
}

static tacit_status check_cells(const tacit_field *f, int64_t first,
                                int64_t count)
{
    if (first >= 0 && count >= 0 && first <= f->s.cells &&
        count <= f->s.cells - first)
        return TACIT_OK;
    FAIL(TACIT_INVALID, "cells %lld and %lld more: the grid has %lld",
         (long long)first, (long long)count, (long long)f->s.cells);
}

/* The cells from `first` on that are of one row, `count` at most, and where
 * they are. */
static int64_t stretch(const tacit_field *f, int64_t first, int64_t count,
                       char **row, char **cells)
{
    const int64_t n = f->s.n[0], left = n - first % n;
    *row = tct_field_row(f, f->now, first / n);
    *cells = *row + (size_t)(first % n) * f->s.bytes;
    return left < count ? left : count;
}

tacit_status tacit_field_put(tacit_field *field, int64_t first, int64_t count,
                             const double *values)
{
    REQUIRE(field != NULL && (values != NULL || count == 0));
    TRY(check_cells(field, first, count));
    TRY(tct_field_change(field));
    while (count > 0) {
        char *row, *cells;
        const int64_t n = stretch(field, first, count, &row, &cells);
        to_cells(&field->s, values, n, cells);
        tct_field_close_row(field, row);
        first += n;
        count -= n;
        values += n;
    }
    return TACIT_OK;
}

tacit_status tacit_field_get(const tacit_field *field, int64_t first,
                             int64_t count, double *values)
{
    REQUIRE(field != NULL && (values != NULL || count == 0));
    TRY(check_cells(field, first, count));
    TRY(tct_field_to_host(field));
    while (count > 0) {
        char *row, *cells;
        const int64_t n = stretch(field, first, count, &row, &cells);
        from_cells(&field->s, cells, n, values);
        first += n;
        count -= n;
        values += n;
    }
    return TACIT_OK;
}

typedef struct fill_work {
    tacit_field *field;
    double value;
} fill_work;

static void fill_rows(void *work, int64_t from, int64_t to)
{
    const fill_work *w = work;
    const tacit_field *f = w->field;
    for (int64_t row = from; row < to; row++) {
        char *cells = tct_field_row(f, f->now, row);
        fill(&f->s, cells, f->block.n[0], w->value);
        tct_field_close_row(f, cells);
    }
}

tacit_status tacit_field_fill(tacit_field *field, double value)
{
    REQUIRE(field != NULL);
    TRY(tct_field_change(field));
    TCT_THREADS_OF(field->queue->team);
    fill_work w = {field, value};
    tct_parallel(tct_block_rows(&field->block),
                 1 + TCT_SHORT / field->block.n[0], fill_rows, &w);
    return TACIT_OK;
}

tacit_status tacit_field_put_weights(tacit_field *field, int point,
                                     int64_t first, int64_t count,
                                     const double *values)
{
    REQUIRE(field != NULL && (values != NULL || count == 0));
    const tct_grid_stencil *s = &field->s;
    if (!field->coefficient)
        FAIL(TACIT_INVALID, "this grid has no coefficients by cell: set its "
                            "weights to TACIT_WEIGHTS_CELLS");
    if (point < 0 || point >= s->about->points)
        FAIL(TACIT_INVALID, "point %d of %s: expected 0 to %d", point,
             s->about->name, s->about->points - 1);
    TRY(check_cells(field, first, count));
    TRY(tct_field_change(field));
    const size_t at = (size_t)point * (size_t)s->cells + (size_t)first;
    to_cells(s, values, count, field->coefficient + at * s->bytes);
    return TACIT_OK;
}
