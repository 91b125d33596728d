/* SPDX-License-Identifier: BSD-3-Clause
 * factor/eliminate.h - what is done to panels, of each kind of factor.
 *
 * The three kinds are one: L U with U = L' or U = D L'. What stands at row i
 * and column j of a panel, i >= j, is l_ij, and of kind LU, in another panel of
 * the same shape, u_ji. So U' is eliminated as L is, by the same operations. */
#ifndef TCT_FACTOR_ELIMINATE_H
#define TCT_FACTOR_ELIMINATE_H
#include "factor/dense.h"

/* Columns of a panel, or of a square that is passed up, with the rows from the
 * first of them on. */
typedef struct tct_strip {
    int64_t width, height, ld;
    double *lower;    /* L, or what becomes it                      */
    double *upper;    /* U'; NULL: L' or D L'                       */
    double *diagonal; /* D [width] of kind LDLT; NULL: none         */
} tct_strip;

/* The same columns from row `rows` on. */
static inline tct_strip tct_strip_below(const tct_strip *s, int64_t rows)
{
    return (tct_strip){.width = s->width,
                       .height = s->height - rows,
                       .ld = s->ld,
                       .lower = s->lower + rows,
                       .upper = s->upper ? s->upper + rows : NULL,
                       .diagonal = s->diagonal};
}

/* `to` becomes beta `to` less what the columns of `by` do to it, whose first
 * row is that of `to`; above the diagonal of `to` anything may be written.
 * `scratch` [width of `by` * width of `to`] is for kind LDLT. */
void tct_strip_update(const tct_dense *dense, const tct_strip *by, double beta,
                      const tct_strip *to, double *scratch);

/* Eliminate the columns of `s`, of as many rows or more. Returns 0, or the
 * number of the column, from 1, whose pivot cannot be: of kind LLT because it
 * is not positive, of all because it is 0 or not finite; it stands on L's
 * diagonal. `scratch` [32 width] is for kind LDLT. */
int64_t tct_strip_eliminate(const tct_dense *dense, const tct_strip *s,
                            double *scratch);

#endif
