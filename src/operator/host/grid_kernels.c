/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/grid_kernels.c - the rows of a line of cells at a time: the
 * nine lines around it are read with x from one cell before it to one after.
 * Lines outside the grid are zeros, and parts of lines that belong to other
 * ranks are zeros in a copy: times a finite coefficient they change no bit. */
#include "operator/host/grid_kernels.h"
#include "device/isa.h"
#include "operator/host/slices.h"
#include <string.h>

enum { ROOM = CHUNK + 2, LINES = TCT_GRID_LINES };

/* Cells -1 to n of each line. */
typedef struct {
    const double *at[LINES];
} lines;

static const double zeros[ROOM];

/* --- sums ----------------------------------------------------------------- */

/* Neighbours of cells. */
typedef struct {
    bool west, east;
} sides;

/* Cell x of line r, and its neighbours in that line. */
INLINE double add_line(const double *k, const double *const *at, int r,
                       int64_t x, sides s, double sum)
{
    if (s.west) sum = fused(k[3 * r], at[r][x - 1], sum);
    sum = fused(k[3 * r + 1], at[r][x], sum);
    return s.east ? fused(k[3 * r + 2], at[r][x + 1], sum) : sum;
}

INLINE double add_cell(const double *k, const double *const *at, int r,
                       int64_t x, double sum)
{
    return fused(k[3 * r + 1], at[r][x], sum);
}

/* Lines r to r + 2. */
INLINE double add_plane(const double *k, const double *const *at, int r,
                        int64_t x, sides s, double sum)
{
    sum = add_line(k, at, r, x, s, sum);
    sum = add_line(k, at, r + 1, x, s, sum);
    return add_line(k, at, r + 2, x, s, sum);
}

INLINE double sum_box2(const double *k, const double *const *at, int64_t x,
                       sides s)
{
    return add_plane(k, at, 3, x, s, 0.0);
}

INLINE double sum_box3(const double *k, const double *const *at, int64_t x,
                       sides s)
{
    const double sum = add_plane(k, at, 0, x, s, 0.0);
    return add_plane(k, at, 6, x, s, add_plane(k, at, 3, x, s, sum));
}

INLINE double add_star(const double *k, const double *const *at, int64_t x,
                       sides s, double sum)
{
    sum = add_cell(k, at, 3, x, sum);
    sum = add_line(k, at, 4, x, s, sum);
    return add_cell(k, at, 5, x, sum);
}

INLINE double sum_star2(const double *k, const double *const *at, int64_t x,
                        sides s)
{
    return add_star(k, at, x, s, 0.0);
}

INLINE double sum_star3(const double *k, const double *const *at, int64_t x,
                        sides s)
{
    const double sum = add_cell(k, at, 1, x, 0.0);
    return add_cell(k, at, 7, x, add_star(k, at, x, s, sum));
}

/* `n` cells, of which the first has no neighbour at an end of the line, nor has
 * the last. What is read is copied, so that y is none of it. */
#define CELLS(name, sum)                                                  \
    static void name(const tct_grid_rows *g, const lines *l, int64_t n,   \
                     sides ends, double *restrict y)                      \
    {                                                                     \
        const lines own = *l;                                             \
        const double *const *at = own.at;                                 \
        double k[TCT_GRID_POINTS];                                        \
        memcpy(k, g->k, sizeof k);                                        \
        const int64_t from = ends.west, to = n - ends.east;               \
        const sides both = {true, true};                                  \
        _Pragma("omp simd") for (int64_t x = from; x < to; x++) y[x] =    \
            sum(k, at, x, both);                                          \
        if (ends.west)                                                    \
            y[0] = sum(k, at, 0, ((sides){false, n > 1 || !ends.east}));  \
        if (ends.east && (n > 1 || !ends.west))                           \
            y[n - 1] =                                                    \
                sum(k, at, n - 1, ((sides){n > 1 || !ends.west, false})); \
    }
CELLS(star2, sum_star2)
CELLS(star3, sum_star3)
CELLS(box2, sum_box2)
CELLS(box3, sum_box3)

/* Does the stencil read line r? */
static bool has_line(const tct_grid_rows *g, int r)
{
    const bool plane = r / 3 == 1, middle = r % 3 == 1;
    return (plane || !g->flat) && (plane || middle || g->box);
}

/* --- lines ---------------------------------------------------------------- */

/* Elements [from, to) of x, 0 for those that are not of this rank. */
static const double *line_at(const tct_grid_rows *g, int64_t from, int64_t to,
                             const double *x, double *room)
{
    if (from >= 0 && to <= g->rows) return x + from;
    if (from >= g->rows || to <= 0) return zeros;
    for (int64_t i = from; i < to; i++)
        room[i - from] = i < 0 || i >= g->rows ? 0.0 : x[i];
    return room;
}

/* `n` rows from row i, the cells of line `line` of all from x0 on. */
static void line_rows(const tct_grid_rows *g, int64_t i, int64_t n, int64_t x0,
                      int64_t line, const double *x, double *y)
{
    double room[LINES][ROOM];
    lines l = {.at = {NULL}};
    for (int r = 0; r < LINES; r++) {
        const int64_t there = line + r % 3 - 1, from = i + g->step[r] - 1;
        const bool outside = there < 0 || there >= g->n[1];
        if (!has_line(g, r)) continue;
        l.at[r] =
            1 + (outside ? zeros : line_at(g, from, from + n + 2, x, room[r]));
    }
    const sides ends = {x0 == 0, x0 + n == g->n[0]};
    if (g->box) (g->flat ? box2 : box3)(g, &l, n, ends, y + i);
    else (g->flat ? star2 : star3)(g, &l, n, ends, y + i);
}

void TCT_ISA_NAME(tct_grid_product)(const tct_grid_rows *g, int64_t from,
                                    int64_t to, const double *x, double *y)
{
    const int64_t nx = g->n[0];
    int64_t x0 = (g->from[0] + from) % nx;
    int64_t line = (g->from[1] + (g->from[0] + from) / nx) % g->n[1];
    for (int64_t i = from; i < to;) {
        const int64_t left = nx - x0, n = left < to - i ? left : to - i;
        line_rows(g, i, n, x0, line, x, y);
        i += n;
        x0 = 0;
        line = line + 1 == g->n[1] ? 0 : line + 1;
    }
}
