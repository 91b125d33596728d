/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/solver.h - solves on a GPU, for those inside the library: the parts of
 * tacit_factor_solver. */
#ifndef TCT_TRIANGULAR_SOLVER_H
#define TCT_TRIANGULAR_SOLVER_H
#include "triangular/device/nodes.h"
#include "triangular/device/swap.h"
#include <tacit/factor.h>

/* As tacit_factor_solver_create; row k of the factor is row place[k] of B and X,
 * NULL: its original one. */
tacit_status tct_factor_solver_new(tacit_queue *q, const tacit_factor_panels *P,
                                   const int32_t *place,
                                   const tacit_factor_solver_options *options,
                                   tacit_factor_solver **out);
/* Of a factor of which this rank of several has a part, leaf and all that is above
 * it: the rows that others have, too, those of the highest tree nodes first. Rank
 * XOR 2^k has the first count[k] of them. */
typedef struct tct_shared_rows {
    int64_t all_rows; /* of B and X, and of scalings */
    int steps;        /* log2 of the ranks           */
    int32_t count[TCT_SWAPS_MOST];
    const int32_t *row; /* [count[0]] among those of the part */
} tct_shared_rows;

/* How a solve went. */
typedef struct tct_shared_info {
    double seconds[3]; /* L, what is shared, U: of the last one            */
    int64_t messages;  /* that this rank sends in one                      */
    int64_t values;    /* ... of one column, in them                       */
    const char *link;  /* by which they go                                 */
    bool by_kernel;    /* the one kernel of a solve sends them              */
} tct_shared_info;

/* As tct_factor_solver_new for the part `P` of each rank of `q`; rows whose place is
 * below 0 begin with 0, and their x is not stored. A solve is collective: one kernel
 * on each GPU where these store into each other's memory, else two, and messages
 * between them that go as those of the queue do.
 * Collective.  Errors besides: COMM; after a failed solve it can only be destroyed. */
tacit_status tct_factor_solver_share(tacit_queue *q,
                                     const tacit_factor_panels *P,
                                     const int32_t *place,
                                     const tct_shared_rows *rows,
                                     const tacit_factor_solver_options *options,
                                     tacit_factor_solver **out);
/* Once its solves have ended. */
tacit_status tct_factor_solver_shared(const tacit_factor_solver *S,
                                      tct_shared_info *out);

/* As tacit_factor_solver_run, but only the passes TCT_DOWN, which leaves its result
 * in the solver, or TCT_UP, which begins with that; of as many columns as fit at
 * once. */
tacit_status tct_factor_solver_pass(tacit_factor_solver *S, unsigned passes,
                                    int columns, const double *B, size_t ldb,
                                    double *X, size_t ldx);

#endif
