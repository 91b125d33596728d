/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/bricks.c - linear elasticity on a box of cubes with 8 nodes (linear)
 * or 27 (quadratic). elasticity3d has one material and is a stencil. The
 * recipes vary the stiffness of cubes, and have springs at x = 0, which make
 * the matrix definite and add no entries. */
#include "gallery/element.h"
#include "gallery/recipe.h"
#include "gallery/stencil.h"
#include <math.h>
#include <string.h>

#define YOUNG   1.0
#define POISSON 0.3
#define SPRING  1.0

enum { WINDOW = 125 * 3 }; /* unknowns around a corner of quadratic cubes */

typedef struct {
    int order;
    int64_t cells[3], n[3]; /* n = order * cells + 1 nodes                 */
    double decades;         /* a cube's stiffness is 10^(decades u)        */
    double K[TCT_BRICK_ROWS * TCT_BRICK_ROWS]; /* of a cube with E = 1     */
} bricks;

/* The cubes around a node and their box of nodes. */
typedef struct {
    int64_t cell[3], cells[3]; /* first, number */
    int64_t node[3], n[3];
} window;

static window window_at(const bricks *b, const int64_t x[3])
{
    window w;
    for (int d = 0; d < 3; d++) {
        int64_t low = (x[d] - 1) / b->order, high = x[d] / b->order;
        if (high == b->cells[d]) high--;
        w.cell[d] = x[d] == 0 ? 0 : low;
        w.cells[d] = high - w.cell[d] + 1;
        w.node[d] = w.cell[d] * b->order;
        w.n[d] = w.cells[d] * b->order + 1;
    }
    return w;
}

static int window_entries(const window *w)
{
    return (int)(3 * w->n[0] * w->n[1] * w->n[2]);
}

static double stiffness(const bricks *b, const int64_t c[3])
{
    if (b->decades == 0.0) return 1.0;
    const int64_t cell = (c[2] * b->cells[1] + c[1]) * b->cells[0] + c[0];
    return exp(b->decades * tct_uniform((uint64_t)cell, 1) * log(10.0));
}

/* Add cube `c` to the three rows of node `x`. */
static void add_cube(const bricks *b, const window *w, const int64_t x[3],
                     const int64_t c[3], double row[3][WINDOW])
{
    const int side = b->order + 1, n = 3 * side * side * side;
    const double E = stiffness(b, c);
    int64_t in[3], at[3]; /* node in the cube, cube in the window */
    for (int d = 0; d < 3; d++) {
        in[d] = x[d] - c[d] * b->order;
        at[d] = c[d] * b->order - w->node[d];
    }
    const int64_t node = (in[2] * side + in[1]) * side + in[0];
    for (int p = 0; p < 3; p++) {
        const double *K = b->K + (3 * node + p) * n;
        for (int64_t z = at[2]; z < at[2] + side; z++)
            for (int64_t y = at[1]; y < at[1] + side; y++) {
                double *to = row[p] + 3 * ((z * w->n[1] + y) * w->n[0] + at[0]);
                for (int k = 0; k < 3 * side; k++) to[k] += E * *K++;
            }
    }
}

/* The three rows of node `x` over its window. */
static void node_rows(const bricks *b, const window *w, const int64_t x[3],
                      double row[3][WINDOW])
{
    for (int p = 0; p < 3; p++)
        memset(row[p], 0, (size_t)window_entries(w) * sizeof row[p][0]);
    for (int64_t cz = 0; cz < w->cells[2]; cz++)
        for (int64_t cy = 0; cy < w->cells[1]; cy++)
            for (int64_t cx = 0; cx < w->cells[0]; cx++) {
                const int64_t c[3] = {w->cell[0] + cx, w->cell[1] + cy,
                                      w->cell[2] + cz};
                add_cube(b, w, x, c, row);
            }
}

/* The columns of the window, ascending. */
static void window_cols(const bricks *b, const window *w, int64_t *cols)
{
    for (int64_t z = w->node[2]; z < w->node[2] + w->n[2]; z++)
        for (int64_t y = w->node[1]; y < w->node[1] + w->n[1]; y++) {
            const int64_t x = (z * b->n[1] + y) * b->n[0] + w->node[0];
            for (int64_t k = 0; k < 3 * w->n[0]; k++) *cols++ = 3 * x + k;
        }
}

static void bricks_rows(const void *data, int64_t first, int64_t last,
                        int64_t *length, int64_t *cols, double *vals)
{
    const bricks *b = data;
    double row[3][WINDOW];
    int64_t used = 0;
    for (int64_t i = first; i < last;) {
        const int64_t node = i / 3;
        const int64_t x[3] = {node % b->n[0], node / b->n[0] % b->n[1],
                              node / b->n[0] / b->n[1]};
        const window w = window_at(b, x);
        const int entries = window_entries(&w);
        if (cols) node_rows(b, &w, x, row);
        for (; i < last && i / 3 == node; i++) {
            *length++ = entries;
            if (!cols) continue;
            window_cols(b, &w, cols + used);
            memcpy(vals + used, row[i % 3], (size_t)entries * sizeof *vals);
            for (int k = 0; x[0] == 0 && k < entries; k++)
                if (cols[used + k] == i) vals[used + k] += SPRING;
            used += entries;
        }
    }
}

static const tct_gallery_maker bricks_maker = {.rows = bricks_rows};

static void bricks_set(bricks *b, int order, const int64_t cells[3],
                       double decades)
{
    const tct_physics steel = tct_elasticity(YOUNG, POISSON);
    b->order = order;
    b->decades = decades;
    for (int d = 0; d < 3; d++) {
        b->cells[d] = cells[d];
        b->n[d] = order * cells[d] + 1;
    }
    tct_brick_elasticity(&steel, order, b->K);
}

static tacit_status bricks_open(tct_gallery_matrix *g, int order,
                                const int64_t cells[3], double decades)
{
    const double most[] = {81.0, 375.0}; /* entries of a row, by order */
    int64_t n[3];
    for (int d = 0; d < 3; d++) {
        if (cells[d] > INT64_MAX / 4)
            FAIL(TACIT_INPUT, "%s: %lld cubes do not fit in 64 bits", g->name,
                 (long long)cells[d]);
        n[d] = order * cells[d] + 1;
    }
    TRY(tct_gallery_size_grid(g, n, 3, (int64_t)most[order - 1]));
    bricks *b = tct_alloc(sizeof *b);
    if (!b) FAIL(TACIT_NO_MEMORY, "no memory for the recipe of %s", g->name);
    g->data = b;
    bricks_set(b, order, cells, decades);
    g->maker = &bricks_maker;
    g->elastic = true;
    g->nonzeros = 9.0;
    for (int d = 0; d < 3; d++)
        g->nonzeros *= (order == 1 ? 3.0 : 8.0) * (double)cells[d] + 1.0;
    return TACIT_OK;
}

/* --- elasticity3d --------------------------------------------------------- */

/* The stencil of an interior node: the rows of the middle of 2 x 2 x 2 cubes.
 * Values that are zero by symmetry, up to rounding, are set to zero. */
static void middle_stencil(const bricks *b, tct_stencil *s)
{
    const int64_t middle[3] = {1, 1, 1};
    double row[3][WINDOW];
    const window w = window_at(b, middle);
    node_rows(b, &w, middle, row);
    s->points = 0;
    for (int k = 0; k < 27; k++) {
        tct_stencil_add(s, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1, 0.0);
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) {
                const double value = row[p][3 * k + q];
                s->block[k][3 * p + q] = fabs(value) < 1e-14 ? 0.0 : value;
            }
    }
}

static tacit_status elasticity3d_open(const char *arguments,
                                      tct_gallery_matrix *g)
{
    tct_gallery_spec w;
    tct_stencil s = {.dof = 3};
    TRY(tct_gallery_spec_cut(&tct_gallery_elasticity3d, arguments, 1, 1, &w));
    TRY(tct_gallery_spec_grid(&w, 0, 3, 1, s.n));
    const int64_t two[3] = {2, 2, 2};
    TRY(bricks_open(g, 1, two, 0.0));
    middle_stencil(g->data, &s);
    tct_free(g->data);
    g->data = NULL;
    TRY(tct_stencil_open(g, &s));
    g->elastic = true;
    return TACIT_OK;
}

/* --- recipes -------------------------------------------------------------- */

/* Sizes in nodes, as the row counts of the real matrices are. */
tacit_status tct_like_linear(const tct_recipe *r, const int64_t n[3],
                             tct_gallery_matrix *g)
{
    const int64_t cells[3] = {n[0] - 1, n[1] - 1, n[2] - 1};
    return bricks_open(g, 1, cells, r->par);
}

/* Sizes in cubes. */
tacit_status tct_like_quadratic(const tct_recipe *r, const int64_t n[3],
                                tct_gallery_matrix *g)
{
    return bricks_open(g, 2, n, r->par);
}

const tct_gallery tct_gallery_elasticity3d = {
    {"elasticity3d", "elasticity3d:N or elasticity3d:NXxNYxNZ",
     "linear elasticity (E 1, nu 0.3), N^3 free nodes, 8-node cubes, "
     "all faces held"},
    elasticity3d_open};
