/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/stencil.c - one stencil at every point of a grid. Along a line of the
 * grid all rows except the first and the last are equal up to an offset, so a
 * row is two copies. */
#include "gallery/stencil.h"
#include <string.h>

enum { WIDEST = TCT_STENCIL_POINTS * TCT_STENCIL_DOF };

void tct_stencil_add(tct_stencil *s, int dx, int dy, int dz, double value)
{
    const int k = s->points++;
    s->shift[k][0] = dx;
    s->shift[k][1] = dy;
    s->shift[k][2] = dz;
    s->block[k][0] = value;
}

void tct_stencil_box(tct_stencil *s, int dims, double centre,
                     const double side[3], double corner)
{
    const int ry = dims > 1, rz = dims > 2;
    for (int dz = -rz; dz <= rz; dz++)
        for (int dy = -ry; dy <= ry; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int arms = (dx != 0) + (dy != 0) + (dz != 0);
                const double arm = dx ? side[0] : dy ? side[1] : side[2];
                const double value = !arms ? centre : arms == 1 ? arm : corner;
                if (arms < 2 || corner != 0.0)
                    tct_stencil_add(s, dx, dy, dz, value);
            }
}

/* The row of component `p` at a kind of point on a line: columns relative to
 * the point's first, and values. */
typedef struct {
    int entries;
    int64_t col[WIDEST];
    double val[WIDEST];
} pattern;

static bool inside(int64_t x, int64_t n)
{
    return 0 <= x && x < n;
}

/* The pattern of component `p` at the point (x, y, z). */
static void pattern_at(const tct_stencil *s, int64_t x, int64_t y, int64_t z,
                       int p, pattern *out)
{
    out->entries = 0;
    for (int k = 0; k < s->points; k++) {
        const int *d = s->shift[k];
        if (!inside(x + d[0], s->n[0]) || !inside(y + d[1], s->n[1]) ||
            !inside(z + d[2], s->n[2]))
            continue;
        const int64_t offset = (d[2] * s->n[1] + d[1]) * s->n[0] + d[0];
        for (int q = 0; q < s->dof; q++) {
            out->col[out->entries] = offset * s->dof + q;
            out->val[out->entries++] = s->block[k][p * s->dof + q];
        }
    }
}

/* Rows [row, last) of the line of the grid whose first point is `line_start`;
 * returns the number of entries. */
static int64_t line_rows(const tct_stencil *s, int64_t row, int64_t last,
                         int64_t line_start, int64_t *length, int64_t *cols,
                         double *vals)
{
    enum { START, MIDDLE, END };
    const int64_t nx = s->n[0], line = line_start / nx;
    const int64_t y = line % s->n[1], z = line / s->n[1];
    pattern at[3][TCT_STENCIL_DOF];
    for (int p = 0; p < s->dof; p++) {
        pattern_at(s, 0, y, z, p, &at[START][p]);
        if (nx > 1) pattern_at(s, nx - 1, y, z, p, &at[END][p]);
        if (nx > 2) pattern_at(s, 1, y, z, p, &at[MIDDLE][p]);
    }
    int64_t used = 0;
    int64_t x = row / s->dof - line_start;
    int p = (int)(row % s->dof);
    for (; row < last; row++) {
        const pattern *t = &at[x == 0 ? START : x == nx - 1 ? END : MIDDLE][p];
        const int64_t base = (line_start + x) * s->dof;
        *length++ = t->entries;
        if (cols) {
            for (int k = 0; k < t->entries; k++) {
                cols[used + k] = base + t->col[k];
                vals[used + k] = t->val[k];
            }
            used += t->entries;
        }
        if (++p == s->dof) {
            p = 0;
            x++;
        }
    }
    return used;
}

static void stencil_rows(const void *data, int64_t first, int64_t last,
                         int64_t *length, int64_t *cols, double *vals)
{
    const tct_stencil *s = data;
    const int64_t line_rows_all = s->n[0] * s->dof;
    int64_t used = 0;
    for (int64_t row = first; row < last;) {
        const int64_t line = row / line_rows_all;
        const int64_t line_end = (line + 1) * line_rows_all;
        const int64_t end = line_end < last ? line_end : last;
        used += line_rows(s, row, end, line * s->n[0], length + (row - first),
                          cols ? cols + used : NULL, vals ? vals + used : NULL);
        row = end;
    }
}

static const tct_gallery_maker stencil_maker = {.rows = stencil_rows};

/* All entries: each neighbour is missing on the faces that it points
 * through. */
static double entries(const tct_stencil *s)
{
    double sum = 0.0;
    for (int k = 0; k < s->points; k++) {
        double count = s->dof * s->dof;
        for (int d = 0; d < 3; d++)
            count *= (double)(s->n[d] - (s->shift[k][d] != 0));
        sum += count;
    }
    return sum;
}

/* Of one row a point; points that are no whole star or box are described
 * otherwise: entries differ then. */
static void say_stencil(const tct_stencil *s, int64_t entries,
                        tct_constant_stencil *out)
{
    if (s->dof > 1) return;
    memcpy(out->n, s->n, sizeof out->n);
    for (int k = 0; k < s->points; k++) {
        const int *d = s->shift[k];
        const int arms = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
        out->k[9 * (d[2] + 1) + 3 * (d[1] + 1) + d[0] + 1] = s->block[k][0];
        out->box = out->box || arms > 1;
    }
    if (tct_stencil_facts_of(out).entries != entries) out->n[0] = 0;
}

tacit_status tct_stencil_open(tct_gallery_matrix *g, const tct_stencil *s)
{
    TRY(tct_gallery_size_grid(g, s->n, s->dof, s->points * s->dof));
    TRY(tct_gallery_keep(g, s, sizeof *s));
    g->maker = &stencil_maker;
    g->nonzeros = entries(s);
    say_stencil(s, (int64_t)g->nonzeros, &g->stencil);
    return TACIT_OK;
}
