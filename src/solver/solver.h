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
    /* Does p = r + beta p end an iteration, so that a new r can be put in its
     * place and the direction kept? Else a new residual means a new start. */
    bool keeps_direction;
    /* Who goes on, from x, when the recurrences have proved too inaccurate:
     * the residual they end with is wrong, or REPAIRS_MOST denominators were.
     * Needs no more vectors. NULL: the method itself. */
    const struct tct_method *rescue;
    /* Iterate from S->x, with r = b - A x in v[V_R] and its (r, r), summed, in
     * c[C_RR], until tct_done. If S->resumed, go on instead: an inferred method
     * from x, r, p, s (in v[V_S]) and the scalars of the step that led to
     * them, one that keeps its direction from x, r, p. */
    void (*iterate)(tacit_solver *S);
} tct_method;

enum { TCT_LOOP_HOST, TCT_LOOP_GRAPH, TCT_LOOP_RESIDENT, TCT_LOOPS };

struct tacit_solver {
    const tct_method *method;
    int loop; /* TCT_LOOP_... */
    tacit_queue *q;
    const tacit_operator *A;     /* what the method multiplies by     */
    const tacit_operator *exact; /* A, or A in full precision         */
    size_t n;                    /* local rows                        */
    double *v[TCT_VECTORS_MOST]; /* the method's vectors              */
    double *c;                   /* scalars on the device: steps.h    */
    const double *b;             /* of this run                       */
    double *x;
    int64_t k;    /* updates of x so far               */
    int64_t seen; /* k of the last look, -1: none yet  */
    int64_t most; /* iteration limit                   */
    double norm_b, target;
    double goal; /* of the recurrence: the target, or that of a leg */
    double rr;   /* at the last look                  */
    double leg;  /* mixed.c: what a leg makes of 1; 0: not known yet */
    tacit_stop stop;
    tacit_result *result;
    tacit_stop_reason why; /* the last iterate() stopped        */
    const tct_method *now; /* method, or its rescue */
    bool rescued;          /* it has just changed   */
    bool resumed;          /* see iterate of the method */
    bool met;              /* ... because the goal was met      */
    bool keeping;          /* p outlives the change of r        */
    /* on a device that runs behind the CPU: loop.c */
    int64_t looks; /* enqueued by this iterate()        */
    int ahead;     /* ... and not taken yet             */
    int lag;       /* how many may be                   */
    void *record;  /* of `record_of` on these vectors   */
    const tct_method *record_of;
    const double *record_x, *record_b;
    const tacit_operator *record_A;
    int record_version;
    bool recording;
    int recorded; /* iterations                        */
    int64_t record_replacements;
    tacit_tally tally; /* before a recording; then of it    */
    void *resident;    /* state of resident/                */
    int dry_looks;     /* see tct_count_iteration           */
    int64_t host_from; /* loop resident was given up here, -1: never */
};

/* Look at the scalars: has the recurrence met its target, or is there another
 * reason to stop? Tells the monitor. To be called after every sum of (r, r),
 * when S->k counts the updates of x. */
bool tct_done(tacit_solver *S);

/* The same on a device that runs behind the CPU. */
bool tct_done_behind(tacit_solver *S);
/* What a look at iteration S->k says: is the solve done? */
bool tct_judge(tacit_solver *S, const tct_seen *c);
/* Take the looks that are ahead but for `leave`, and judge them. True if the
 * solve is done: S->k then is the iteration of the look that says so. */
bool tct_take_looks(tacit_solver *S, int leave);

/* --- loop.c ------------------------------------------------------------------ */

/* Iterate S->now with S->loop. */
void tct_iterate(tacit_solver *S);
/* Say in the result which loop it was. */
void tct_describe_loop(tacit_solver *S);
void tct_loop_free(tacit_solver *S);
void tct_drop_record(tacit_solver *S);
/* Into S->tally: what one iteration of the method's text counts as. None of it
 * runs. */
void tct_count_iteration(tacit_solver *S);
bool tct_done_dry(tacit_solver *S);

/* --- mixed.c ----------------------------------------------------------------- */

/* How far the recurrence may go from a true residual of norm `norm_r`. */
double tct_leg_goal(tacit_solver *S, double norm_r);
/* A leg has ended, before r is formed anew; and after, with its norm and that
 * of the last one: false if this is no matter of low precision. */
void tct_leg_ends(tacit_solver *S);
bool tct_next_leg(tacit_solver *S, double norm_r, double last);

/* --- look.c ------------------------------------------------------------------ */

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
