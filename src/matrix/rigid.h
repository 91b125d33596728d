/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/rigid.h - the rigid-body modes of an `elastic` matrix, row by row: no
 * memory of their size is written, which may take longer than making them. */
#ifndef TCT_MATRIX_RIGID_H
#define TCT_MATRIX_RIGID_H
#include "matrix/matrix.h"

enum { TCT_RIGID = 6 }; /* modes */

typedef struct tct_rigid {
    const tacit_matrix *m;
    const double *at; /* [rows][4] points, directions; NULL: on m's grid */
    double *own;      /* memory of `at`; NULL: m has it */
    double centre[3]; /* mean of all ranks' points */
} tct_rigid;

/* A point of the grid and a direction, those of an original row: the next row's
 * follow without divisions. Begins with row -1. */
typedef struct tct_rigid_place {
    int64_t row, at[4];
} tct_rigid_place;

/* Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_rigid_open(const tacit_matrix *m, tct_rigid *out);
/* The elements of this rank's row `i` into out [TCT_RIGID]; `place` is that of
 * any row and becomes that of `i`. Local. */
void tct_rigid_row(const tct_rigid *r, int64_t i, tct_rigid_place *place,
                   double *out);
void tct_rigid_close(tct_rigid *r);

#endif
