/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/coarsen.h - rows in aggregates, and the matrix of
 * aggregates.
 *
 * [DFV18] D'Ambra, Filippone and Vassilevski, "BootCMatch: a software package
 *         for bootstrap AMG based on graph weighted matching", ACM Trans. Math.
 *         Softw. 44 (2018).
 *
 *     tct_aggregate(A, w, NULL, &how, &G);   P, of G: w is in its range
 *     tct_galerkin(A, &G, &coarse);         P' A P
 *     ... and again, with coarse and G.smooth = P' w */
#ifndef TCT_PRECOND_AMG_AGGREGATION_COARSEN_H
#define TCT_PRECOND_AMG_AGGREGATION_COARSEN_H
#include "comm/setup/halo.h"
#include "matrix/matrix.h"

/* Row i belongs to aggregate of[i] (-1: to none), and P has weight[i] there:
 * columns of P are orthonormal. Aggregates are of rows of any ranks; each is
 * kept, and numbered, by the rank of its first row. From `coarse` on of[i] is
 * one of others.id, numbers of other ranks' aggregates among all. With several
 * smooth vectors an aggregate has as many columns (near_null.h), numbered one
 * behind the other, of which some may be 0. To none belong rows that smoothing
 * alone solves for, of which next to nothing is off the diagonal, and those
 * where the smooth vector is 0: it may be that there are no aggregates at
 * all. */
typedef struct tct_aggregates {
    int64_t rows, coarse; /* of this rank                                   */
    int width;            /* columns of P of an aggregate                   */
    int32_t *of;          /* [rows]                                         */
    double *weight;       /* [rows][width]                                  */
    tct_ghosts others;
    double
        *smooth; /* [coarse + others][width][width] P' of the smooth vectors */
    int64_t *index; /* [coarse][width] see tct_aggregate; NULL: as numbered */
    int rounds;     /* of matching, in all passes: the most of any rank    */
    /* For products alone: the last pass's matrix, and the aggregate of each of
     * its rows; without rows after a single pass. */
    tct_csr B;
    int32_t *up; /* [B.rows] as `of` */
    tct_ghosts up_others;
    tct_halo halo; /* of its columns, or of the level's */
} tct_aggregates;

typedef struct tct_coarsening {
    int passes; /* 1 to 4: aggregates of 2^passes rows, where edges are
                   alike; rows that found no partner join others */
} tct_coarsening;

/* A diagonal so many times all that is off it: smoothing solves for the row. A
 * row joins another that this much of its diagonal is off it to. */
extern const double tct_apart, tct_joins;

/* Aggregates for `A`, SPD, from `smooth` [rows] (NULL: ones). `index` [rows]
 * has the numbers that rows would have if one rank had all of them (NULL: the
 * original numbers of `A`), which decide between edges that are alike. So
 * aggregates are the same for any number of ranks, but for what is rounded; and
 * for any number of threads. Collective.
 * Memory      12 bytes for each entry of `A`, of which three quarters are
 *             touched as a rule, and 50 a row, with several ranks 80; a third of
 *             it stays until tct_aggregates_forget.
 * Errors      INPUT (a diagonal entry that is not positive, naming the row),
 *             UNSUPPORTED (2^31 rows on a rank), NO_MEMORY, COMM. */
tacit_status tct_aggregate(const tacit_matrix *A, const double *smooth,
                           const int64_t *index, const tct_coarsening *how,
                           tct_aggregates *out);
void tct_aggregates_free(tct_aggregates *G);
/* What only products need. */
void tct_aggregates_forget(tct_aggregates *G);

/* P' A P with global numbers of aggregates, in the order of ranks, from what G
 * has of the last pass.
 * Collective.
 * Memory      the result, a half more of it, 8 bytes a row, 16 a column of other
 *             ranks.
 * Errors      NO_MEMORY, COMM. */
tacit_status tct_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                          tacit_matrix **coarse);

#endif
