/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/solver.h - solves on a GPU: the library's interface to the parts
 * of tacit_factor_solver. */
#ifndef TCT_TRISOLVE_GPU_SOLVER_H
#define TCT_TRISOLVE_GPU_SOLVER_H
#include "trisolve/gpu/recursive_doubling.h"
#include "trisolve/gpu/supernodes.h"
#include <tacit/factor.h>

/* As tacit_factor_solver_create; row k of the factor is row place[k] of B and
 * X, or row from[k] of B if P has a row order; NULL: the original rows. */
tacit_status tct_factor_solver_new(tacit_queue *q, const tacit_factor_panels *P,
                                   const int32_t *place, const int32_t *from,
                                   const tacit_factor_solver_options *options,
                                   tacit_factor_solver **out);
/* A rank has a leaf of the factor's tree and the nodes above. These are its
 * rows that other ranks have, too, the highest tree nodes first; grid z XOR 2^k
 * shares the first count[k]. */
typedef struct tct_shared_rows {
    int64_t all_rows; /* of B and X, and of scalings */
    int steps;        /* log2 of the ranks           */
    int32_t count[TCT_DOUBLING_STEPS_MOST];
    const int32_t *row; /* [count[0]] rows of the part */
} tct_shared_rows;

/* Statistics of solves. */
typedef struct tct_shared_info {
    /* In L, for shared rows, in U: */
    double seconds[3];        /* of the last solve */
    int64_t messages[3];      /* of this rank in one solve */
    int64_t values[3];        /* ... per column, sent or stored directly */
    int64_t messages_sent[3]; /* so far, as counted */
    int64_t doublings; /* part of messages[1] in each solve, not counted */
    const char *link;  /* their link */
    bool by_kernel;    /* sent by the kernel of the solve */
} tct_shared_info;

/* As tct_factor_solver_new, for the part `P` of each rank of `q`. Ranks form
 * consecutive grids of px x py; the ranks of a grid have the same part, and
 * distribute it (distribute.h). Rows with place < 0 start from 0, and their x
 * is not stored. A solve is collective: one kernel on each GPU where they store
 * into each other's memory, else two kernels with messages of the queue between
 * them.
 * Collective.  Errors besides: COMM, UNSUPPORTED (grids of several ranks whose
 * kernels cannot store into each other's memory). After a failed solve the
 * solver can only be destroyed. */
tacit_status tct_factor_solver_share(
    tacit_queue *q, const tacit_factor_panels *P, const int32_t *place,
    const tct_shared_rows *rows, int px, int py,
    const tacit_factor_solver_options *options, tacit_factor_solver **out);
/* [rows of P] this rank reads b and writes x of a row; NULL: of all. */
const bool *tct_factor_solver_mine(const tacit_factor_solver *S);
/* Statistics, after solves have ended. */
tacit_status tct_factor_solver_shared(const tacit_factor_solver *S,
                                      tct_shared_info *out);

/* As tacit_factor_solver_run, for one pass: TCT_DOWN leaves its result in the
 * solver, TCT_UP begins with it. `columns` is at most those at once. */
tacit_status tct_factor_solver_pass(tacit_factor_solver *S, unsigned passes,
                                    int columns, const double *B, size_t ldb,
                                    double *X, size_t ldx);

#endif
