/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/coarsen.h - aggregates of rows, and the coarse
 * matrix.
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

/* Row i belongs to aggregate of[i] (-1: none) and has the entry weight[i] in P;
 * columns of P are orthonormal. An aggregate may have rows of several ranks;
 * the rank of its first row keeps and numbers it. of[i] >= coarse stands for
 * others.id[of[i] - coarse], the global number of another rank's aggregate.
 * With several smooth vectors an aggregate has `width` consecutive columns
 * (near_null.h), some of them possibly 0. Rows that smoothing alone solves
 * (almost no off-diagonal) and rows with a zero smooth vector belong to no
 * aggregate; there may be no aggregates at all. */
typedef struct tct_aggregates {
    int64_t rows, coarse; /* of this rank                                   */
    int width;            /* columns of P per aggregate                     */
    int32_t *of;          /* [rows]                                         */
    double *weight;       /* [rows][width]                                  */
    tct_ghosts others;
    double
        *smooth; /* [coarse + others][width][width] P' of the smooth vectors */
    int64_t *index; /* [coarse][width] see tct_aggregate; NULL: none */
    int rounds;     /* of matching in all passes, maximum over ranks       */
    /* For products only: the matrix of the last pass and the aggregate of each
     * of its rows; no rows after a single pass. */
    tct_csr B;
    int32_t *up; /* [B.rows] as `of` */
    tct_ghosts up_others;
    tct_halo halo; /* of its columns, else of the level's */
} tct_aggregates;

/* Are all columns those of own rows, numbered from 0 in 32 bits? Loops over
 * entries have a short form then. */
static inline bool tct_has_all_columns(const tct_csr *A)
{
    return A->col32 && A->first == 0 && A->rows == A->global_cols;
}

typedef struct tct_coarsening {
    int passes; /* 1 to 4: aggregates have 2^passes rows where edges are
                 * alike; rows without a partner join others */
    bool nodes; /* rows are those of the graph of nodes (nodes.c) */
} tct_coarsening;

/* tct_apart: smoothing alone solves a row whose diagonal is this many times the
 * sum of its off-diagonal. tct_joins: a singleton joins another row if the
 * off-diagonal entry is at least this share of its diagonal. */
extern const double tct_apart, tct_joins;

/* Aggregates for `A`, SPD, from `smooth` [rows] (NULL: ones). `index` [rows]
 * has the numbers of the rows on a single rank (NULL: the original numbers of
 * `A`), which break ties between edges. So aggregates do not depend on the
 * number of ranks, except by rounding, or of threads. Collective.
 * Memory      12 bytes for each entry of `A`, three quarters of it usually
 *             touched, and 50 a row, with several ranks 80; a third of it stays
 *             until tct_aggregates_forget.
 * Errors      INPUT (a diagonal entry that is not positive, naming the row),
 *             UNSUPPORTED (2^31 rows on a rank), NO_MEMORY, COMM. */
tacit_status tct_aggregate(const tacit_matrix *A, const double *smooth,
                           const int64_t *index, const tct_coarsening *how,
                           tct_aggregates *out);
void tct_aggregates_free(tct_aggregates *G);
/* Free what only products need. */
void tct_aggregates_forget(tct_aggregates *G);

/* P' A P with global numbers of aggregates, from the matrix of G's last pass.
 * Collective.
 * Memory      the result, a half more of it, 8 bytes a row, 16 a column of
 *             other ranks.
 * Errors      NO_MEMORY, COMM. */
tacit_status tct_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                          tacit_matrix **coarse);

#endif
