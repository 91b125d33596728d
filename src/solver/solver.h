/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.h - what a method sees, and what it must provide. One file per
 * method, one table at its bottom, one row in TCT_METHODS.
 *
 * A method is its recurrence. Stopping, the true residual, restarts, breakdown
 * and the history live in solver.c; timing and counting in decorators. */
#ifndef TCT_SOLVER_H
#define TCT_SOLVER_H
#include "operator/operator.h"
#include <tacit/solver.h>

enum { TCT_VECTORS_MOST = 8 };
/* What every method has: r, p, scratch; and s = A p where it keeps that. */
enum { V_R = 0, V_P = 1, V_T = 2, V_S = 3 };

typedef struct tct_method {
    tacit_method about;
    /* Is alpha's denominator inferred from recurrences, so that a negative one
     * may be rounding? Then it is formed before the solve is given up. */
    bool inferred;
    /* Who goes on, from x, when the recurrences have proved too inaccurate:
     * the residual they end with is wrong, or REPAIRS_MOST denominators were.
     * Needs no more vectors. NULL: the method itself. */
    const struct tct_method *rescue;
    /* Iterate from S->x, with r = b - A x in v[V_R] and its (r, r), summed, in
     * c[C_RR], until tct_done. If S->resumed, go on instead from x, r, p, s
     * (in v[V_S]) and the scalars of the step that led to them. */
    void (*iterate)(tacit_solver *S);
} tct_method;

struct tacit_solver {
    const tct_method *method;
    tacit_queue *q;
    const tacit_operator *A;
    size_t n;                    /* local rows                        */
    double *v[TCT_VECTORS_MOST]; /* the method's vectors              */
    double *c;                   /* scalars on the device: steps.h    */
    const double *b;             /* of this run                       */
    double *x;
    int64_t k;    /* updates of x so far               */
    int64_t seen; /* k of the last look, -1: none yet  */
    int64_t most; /* iteration limit                   */
    double norm_b, target;
    double rr; /* at the last look                  */
    tacit_stop stop;
    tacit_result *result;
    tacit_stop_reason why; /* the last iterate() stopped        */
    const tct_method *now; /* method, or its rescue */
    bool rescued;          /* it has just changed   */
    bool resumed;          /* see iterate of the method */
    bool met;              /* ... because the target was met    */
};

/* Look at the scalars: has the recurrence met its target, or is there another
 * reason to stop? Tells the monitor. To be called after every sum of (r, r),
 * when S->k counts the updates of x. */
bool tct_done(tacit_solver *S);

/* r = b - A x into `r`. */
void tct_residual(tacit_solver *S, double *r);
/* (v, v), summed over the ranks and waited for. */
double tct_norm2(tacit_solver *S, const double *v);
/* Tell the monitor of S->k and S->rr, once per iteration. */
void tct_tell_monitor(tacit_solver *S);
/* Note a breakdown at S->k. */
void tct_broke_down(tacit_solver *S, const char *quantity, double value);

#define TCT_METHODS(X) X(cg) X(single) X(pipelined) X(pipe_pr)
#define X(name)        extern const tct_method tct_method_##name;
TCT_METHODS(X)
#undef X

#endif
