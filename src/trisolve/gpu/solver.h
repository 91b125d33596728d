/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/solver.h - solves on a GPU, for those inside the library: the
 * parts of tacit_factor_solver. */
#ifndef TCT_TRISOLVE_GPU_SOLVER_H
#define TCT_TRISOLVE_GPU_SOLVER_H
#include "trisolve/gpu/recursive_doubling.h"
#include "trisolve/gpu/supernodes.h"
#include <tacit/factor.h>

/* As tacit_factor_solver_create; row k of the factor is row place[k] of B and
 * X, NULL: its original one. */
tacit_status tct_factor_solver_new(tacit_queue *q, const tacit_factor_panels *P,
                                   const int32_t *place,
                                   const tacit_factor_solver_options *options,
                                   tacit_factor_solver **out);
/* Of a factor of which this rank of several has a part, leaf and all that is
 * above it: the rows that others have, too, those of the highest tree nodes
 * first. Grid z XOR 2^k has the first count[k] of them. */
typedef struct tct_shared_rows {
    int64_t all_rows; /* of B and X, and of scalings */
    int steps;        /* log2 of the ranks           */
    int32_t count[TCT_DOUBLING_STEPS_MOST];
    const int32_t *row; /* [count[0]] among those of the part */
} tct_shared_rows;

/* How a solve went. */
typedef struct tct_shared_info {
    /* In L, for what is shared, in U: */
    double seconds[3];   /* of the last one                                */
    int64_t messages[3]; /* that this rank sends in one                    */
    int64_t values[3];   /* ... of one column, in them, or stored before   */
    int64_t
        messages_sent[3]; /* so far, as it has counted them, ...            */
    int64_t doublings; /* ... and these of messages[1] in each: not counted */
    const char *link;  /* by which they go                                 */
    bool by_kernel;    /* the one kernel of a solve sends them              */
} tct_shared_info;

/* As tct_factor_solver_new for the part `P` of each rank of `q`, which are in
 * grids of px x py, one after the other, whose ranks have the same part; rows
 * whose place is below 0 begin with 0, and their x is not stored. A solve is
 * collective: one kernel on each GPU where these store into each other's
 * memory, else two, and messages between them that go as those of the queue do.
 * Grids of several ranks spread a part (spread.h).
 * Collective.  Errors besides: COMM, UNSUPPORTED (grids of several ranks whose kernels
 * do not store into each other's memory); after a failed solve it can only be
 * destroyed. */
tacit_status tct_factor_solver_share(
    tacit_queue *q, const tacit_factor_panels *P, const int32_t *place,
    const tct_shared_rows *rows, int px, int py,
    const tacit_factor_solver_options *options, tacit_factor_solver **out);
/* [rows of P] Does this rank read b, and write x, of a row? NULL: of all. */
const bool *tct_factor_solver_mine(const tacit_factor_solver *S);
/* Once its solves have ended. */
tacit_status tct_factor_solver_shared(const tacit_factor_solver *S,
                                      tct_shared_info *out);

/* As tacit_factor_solver_run, but only the passes TCT_DOWN, which leaves its
 * result in the solver, or TCT_UP, which begins with that; of as many columns
 * as fit at once. */
tacit_status tct_factor_solver_pass(tacit_factor_solver *S, unsigned passes,
                                    int columns, const double *B, size_t ldb,
                                    double *X, size_t ldx);

#endif
