/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/triangles.c - first-order finite elements on a plane grid of
 * triangles, all diagonals from (x, y) to (x + 1, y + 1).
 *
 *     (x, y+1) +--+ (x+1, y+1)   each cell has an upper and a lower triangle
 *              |//|
 *       (x, y) +--+ (x+1, y) */
#include "gallery/edges.h"
#include <math.h>

enum { LOWER, UPPER };

/* Weight of a triangle of cell (x, y): 0 outside the grid. */
typedef double (*weight_fn)(const tct_edges *e, int64_t x, int64_t y, int half);

static double one(const tct_edges *e, int64_t x, int64_t y, int half)
{
    (void)half;
    return x >= 0 && y >= 0 && x < e->n[0] - 1 && y < e->n[1] - 1 ? 1.0 : 0.0;
}

static double jumping(const tct_edges *e, int64_t x, int64_t y, int half)
{
    if (one(e, x, y, half) == 0.0) return 0.0;
    const int64_t triangle = 2 * (y * (e->n[0] - 1) + x) + half;
    const double u = tct_uniform((uint64_t)triangle, e->seed);
    return exp(e->par * (u - 0.5) * log(10.0));
}

/* Sum over the one or two triangles at an edge. */
static double sum_at_edge(const tct_edges *e, const int64_t x[3], int arm,
                          weight_fn weight)
{
    enum { ALONG_X, ALONG_Y, DIAGONAL };
    switch (arm) {
    case ALONG_X:
        return weight(e, x[0], x[1] - 1, UPPER) + weight(e, x[0], x[1], LOWER);
    case ALONG_Y:
        return weight(e, x[0] - 1, x[1], LOWER) + weight(e, x[0], x[1], UPPER);
    default: return weight(e, x[0], x[1], LOWER) + weight(e, x[0], x[1], UPPER);
    }
}

/* --- M + par K on right triangles, cells of side 1 ------------------------ */

/* A triangle of area 1/2 adds area / 12 of mass to each edge, and 1/2 of
 * stiffness to the two at the right angle. */
static bool mass_edge(const tct_edges *e, const int64_t x[3], int arm,
                      double *B)
{
    const double stiffness = arm == 2 ? 0.0 : e->par / 2.0;
    if (B) *B = sum_at_edge(e, x, arm, one) * (stiffness - 1.0 / 24.0);
    return true;
}

/* Row sum of M: a third of the area of the triangles around. */
static double mass_ground(const tct_edges *e, const int64_t x[3])
{
    const int64_t i = x[0], j = x[1];
    const double triangles = 2.0 * one(e, i, j, LOWER) +
                             one(e, i - 1, j, LOWER) + one(e, i, j - 1, UPPER) +
                             2.0 * one(e, i - 1, j - 1, LOWER);
    return triangles / 6.0;
}

tacit_status tct_like_mass(const tct_recipe *r, const int64_t n[3],
                           tct_gallery_matrix *g)
{
    return tct_edges_like(r, n, 1, 3, tct_arms_plane, mass_edge, mass_ground,
                          g);
}

/* --- K on equilateral triangles, conductivity over `par` decades ---------- */

/* cot(60 degrees) / 2 for each triangle at the edge, as the unit. */
static bool heat_edge(const tct_edges *e, const int64_t x[3], int arm,
                      double *B)
{
    if (B) *B = sum_at_edge(e, x, arm, jumping);
    return true;
}

/* The side y = 0 is grounded; the others are free. */
static double heat_ground(const tct_edges *e, const int64_t x[3])
{
    (void)e;
    return x[1] == 0 ? 1.0 : 0.0;
}

tacit_status tct_like_heat(const tct_recipe *r, const int64_t n[3],
                           tct_gallery_matrix *g)
{
    return tct_edges_like(r, n, 1, 3, tct_arms_plane, heat_edge, heat_ground,
                          g);
}
