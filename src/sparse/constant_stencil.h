/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/constant_stencil.h - the matrix of a grid whose rows have one stencil
 * of constant coefficients, described without its entries. Point 9 (dz + 1) + 3
 * (dy + 1) + dx + 1 of a cell is its neighbour at (dx, dy, dz); cells outside
 * the grid are dropped. Symmetric: opposite points have equal coefficients. */
#ifndef TCT_SPARSE_CONSTANT_STENCIL_H
#define TCT_SPARSE_CONSTANT_STENCIL_H
#include <stdbool.h>
#include <stdint.h>

enum { TCT_AROUND = 27, TCT_CELL = 13 };

typedef struct tct_constant_stencil {
    int64_t n[3]; /* x fastest; n[0] 0: none    */
    bool box;     /* all points; else a star's  */
    double k[TCT_AROUND];
} tct_constant_stencil;

/* Facts of the whole matrix. */
typedef struct tct_stencil_facts {
    int64_t entries, zeros;   /* zeros: entries that are 0 */
    int64_t row_min, row_max; /* entries of a row          */
    int64_t bandwidth;
    double norm;      /* largest row sum of |a|    */
    double high, low; /* |a|: the largest, the smallest that is not 0 */
} tct_stencil_facts;

tct_stencil_facts tct_stencil_facts_of(const tct_constant_stencil *s);

#endif
