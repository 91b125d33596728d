/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/png.c - a picture of a field. PNG is a signature and chunks: length,
 * type, data, CRC; the pixels are rows of red, green and blue, each after a
 * byte 0 (no filter), packed by zlib (PNG specification, third edition). */
#include "comm/world/world.h"
#include "io/sink.h"
#include "stencil/device.h"
#include "stencil/gather.h"
#include <math.h>
#include <zlib.h>

enum { SIDE = 2048, RGB = 3, HEAD = 13 };

/* --- colours -------------------------------------------------------------- */

/* From the least value to the largest, at equal distances. */
static const unsigned char colours[][RGB] = {
    {28, 48, 130},   {46, 122, 190}, {142, 198, 224}, {244, 244, 236},
    {250, 190, 120}, {224, 102, 62}, {140, 20, 38}};
enum { STOPS = sizeof colours / sizeof *colours };

typedef struct picture {
    const tacit_field *field;
    int64_t plane, every; /* of cells in a direction one is a pixel */
    int64_t width, height;
    double *value;      /* [height][width] on rank 0               */
    double least, most; /* of finite values; least > most: none is */
} picture;

/* The values of the pixels of row y from the cells of a row of the grid. */
static void take_row(picture *p, int64_t y, const char *row)
{
    const size_t each = p->field->s.bytes;
    double *to = p->value + y * p->width;
    float single;
    for (int64_t x = 0; x < p->width; x++) {
        const char *cell = row + (size_t)(x * p->every) * each;
        if (p->field->s.single) {
            memcpy(&single, cell, sizeof single);
            to[x] = (double)single;
        } else {
            memcpy(&to[x], cell, sizeof *to);
        }
    }
}

static void paint(const picture *p, double value, unsigned char *rgb)
{
    memset(rgb, 0, RGB);
    if (!isfinite(value)) return;
    const double range = p->most / 2 - p->least / 2; /* may not overflow */
    const double part = range > 0.0 ? (value / 2 - p->least / 2) / range : 0.5;
    const double at = part * (STOPS - 1);
    const int stop = at < STOPS - 2 ? (int)at : STOPS - 2;
    for (int k = 0; k < RGB; k++)
        rgb[k] = (unsigned char)(colours[stop][k] +
                                 (at - stop) *
                                     (colours[stop + 1][k] - colours[stop][k]) +
                                 0.5);
}

static picture picture_of(const tacit_field *f)
{
    const tct_grid_stencil *s = &f->s;
    const int64_t ny = s->about->dimensions == 2 ? s->n[2] : s->n[1];
    const int64_t longest = s->n[0] > ny ? s->n[0] : ny;
    picture p = {.field = f, .plane = s->n[2] / 2, .least = 1.0, .most = 0.0};
    p.every = (longest + SIDE - 1) / SIDE;
    p.width = (s->n[0] + p.every - 1) / p.every;
    p.height = (ny + p.every - 1) / p.every;
    return p;
}

static void find_range(picture *p)
{
    for (int64_t k = 0; k < p->width * p->height; k++) {
        const double value = p->value[k];
        const bool first = p->least > p->most;
        if (!isfinite(value)) continue;
        if (first || value < p->least) p->least = value;
        if (first || value > p->most) p->most = value;
    }
}

static tacit_status take_rows(picture *p)
{
    const tct_grid_stencil *s = &p->field->s;
    const char *row = NULL;
    tct_row_gather *gather = NULL;
    TRY(tct_row_gather_create(p->field, 1, &gather));
    tacit_status status = TACIT_OK;
    for (int64_t y = 0; y < p->height && status >= 0; y++) {
        const int64_t above = s->about->dimensions == 2 ? 0 : p->plane;
        status = tct_row_gather_next(gather, above * s->n[1] + y * p->every, 1,
                                     &row);
        if (status >= 0 && p->value) take_row(p, y, row);
    }
    tct_row_gather_destroy(&gather);
    return status;
}

/* The pixels, on rank 0. Collective. */
static tacit_status take_picture(picture *p)
{
    tacit_world *w = p->field->queue->world;
    tacit_status status = TACIT_OK;
    if (w->rank == 0)
        status = TCT_ALLOC(p->width * p->height, "a picture", &p->value);
    TRY(tct_agree(w, status));
    TRY(take_rows(p));
    if (p->value) find_range(p);
    return TACIT_OK;
}

/* --- chunks --------------------------------------------------------------- */

static void put_word(unsigned char *to, uint32_t word)
{
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(word >> (24 - 8 * k));
}

static tacit_status write_chunk(tct_sink *sink, const char *type,
                                const unsigned char *data, size_t bytes)
{
    unsigned char head[8], tail[4];
    put_word(head, (uint32_t)bytes);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(crc32(0L, Z_NULL, 0), head + 4, 4);
    if (bytes > 0) crc = crc32(crc, data, (uInt)bytes);
    put_word(tail, (uint32_t)crc);
    TRY(tct_sink_write(sink, head, sizeof head));
    TRY(tct_sink_write(sink, data, bytes));
    return tct_sink_write(sink, tail, sizeof tail);
}

static tacit_status write_head(const picture *p, tct_sink *sink)
{
    unsigned char head[HEAD] = {0};
    put_word(head, (uint32_t)p->width);
    put_word(head + 4, (uint32_t)p->height);
    head[8] = 8; /* bits a colour */
    head[9] = 2; /* red, green, blue */
    TRY(tct_sink_write(sink, "\x89PNG\r\n\x1a\n", 8));
    return write_chunk(sink, "IHDR", head, sizeof head);
}

static void paint_rows(const picture *p, unsigned char *rows)
{
    for (int64_t y = 0; y < p->height; y++) {
        *rows++ = 0; /* no filter */
        for (int64_t x = 0; x < p->width; x++, rows += RGB)
            paint(p, p->value[y * p->width + x], rows);
    }
}

static tacit_status pack_pixels(const picture *p, unsigned char **out,
                                uLongf *packed)
{
    const size_t bytes = (size_t)p->height * (size_t)(1 + RGB * p->width);
    unsigned char *rows = NULL;
    *packed = compressBound(bytes);
    TRY(TCT_ALLOC(*packed, "a picture", out));
    TRY(TCT_ALLOC(bytes, "a picture", &rows));
    paint_rows(p, rows);
    const int result = compress(*out, packed, rows, bytes);
    tct_free(rows);
    if (result == Z_OK) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY, "no memory to pack a picture");
}

static tacit_status write_pixels(const picture *p, tct_sink *sink)
{
    unsigned char *out = NULL;
    uLongf packed = 0;
    tacit_status status = TACIT_OK;
    if (p->value) status = pack_pixels(p, &out, &packed);
    status = tct_agree(p->field->queue->world, status);
    if (status >= 0) status = write_chunk(sink, "IDAT", out, packed);
    tct_free(out);
    return status;
}

static tacit_status write_picture(picture *p, tct_sink *sink)
{
    TRY(take_picture(p));
    TRY(write_head(p, sink));
    TRY(write_pixels(p, sink));
    TRY(write_chunk(sink, "IEND", NULL, 0));
    return tct_sink_commit(sink);
}

tacit_status tacit_field_write_png(const tacit_field *field, const char *path)
{
    REQUIRE(field != NULL, path != NULL);
    tacit_world *w = field->queue->world;
    TRY(tct_agree(w, tct_field_to_host(field)));
    picture p = picture_of(field);
    tct_sink *sink = NULL;
    TRY(tct_sink_open(w, path, false, &sink));
    const tacit_status status = write_picture(&p, sink);
    tct_sink_close(&sink);
    tct_free(p.value);
    return status;
}
