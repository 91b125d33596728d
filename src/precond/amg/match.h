/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/match.h - rows in pairs, by the heaviest edges.
 *
 * [NN12] Napov and Notay, "An algebraic multigrid method with guaranteed
 *        convergence rate", SIAM J. Sci. Comput. 34 (2012): a row that only weak
 *        edges are left to stays alone, since it and a row that it does not
 *        depend on are no aggregate. How weak that is, the matrix tells: where
 *        more than some of its rows stay alone, as of dense stencils, weaker
 *        edges are good enough. */
#ifndef TCT_MATCH_H
#define TCT_MATCH_H
#include "matrix/csr.h"

/* The matrix B = W A W of own rows and columns, W the diagonal matrix of the
 * smooth vector: what stands in other columns of A is left out. */
typedef struct tct_pairing {
    const tct_csr *A;
    const double *w;    /* [rows] NULL: ones                             */
    const double *diag; /* [rows] of the matrix that B was once made of, added
                           up; 0: the row is left out                   */
    int32_t *mate;      /* [rows] out: itself if it has none, -1: left out */
    double limit;       /* an edge holds no pair together that needs more: as
                           tct_pair_limit is, and raised where it must be */
    int rounds;         /* out                                           */
} tct_pairing;

extern const double tct_pair_limit;

/* Of `all` rows so many are alone: is that too many, so that a pass with a
 * higher limit is to follow? */
bool tct_match_loosens(int64_t all, int64_t alone, double *limit);

/* Match rows i and j by the weight log |1 - 2 b_ij / (d_i + d_j)|, where that
 * is positive: heaviest edges first.
 * Errors      NO_MEMORY. */
tacit_status tct_match(tct_pairing *p);

#endif
