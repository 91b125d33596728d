/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/stencil.h - the description of a grid and of its stencil, as
 * all devices read it.
 *
 * Directions are numbered 0, 1, 2: along a row, from row to row of a plane, and
 * from plane to plane. A grid of two dimensions has planes of one row, so that
 * its y is direction 2: what streams over planes is one text for both. */
#ifndef TCT_OPERATOR_STENCIL_STENCIL_H
#define TCT_OPERATOR_STENCIL_STENCIL_H
#include "base/base.h"
#include <tacit/stencil.h>

typedef enum tct_shape {
    TCT_STAR2,
    TCT_BOX2,
    TCT_STAR3,
    TCT_BOX3,
    TCT_SHAPE_COUNT
} tct_shape;

enum { TCT_POINTS_MOST = 27, TCT_STENCIL_ROWS = 9, TCT_WEIGHTS_COUNT = 3 };

/* A point of a stencil: in row `row` of those that a step of a row reads, `x`
 * cells further. Of two dimensions rows are those of planes z - 1, z, z + 1; of
 * three row 3 (dz + 1) + (dy + 1). */
typedef struct tct_point {
    signed char row, x;
} tct_point;

typedef struct tct_grid_stencil {
    tct_shape shape;
    const tacit_stencil_shape *about;
    int64_t n[3];     /* cells in each direction              */
    bool periodic[3]; /* ... in which the grid closes         */
    int64_t cells;
    bool single;  /* floats                                    */
    size_t bytes; /* of a cell                                */
    tacit_stencil_weights weights;
    double boundary, centre, neighbours; /* rounded to the type */
    int blocks[3]; /* of the grid, one a rank; 0: to be chosen  */
} tct_grid_stencil;

/* Check `given` and bring it into the form above.
 * Errors      INVALID, INPUT (too many cells). */
tacit_status tct_stencil_read(const tacit_stencil *given,
                              tct_grid_stencil *out);

/* The direction that a caller counts as `d`: x, y, z. */
static inline int tct_stencil_direction(const tct_grid_stencil *s, int d)
{
    return s->about->dimensions == 2 && d > 0 ? 3 - d : d;
}

/* The points of `shape`: the cell itself, then its neighbours in the order of
 * z, y and x, ascending. */
const tct_point *tct_stencil_points(tct_shape shape);

static inline bool tct_shape_is_flat(tct_shape shape)
{
    return shape == TCT_STAR2 || shape == TCT_BOX2;
}

#endif
