/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/files.c - fields and coefficients from files, and fields to .npy. */
#include "comm/world/world.h"
#include "io/sink.h"
#include "stencil/device.h"
#include "stencil/gather.h"
#include <stdio.h>

enum { PIECE = 1 << 20 }; /* bytes that are written at once, at least */

/* Extents of the grid's array, the slowest direction first. */
static tct_values_want want_of(const tacit_field *f)
{
    const tct_grid_stencil *s = &f->s;
    tct_values_want w = {.count = s->cells};
    if (s->about->dimensions == 2)
        w = (tct_values_want){2, {s->n[2], s->n[0]}, s->cells};
    else w = (tct_values_want){3, {s->n[2], s->n[1], s->n[0]}, s->cells};
    return w;
}

static tacit_status put_cells(void *ctx, int64_t first, int64_t count,
                              const double *values)
{
    return tacit_field_put(ctx, first, count, values);
}

tacit_status tacit_field_read(tacit_field *field, const char *path)
{
    REQUIRE(field != NULL, path != NULL);
    const tct_values_want want = want_of(field);
    return tct_values_bcast(field->queue->world, path, &want, put_cells, field);
}

/* Values go on from point to point. */
static tacit_status put_weights(void *ctx, int64_t first, int64_t count,
                                const double *values)
{
    tacit_field *f = ctx;
    const int64_t cells = f->s.cells;
    while (count > 0) {
        const int64_t at = first % cells, left = cells - at;
        const int64_t n = left < count ? left : count;
        TRY(tacit_field_put_weights(f, (int)(first / cells), at, n, values));
        first += n;
        count -= n;
        values += n;
    }
    return TACIT_OK;
}

tacit_status tacit_field_read_weights(tacit_field *field, const char *path)
{
    REQUIRE(field != NULL, path != NULL);
    const int points = field->s.about->points;
    if (!field->coefficient)
        FAIL(TACIT_INVALID,
             "%s: this grid has no coefficients by cell: set its weights to "
             "TACIT_WEIGHTS_CELLS",
             path);
    const tct_values_want cells = want_of(field);
    tct_values_want want = {cells.dims + 1, {points}, points * cells.count};
    memcpy(&want.extent[1], cells.extent,
           (size_t)cells.dims * sizeof *cells.extent);
    return tct_values_bcast(field->queue->world, path, &want, put_weights,
                            field);
}

/* --- .npy ----------------------------------------------------------------- */

static tacit_status write_header(const tacit_field *f, tct_sink *sink)
{
    char head[TCT_NPY_HEAD], shape[80];
    const tct_grid_stencil *s = &f->s;
    const long long n[3] = {(long long)s->n[0], (long long)s->n[1],
                            (long long)s->n[2]};
    if (s->about->dimensions == 2)
        snprintf(shape, sizeof shape, "(%lld, %lld)", n[2], n[0]);
    else snprintf(shape, sizeof shape, "(%lld, %lld, %lld)", n[2], n[1], n[0]);
    tct_npy_print(head, s->single ? "<f4" : "<f8", shape, false);
    return tct_sink_write(sink, head, sizeof head);
}

/* Some rows at a time. */
static tacit_status write_rows(const tacit_field *f, tct_sink *sink)
{
    const size_t row = (size_t)f->s.n[0] * f->s.bytes;
    const int64_t rows = f->s.n[1] * f->s.n[2];
    const int64_t most = (int64_t)(PIECE / row) + 1;
    const char *piece = NULL;
    tct_row_gather *gather = NULL;
    TRY(tct_row_gather_create(f, most, &gather));
    tacit_status status = TACIT_OK;
    for (int64_t first = 0; first < rows && status >= 0; first += most) {
        const int64_t left = rows - first, count = left < most ? left : most;
        status = tct_row_gather_next(gather, first, count, &piece);
        if (status >= 0)
            status = tct_sink_write(sink, piece, (size_t)count * row);
    }
    tct_row_gather_destroy(&gather);
    return status;
}

tacit_status tacit_field_write(const tacit_field *field, const char *path)
{
    REQUIRE(field != NULL, path != NULL);
    tacit_world *w = field->queue->world;
    TRY(tct_agree(w, tct_field_to_host(field)));
    tct_sink *sink = NULL;
    TRY(tct_sink_open(w, path, false, &sink));
    tacit_status status = write_header(field, sink);
    if (status >= 0) status = write_rows(field, sink);
    if (status >= 0) status = tct_sink_commit(sink);
    tct_sink_close(&sink);
    return status;
}
