/* SPDX-License-Identifier: BSD-3-Clause
 * factor/matching.h - a row for each column, so that the product of the chosen
 * entries is the largest, and scalings that make them 1 and all others no
 * larger [DK01].
 *
 * [DK01] Duff and Koster, "On algorithms for permuting large entries to the
 *        diagonal of a sparse matrix", SIAM J. Matrix Anal. Appl. 22 (2001). */
#ifndef TCT_FACTOR_MATCHING_H
#define TCT_FACTOR_MATCHING_H
#include "sparse/csr.h"

/* Row `row[j]` of A is to be row j: then |row_scale[i] a_ij col_scale[j]| is 1
 * on the diagonal, and no more elsewhere, up to rounding. */
typedef struct tct_matching {
    int32_t *row;                  /* [rows] */
    double *row_scale, *col_scale; /* [rows] by numbers in A */
} tct_matching;

/* Of square `A` with columns of 32 bits; entries below 2.2e-308 and those that
 * are not finite do not count. Exact: shortest augmenting paths, each O(entries log rows), and
 * few where most rows find a large entry at once.
 * Errors      INPUT (no entry can be chosen in each row and column: with a row
 *             that has none), NO_MEMORY. */
tacit_status tct_matching_create(const tct_csr *A, tct_matching *out);
void tct_matching_clear(tct_matching *m);

#endif
