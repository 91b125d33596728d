/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/match.h - pairs of rows, by heaviest edges.
 *
 * [NN12] Napov and Notay, "An algebraic multigrid method with guaranteed
 *        convergence rate", SIAM J. Sci. Comput. 34 (2012): a row with
 *        weak edges only stays single, since an aggregate needs strong
 *        coupling. The limit depends on the matrix: if too many rows stay
 *        single, as with dense stencils, weaker edges are accepted. */
#ifndef TCT_PRECOND_AMG_AGGREGATION_MATCH_H
#define TCT_PRECOND_AMG_AGGREGATION_MATCH_H
#include "comm/setup/halo.h"

/* The matrix B = W A W, W the diagonal matrix of the smooth vector. Places are
 * own rows followed by ghosts. */
typedef struct tct_pairing {
    const tct_csr *A;
    const tct_halo *halo;  /* of A's columns                              */
    const int64_t *starts; /* [ranks + 1] first row of each               */
    const double *w;       /* [rows] NULL: ones                           */
    const double *ghost_w; /* [ghosts] if w                               */
    const double *diag;    /* [places] diagonal of the finest matrix, added
                            * up; 0: the row is left out */
    const int64_t *index;  /* [places] numbers of the rows on a single rank;
                            * NULL: places, and each rank matches by itself */
    int32_t *mate; /* [places] out: place of the mate; itself: none; -1: left
                   * out; of ghosts: itself or -1 (has one) */
    double limit;  /* bound on the quality of an edge: tct_pair_limit(), raised
                   * where needed */
    int rounds;    /* out                                                 */
} tct_pairing;

/* The limit of the first pass, for nodes of systems or for rows. */
double tct_pair_limit(bool nodes);

/* `alone` of `all` rows are unpaired: are these too many, so that a pass with a
 * higher limit follows? */
bool tct_match_loosens(int64_t all, int64_t alone, double *limit);

/* Match rows i and j by the weight log |1 - 2 b_ij / (d_i + d_j)|, where that
 * is positive: heaviest edges first. The same pairs for any number of ranks, as
 * far as ratings are the same.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_match(tct_pairing *p);

#endif
