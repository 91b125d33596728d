/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/grid_matrix.c - finds a stencil in the rows of a matrix. */
#include "operator/stencil/grid_matrix.h"
#include "device/parallel.h"
#include "operator/layout/look_device.h"
#include <stdio.h>
#include <string.h>

/* --- the place ------------------------------------------------------------ */

/* Beyond all rows, and a step from there stays in 32 bits. */
enum { FAR = INT32_MAX - 1, ROWS_MOST = INT32_MAX - 8 };

static tct_divisor divisor_of(int64_t d)
{
    uint32_t shift = 0;
    while ((INT64_C(1) << shift) < d) shift++;
    const uint64_t rest = (UINT64_C(1) << shift) - (uint64_t)d;
    return (tct_divisor){(uint32_t)((rest << 32) / (uint64_t)d + 1), shift};
}

static int32_t clipped(int64_t step)
{
    return (int32_t)(step > FAR ? FAR : step < -FAR ? -FAR : step);
}

bool tct_grid_open(const tct_grid_place *at, int64_t rows, tct_grid_rows *out)
{
    const int64_t *n = at->n, x = at->first % n[0], line = at->first / n[0];
    const int64_t y = line % n[1], lines = (x + rows) / n[0] + 1;
    if (rows > ROWS_MOST || n[0] > INT32_MAX || n[1] > INT32_MAX) return false;
    if (x + rows > INT32_MAX || y + lines > INT32_MAX) return false;
    *out = (tct_grid_rows){.n = {(int32_t)n[0], (int32_t)n[1]},
                           .from = {(int32_t)x, (int32_t)y},
                           .rows = (int32_t)rows,
                           .by = {divisor_of(n[0]), divisor_of(n[1])},
                           .flat = n[2] == 1};
    for (int r = 0; r < TCT_GRID_LINES; r++)
        out->step[r] =
            clipped(n[0] * (n[1] * (int64_t)(r / 3 - 1) + (r % 3 - 1)));
    return true;
}

/* --- rows ----------------------------------------------------------------- */

/* The points of a row that have a row of their own, ascending. */
typedef struct {
    int count;
    int32_t col[TCT_GRID_POINTS];
    int8_t point[TCT_GRID_POINTS];
} row_points;

static void points_of(const tct_grid_rows *g, int64_t i, row_points *out)
{
    const tct_grid_cell c = tct_grid_cell_of(g, (int32_t)i);
    const int points = g->box ? TCT_GRID_POINTS : TCT_GRID_STAR;
    out->count = 0;
    for (int k = 0; k < points; k++) {
        const int p = g->box ? k : tct_star_point(k);
        const int32_t j = tct_grid_neighbour(g, c, p / 3, p % 3 - 1);
        if (j < 0) continue;
        out->col[out->count] = j;
        out->point[out->count++] = (int8_t)p;
    }
}

static bool has_pattern(const tct_local *A, int64_t i, const row_points *r)
{
    const int64_t from = A->ptr[i];
    return A->ptr[i + 1] - from == r->count &&
           memcmp(A->col + from, r->col, (size_t)r->count * sizeof *r->col) ==
               0;
}

static bool has_values(const tct_grid_rows *g, const double *val,
                       const row_points *r)
{
    for (int k = 0; k < r->count; k++)
        if (memcmp(&val[k], &g->k[r->point[k]], sizeof *val) != 0) return false;
    return true;
}

/* The points of the stencil that occur in a grid of this size, as bits. */
static unsigned points_that_occur(const tct_grid_rows *g)
{
    unsigned all = 0;
    for (int k = 0; k < (g->box ? TCT_GRID_POINTS : TCT_GRID_STAR); k++) {
        const int p = g->box ? k : tct_star_point(k);
        const bool x = p % 3 == 1 || g->n[0] > 1;
        const bool y = p / 3 % 3 == 1 || g->n[1] > 1;
        if (x && y && (p / 9 == 1 || !g->flat)) all |= 1u << p;
    }
    return all;
}

/* The coefficients of the first rows, until all points that occur have one;
 * false: a row of another pattern. */
static bool take_coefficients(const tct_local *A, tct_grid_rows *g)
{
    row_points r;
    unsigned found = 0;
    const unsigned all = points_that_occur(g);
    const int64_t plane = g->step[7], line = g->n[0];
    const int64_t most = plane + 3 * line + 3;
    for (int64_t i = 0; i < A->rows && i < most && found != all; i++) {
        points_of(g, i, &r);
        if (!has_pattern(A, i, &r)) return false;
        for (int k = 0; k < r.count; k++) {
            if (found >> r.point[k] & 1) continue;
            g->k[r.point[k]] = A->val[A->ptr[i] + k];
            found |= 1u << r.point[k];
        }
    }
    return true;
}

typedef struct {
    const tct_grid_rows *g;
    const tct_local *A;
} comparing;

static bool same_rows(const void *work, int64_t from, int64_t to)
{
    const comparing *c = work;
    row_points r;
    for (int64_t i = from; i < to; i++) {
        points_of(c->g, i, &r);
        if (!has_pattern(c->A, i, &r) ||
            !has_values(c->g, c->A->val + c->A->ptr[i], &r))
            return false;
    }
    return true;
}

/* On the device, if the rows are there. */
static bool all_rows_are(const tct_local *A, const tct_grid_rows *g)
{
    bool is = false;
    if (A->device && A->device->ptr && tct_look_at_grid(A->device, g, &is) >= 0)
        return is;
    return tct_parallel_all(A->rows, TCT_SHORT, same_rows, &(comparing){g, A});
}

static bool is_stencil(const tct_local *A, tct_grid_rows *g)
{
    return take_coefficients(A, g) && all_rows_are(A, g);
}

const char *tct_grid_find(const tct_grid_place *at, const tct_local *A,
                          tct_grid_rows *out)
{
    if (at->n[0] == 0) return "only for gallery matrices of a grid";
    if (!tct_grid_open(at, A->rows, out))
        return "the grid has more cells than 32 bits number";
    if (is_stencil(A, out)) return NULL;
    out->box = true;
    if (is_stencil(A, out)) return NULL;
    return "the rows are not those of one stencil with constant coefficients";
}

/* --- new values ----------------------------------------------------------- */

static tct_difference difference_of(const tct_grid_rows *g, const tct_local *A)
{
    row_points r;
    tct_difference d = {.row = -1};
    for (int64_t i = 0; i < A->rows && d.row < 0; i++) {
        points_of(g, i, &r);
        if (!has_pattern(A, i, &r))
            d = tct_compare_group(A, 1, i, r.col, r.count, NULL);
    }
    return d;
}

tacit_status tct_grid_refill(tct_grid_rows *g, const tct_local *A)
{
    tct_grid_rows now = *g;
    if (is_stencil(A, &now)) {
        *g = now;
        return TACIT_OK;
    }
    const tct_difference where = difference_of(g, A);
    if (where.row >= 0) return tct_pattern_differs(A, where);
    FAIL(TACIT_UNSUPPORTED,
         "format stencil: the coefficients differ from row to row");
}

/* --- numbers -------------------------------------------------------------- */

static int64_t count_entries(const void *work, int64_t from, int64_t to)
{
    row_points r;
    int64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        points_of(work, i, &r);
        sum += r.count;
    }
    return sum;
}

int64_t tct_grid_entries(const tct_grid_rows *g)
{
    return tct_parallel_sum(g->rows, TCT_SHORT, count_entries, g);
}

void tct_grid_describe(const tct_grid_rows *g, char *text, size_t size)
{
    const int lines = (g->n[1] > 1) + !g->flat;
    const int star = 3 + 2 * lines;
    const int box = lines == 0 ? 3 : lines == 1 ? 9 : TCT_GRID_POINTS;
    snprintf(text, size, "a stencil of %d points, its coefficients alone",
             g->box ? box : star);
}
