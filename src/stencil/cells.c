/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/cells.c - values of a field, in and out by numbers of the grid. */
#include "device/parallel.h"
#include "stencil/device.h"

/* --- values --------------------------------------------------------------- */

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

/* Some cells of the grid that are of one row, and those of them that this rank
 * has: `count` from its cell (x, row) on. `skip` are before them. */
typedef struct stretch {
    int64_t all, skip, count, row, x;
} stretch;

static stretch next_stretch(const tct_grid_block *b, int64_t first,
                            int64_t count)
{
    const int64_t n = b->grid[0], x = first % n, line = first / n;
    const int64_t y = line % b->grid[1] - b->first[1];
    const int64_t z = line / b->grid[1] - b->first[2];
    stretch s = {.all = n - x < count ? n - x : count};
    if (y < 0 || y >= b->n[1] || z < 0 || z >= b->n[2]) return s;
    const int64_t from = x > b->first[0] ? x : b->first[0];
    const int64_t end = b->first[0] + b->n[0];
    const int64_t to = x + s.all < end ? x + s.all : end;
    if (from >= to) return s;
    s.skip = from - x;
    s.count = to - from;
    s.row = z * b->n[1] + y;
    s.x = from - b->first[0];
    return s;
}

tacit_status tacit_field_put(tacit_field *field, int64_t first, int64_t count,
                             const double *values)
{
    REQUIRE(field != NULL, count == 0 || values != NULL);
    TRY(check_cells(field, first, count));
    TRY(tct_field_change(field));
    while (count > 0) {
        const stretch s = next_stretch(&field->block, first, count);
        char *row = tct_field_row(field, field->now, s.row);
        to_cells(&field->s, values + s.skip, s.count,
                 row + (size_t)s.x * field->s.bytes);
        if (s.count > 0) tct_field_close_row(field, row);
        first += s.all;
        count -= s.all;
        values += s.all;
    }
    return TACIT_OK;
}

tacit_status tacit_field_get(const tacit_field *field, int64_t first,
                             int64_t count, double *values)
{
    REQUIRE(field != NULL, count == 0 || values != NULL);
    TRY(check_cells(field, first, count));
    TRY(tct_field_to_host(field));
    while (count > 0) {
        const stretch s = next_stretch(&field->block, first, count);
        const char *row = tct_field_row(field, field->now, s.row);
        from_cells(&field->s, row + (size_t)s.x * field->s.bytes, s.count,
                   values + s.skip);
        first += s.all;
        count -= s.all;
        values += s.all;
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
        tct_field_set(&f->s, cells, f->block.n[0], w->value);
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
    REQUIRE(field != NULL, count == 0 || values != NULL);
    const tct_grid_stencil *s = &field->s;
    if (!field->coefficient)
        FAIL(TACIT_INVALID, "this grid has no coefficients by cell: set its "
                            "weights to TACIT_WEIGHTS_CELLS");
    if (point < 0 || point >= s->about->points)
        FAIL(TACIT_INVALID, "point %d of %s: expected 0 to %d", point,
             s->about->name, s->about->points - 1);
    TRY(check_cells(field, first, count));
    TRY(tct_field_change(field));
    const tct_grid_block *b = &field->block;
    char *of_point = field->coefficient + (size_t)(point * b->cells) * s->bytes;
    while (count > 0) {
        const stretch t = next_stretch(b, first, count);
        const size_t at = (size_t)(t.row * b->n[0] + t.x);
        to_cells(s, values + t.skip, t.count, of_point + at * s->bytes);
        first += t.all;
        count -= t.all;
        values += t.all;
    }
    return TACIT_OK;
}
