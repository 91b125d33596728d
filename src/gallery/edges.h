/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/edges.h - matrices of the form sum over the edges of a grid of (e_i -
 * e_j)(e_i - e_j)' (x) B, plus a diagonal: resistor networks, finite volumes,
 * first-order finite elements. */
#ifndef TCT_GALLERY_EDGES_H
#define TCT_GALLERY_EDGES_H
#include "gallery/recipe.h"

enum { TCT_ARMS = 7, TCT_EDGE_DOF = 7, TCT_EDGE_BLOCK = 49 };

/* Edges connect a point to its neighbours at `arm`s, which point up, ascending
 * in (dz, dy, dx). The matrix is positive definite if all B are, or nearly, and
 * some ground is positive. */
typedef struct tct_edges tct_edges;
/* Returns whether there is an edge from `x` along `arm`, whose other end is in
 * the grid; then puts its symmetric block into `B` [dof * dof], unless NULL. */
typedef bool (*tct_edge_fn)(const tct_edges *e, const int64_t x[3], int arm,
                            double *B);
/* The addition to the diagonal at `x`. */
typedef double (*tct_ground_fn)(const tct_edges *e, const int64_t x[3]);
struct tct_edges {
    int64_t n[3];
    int dof, arms;
    const int (*arm)[3];
    int64_t hole; /* the ground, a point without a row; -1: none */
    uint64_t seed;
    double par; /* parameter of the recipe */
    tct_edge_fn edge;
    tct_ground_fn ground;
};

/* The usual arms. */
extern const int tct_arms_star[3][3];  /* 5 points in 2D or 7 in 3D */
extern const int tct_arms_plane[3][3]; /* triangles, parallel diagonals */
extern const int tct_arms_kuhn[7][3];  /* six tetrahedra per cube */

static inline int64_t tct_edges_point(const tct_edges *e, const int64_t x[3])
{
    return (x[2] * e->n[1] + x[1]) * e->n[0] + x[0];
}

/* Make `g` the matrix of `e`, which is copied. */
tacit_status tct_edges_open(tct_gallery_matrix *g, const tct_edges *e);
/* The same for a recipe, on all points of its grid. */
tacit_status tct_edges_like(const tct_recipe *r, const int64_t n[3], int dof,
                            int arms, const int (*arm)[3], tct_edge_fn edge,
                            tct_ground_fn ground, tct_gallery_matrix *g);

#endif
