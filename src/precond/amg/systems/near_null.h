/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/near_null.h - several smooth (near-null) vectors of A,
 * such as rigid-body modes. An aggregate consists of whole nodes, possibly of
 * several ranks, and has a column of P for each vector, so that all vectors are
 * in the range of P.
 *
 * [VMB96] Vanek, Mandel and Brezina, "Algebraic multigrid by smoothed
 * aggregation
 *         for second and fourth order elliptic problems", Computing 56 (1996).
 *
 *     tct_near_null_open(m, options, &B);   of the user's, or of what m knows
 *     tct_aggregate_nodes(m, &B, &how, &G); P, of G, and P' B
 *     tct_block_galerkin(m, &G, &coarse);   P' A P
 *     tct_near_null_next(&B, &G);           B is that of the next level
 *     ... and again */
#ifndef TCT_PRECOND_AMG_SYSTEMS_NEAR_NULL_H
#define TCT_PRECOND_AMG_SYSTEMS_NEAR_NULL_H
#include "matrix/rigid.h"
#include "precond/amg/aggregation/coarsen.h"
#include <tacit/precond.h>

/* Vectors of the finest level, whose elements are made when they are needed:
 * a device takes them in pieces, and the host has no array of them. */
typedef struct tct_near_null_source {
    int64_t rows;
    int vectors;     /* of which B.vectors are kept                  */
    const double *X; /* [vectors][rows], the caller's; NULL: `rigid` */
    tct_rigid rigid;
    bool kept[TACIT_PRECOND_VECTORS_MOST];
} tct_near_null_source;

typedef struct tct_near_null {
    int vectors;   /* 0: none                                          */
    double *value; /* [rows][vectors]; NULL: see tct_near_null_fill    */
    tct_near_null_source from;
    int64_t nodes;     /* of this rank, which has their first rows          */
    int32_t *node;     /* [rows] node; >= `nodes`: one of                   */
    tct_ghosts others; /* nodes of other ranks, by global number            */
    int64_t *number;   /* [nodes] number on a single rank; NULL: as numbered */
} tct_near_null;

typedef struct tct_near_null_options {
    int node_rows;           /* rows of a node; 0: as the matrix knows      */
    int vectors;             /* of near_null; 0: as the matrix knows        */
    const double *near_null; /* [vectors][rows]                             */
} tct_near_null_options;

/* The vectors of `options`, or the rigid-body modes of a matrix with points;
 * else none. A single vector with nodes of one row is left to tct_aggregate.
 * Collective.
 * Errors      INVALID (a vector that is 0 or not finite; sizes), NO_MEMORY. */
tacit_status tct_near_null_open(const tacit_matrix *m,
                                const tct_near_null_options *options,
                                tct_near_null *out);
/* The same without `value`: `m` and the caller's vectors must outlast it, or
 * tct_near_null_fill, which makes it if it is not there. Local. */
tacit_status tct_near_null_find(const tacit_matrix *m,
                                const tct_near_null_options *options,
                                tct_near_null *out);
tacit_status tct_near_null_fill(tct_near_null *B); /* Errors NO_MEMORY. */
/* Rows [from, to) of `value`, which need not be there. Local. */
void tct_near_null_rows(const tct_near_null *B, int64_t from, int64_t to,
                        double *out);
/* Continue with the nodes of the next level, G's aggregates; `index`, NULL or
 * [rows of that level], are the row numbers on a single rank. Local. */
tacit_status tct_near_null_next(tct_near_null *B, tct_aggregates *G,
                                const int64_t *index);
/* The same of `vectors` vectors `value` [rows][vectors], taken over unless this
 * fails: nodes have as many rows. Local.  Errors NO_MEMORY. */
tacit_status tct_near_null_of(tct_near_null *B, int vectors, int64_t rows,
                              double *value);
void tct_near_null_clear(tct_near_null *B);

/* --- node_rows.c ---------------------------------------------------------- */

/* The nodes of `m`, `block` rows each in the original numbering; 0: the points
 * of its mesh. Collective.
 * Memory      16 bytes a row, 16 a node, while it runs.
 * Errors      UNSUPPORTED (2^31 rows on a rank), NO_MEMORY, COMM. */
tacit_status tct_near_null_nodes(const tacit_matrix *m, int block,
                                 tct_near_null *B);

/* --- nodes.c -------------------------------------------------------------- */

/* As tct_aggregate, for the vectors of `B`: P has Q, G->smooth has R of the QR
 * factors of B's rows in an aggregate; G->index is that of the next level's
 * rows.
 * Collective.
 * Memory      8 bytes for each entry of `A`, and what tct_accumulate_all and,
 *             of the graph, tct_aggregate take.
 * Errors      as tct_aggregate. */
tacit_status tct_aggregate_nodes(const tacit_matrix *A, const tct_near_null *B,
                                 const tct_coarsening *how,
                                 tct_aggregates *out);

/* --- orthonormal.c -------------------------------------------------------- */

/* Compute G->weight and G->smooth from the aggregates of rows; the rank of an
 * aggregate factors all of its rows. Collective.
 * Memory      8 bytes for each vector of a row of another rank's aggregate,
 *             twice on the rank that keeps it.
 * Errors      NO_MEMORY, COMM. */
tacit_status tct_orthonormalize(tacit_world *world, const tct_near_null *B,
                                tct_aggregates *G);

/* --- block_galerkin.c ----------------------------------------------------- */

/* As tct_galerkin, in dense blocks. A zero column of P gets a neighbour's
 * diagonal entry, so that the matrix stays positive definite. Collective.
 * Memory      the result, 8 bytes and a row of P a row and a column of other
 *             ranks; the blocks of remote aggregates, on both ranks.
 * Errors      NO_MEMORY, COMM. */
tacit_status tct_block_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                                tacit_matrix **coarse);

#endif
