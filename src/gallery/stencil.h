/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/stencil.h - matrices that repeat one stencil at every point of
 * a grid; what falls outside of the grid is left out (Dirichlet). */
#ifndef TCT_GALLERY_STENCIL_H
#define TCT_GALLERY_STENCIL_H
#include "gallery/family.h"

enum { TCT_STENCIL_POINTS = 27, TCT_STENCIL_DOF = 3 };

/* Point (x, y, z) has number (z ny + y) nx + x and `dof` rows one behind the
 * other. Its neighbours stand in ascending order of (dz, dy, dx). */
typedef struct tct_stencil {
    int64_t n[3];
    int dof, points;
    int shift[TCT_STENCIL_POINTS][3]; /* dx, dy, dz: -1, 0 or 1            */
    double block[TCT_STENCIL_POINTS][TCT_STENCIL_DOF * TCT_STENCIL_DOF];
} tct_stencil;

/* Add the neighbour (dx, dy, dz) of a scalar stencil; call in order. */
void tct_stencil_add(tct_stencil *s, int dx, int dy, int dz, double value);

/* Make `g` the matrix of `s`, which is copied. */
tacit_status tct_stencil_open(tct_gallery_matrix *g, const tct_stencil *s);

/* A scalar stencil over the box of 3^`dims` points, or over its star alone:
 * `centre`, and off-centre `side[d]` on the star's arms and `corner` on all
 * other points of the box (0: no such points). */
void tct_stencil_box(tct_stencil *s, int dims, double centre,
                     const double side[3], double corner);

#endif
