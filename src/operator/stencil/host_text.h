/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/host_text.h - the functions of host_rows.h, for the type
 * TCT_REAL of a file that is compiled for the instruction set TCT_ISA. Loops
 * over cells are the compiler's to vectorise: each cell has its own order of
 * additions, so that no result depends on the instruction set. */
#ifndef TCT_OPERATOR_STENCIL_HOST_TEXT_H
#define TCT_OPERATOR_STENCIL_HOST_TEXT_H
#include "device/isa.h"
#include "operator/stencil/host_past.h"
#include "operator/stencil/host_rows.h"
#ifdef TCT_REAL
#define TCT_CELL      INLINE
#define TCT_ADD(a, b) ((a) + (b))
#define TCT_MUL(a, b) ((a) * (b))
#include "operator/stencil/cell.h"

#define ROW(name, number)           \
    const TCT_REAL *restrict name = \
        (const TCT_REAL *)r->in[number] + y * r->pitch[number]
#define FLAT_ROW(name, number) \
    const TCT_REAL *restrict name = (const TCT_REAL *)r->in[(number) + y]
#define CELL(sum)                                                            \
    weighted(has_centre, (TCT_REAL)r->centre, c[x], (TCT_REAL)r->neighbours, \
             (sum))
/* With `past` whole vectors with their natural alignment go past the caches. */
#define CELLS(sum)                                                       \
    int64_t from = 0;                                                    \
    if (past) {                                                          \
        from = cells_to_vector(out, count);                              \
        for (int64_t x = 0; x < from; x++) out[x] = CELL(sum);           \
        for (; from + PAST_CELLS <= count; from += PAST_CELLS) {         \
            TCT_REAL value[PAST_CELLS];                                  \
            _Pragma("omp simd") for (int64_t k = 0; k < PAST_CELLS; k++) \
            {                                                            \
                const int64_t x = from + k;                              \
                value[k] = CELL(sum);                                    \
            }                                                            \
            tct_store_past(out + from, value);                           \
        }                                                                \
    }                                                                    \
    _Pragma("omp simd") for (int64_t x = from; x < count; x++) out[x] =  \
        CELL(sum)

enum { PAST_CELLS = TCT_PAST_BYTES / sizeof(TCT_REAL) };

/* Cells before the first whole vector. */
INLINE int64_t cells_to_vector(const TCT_REAL *out, int64_t count)
{
    const size_t bytes = -(uintptr_t)out % TCT_PAST_BYTES;
    const int64_t cells = (int64_t)(bytes / sizeof *out);
    return cells < count ? cells : count;
}

#include "operator/stencil/host_columns.h"

INLINE void star2(const tct_row_inputs *r, int64_t y, TCT_REAL *restrict out,
                  int64_t count, bool has_centre, bool past)
{
    FLAT_ROW(n, 0);
    FLAT_ROW(c, 1);
    FLAT_ROW(s, 2);
    CELLS(sum_star2(n, c, s, x));
}

INLINE void box2(const tct_row_inputs *r, int64_t y, TCT_REAL *restrict out,
                 int64_t count, bool has_centre, bool past)
{
    FLAT_ROW(n, 0);
    FLAT_ROW(c, 1);
    FLAT_ROW(s, 2);
    CELLS(sum_box2(n, c, s, x));
}

INLINE void star3(const tct_row_inputs *r, int64_t y, TCT_REAL *restrict out,
                  int64_t count, bool has_centre, bool past)
{
    ROW(d, 1);
    ROW(n, 3);
    ROW(c, 4);
    ROW(s, 5);
    ROW(u, 7);
    CELLS(sum_star3(d, n, c, s, u, x));
}

/* Rows are named by z (d, c, u) and y (n, c, s). */
INLINE void box3(const tct_row_inputs *r, int64_t y, TCT_REAL *restrict out,
                 int64_t count, bool has_centre, bool past)
{
    ROW(dn, 0);
    ROW(dc, 1);
    ROW(ds, 2);
    ROW(n, 3);
    ROW(c, 4);
    ROW(s, 5);
    ROW(un, 6);
    ROW(uc, 7);
    ROW(us, 8);
    CELLS(TCT_ADD(TCT_ADD(plane_p(dn, dc, ds, x), plane_p(un, uc, us, x)),
                  TCT_ADD(TCT_ADD(row_q(n, x), row_q(s, x)), row_p(c, x))));
}

/* Coefficients by cell: point after point of some cells at a time. */
enum { CELLS_AT_ONCE = 128 };

INLINE void add_point(const TCT_REAL *k, const TCT_REAL *v, TCT_REAL *sum,
                      int64_t count)
{
    _Pragma("omp simd") for (int64_t x = 0; x < count; x++) sum[x] =
        TCT_FMA(k[x], v[x], sum[x]);
}

/* Cell x of the row that a point reads. */
INLINE const TCT_REAL *cell_of(const tct_row_inputs *r, bool flat,
                               tct_point point, int64_t y, int64_t x)
{
    const TCT_REAL *row =
        flat ? r->in[point.row + y]
             : (const TCT_REAL *)r->in[point.row] + y * r->pitch[point.row];
    return row + x + point.x;
}

INLINE void by_cell(const tct_row_inputs *r, int64_t y, TCT_REAL *restrict out,
                    int64_t count, tct_shape shape, int points)
{
    const tct_point *point = tct_stencil_points(shape);
    const bool flat = tct_shape_is_flat(shape);
    const TCT_REAL *k =
        (const TCT_REAL *)r->coefficient + y * r->coefficient_pitch;
    for (int64_t from = 0; from < count; from += CELLS_AT_ONCE) {
        TCT_REAL sum[CELLS_AT_ONCE];
        const int64_t left = count - from;
        const int64_t most = left < CELLS_AT_ONCE ? left : CELLS_AT_ONCE;
        const TCT_REAL *c = cell_of(r, flat, point[0], y, from);
        _Pragma("omp simd") for (int64_t x = 0; x < most; x++) sum[x] =
            TCT_MUL(k[from + x], c[x]);
        for (int i = 1; i < points; i++)
            add_point(k + i * r->stride + from,
                      cell_of(r, flat, point[i], y, from), sum, most);
        memcpy(out + from, sum, (size_t)most * sizeof *sum);
    }
}

/* A function of rows for each kind of weights. */
#define EACH_ROW(name, call, whole)                                     \
    static void name(const tct_row_inputs *r, void *out, int64_t pitch, \
                     int64_t rows, int64_t count)                       \
    {                                                                   \
        if (whole) return;                                              \
        for (int64_t y = 0; y < rows; y++) {                            \
            TCT_REAL *to = (TCT_REAL *)out + y * pitch;                 \
            call;                                                       \
        }                                                               \
    }
#ifdef TCT_HAS_COLUMNS
#define BY_COLUMNS(name, centre, past) \
    name##_by_columns(r, out, pitch, rows, count, centre, past)
#else
#define BY_COLUMNS(name, centre, past) false
#endif
#define WEIGHTED(name, kind, centre, past)                    \
    EACH_ROW(name##kind, name(r, y, to, count, centre, past), \
             BY_COLUMNS(name, centre, past))
#define STEPS(name, shape, points)             \
    WEIGHTED(name, _mean, false, false)        \
    WEIGHTED(name, _constant, true, false)     \
    WEIGHTED(name, _mean_past, false, true)    \
    WEIGHTED(name, _constant_past, true, true) \
    EACH_ROW(name##_cells, by_cell(r, y, to, count, shape, points), false)
STEPS(star2, TCT_STAR2, 5)
STEPS(box2, TCT_BOX2, 9)
STEPS(star3, TCT_STAR3, 7)
STEPS(box3, TCT_BOX3, 27)

/* Eight sums side by side, whatever the instruction set. */
enum { CHANGE_LANES = 8 };

static double change(const void *a, const void *b, int64_t count)
{
    const TCT_REAL *now = a, *before = b;
    double sum[CHANGE_LANES] = {0.0};
    int64_t x = 0;
    for (; x + CHANGE_LANES <= count; x += CHANGE_LANES)
        for (int j = 0; j < CHANGE_LANES; j++) {
            const double d = (double)now[x + j] - (double)before[x + j];
            sum[j] += d * d;
        }
    for (int j = 0; x < count; x++, j++) {
        const double d = (double)now[x] - (double)before[x];
        sum[j] += d * d;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
           ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

#define BOTH(name)                                 \
    {                                              \
        name##_mean, name##_constant, name##_cells \
    }
#define PAST(name)                             \
    {                                          \
        name##_mean_past, name##_constant_past \
    }
#define TCT_ROWS                            \
    {                                       \
        .step = {[TCT_STAR2] = BOTH(star2), \
                 [TCT_BOX2] = BOTH(box2),   \
                 [TCT_STAR3] = BOTH(star3), \
                 [TCT_BOX3] = BOTH(box3)},  \
        .past = {[TCT_STAR2] = PAST(star2), \
                 [TCT_BOX2] = PAST(box2),   \
                 [TCT_STAR3] = PAST(star3), \
                 [TCT_BOX3] = PAST(box3)},  \
        .change = change,                   \
    }

#endif
#endif
