/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/tile.c - the visit of one tile: planes stream through the levels. */
#include "stencil/tile.h"

enum {
    PIECE = 2 * TCT_CHANGE_BLOCK, /* cells of a row that are streamed at once */
    PLANES = 3                    /* that a level keeps */
};

size_t tct_tile_scratch(void)
{
    return PIECE * sizeof(double);
}

/* --- where cells are ------------------------------------------------------ */

typedef struct span {
    int64_t from, to;
} span;

/* What level `level` has in direction `d`. */
static span span_of(const tct_tile *t, int d, int level)
{
    const int64_t grow = t->depth - level, n = t->field->s.n[d];
    span s = {t->lo[d] - grow, t->hi[d] + grow};
    if (t->field->s.periodic[d]) return s;
    if (s.from < 0) s.from = 0;
    if (s.to > n) s.to = n;
    return s;
}

/* A cell number of a grid that closes. */
static int64_t wrapped(int64_t i, int64_t n)
{
    if (i >= 0 && i < n) return i;
    const int64_t rest = i % n;
    return rest < 0 ? rest + n : rest;
}

/* Cell (x, y, z) of a level's planes. */
static char *kept(const tct_tile *t, int level, int64_t z, int64_t y, int64_t x)
{
    const tct_tiling *g = t->tiling;
    const int64_t plane = level * PLANES + (z - t->lo[2] + g->depth) % PLANES;
    const int64_t above = g->height > 1 ? g->depth : 0;
    const int64_t row = plane * g->height + y - t->lo[1] + above;
    return t->planes + (size_t)(row * g->pitch + g->lead + x - t->lo[0]) *
                           t->field->s.bytes;
}

static bool is_outside(const tct_grid_stencil *s, int d, int64_t i)
{
    return !s->periodic[d] && (i < 0 || i >= s->n[d]);
}

/* Where cell (x, y, z) of a level is read. */
static const char *source(const tct_tile *t, int level, int64_t z, int64_t y,
                          int64_t x)
{
    const tct_grid_stencil *s = &t->field->s;
    if (is_outside(s, 2, z) || is_outside(s, 1, y))
        return tct_field_outside(t->field);
    if (level > 0 || t->wraps) return kept(t, level, z, y, x);
    return tct_field_cell(t->field, t->field->now, wrapped(z, s->n[2]),
                          wrapped(y, s->n[1]), x);
}

/* --- a row ---------------------------------------------------------------- */

/* A stretch of a row of a level, from x on. */
typedef struct stretch {
    int level;
    int64_t z, y, x, count;
} stretch;

static tct_row_inputs inputs_of(const tct_tile *t, const stretch *p)
{
    const tct_grid_stencil *s = &t->field->s;
    const int below = p->level - 1;
    tct_row_inputs r = {.centre = s->centre, .neighbours = s->neighbours};
    const bool flat = s->about->dimensions == 2;
    for (int k = 0; k < (flat ? 3 : TCT_STENCIL_ROWS); k++)
        r.in[k] =
            flat ? source(t, below, p->z + k - 1, p->y, p->x)
                 : source(t, below, p->z + k / 3 - 1, p->y + k % 3 - 1, p->x);
    if (!t->field->coefficient) return r;
    const int64_t row =
        wrapped(p->z, s->n[2]) * s->n[1] + wrapped(p->y, s->n[1]);
    r.coefficient = t->field->coefficient +
                    (size_t)(row * s->n[0] + wrapped(p->x, s->n[0])) * s->bytes;
    r.stride = s->cells;
    return r;
}

/* The change of a stretch that the last level has made, by blocks. */
static void note_change(const tct_tile *t, const stretch *p, const char *now,
                        const char *before)
{
    const tct_grid_stencil *s = &t->field->s;
    double *to = t->changes +
                 (p->z * s->n[1] + p->y) * tct_field_blocks(t->field) +
                 p->x / TCT_CHANGE_BLOCK;
    for (int64_t x = 0; x < p->count; x += TCT_CHANGE_BLOCK) {
        const int64_t left = p->count - x;
        *to++ = t->field->rows->change(
            now + (size_t)x * s->bytes, before + (size_t)x * s->bytes,
            left < TCT_CHANGE_BLOCK ? left : TCT_CHANGE_BLOCK);
    }
}

/* Write the stretch to `out`, in the last level past the caches if the field is
 * large. */
static void step_stretch(const tct_tile *t, const stretch *p, char *out)
{
    const tct_grid_stencil *s = &t->field->s;
    const tct_row_inputs r = inputs_of(t, p);
    const bool last = p->level == t->depth;
    const bool streams = last && t->field->streams;
    char *to = streams ? t->scratch : out;
    t->field->rows->step[s->shape][s->weights](&r, to, p->count);
    if (last && t->changes)
        note_change(t, p, to, r.in[tct_stencil_points(s->shape)[0].row]);
    if (streams) t->field->stream->copy(out, to, (size_t)p->count * s->bytes);
}

/* How far a stretch from `x` goes: coefficients of a row that wraps end where
 * the grid does, and what is streamed is in pieces. */
static int64_t end_of(const tct_tile *t, int level, int64_t x, int64_t to)
{
    const int64_t n = t->field->s.n[0];
    const int64_t edge = x + n - wrapped(x, n);
    if (t->field->coefficient && edge < to) to = edge;
    const bool pieces = level == t->depth && t->field->streams;
    return pieces && to - x > PIECE ? x + PIECE : to;
}

/* The cells outside the grid next to a row of a level. */
static void set_ghosts(const tct_tile *t, span x, char *row)
{
    const tct_grid_stencil *s = &t->field->s;
    const char *value = tct_field_outside(t->field);
    if (s->periodic[0]) return;
    if (x.from == 0) memcpy(row - s->bytes, value, s->bytes);
    if (x.to == s->n[0])
        memcpy(row + (size_t)(x.to - x.from) * s->bytes, value, s->bytes);
}

/* The same of a row of the field, which has them unless x is periodic: each
 * ghost is set by the tile that has the cell at the other end. */
static void close_row(const tct_tile *t, int64_t z, int64_t y)
{
    const tct_grid_stencil *s = &t->field->s;
    const int next = t->field->now ^ 1;
    const int64_t n = s->n[0];
    if (!s->periodic[0]) return;
    if (t->lo[0] == 0)
        memcpy(tct_field_cell(t->field, next, z, y, n),
               tct_field_cell(t->field, next, z, y, 0), s->bytes);
    if (t->hi[0] == n)
        memcpy(tct_field_cell(t->field, next, z, y, -1),
               tct_field_cell(t->field, next, z, y, n - 1), s->bytes);
}

static void step_row(const tct_tile *t, int level, int64_t z, int64_t y)
{
    const span x = span_of(t, 0, level);
    const bool last = level == t->depth;
    char *row = last ? tct_field_cell(t->field, t->field->now ^ 1, z, y, x.from)
                     : kept(t, level, z, y, x.from);
    for (int64_t from = x.from; from < x.to;) {
        const int64_t to = end_of(t, level, from, x.to);
        const stretch p = {level, z, y, from, to - from};
        step_stretch(t, &p, row + (size_t)(from - x.from) * t->field->s.bytes);
        from = to;
    }
    if (last) close_row(t, z, y);
    else set_ghosts(t, x, row);
}

/* Level 0 of a tile that wraps in x: from the field, end after end. */
static void copy_row(const tct_tile *t, int64_t z, int64_t y)
{
    const tct_grid_stencil *s = &t->field->s;
    const span x = span_of(t, 0, 0);
    for (int64_t from = x.from; from < x.to;) {
        const int64_t start = wrapped(from, s->n[0]);
        const int64_t left = x.to - from, end = s->n[0] - start;
        const int64_t count = left < end ? left : end;
        memcpy(kept(t, 0, z, y, from),
               tct_field_cell(t->field, t->field->now, wrapped(z, s->n[2]),
                              wrapped(y, s->n[1]), start),
               (size_t)count * s->bytes);
        from += count;
    }
}

/* --- the visit ------------------------------------------------------------ */

static void step_plane(const tct_tile *t, int level, int64_t z)
{
    const span y = span_of(t, 1, level);
    for (int64_t row = y.from; row < y.to; row++)
        if (level == 0) copy_row(t, z, row);
        else step_row(t, level, z, row);
}

/* A step reads one cell more on each side, which the field has as a ghost. */
static bool must_wrap(const tct_tile *t)
{
    const span x = span_of(t, 0, 1);
    return x.from < 0 || x.to > t->field->s.n[0];
}

void tct_tile_visit(tct_tile *t)
{
    t->wraps = must_wrap(t);
    const int64_t first = t->lo[2] - t->depth, end = t->hi[2] + t->depth;
    for (int64_t plane = first; plane < end; plane++)
        for (int level = t->wraps ? 0 : 1; level <= t->depth; level++) {
            const int64_t z = plane - level;
            const span s = span_of(t, 2, level);
            if (z >= s.from && z < s.to) step_plane(t, level, z);
        }
}
