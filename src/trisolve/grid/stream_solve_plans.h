/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/stream_solve_plans.h - the state of a stream solve, and the
 * plans of its exchanges: b in, shared rows up and down the tree, x back. */
#ifndef TCT_TRISOLVE_GRID_STREAM_SOLVE_PLANS_H
#define TCT_TRISOLVE_GRID_STREAM_SOLVE_PLANS_H
#include "comm/exchange/plan.h"
#include "trisolve/grid/part.h"
#include "trisolve/grid/stream_solve.h"

/* Named in errors of allocation. */
static const char *const tct_stream_solve_name =
    "a factor dealt out over a grid";

enum { TCT_STREAM_STEPS = 13 }; /* log2 TCT_LEAVES_MOST + 1 */

/* Argument of the functions that an application enqueues. */
typedef struct tct_stream_call {
    tct_stream_solve *J;
    int columns;
} tct_stream_call;

struct tct_stream_solve {
    tacit_queue *q;
    int64_t n; /* rows of this rank's vectors */
    int parts, steps;
    tct_factor_part part;  /* of no rows if this rank has none */
    double *inverse;       /* [part.P.rows] inverse pivots, if panels are rows;
                      * NULL */
    tct_branches branches; /* ... otherwise */
    tct_sweeps sweeps;
    int64_t mine;      /* rows whose b and x are this part's */
    int32_t *row;      /* [mine] rows of the part, in the order of messages */
    int32_t *row_back; /* [mine] ... of those back, if b is permuted; NULL */
    double *b_scale, *x_scale; /* [mine] in these orders, or NULL */
    tct_plan *in, *back;
    tct_plan *home; /* if b is permuted, as `in` for x: its index; NULL */
    tct_plan *up[TCT_STREAM_STEPS], *down[TCT_STREAM_STEPS];
    int columns;
    double *v;      /* [part.P.rows][columns], and scratch */
    double *at;     /* [columns][mine] x to return */
    double *shared; /* [columns][part.rows.count[0]] */
    tct_stream_call call[TCT_COLUMNS_MOST + 1];
    tct_stream_solve_info info;
};

/* Messages, and values per column, that this rank sends to others. */
int64_t tct_stream_plan_messages(const tct_plan *p);
int64_t tct_stream_plan_values(const tct_plan *p);

/* List this part's rows in J->row and J->mine, and create all plans, for one
 * column; the factor's panels are of `P`. On failure J keeps those that are
 * made.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_stream_solve_plan(tct_stream_solve *J,
                                   const tacit_factor_panels *P,
                                   const tacit_matrix *m,
                                   const tct_order *order);

/* Owners' places of the x that come back. */
static inline const int32_t *tct_stream_home(const tct_stream_solve *J)
{
    return J->home ? J->home->base.index : J->in->base.index;
}

/* Replace all plans by plans for `columns` columns; unchanged on failure.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_stream_solve_widen(tct_stream_solve *J, int columns);

#endif
