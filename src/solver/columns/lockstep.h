/* SPDX-License-Identifier: BSD-3-Clause
 * solver/columns/lockstep.h - several right-hand sides, iterated in step. */
#ifndef TCT_SOLVER_COLUMNS_LOCKSTEP_H
#define TCT_SOLVER_COLUMNS_LOCKSTEP_H
#include "solver/solver.h"

typedef struct tct_lockstep tct_lockstep;

/* Columns [first, first + columns) of panels, and their callbacks. */
typedef struct tct_column_batch {
    int first, columns;
    const double *B;
    double *X;
    size_t B_stride, X_stride;
    tacit_stop stop;
    void *ctx;
    /* The monitor's context for a column. */
    void *(*listener)(void *ctx, int column);
    /* Called with the result of a column, with the message of this status. */
    void (*over)(void *ctx, int column, tacit_status status,
                 const tacit_result *result);
} tct_column_batch;

/* Vectors for up to `places` columns at once, TCT_COLUMNS_MOST at most.
 * Collective. Borrows S.  Errors NO_MEMORY. */
tacit_status tct_lockstep_create(tacit_solver *S, int places,
                                 tct_lockstep **out);
void tct_lockstep_destroy(tct_lockstep **L);    /* NULL is allowed */
int tct_lockstep_places(const tct_lockstep *L); /* 0 for NULL */
/* Solve for C->columns columns, at most tct_lockstep_places(L). Collective.
 * Errors as tacit_solver_run_block. */
tacit_status tct_lockstep_run(tct_lockstep *L, const tct_column_batch *C);

/* --- choose.c ------------------------------------------------------------- */

/* Make S->lockstep for `columns` columns, or destroy it if one by one is
 * faster; trials are with B.
 * Collective. Errors DEVICE, COMM. */
tacit_status tct_lockstep_choose(tacit_solver *S, int columns, const double *B,
                                 size_t stride);

#endif
