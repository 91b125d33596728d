/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/stencil.h - matrices with one stencil at every point of a grid;
 * neighbours outside the grid are dropped (Dirichlet). */
#ifndef TCT_GALLERY_STENCIL_H
#define TCT_GALLERY_STENCIL_H
#include "gallery/family.h"

enum { TCT_STENCIL_POINTS = 27, TCT_STENCIL_DOF = 3 };

/* Point (x, y, z) has number (z ny + y) nx + x and `dof` consecutive rows. Its
 * neighbours are in ascending order of (dz, dy, dx). */
typedef struct tct_stencil {
    int64_t n[3];
    int dof, points;
    int shift[TCT_STENCIL_POINTS][3]; /* dx, dy, dz: -1, 0 or 1            */
    double block[TCT_STENCIL_POINTS][TCT_STENCIL_DOF * TCT_STENCIL_DOF];
} tct_stencil;

/* Add neighbour (dx, dy, dz) of a scalar stencil; call in order. */
void tct_stencil_add(tct_stencil *s, int dx, int dy, int dz, double value);

/* Make `g` the matrix of `s`, which is copied. */
tacit_status tct_stencil_open(tct_gallery_matrix *g, const tct_stencil *s);

/* A scalar stencil on the box of 3^`dims` points or its star: `centre`,
 * `side[d]` on the arms of the star, and `corner` on all other points of the
 * box (0: none). */
void tct_stencil_box(tct_stencil *s, int dims, double centre,
                     const double side[3], double corner);

#endif
