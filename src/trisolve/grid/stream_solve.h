/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/stream_solve.h - solves with a factor distributed over a grid
 * of 1 x 1 x Pz, in the stream of a queue on the host:
 *
 *     tct_stream_solve_create(q, panels, pz, m, order, &J); // panels on rank 0
 *     tct_stream_solve_apply(J, columns, x, y);             // is enqueued
 *     tct_stream_solve_destroy(&J);
 *
 * Rank z < Pz has leaf z of the factor's tree and the nodes above it (part.h).
 * It receives its part of x and solves with L; the results for shared nodes are
 * summed along a tree and sent back along it; it solves with U, and y returns
 * to the rows' owners. A rank sends at most 2 log2 Pz messages between parts.
 * All are exchanges of the queue: they are sent even if a queue has failed,
 * their order and that of sums is fixed, and a timeout names the missing rank.
 * [LG23] of plan.h. */
#ifndef TCT_TRISOLVE_GRID_STREAM_SOLVE_H
#define TCT_TRISOLVE_GRID_STREAM_SOLVE_H
#include "factor/factor.h"
#include "matrix/matrix.h"
#include "operator/pattern/order.h"

typedef struct tct_stream_solve tct_stream_solve;

/* Parts of a factor with `leaves` leaves on `size` ranks: the largest power of
 * two; leaves 0: no bound. */
int tct_stream_solve_parts(int size, int leaves);

/* Create a solver with the factor `panels` of `m`, in its original numbers,
 * given on rank 0 and NULL on the others. Vectors are divided as the rows of
 * `m`, in `order` on each rank; NULL: the matrix's. `panels` may be freed
 * afterwards.
 * Collective.  Borrows `q`, which is on the host.
 * Memory    this rank's part; during creation also the factor's pattern.
 * Errors    INVALID (more parts than leaves), INPUT (as tacit_factor_check),
 *           NO_MEMORY, COMM. */
tacit_status tct_stream_solve_create(tacit_queue *q,
                                     const tacit_factor_panels *panels,
                                     int parts, const tacit_matrix *m,
                                     const tct_order *order,
                                     tct_stream_solve **out);
void tct_stream_solve_destroy(tct_stream_solve **solve);

/* Make room for `columns` columns at once, 1 at first; unchanged on failure.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_stream_solve_columns(tct_stream_solve *J, int columns);

/* Enqueue y = (L U)^-1 x of `columns` vectors, tct_stride(local rows) doubles
 * apart. */
void tct_stream_solve_apply(tct_stream_solve *J, int columns, const double *x,
                            double *y);

/* Cost of an application, summed over ranks. */
typedef struct tct_stream_solve_info {
    int parts;
    int64_t messages;   /* of all exchanges */
    int64_t between;    /* ... between parts */
    int64_t values;     /* per column, in all messages */
    double bytes;       /* of all parts, vectors and lists                */
    double replication; /* values of all parts over those of the factor */
} tct_stream_solve_info;
void tct_stream_solve_describe(const tct_stream_solve *J,
                               tct_stream_solve_info *out);

#endif
