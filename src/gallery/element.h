/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/element.h - element matrices of the finite element method, symmetric
 * to the last bit: bricks for grids, tetrahedra for meshes. */
#ifndef TCT_GALLERY_ELEMENT_H
#define TCT_GALLERY_ELEMENT_H
#include "base/base.h"

/* The operator: -div grad u; u - tau div grad u; or linear elasticity of an
 * isotropic body, three unknowns per node. */
typedef struct tct_physics {
    enum { TCT_LAPLACE, TCT_MASS, TCT_ELASTICITY } kind;
    double tau;        /* MASS                                       */
    double lambda, mu; /* ELASTICITY: Lame's constants               */
} tct_physics;

enum { TCT_TET_NODES = 10, TCT_TET_ROWS = 30, TCT_BRICK_ROWS = 81 };

static inline int tct_physics_dof(const tct_physics *physics)
{
    return physics->kind == TCT_ELASTICITY ? 3 : 1;
}

/* Elasticity from Young's modulus and Poisson's ratio. */
tct_physics tct_elasticity(double young, double poisson);

/* The matrix of a tetrahedron with 4 nodes (linear) or 10 (quadratic,
 * isoparametric, 4 Gauss points; after the corners the middles of 12 23 13 14
 * 24 34) into `K` [(nodes dof) squared, by rows].
 * Returns   false if it is flat, or inverted at a Gauss point. */
bool tct_tet_matrix(const tct_physics *physics, int nodes, const double x[][3],
                    double *K);

/* Gradients of the four linear functions; returns 6 times the signed volume.
 * Not finite if the tetrahedron is flat. */
double tct_tet_gradients(const double x[4][3], double gradient[4][3]);

/* The elasticity of a cube of side 1 with 2^3 (order 1) or 3^3 (order 2)
 * nodes, x running fastest, into `K` [(3 nodes) squared]. */
void tct_brick_elasticity(const tct_physics *physics, int order, double *K);

#endif
