/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.h - what a method sees, and what it must provide. One file per
 * method, one table at its bottom, one row in TCT_METHODS.
 *
 * A method is its recurrence. A run is a sequence of turns: a turn is one call
 * of a method's text, which ends where the recurrence has met its goal, come to
 * a mark, or lost its way. What follows (the true residual, another method,
 * more bits) is in turn.c and low.c; timing and counting are decorators'. */
#ifndef TCT_SOLVER_H
#define TCT_SOLVER_H
#include "operator/operator.h"
#include <tacit/solver.h>

enum { TCT_VECTORS_MOST = 8, TCT_PRECOND_MOST = 4 };
/* What every method has: r, p, and one that is scratch between two calls of
 * `iterate`. Where the solve watches whether residuals stay orthogonal, r_0;
 * where it may start over, x_0. */
enum { V_R = 0, V_P = 1, V_T = 2, V_REF = 6, V_GUESS = 7 };

typedef struct tct_method {
    tacit_method about;
    /* Is alpha's denominator inferred from recurrences, so that a negative one
     * may be rounding? Then it is formed before the solve is given up. */
    bool inferred;
    /* Is p left as the last direction, not as the next one? */
    bool leaves_last;
    /* Who does the first about.first iterations; NULL: the method itself.
     * Needs no more vectors. */
    const struct tct_method *first;
    /* Who goes on when the recurrences have proved too inaccurate: step_lost,
     * step_pipe_pr, a denominator that was inferred, or b - A x say so. Needs
     * no more vectors. NULL: the method itself. */
    const struct tct_method *rescue;
    /* Iterate from S->x, with r = b - A x in v[V_R] and its (r, r), summed, in
     * c[C_RR], until tct_done; a direction is left in p, v[V_P]. If S->resumed,
     * p holds the first direction; else it is r. */
    void (*iterate)(tacit_solver *S);
} tct_method;

/* What low precision has come to in a run: low.c. */
typedef struct tct_low {
    int64_t since; /* iteration at which this precision began */
    int64_t mark;  /* when to look at the drift next          */
    double start;  /* ||r|| when the leg began                */
    double leg;    /* what the leg makes of 1                 */
} tct_low;

enum { TCT_LOOP_HOST, TCT_LOOP_GRAPH, TCT_LOOP_RESIDENT, TCT_LOOPS };

struct tacit_solver {
    const tct_method *method;
    int loop;          /* TCT_LOOP_...                     */
    tacit_stop wanted; /* of a run without a tacit_stop    */
    bool running;
    tacit_queue *q;
    const tacit_operator *A;             /* what the method multiplies by     */
    const tacit_operator *exact;         /* A, or A in full precision         */
    const tacit_operator *M;             /* preconditioner, or NULL           */
    tacit_operator *own_M;               /* made by tct_set_precond           */
    double *z, *y[TCT_PRECOND_MOST - 1]; /* vectors that M takes      */
    size_t n;                            /* local rows                        */
    size_t most_rows;                    /* of a rank: what paces all         */
    double *v[TCT_VECTORS_MOST];         /* the method's vectors              */
    double *c;                           /* scalars on the device: steps.h    */
    const double *b;                     /* of this run                       */
    double *x;                           /* ... times 2^shift                 */
    double *own_b, *own_x; /* what b and x are in A's order, if that is
                                    another than the user's           */
    double sigma;          /* what b is multiplied by: 2^i      */
    int shift;
    int64_t k;             /* updates of x so far                             */
    int64_t seen;          /* k of the last look, -1: none yet                */
    int64_t limit;         /* of iterations                                   */
    int64_t begun;         /* iteration of the last start from x_0            */
    int64_t most;          /* ... of this turn: the limit, or a mark before   */
    double norm_b, target; /* times sigma                             */
    double goal;   /* of the recurrence in this turn                    */
    double rr;     /* at the last look                                  */
    double ref_rr; /* of r_0                                          */
    tacit_stop stop;
    tacit_result *result;
    tacit_stop_reason why; /* the last turn stopped                   */
    const tct_method *now; /* method, its first, or its rescue        */
    bool resumed;          /* see iterate of the method               */
    bool met;              /* the turn stopped since the goal was met */
    bool drifted;          /* ... for BAD_DRIFT                       */
    int futile;            /* turns in a row that gained nothing      */
    double best;           /* ||b - A x|| so far                      */
    tct_low low;           /* of low precision: low.c                 */
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

/* Has the turn ended so that the scalars on the device hold still? Updates that
 * were enqueued behind that look then have done nothing. */
static inline bool tct_is_held(const tacit_solver *S)
{
    return S->met || S->drifted || S->why == TACIT_STOP_BREAKDOWN;
}

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
/* Take the loop of that name; "auto": the fastest. */
tacit_status tct_choose_loop(tacit_solver *S, const char *name);
/* Say in the result which loop it was. */
void tct_describe_loop(tacit_solver *S);
void tct_loop_free(tacit_solver *S);
void tct_drop_record(tacit_solver *S);
/* Into S->tally: what one iteration of the method's text counts as. None of it
 * runs. */
void tct_count_iteration(tacit_solver *S);
bool tct_done_dry(tacit_solver *S);

/* --- along.c ------------------------------------------------------------------- */

/* Go on with v[V_R], of norm `norm_r`, along p, which need not fit to it: one
 * iteration. S->resumed is false where p is of no use, or there is no time. */
void tct_along(tacit_solver *S, double norm_r);
/* --- range.c ------------------------------------------------------------------- */

/* Set sigma, shift and norm_b. Errors INPUT (b has entries not finite). */
tacit_status tct_measure_b(tacit_solver *S);
/* x = 2^by x */
void tct_shift(const tacit_solver *S, int by, double *x);
/* Bring S->x back: false if it is beyond the range of doubles, with the exponent
 * of its norm. */
bool tct_shift_back(tacit_solver *S, int *exponent);

/* --- low.c --------------------------------------------------------------------- */

/* Begin a run, with r in v[V_R], in the lowest precision that there is. */
void tct_low_begin(tacit_solver *S);
static inline bool tct_is_low(const tacit_solver *S)
{
    return S->A != S->exact;
}
/* How far the recurrence may go from now on, and until which iteration. */
double tct_low_goal(const tacit_solver *S);
/* A turn in low precision has come to its goal, a mark or a breakdown: go on
 * from the true residual where that is needed, or with more bits. */
void tct_low_turn(tacit_solver *S);

/* --- turn.c -------------------------------------------------------------------- */

/* Begin a run: whose turn is the first? */
void tct_first_turn(tacit_solver *S);
/* Goal and limit of the turn that begins, with ||r||^2 = S->rr. */
void tct_begin_turn(tacit_solver *S);
/* A turn has ended: is there another one? */
bool tct_next_turn(tacit_solver *S);
/* Does b - A x, of norm `norm_r`, meet the target? */
bool tct_decided(tacit_solver *S, double norm_r);

/* --- look.c ------------------------------------------------------------------ */

/* r = sigma b - A x into `r`. */
void tct_residual(tacit_solver *S, double *r);
/* (v, v), or (v, w), summed over the ranks and waited for. */
double tct_norm2(tacit_solver *S, const double *v);
double tct_dot(tacit_solver *S, const double *v, const double *w);
/* Tell the monitor of S->k and S->rr, once per iteration. */
void tct_tell_monitor(tacit_solver *S);
/* Note a breakdown at S->k. */
void tct_broke_down(tacit_solver *S, const char *quantity, double value);
void tct_forget_breakdown(tacit_solver *S);

#define TCT_METHODS(X) X(cg) X(single) X(pipelined) X(pipe_pr) X(flexible)
#define X(name)        extern const tct_method tct_method_##name;
TCT_METHODS(X)
#undef X

#endif
