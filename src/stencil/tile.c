/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/tile.c - the visit of one tile: planes stream through the levels. */
#include "stencil/tile.h"

enum {
    PIECE = 2 * TCT_CHANGE_BLOCK, /* cells of a row that are streamed at once */
    AHEAD = 8192                  /* bytes that take as long as memory does */
};

size_t tct_tile_scratch(void)
{
    return PIECE * sizeof(double);
}

/* --- where cells are ------------------------------------------------------ */

typedef struct span {
    int64_t from, to;
} span;

/* Cells of a level in direction `d`. */
static span span_of(const tct_tile *t, int d, int level)
{
    const tct_grid_block *b = &t->field->block;
    const int64_t grow = t->depth - level;
    span s = {t->lo[d] - grow, t->hi[d] + grow};
    if (b->closes[d]) return s;
    if (s.from < b->low[d]) s.from = b->low[d];
    if (s.to > b->high[d]) s.to = b->high[d];
    return s;
}

/* Cell (x, y, z) of a level's planes. */
static char *kept(const tct_tile *t, int level, int64_t z, int64_t y, int64_t x)
{
    const tct_tiling *g = t->tiling;
    const int64_t plane =
        level * g->planes + (z + level - t->lo[2] + t->depth) % g->planes;
    const int64_t above = g->height > 1 ? g->depth : 0;
    const int64_t row = plane * g->height + y - t->lo[1] + above;
    return t->planes + (size_t)(row * g->pitch + g->lead + x - t->lo[0]) *
                           t->field->s.bytes;
}

/* Where cell (x, y, z) of a level is read, and how far the next row is: one row
 * stands for all that are outside. */
static const char *source(const tct_tile *t, int level, int64_t z, int64_t y,
                          int64_t x, int64_t *pitch)
{
    const tacit_field *f = t->field;
    const tct_grid_block *b = &f->block;
    *pitch = 0;
    if (!tct_block_has(b, 2, z) || !tct_block_has(b, 1, y))
        return tct_field_outside(f);
    *pitch = t->tiling->pitch;
    if (level > 0 || t->wraps) return kept(t, level, z, y, x);
    *pitch = b->pitch;
    return tct_field_cell(f, f->now, tct_block_wrap(b, 2, z),
                          tct_block_wrap(b, 1, y), x);
}

/* --- patches -------------------------------------------------------------- */

/* Some rows of a plane of a level, from (x, y) on; in two dimensions some
 * planes, which are rows. */
typedef struct patch {
    int level;
    int64_t z, y, x, rows, count;
} patch;

static void find_coefficients(const tct_tile *t, const patch *p,
                              tct_row_inputs *r)
{
    const tct_grid_block *b = &t->field->block;
    const int64_t row =
        tct_block_wrap(b, 2, p->z) * b->n[1] + tct_block_wrap(b, 1, p->y);
    const int64_t cell = row * b->n[0] + tct_block_wrap(b, 0, p->x);
    r->coefficient = t->field->coefficient + (size_t)cell * t->field->s.bytes;
    r->coefficient_pitch = b->n[0];
    r->stride = b->cells;
}

/* How far ahead cells of level 0 are asked for: in a group the rows of the
 * next. */
static int64_t ahead_of(const tct_tile *t, int level)
{
    const tacit_field *f = t->field;
    const int group = t->tiling->group;
    if (level > 0 || !f->streams || t->wraps) return 0;
    return group == 1 ? AHEAD : group * f->block.plane * (int64_t)f->s.bytes;
}

static tct_row_inputs inputs_of(const tct_tile *t, const patch *p)
{
    const tct_grid_stencil *s = &t->field->s;
    const int below = p->level - 1;
    tct_row_inputs r = {.centre = s->centre, .neighbours = s->neighbours};
    const bool flat = s->about->dimensions == 2;
    const int64_t rows = flat ? p->rows + 2 : TCT_STENCIL_ROWS;
    r.ahead = ahead_of(t, below);
    for (int k = 0; k < rows; k++) {
        const int64_t z = flat ? p->z + k - 1 : p->z + k / 3 - 1;
        const int64_t y = flat ? p->y : p->y + k % 3 - 1;
        r.in[k] = source(t, below, z, y, p->x, &r.pitch[k]);
    }
    if (t->field->coefficient) find_coefficients(t, p, &r);
    return r;
}

/* The change of a row that the last level has made, by blocks. */
static void note_change(const tct_tile *t, const patch *p, int64_t y,
                        const char *now, const char *before)
{
    const tct_grid_stencil *s = &t->field->s;
    const int64_t row = p->z * t->field->block.n[1] + y;
    double *to =
        t->changes + row * tct_field_blocks(t->field) + p->x / TCT_CHANGE_BLOCK;
    for (int64_t x = 0; x < p->count; x += TCT_CHANGE_BLOCK) {
        const int64_t left = p->count - x;
        *to++ = t->field->rows->change(
            now + (size_t)x * s->bytes, before + (size_t)x * s->bytes,
            left < TCT_CHANGE_BLOCK ? left : TCT_CHANGE_BLOCK);
    }
}

/* The function that writes past the caches, where the field is large. Changes
 * are of cells that are read again. NULL: there is none. */
static tct_row_fn past_of(const tct_tile *t)
{
    const tacit_field *f = t->field;
    return f->streams && !t->changes ? f->rows->past[f->s.shape][f->s.weights]
                                     : NULL;
}

/* Does a level go by way of the scratch memory? */
static bool has_pieces(const tct_tile *t, int level)
{
    return level == t->depth && t->field->streams && !past_of(t);
}

/* A patch of the field, by way of the scratch memory and past the caches if the
 * field is large. */
static void finish_patch(const tct_tile *t, const patch *p, char *out)
{
    const tacit_field *f = t->field;
    const size_t each = f->s.bytes;
    const tct_row_inputs r = inputs_of(t, p);
    const tct_row_fn past = past_of(t);
    if (past) {
        past(&r, out, f->block.pitch, p->rows, p->count);
        return;
    }
    const int64_t pitch = f->streams ? p->count : f->block.pitch;
    const int centre = tct_stencil_points(f->s.shape)[0].row;
    char *to = f->streams ? t->scratch : out;
    f->rows->step[f->s.shape][f->s.weights](&r, to, pitch, p->rows, p->count);
    for (int64_t y = 0; y < p->rows; y++) {
        const char *row = to + (size_t)(y * pitch) * each;
        const char *before =
            (const char *)r.in[centre] + (size_t)(y * r.pitch[centre]) * each;
        if (t->changes) note_change(t, p, p->y + y, row, before);
        if (f->streams)
            f->stream->copy(out + (size_t)(y * f->block.pitch) * each, row,
                            (size_t)p->count * each);
    }
}

static void step_patch(const tct_tile *t, const patch *p)
{
    const tacit_field *f = t->field;
    if (p->level == t->depth) {
        finish_patch(t, p, tct_field_cell(f, f->now ^ 1, p->z, p->y, p->x));
        return;
    }
    const tct_row_inputs r = inputs_of(t, p);
    f->rows->step[f->s.shape][f->s.weights](
        &r, kept(t, p->level, p->z, p->y, p->x), t->tiling->pitch, p->rows,
        p->count);
}

/* How far a patch from `x` goes: where a row wraps, its coefficients begin
 * again, and scratch memory has some cells. */
static int64_t end_of(const tct_tile *t, int level, int64_t x, int64_t to)
{
    const tct_grid_block *b = &t->field->block;
    const int64_t edge = x + b->n[0] - tct_block_wrap(b, 0, x);
    if (t->field->coefficient && edge < to) to = edge;
    return has_pieces(t, level) && to - x > PIECE ? x + PIECE : to;
}

/* Rows from y on whose neighbours are at constant distances: not those at an
 * end of what is stored, which are alone. */
static int64_t rows_alike(const tct_tile *t, int level, int64_t y, int64_t to,
                          int64_t count)
{
    const tct_grid_block *b = &t->field->block;
    const int64_t at = tct_block_wrap(b, 1, y), last = b->high[1] - 1;
    int64_t rows = at == b->low[1] || at >= last ? 1 : last - at;
    if (has_pieces(t, level) && rows * count > PIECE) rows = PIECE / count;
    return rows < to - y ? rows : to - y;
}

/* The cells outside the grid next to a row of a level. */
static void set_ghosts(const tct_tile *t, span x, char *row)
{
    const tct_grid_block *b = &t->field->block;
    const char *value = tct_field_outside(t->field);
    const size_t each = t->field->s.bytes;
    if (x.from == b->low[0]) memcpy(row - each, value, each);
    if (x.to == b->high[0])
        memcpy(row + (size_t)(x.to - x.from) * each, value, each);
}

/* The same of a row of the field, which has them unless x closes: each
 * ghost is set by the tile that has the cell at the other end. */
static void close_row(const tct_tile *t, int64_t z, int64_t y)
{
    const tct_grid_stencil *s = &t->field->s;
    const int next = t->field->now ^ 1;
    const int64_t n = t->field->block.n[0];
    if (t->lo[0] == 0)
        memcpy(tct_field_cell(t->field, next, z, y, n),
               tct_field_cell(t->field, next, z, y, 0), s->bytes);
    if (t->hi[0] == n)
        memcpy(tct_field_cell(t->field, next, z, y, -1),
               tct_field_cell(t->field, next, z, y, n - 1), s->bytes);
}

static void close_plane(const tct_tile *t, int level, int64_t z, span y, span x)
{
    const bool last = level == t->depth;
    if (last != t->field->block.closes[0]) return;
    for (int64_t row = y.from; row < y.to; row++)
        if (last) close_row(t, z, row);
        else set_ghosts(t, x, kept(t, level, z, row, x.from));
}

/* Level 0 of a tile that wraps in x: from the field, end after end. */
static void copy_row(const tct_tile *t, int64_t z, int64_t y)
{
    const tct_grid_block *b = &t->field->block;
    const span x = span_of(t, 0, 0);
    for (int64_t from = x.from; from < x.to;) {
        const int64_t start = tct_block_wrap(b, 0, from);
        const int64_t left = x.to - from, end = b->n[0] - start;
        const int64_t count = left < end ? left : end;
        memcpy(kept(t, 0, z, y, from),
               tct_field_cell(t->field, t->field->now, tct_block_wrap(b, 2, z),
                              tct_block_wrap(b, 1, y), start),
               (size_t)count * t->field->s.bytes);
        from += count;
    }
}

/* --- the visit ------------------------------------------------------------ */

static void copy_plane(const tct_tile *t, int64_t z)
{
    const span y = span_of(t, 1, 0);
    for (int64_t row = y.from; row < y.to; row++) copy_row(t, z, row);
}

static void step_plane(const tct_tile *t, int level, int64_t z)
{
    const span y = span_of(t, 1, level), x = span_of(t, 0, level);
    patch p = {.level = level, .z = z};
    for (p.x = x.from; p.x < x.to; p.x += p.count) {
        p.count = end_of(t, level, p.x, x.to) - p.x;
        for (p.y = y.from; p.y < y.to; p.y += p.rows) {
            p.rows = rows_alike(t, level, p.y, y.to, p.count);
            step_patch(t, &p);
        }
    }
    close_plane(t, level, z, y, x);
}

/* A step reads one cell more on each side, which the field has as a ghost. */
static bool must_wrap(const tct_tile *t)
{
    const tct_grid_block *b = &t->field->block;
    const span x = span_of(t, 0, 1);
    return b->closes[0] && (x.from < 0 || x.to > b->n[0]);
}

/* Planes [from, to) of a level: rows that are made at once, unless weights or
 * changes are of each. */
static void step_planes(const tct_tile *t, int level, span z)
{
    const bool alone = t->field->coefficient ||
                       (t->changes && level == t->depth) ||
                       t->tiling->group == 1;
    const span y = span_of(t, 1, level), x = span_of(t, 0, level);
    const patch all = {level,  z.from,        y.from,
                       x.from, z.to - z.from, x.to - x.from};
    if (!alone) step_patch(t, &all);
    for (int64_t k = z.from; k < z.to; k++)
        if (alone) step_plane(t, level, k);
        else close_plane(t, level, k, y, x);
}

/* Planes of a level that are next when those from `plane` on are of level
 * 0. */
static span group_of(const tct_tile *t, int level, int64_t plane)
{
    const span all = span_of(t, 2, level);
    span z = {plane - level, plane - level + t->tiling->group};
    if (z.from < all.from) z.from = all.from;
    if (z.to > all.to) z.to = all.to;
    return z;
}

void tct_tile_visit(tct_tile *t)
{
    t->wraps = must_wrap(t);
    const int64_t first = t->lo[2] - t->depth, end = t->hi[2] + t->depth;
    for (int64_t plane = first; plane < end; plane += t->tiling->group)
        for (int level = t->wraps ? 0 : 1; level <= t->depth; level++) {
            const span z = group_of(t, level, plane);
            if (level > 0 && z.from < z.to) step_planes(t, level, z);
            for (int64_t k = z.from; level == 0 && k < z.to; k++)
                copy_plane(t, k);
        }
}
