/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/match.h - rows in pairs, by the heaviest edges.
 *
 * [NN12] Napov and Notay, "An algebraic multigrid method with guaranteed
 *        convergence rate", SIAM J. Sci. Comput. 34 (2012): a row that only weak
 *        edges are left to stays alone, since it and a row that it does not
 *        depend on are no aggregate. How weak that is, the matrix tells: where
 *        more than some of its rows stay alone, as of dense stencils, weaker
 *        edges are good enough. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_MATCH_H
#define TCT_PRECOND_AMG_AGGREGATION_MATCH_H
#include "comm/setup/halo.h"

/* The matrix B = W A W, W the diagonal matrix of the smooth vector. Places are
 * those of own rows and, behind them, of the rows of other ranks that these
 * have columns of, the ghosts. */
typedef struct tct_pairing {
    const tct_csr *A;
    const tct_halo *halo;  /* of A's columns                              */
    const int64_t *starts; /* [ranks + 1] first row of each               */
    const double *w;       /* [rows] NULL: ones                           */
    const double *ghost_w; /* [ghosts] with w                             */
    const double *diag;    /* [places] of the matrix that B was once made of,
                              added up; 0: the row is left out           */
    const int64_t *index;  /* [places] the numbers that rows have where one rank
                              has all; NULL: places, on all ranks, each of
                              which has to do with its own rows alone      */
    int32_t
        *mate;    /* [places] out: the place of its mate, of a row that has none
                      its own, -1: left out; of ghosts: not its own if it has one */
    double limit; /* an edge holds no pair together that needs more: as
                      tct_pair_limit is, and raised where it must be      */
    int rounds;   /* out                                                 */
} tct_pairing;

extern const double tct_pair_limit;

/* Of `all` rows so many are alone: is that too many, so that a pass with a
 * higher limit is to follow? */
bool tct_match_loosens(int64_t all, int64_t alone, double *limit);

/* Match rows i and j by the weight log |1 - 2 b_ij / (d_i + d_j)|, where that
 * is positive: heaviest edges first. The same pairs for any number of ranks, as
 * far as ratings are the same.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_match(tct_pairing *p);

#endif
