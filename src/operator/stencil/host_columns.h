/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/host_columns.h - rows of a patch by columns of some vectors,
 * for AVX2 and AVX-512: a column goes down the rows, and what the next row
 * needs of this one stays in registers. A cell's additions are those of cell.h,
 * in the same order. */
#ifndef TCT_OPERATOR_STENCIL_HOST_COLUMNS_H
#define TCT_OPERATOR_STENCIL_HOST_COLUMNS_H
#include "operator/stencil/host_past.h"
#include "operator/stencil/host_rows.h"
#if defined(TCT_REAL) && defined(__AVX2__)
#define TCT_HAS_COLUMNS 1
/* Vectors of a column, by measuring. */
#ifdef __AVX512F__
enum { STAR_WIDE = 2, FLAT_WIDE = 4, BOX3_WIDE = 2 };
#else
enum { STAR_WIDE = 2, FLAT_WIDE = 2, BOX3_WIDE = 1 };
#endif
enum { BAND = 20 }; /* rows of a column: its lines stay in the first cache */
enum { WIDE_MOST = 4, VECTOR_CELLS = TCT_PAST_BYTES / sizeof(TCT_REAL) };

typedef TCT_REAL cells __attribute__((vector_size(TCT_PAST_BYTES)));
typedef TCT_REAL loose_cells __attribute__((
    vector_size(TCT_PAST_BYTES), aligned(sizeof(TCT_REAL)), may_alias));

#define EACH(k, count) _Pragma("GCC unroll 4") for (int k = 0; k < (count); k++)

INLINE cells load_cells(const TCT_REAL *at)
{
    return *(const loose_cells *)at;
}

/* Cells of two vectors side by side: the last of `a`, then those of `b`; those
 * of `a` but the first, then one of `b`. */
#ifdef __AVX512F__
#define TCT_SHUFFLES 1
INLINE cells west_of(cells a, cells b)
{
    return sizeof(TCT_REAL) == 8
               ? (cells)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 7)
               : (cells)_mm512_alignr_epi32((__m512i)b, (__m512i)a, 15);
}
INLINE cells east_of(cells a, cells b)
{
    return sizeof(TCT_REAL) == 8
               ? (cells)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 1)
               : (cells)_mm512_alignr_epi32((__m512i)b, (__m512i)a, 1);
}
#endif

/* Some vectors of a row: cells, sums of both neighbours of each, and these with
 * the cell itself. */
typedef struct cell_line {
    cells at[WIDE_MOST], pair[WIDE_MOST], three[WIDE_MOST];
} cell_line;

INLINE void read_cells(const TCT_REAL *row, int wide, cell_line *l)
{
    EACH(k, wide) l->at[k] = load_cells(row + k * VECTOR_CELLS);
}

INLINE void add_pairs(const TCT_REAL *row, int wide, cell_line *l)
{
    EACH(k, wide)
    {
#ifdef TCT_SHUFFLES
        const cells west =
            k == 0 ? load_cells(row - 1) : west_of(l->at[k - 1], l->at[k]);
        const cells east = k == wide - 1
                               ? load_cells(row + k * VECTOR_CELLS + 1)
                               : east_of(l->at[k], l->at[k + 1]);
#else
        const cells west = load_cells(row + k * VECTOR_CELLS - 1);
        const cells east = load_cells(row + k * VECTOR_CELLS + 1);
#endif
        l->pair[k] = west + east;
    }
}

INLINE void read_threes(const TCT_REAL *row, int wide, cell_line *l)
{
    read_cells(row, wide, l);
    add_pairs(row, wide, l);
    EACH(k, wide) l->three[k] = l->pair[k] + l->at[k];
}

/* --- weights and stores --------------------------------------------------- */

typedef struct column {
    const tct_row_inputs *r;
    TCT_REAL *out;
    int64_t pitch, x;  /* of `out`; of the first cell */
    int64_t from, to;  /* rows                        */
    bool centre, past; /* has_centre; past the caches */
} column;

INLINE const TCT_REAL *column_row(const column *c, int number, int64_t y)
{
    return (const TCT_REAL *)c->r->in[number] + y * c->r->pitch[number] + c->x;
}

/* The same of a patch of two dimensions. */
INLINE const TCT_REAL *flat_row(const column *c, int64_t number)
{
    return (const TCT_REAL *)c->r->in[number] + c->x;
}

/* Ask for cells of a row that come from memory. */
INLINE void fetch_ahead(const column *c, const TCT_REAL *row, int wide)
{
    const uintptr_t at = (uintptr_t)row + (uintptr_t)c->r->ahead;
    if (c->r->ahead == 0) return;
    EACH(k, wide)
    __builtin_prefetch((const char *)(at + (uintptr_t)k * TCT_PAST_BYTES));
}

INLINE cells all_of(double value)
{
    return (TCT_REAL)value - (cells){0};
}

/* a b + s, rounded once. */
INLINE cells fused_cells(cells a, cells b, cells s)
{
    const bool single = sizeof(TCT_REAL) == sizeof(float);
#ifdef __AVX512F__
    return single ? (cells)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)s)
                  : (cells)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)s);
#else
    return single ? (cells)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)s)
                  : (cells)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)s);
#endif
}

INLINE void put_cells(const column *c, int64_t y, int k, cells centre,
                      cells sum)
{
    TCT_REAL *to = c->out + y * c->pitch + c->x + k * VECTOR_CELLS;
    cells v = all_of(c->r->neighbours) * sum;
    if (c->centre) v = fused_cells(all_of(c->r->centre), centre, v);
    if (c->past) tct_store_past(to, &v);
    else *(loose_cells *)to = v;
}

/* --- shapes --------------------------------------------------------------- */

INLINE void star2_column(const column *c, int wide)
{
    cell_line n, now, s;
    read_cells(flat_row(c, c->from), wide, &n);
    read_cells(flat_row(c, c->from + 1), wide, &now);
    for (int64_t y = c->from; y < c->to; y++) {
        fetch_ahead(c, flat_row(c, y + 2), wide);
        read_cells(flat_row(c, y + 2), wide, &s);
        add_pairs(flat_row(c, y + 1), wide, &now);
        EACH(k, wide)
        put_cells(c, y, k, now.at[k], (n.at[k] + s.at[k]) + now.pair[k]);
        n = now;
        now = s;
    }
}

INLINE void star3_column(const column *c, int wide)
{
    cell_line n, now, s, d, u;
    read_cells(column_row(c, 3, c->from), wide, &n);
    read_cells(column_row(c, 4, c->from), wide, &now);
    for (int64_t y = c->from; y < c->to; y++) {
        fetch_ahead(c, column_row(c, 7, y), wide);
        read_cells(column_row(c, 5, y), wide, &s);
        read_cells(column_row(c, 1, y), wide, &d);
        read_cells(column_row(c, 7, y), wide, &u);
        add_pairs(column_row(c, 4, y), wide, &now);
        EACH(k, wide)
        put_cells(c, y, k, now.at[k],
                  (d.at[k] + u.at[k]) + ((n.at[k] + s.at[k]) + now.pair[k]));
        n = now;
        now = s;
    }
}

INLINE void box2_column(const column *c, int wide)
{
    cell_line n, now, s;
    read_threes(flat_row(c, c->from), wide, &n);
    read_threes(flat_row(c, c->from + 1), wide, &now);
    for (int64_t y = c->from; y < c->to; y++) {
        fetch_ahead(c, flat_row(c, y + 2), wide);
        read_threes(flat_row(c, y + 2), wide, &s);
        EACH(k, wide)
        put_cells(c, y, k, now.at[k], (n.three[k] + s.three[k]) + now.pair[k]);
        n = now;
        now = s;
    }
}

/* The sum of nine cells of a plane. */
INLINE cells plane_of(const cell_line *n, const cell_line *now,
                      const cell_line *s, int k)
{
    return (n->three[k] + s->three[k]) + now->three[k];
}

/* Rows of planes below (d), of the cells and above (u). */
INLINE void box3_column(const column *c, int wide)
{
    cell_line n[3], now[3], s[3];
    for (int z = 0; z < 3; z++) {
        read_threes(column_row(c, 3 * z, c->from), wide, &n[z]);
        read_threes(column_row(c, 3 * z + 1, c->from), wide, &now[z]);
    }
    for (int64_t y = c->from; y < c->to; y++) {
        fetch_ahead(c, column_row(c, 8, y), wide);
        for (int z = 0; z < 3; z++)
            read_threes(column_row(c, 3 * z + 2, y), wide, &s[z]);
        EACH(k, wide)
        put_cells(c, y, k, now[1].at[k],
                  (plane_of(&n[0], &now[0], &s[0], k) +
                   plane_of(&n[2], &now[2], &s[2], k)) +
                      ((n[1].three[k] + s[1].three[k]) + now[1].pair[k]));
        for (int z = 0; z < 3; z++) {
            n[z] = now[z];
            now[z] = s[z];
        }
    }
}

/* --- patches -------------------------------------------------------------- */

/* Does a row of a plane follow from the one before? */
INLINE bool rows_follow(const tct_row_inputs *r, int first)
{
    const size_t apart = (size_t)r->pitch[first] * sizeof(TCT_REAL);
    const char *n = r->in[first], *c = r->in[first + 1], *s = r->in[first + 2];
    return c == n + apart && s == c + apart &&
           r->pitch[first + 1] == r->pitch[first] &&
           r->pitch[first + 2] == r->pitch[first];
}

/* How many rows a column may go down: all, or one. Rows of star3d1r are read
 * one after another: a column saves less than prefetchers do in a long row. */
INLINE int64_t rows_of_column(const tct_row_inputs *r, int64_t pitch,
                              int64_t rows, tct_shape shape)
{
    if (shape == TCT_STAR3 || pitch % VECTOR_CELLS != 0) return 1;
    if (tct_shape_is_flat(shape)) return rows < BAND ? rows : BAND;
    const bool follow =
        rows_follow(r, 0) && rows_follow(r, 3) && rows_follow(r, 6);
    return !follow ? 1 : rows < BAND ? rows : BAND;
}

/* All columns of some rows, of `wide` vectors, or `many` where there are several
 * rows. They begin at whole vectors of `out`, but for the first and the last,
 * which overlap others. False: a row is shorter than a vector. */
#define COLUMNS(name, shape, wide, many)                                       \
    INLINE void name##_across(column c, int64_t count)                         \
    {                                                                          \
        const bool past = c.past;                                              \
        const int64_t whole =                                                  \
            cells_to_vector(c.out + c.from * c.pitch, VECTOR_CELLS);           \
        c.past = false;                                                        \
        if (whole > 0) name##_column(&c, 1);                                   \
        c.past = past;                                                         \
        c.x = whole;                                                           \
        if (c.to - c.from > 1)                                                 \
            for (; c.x + (many)*VECTOR_CELLS <= count;                         \
                 c.x += (many)*VECTOR_CELLS)                                   \
                name##_column(&c, (many));                                     \
        for (; c.x + (wide)*VECTOR_CELLS <= count; c.x += (wide)*VECTOR_CELLS) \
            name##_column(&c, (wide));                                         \
        for (; c.x + VECTOR_CELLS <= count; c.x += VECTOR_CELLS)               \
            name##_column(&c, 1);                                              \
        if (c.x == count) return;                                              \
        c.x = count - VECTOR_CELLS;                                            \
        c.past = false;                                                        \
        name##_column(&c, 1);                                                  \
    }                                                                          \
    INLINE bool name##_by_columns(const tct_row_inputs *r, TCT_REAL *out,      \
                                  int64_t pitch, int64_t rows, int64_t count,  \
                                  bool has_centre, bool past)                  \
    {                                                                          \
        const int64_t most_rows = rows_of_column(r, pitch, rows, (shape));     \
        column c = {.r = r, .out = out, .pitch = pitch};                       \
        c.centre = has_centre;                                                 \
        c.past = past;                                                         \
        if (count < VECTOR_CELLS) return false;                                \
        for (; c.from < rows; c.from = c.to) {                                 \
            c.to = c.from + most_rows < rows ? c.from + most_rows : rows;      \
            name##_across(c, count);                                           \
        }                                                                      \
        return true;                                                           \
    }
COLUMNS(star2, TCT_STAR2, STAR_WIDE, FLAT_WIDE)
COLUMNS(star3, TCT_STAR3, STAR_WIDE, STAR_WIDE)
COLUMNS(box2, TCT_BOX2, FLAT_WIDE, FLAT_WIDE)
COLUMNS(box3, TCT_BOX3, BOX3_WIDE, BOX3_WIDE)

#endif
#endif
