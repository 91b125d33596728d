/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/host_solid.h - rows of a patch of three dimensions by
 * vectors, of one plane or of two at once: two planes read four, not six.
 * star3d1r goes along rows, which the prefetchers follow; box3d1r goes down
 * columns, since a row's sums are of use in the two rows after it. */
#ifndef TCT_OPERATOR_STENCIL_HOST_SOLID_H
#define TCT_OPERATOR_STENCIL_HOST_SOLID_H
#include "operator/stencil/host_columns.h"
#ifdef TCT_HAS_COLUMNS

enum { READ_MOST = TCT_PATCH_PLANES + 2 }; /* planes that a patch reads */
enum { BAND = 20 }; /* rows of a column: its lines stay in the first cache */

/* Where a vector's cells are stored, and how they are weighted. */
typedef struct solid_out {
    TCT_REAL *to[TCT_PATCH_PLANES]; /* cell 0 of the row */
    cells centre, neighbours;
    bool has_centre, past;
} solid_out;

INLINE solid_out solid_row_out(const tct_row_inputs *r, TCT_REAL *row,
                               bool has_centre, bool past)
{
    solid_out o = {.centre = all_of(r->centre),
                   .neighbours = all_of(r->neighbours),
                   .has_centre = has_centre,
                   .past = past};
    EACH(k, TCT_PATCH_PLANES) o.to[k] = row + k * r->apart;
    return o;
}

INLINE void put_solid(const solid_out *o, int plane, int64_t x, cells centre,
                      cells sum)
{
    TCT_REAL *to = o->to[plane] + x;
    cells v = o->neighbours * sum;
    if (o->has_centre) v = fused_cells(o->centre, centre, v);
    if (o->past) tct_store_past(to, &v);
    else *(loose_cells *)to = v;
}

INLINE const TCT_REAL *solid_row(const tct_row_inputs *r, int number, int64_t y)
{
    return (const TCT_REAL *)r->in[number] + y * r->pitch[number];
}

/* Ask for the cells of a row that come from memory. */
INLINE void fetch_solid(const TCT_REAL *row, int64_t ahead)
{
    if (ahead == 0) return;
    __builtin_prefetch((const char *)((uintptr_t)row + (uintptr_t)ahead));
}

/* --- star3d1r ------------------------------------------------------------- */

typedef struct star3_rows {
    const TCT_REAL *at[READ_MOST]; /* the row itself, in each plane */
    const TCT_REAL *north[TCT_PATCH_PLANES], *south[TCT_PATCH_PLANES];
    int64_t ahead;
    solid_out out;
} star3_rows;

INLINE void find_star3(const tct_row_inputs *r, int64_t y, int planes,
                       star3_rows *s)
{
    s->ahead = r->ahead;
    EACH(k, planes + 2) s->at[k] = solid_row(r, 3 * k + 1, y);
    EACH(k, planes)
    {
        s->north[k] = solid_row(r, 3 * k + 3, y);
        s->south[k] = solid_row(r, 3 * k + 5, y);
    }
}

/* The vector at x, by loads alone. */
INLINE void star3_vector(const star3_rows *s, int64_t x, int planes)
{
    cells at[READ_MOST];
    EACH(k, planes + 2) at[k] = load_cells(s->at[k] + x);
    EACH(k, planes)
    {
        const TCT_REAL *row = s->at[k + 1] + x;
        const cells pair = load_cells(row - 1) + load_cells(row + 1);
        const cells across =
            load_cells(s->north[k] + x) + load_cells(s->south[k] + x);
        put_solid(&s->out, k, x, at[k + 1],
                  (at[k] + at[k + 2]) + (across + pair));
    }
}

#ifdef TCT_SHUFFLES
/* Vectors of the planes' rows one after another: those before, at and after
 * x. */
typedef struct star3_window {
    cells west[TCT_PATCH_PLANES], at[TCT_PATCH_PLANES], east[TCT_PATCH_PLANES];
} star3_window;

INLINE void star3_put(const star3_rows *s, int64_t x, int planes,
                      star3_window *v)
{
    const cells below = load_cells(s->at[0] + x);
    const cells above = load_cells(s->at[planes + 1] + x);
    EACH(k, planes)
    {
        const cells down = k == 0 ? below : v->at[k - 1];
        const cells up = k == planes - 1 ? above : v->at[k + 1];
        const cells across =
            load_cells(s->north[k] + x) + load_cells(s->south[k] + x);
        const cells pair =
            west_of(v->west[k], v->at[k]) + east_of(v->at[k], v->east[k]);
        put_solid(&s->out, k, x, v->at[k], (down + up) + (across + pair));
    }
}

/* Whole vectors from x on. No cell past the row's ghosts is read. */
INLINE int64_t star3_along(const star3_rows *s, int64_t x, int64_t count,
                           int planes)
{
    star3_window v;
    if (x + VECTOR_CELLS > count) return x;
    EACH(k, planes)
    {
        v.west[k] = s->at[k + 1][x - 1] - (cells){0};
        v.at[k] = load_cells(s->at[k + 1] + x);
    }
    for (; x + 2 * VECTOR_CELLS <= count + 1; x += VECTOR_CELLS) {
        EACH(k, planes)
        {
            fetch_solid(s->at[k + 2] + x, s->ahead);
            v.east[k] = load_cells(s->at[k + 1] + x + VECTOR_CELLS);
        }
        star3_put(s, x, planes, &v);
        EACH(k, planes)
        {
            v.west[k] = v.at[k];
            v.at[k] = v.east[k];
        }
    }
    if (x + VECTOR_CELLS > count) return x;
    EACH(k, planes)
    v.east[k] = s->at[k + 1][x + VECTOR_CELLS] - (cells){0};
    star3_put(s, x, planes, &v);
    return x + VECTOR_CELLS;
}
#else
INLINE int64_t star3_along(const star3_rows *s, int64_t x, int64_t count,
                           int planes)
{
    for (; x + VECTOR_CELLS <= count; x += VECTOR_CELLS) {
        EACH(k, planes) fetch_solid(s->at[k + 2] + x, s->ahead);
        star3_vector(s, x, planes);
    }
    return x;
}
#endif

/* Vectors begin where those of `out` do, but for the first and the last, which
 * overlap others. */
INLINE void star3_row(star3_rows *s, int64_t count, int planes)
{
    const bool past = s->out.past;
    const int64_t whole = cells_to_vector(s->out.to[0], VECTOR_CELLS);
    s->out.past = false;
    if (whole > 0) star3_vector(s, 0, planes);
    s->out.past = past;
    const int64_t end = star3_along(s, whole, count, planes);
    s->out.past = false;
    if (end < count) star3_vector(s, count - VECTOR_CELLS, planes);
}

INLINE void star3_patch(const tct_row_inputs *r, TCT_REAL *out, int64_t pitch,
                        int64_t rows, int64_t count, bool has_centre, bool past,
                        int planes)
{
    for (int64_t y = 0; y < rows; y++) {
        star3_rows s = {
            .out = solid_row_out(r, out + y * pitch, has_centre, past)};
        find_star3(r, y, planes, &s);
        star3_row(&s, count, planes);
    }
}

/* --- box3d1r -------------------------------------------------------------- */

typedef struct box3_column {
    const tct_row_inputs *r;
    int64_t x, from, to, pitch; /* first cell; rows; of `out` */
    solid_out out;
} box3_column;

INLINE void read_box3(const TCT_REAL *const *row, int wide, int planes,
                      cell_line *l)
{
    EACH(k, planes + 2) read_threes(row[k], wide, &l[k]);
}

/* Rows `first` of the three that a cell reads of each plane. */
INLINE void find_box3(const box3_column *c, int first, int planes,
                      const TCT_REAL **row)
{
    EACH(k, planes + 2)
    row[k] = solid_row(c->r, 3 * k + first, c->from) + c->x;
}

/* The row of all planes, from the sums of its rows. */
INLINE void put_box3(const box3_column *c, const solid_out *o, int wide,
                     int planes, const cell_line *n, const cell_line *now,
                     const cell_line *s)
{
    EACH(v, wide)
    {
        cells sides[READ_MOST], plane[READ_MOST];
        EACH(k, planes + 2)
        {
            sides[k] = n[k].three[v] + s[k].three[v];
            plane[k] = sides[k] + now[k].three[v];
        }
        EACH(k, planes)
        put_solid(o, k, c->x + v * VECTOR_CELLS, now[k + 1].at[v],
                  (plane[k] + plane[k + 2]) +
                      (sides[k + 1] + now[k + 1].pair[v]));
    }
}

INLINE void box3_down(const box3_column *c, int wide, int planes)
{
    cell_line n[READ_MOST], now[READ_MOST], s[READ_MOST];
    const TCT_REAL *row[READ_MOST];
    solid_out o = c->out;
    find_box3(c, 0, planes, row);
    read_box3(row, wide, planes, n);
    find_box3(c, 1, planes, row);
    read_box3(row, wide, planes, now);
    find_box3(c, 2, planes, row);
    for (int64_t y = c->from; y < c->to; y++) {
        EACH(k, planes) fetch_solid(row[k + 2], c->r->ahead);
        read_box3(row, wide, planes, s);
        put_box3(c, &o, wide, planes, n, now, s);
        EACH(k, planes + 2)
        {
            n[k] = now[k];
            now[k] = s[k];
            row[k] += c->r->pitch[3 * k + 2];
        }
        EACH(k, planes) o.to[k] += c->pitch;
    }
}

/* All columns of some rows. */
INLINE void box3_across(box3_column c, int64_t count, int planes)
{
    const int wide = planes > 1 ? 1 : BOX3_WIDE; /* as registers allow */
    const bool past = c.out.past;
    const int64_t whole = cells_to_vector(c.out.to[0], VECTOR_CELLS);
    c.out.past = false;
    if (whole > 0) box3_down(&c, 1, planes);
    c.out.past = past;
    c.x = whole;
    for (; c.x + wide * VECTOR_CELLS <= count; c.x += wide * VECTOR_CELLS)
        box3_down(&c, wide, planes);
    for (; c.x + VECTOR_CELLS <= count; c.x += VECTOR_CELLS)
        box3_down(&c, 1, planes);
    if (c.x == count) return;
    c.x = count - VECTOR_CELLS;
    c.out.past = false;
    box3_down(&c, 1, planes);
}

/* Does each row of the planes follow from the one before? Then those of a column
 * do, if rows of `out` begin alike. */
INLINE bool rows_follow(const tct_row_inputs *r, int64_t pitch, int planes)
{
    bool follow = pitch % VECTOR_CELLS == 0;
    for (int first = 0; first < 3 * (planes + 2); first += 3) {
        const int64_t *apart = r->pitch + first;
        const size_t bytes = (size_t)apart[0] * sizeof(TCT_REAL);
        const char *n = r->in[first], *c = r->in[first + 1];
        follow = follow && c == n + bytes && r->in[first + 2] == c + bytes &&
                 apart[1] == apart[0] && apart[2] == apart[0];
    }
    return follow;
}

INLINE void box3_patch(const tct_row_inputs *r, TCT_REAL *out, int64_t pitch,
                       int64_t rows, int64_t count, bool has_centre, bool past,
                       int planes)
{
    const int64_t most = rows_follow(r, pitch, planes) ? BAND : 1;
    box3_column c = {.r = r, .pitch = pitch};
    for (; c.from < rows; c.from = c.to) {
        c.to = c.from + most < rows ? c.from + most : rows;
        c.out = solid_row_out(r, out + c.from * pitch, has_centre, past);
        box3_across(c, count, planes);
    }
}

/* False: a row is shorter than a vector, or vectors of both planes begin
 * elsewhere. */
#define SOLID(name)                                                            \
    INLINE bool name##_by_columns(const tct_row_inputs *r, TCT_REAL *out,      \
                                  int64_t pitch, int64_t rows, int64_t count,  \
                                  bool has_centre, bool past)                  \
    {                                                                          \
        const tct_row_inputs mine = *r; /* which no store changes */           \
        if (count < VECTOR_CELLS || r->apart % VECTOR_CELLS != 0)              \
            return false;                                                      \
        if (r->planes == 2)                                                    \
            name##_patch(&mine, out, pitch, rows, count, has_centre, past, 2); \
        else                                                                   \
            name##_patch(&mine, out, pitch, rows, count, has_centre, past, 1); \
        return true;                                                           \
    }
SOLID(star3)
SOLID(box3)

#endif
#endif
