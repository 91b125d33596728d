/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/stream_solve.h - solves with a factor that is dealt out over a
 * grid of 1 x 1 x Pz, in the stream of a queue on the host:
 *
 *     tct_stream_solve_create(q, panels, pz, matrix, order, &J);   // panels on rank 0
 *     tct_stream_solve_apply(J, columns, x, y);                    // is enqueued
 *     tct_stream_solve_destroy(&J);
 *
 * Rank z < Pz has leaf z of the factor's tree and the nodes above it (part.h).
 * What it needs of x comes to it, it solves with its L, what the ranks have
 * found for the nodes that they share is added up along a tree and goes back
 * the same way, it solves with its U, and y goes to where the operator has its
 * rows. So a rank sends at most 2 log2 Pz messages between the parts, all of
 * them exchanges of the queue's: they go out though a queue has failed, their
 * order and that of sums are always the same, and a rank that is waited for in
 * vain has a name. [LG23] of plan.h. */
#ifndef TCT_TRISOLVE_GRID_STREAM_SOLVE_H
#define TCT_TRISOLVE_GRID_STREAM_SOLVE_H
#include "factor/factor.h"
#include "matrix/matrix.h"
#include "operator/pattern/order.h"

typedef struct tct_stream_solve tct_stream_solve;

/* How many parts `size` ranks have of a factor with `leaves` leaves, 0: as many
 * as it takes: the largest power of two. */
int tct_stream_solve_parts(int size, int leaves);

/* With the factor `panels` of `m`, by its original numbers: of rank 0, NULL on
 * the others. Vectors are divided as the rows of `m`, those of a rank in
 * `order`, NULL: the matrix's. `panels` are not needed any more.
 * Collective.  Borrows `q`, which is on the host.
 * Memory      this rank's part; while it is made, the pattern of the factor.
 * Errors      INVALID (more parts than leaves), INPUT (as tacit_factor_check),
 *             NO_MEMORY, COMM. */
tacit_status tct_stream_solve_create(tacit_queue *q,
                                     const tacit_factor_panels *panels,
                                     int parts, const tacit_matrix *m,
                                     const tct_order *order,
                                     tct_stream_solve **out);
void tct_stream_solve_destroy(tct_stream_solve **solve);

/* Room for so many columns at once, 1 at first; as it was on failure.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_stream_solve_columns(tct_stream_solve *J, int columns);

/* Enqueue y = (L U)^-1 x of `columns` vectors, tct_stride(local rows) doubles
 * apart. */
void tct_stream_solve_apply(tct_stream_solve *J, int columns, const double *x,
                            double *y);

/* What an application comes to, of all ranks. */
typedef struct tct_stream_solve_info {
    int parts;
    int64_t messages;   /* x to the parts, between these, and y from them */
    int64_t between;    /* ... between them                               */
    int64_t values;     /* of a column, in all of them                    */
    double bytes;       /* of all parts, vectors and lists                */
    double replication; /* values of all parts over those of the factor */
} tct_stream_solve_info;
void tct_stream_solve_describe(const tct_stream_solve *J,
                               tct_stream_solve_info *out);

#endif
