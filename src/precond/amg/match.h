/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/match.h - rows in pairs, by the heaviest edges. */
#ifndef TCT_MATCH_H
#define TCT_MATCH_H
#include "matrix/csr.h"

/* The matrix B = W A W of own rows and columns, W the diagonal matrix of the
 * smooth vector: what stands in other columns of A is left out. */
typedef struct tct_pairing {
    const tct_csr *A;
    const double *w;    /* [rows] NULL: ones                             */
    const double *diag; /* [rows] of B; 0: the row is left out           */
    int32_t *mate;      /* [rows] out: itself if it has none, -1: left out */
    int rounds;         /* out                                           */
} tct_pairing;

/* Match rows i and j by the weight log |1 - 2 b_ij / (b_ii + b_jj)|, where that
 * is positive: heaviest edges first.
 * Errors      NO_MEMORY. */
tacit_status tct_match(tct_pairing *p);

#endif
