/* SPDX-License-Identifier: BSD-3-Clause
 * factor/eliminate.h - elimination of panels, for each kind of factor.
 *
 * All kinds are treated as L U, with U = L' or U = D L'. Position (i, j) of a
 * panel, i >= j, holds l_ij; for kind LU a second panel of the same shape holds
 * u_ji. So U' is eliminated by the same operations as L. */
#ifndef TCT_FACTOR_ELIMINATE_H
#define TCT_FACTOR_ELIMINATE_H
#include "factor/dense.h"

enum { TCT_ELIMINATE_COLUMNS = 32 }; /* that are eliminated at once */

/* Columns of a panel or of an update square, with the rows from the first
 * column's on. */
typedef struct tct_strip {
    int64_t width, height, ld;
    double *lower;      /* L, or its values before elimination        */
    double *upper;      /* U'; NULL: L' or D L'                       */
    double *diagonal;   /* D [width] for kind LDLT, else NULL         */
    double *other;      /* with pivots of 2 x 2: D's entries below the
                         * diagonal [width]; NULL                     */
    int32_t *number;    /* ... numbers of the columns [width]         */
    double least;       /* a smaller pivot gets this size; 0          */
    int32_t *row, *col; /* of a trial [width], see tct_strip_try; NULL  */
} tct_strip;

/* The same columns, from row `rows` on. */
static inline tct_strip tct_strip_below(const tct_strip *s, int64_t rows)
{
    return (tct_strip){.width = s->width,
                       .height = s->height - rows,
                       .ld = s->ld,
                       .lower = s->lower + rows,
                       .upper = s->upper ? s->upper + rows : NULL,
                       .diagonal = s->diagonal,
                       .other = s->other};
}

/* `to` becomes beta `to` minus the update by the columns of `by`, which starts
 * at the same row; the part of `to` above its diagonal is undefined afterwards.
 * `scratch` [width of `by` * width of `to`] is used for kind LDLT. */
void tct_strip_update(const tct_dense *dense, const tct_strip *by, double beta,
                      const tct_strip *to, double *scratch);

/* Eliminate the columns of `s`, which has at least as many rows. Returns 0, or
 * the column, from 1, of a failed pivot (0, not finite, or for kind LLT not
 * positive); the pivot stays on L's diagonal. `scratch` [32 width] is used for
 * kind LDLT. */
int64_t tct_strip_eliminate(const tct_dense *dense, const tct_strip *s,
                            double *scratch);

/* --- pivot_pairs.c -------------------------------------------------------- */

/* Kind LDLT with `other`: eliminate the columns of `s`, rows and columns of its
 * square exchanged for pivots of 1 x 1 and 2 x 2, and `number` with them.
 * Returns as tct_strip_eliminate. */
int64_t tct_strip_pivot(const tct_dense *dense, const tct_strip *s);

/* --- trial.c -------------------------------------------------------------- */

/* Kind LU: eliminate the columns of `s`, at most TCT_ELIMINATE_COLUMNS, as a trial.
 * Rows and columns are exchanged within the block, and `row` and `col`, numbers
 * of s's rows and columns, with them. A column without a large entry there is
 * left out, and ~ its number is in `col`. L and U are then good for the columns
 * that follow, and no factor. */
void tct_strip_try(const tct_strip *s);

#endif
