/* SPDX-License-Identifier: BSD-3-Clause
 * solver/run.h - a run: one solve as a method sees it.
 *
 * A method is its recurrence. A run is a sequence of turns: a turn is one call
 * of a method's text, which ends where the recurrence has met its goal, come to
 * a mark, or lost its way. What follows (the true residual, another method,
 * more bits) is in turn.c and low.c; who drives the text, in driver.h; timing
 * and counting are decorators'. */
#ifndef TCT_SOLVER_RUN_H
#define TCT_SOLVER_RUN_H
#include "operator/operator.h"
#include "solver/method.h"

enum { TCT_VECTORS_MOST = 9, TCT_PRECOND_MOST = 4 };
/* Vectors of every method: r, p, one that is scratch between two calls of
 * `iterate`, and the best x whose residual was recomputed. Where the solve
 * watches whether residuals stay orthogonal, r_0; where it may start over,
 * x_0. */
enum { V_R = 0, V_P = 1, V_T = 2, V_REF = 6, V_GUESS = 7, V_BEST = 8 };

/* How a turn has ended. */
typedef enum tct_end {
    PHASE_ON,      /* it has not                          */
    PHASE_MET,     /* the recurrence has met its goal     */
    PHASE_DRIFTED, /* BAD_DRIFT                           */
    PHASE_STALE,   /* BAD_STALE                           */
    PHASE_GREW,    /* BAD_GROWTH                          */
    PHASE_BROKEN,  /* a breakdown: the result says which  */
    PHASE_MARK,    /* after as many iterations as it may  */
    PHASE_STOPPED, /* a monitor wished it                 */
    PHASE_PAUSED   /* not yet: the text is to be called again, BAD_PAUSE */
} tct_end;

/* What low precision has come to in a run: low.c. */
typedef struct tct_reduced {
    int64_t since; /* iteration at which this precision began */
    int64_t mark;  /* when to look at the drift next          */
    double start;  /* ||r|| when the leg began                */
    double leg;    /* what the leg makes of 1                 */
} tct_reduced;

struct tct_run {
    /* what a method's text has */
    tacit_queue *q;
    const tacit_operator *A;             /* it multiplies by              */
    const tacit_operator *M;             /* preconditioner, or NULL       */
    size_t n;                            /* local rows                    */
    double *v[TCT_VECTORS_MOST];         /* the method's vectors          */
    double *z, *y[TCT_PRECOND_MOST - 1]; /* ... with a preconditioner     */
    double *c;                           /* scalars on the device: steps.h */
    double *x;                           /* the solution times 2^shift    */
    void *own;                           /* the method's: see open        */
    int steps, basis; /* settings; 0: auto, and sstep/sstep.h   */
    int64_t k;        /* updates of x so far           */
    bool resumed;     /* see iterate of the method     */
    bool pure;        /* a setting: the method's recurrence alone */
    /* where looks stand for blocks of iterations: of so many at most, as they
     * are enqueued now. Looks then say how many there were since iteration
     * `since`, and k is that of the last look. 0: of one, which the text
     * counts */
    int block;
    int64_t since;
    int cycle; /* looks after which the text repeats itself; < 0: it does
                  not; 0: as the method says                              */
    bool (*look)(tct_run *R); /* the driver's: tct_done        */
    /* The driver's, which takes blocks of iterations in a kernel until the turn
     * has ended or pauses; NULL: the text does */
    void (*take_blocks)(tct_run *R);
    tacit_result *result;

    /* what is solved, and by what */
    const tct_method *method;
    const tacit_operator *exact; /* A, or A in full precision */
    const double *b;
    double *own_b, *permuted_x; /* b and x are copied to; NULL: the user's */
    double *user_x; /* where x goes at the end                     */
    double sigma;   /* what b is multiplied by: 2^i */
    int shift;
    tacit_stop stop;
    int64_t limit;         /* of iterations */
    double norm_b, target; /* times sigma   */

    /* what the solve has come to */
    const tct_method *now; /* method, its first, or its rescue    */
    int64_t seen;          /* k of the last look, -1: none yet    */
    int64_t begun;         /* k of the last start from x_0        */
    double rr;             /* at the last look                    */
    double ref_rr;         /* of r_0                              */
    double best;           /* ||b - A x|| so far                  */
    int futile;            /* turns in a row that gained nothing  */
    double kept;           /* ||b - A x|| of what is in V_BEST    */
    int64_t kept_at;       /* ... and its iteration               */
    int64_t renewed;       /* iteration of the last renewal       */
    double drift_most;     /* of ||s||, that asks for the next    */
    double apart_most;     /* of (p, s), that says it is too late */
    int64_t made;          /* iterations that result->made has    */
    tct_reduced low;
    tacit_stop_reason why; /* it would end here */

    /* the turn */
    double goal;  /* of the recurrence                              */
    int64_t most; /* iterations: the limit, or a mark before        */
    tct_end end;

    /* who drives it: driver.h */
    void *drive;       /* the driver's own                               */
    int ahead, lag;    /* looks enqueued and not taken; how many may be  */
    int64_t left_from; /* loop host from this iteration on, -1: not left */
};

/* --- look.c --------------------------------------------------------------- */

/* Look at the scalars: has the recurrence met its goal, or is there another
 * reason to end the turn? Tells the monitor. To be called after every sum of
 * (r, r), when R->k counts the updates of x. */
static inline bool tct_done(tct_run *R)
{
    return R->look(R);
}
/* What a look at iteration R->k says: has the turn ended? */
bool tct_judge(tct_run *R, const tct_sample *c);
/* Has the turn ended so that the scalars on the device hold still? Updates that
 * were enqueued behind that look then have done nothing. */
static inline bool tct_is_held(const tct_run *R)
{
    return R->end == PHASE_MET || R->end == PHASE_DRIFTED ||
           R->end == PHASE_STALE || R->end == PHASE_GREW ||
           R->end == PHASE_BROKEN || R->end == PHASE_PAUSED;
}
/* r = sigma b - A x into `r`; the first does not count as an extra product. */
void tct_form_residual(tct_run *R, double *r);
void tct_residual(tct_run *R, double *r);
/* (v, v), or (v, w), summed over the ranks and waited for. */
double tct_norm2(tct_run *R, const double *v);
double tct_dot(tct_run *R, const double *v, const double *w);
/* Tell the monitor of R->k and R->rr, once per iteration. */
void tct_tell_monitor(tct_run *R);
/* Note a breakdown at R->k. */
void tct_broke_down(tct_run *R, const char *quantity, double value);
void tct_forget_breakdown(tct_run *R);

/* --- along.c -------------------------------------------------------------- */

/* Go on with v[V_R], of norm `norm_r`, along p, which need not fit to it: one
 * iteration. R->resumed is false where p is of no use, or there is no time. */
void tct_restart_step(tct_run *R, double norm_r);

/* --- range.c -------------------------------------------------------------- */

/* Set sigma, shift and norm_b. Errors INPUT (b has entries not finite). */
tacit_status tct_measure_b(tct_run *R);
/* x = 2^by x */
void tct_shift(const tct_run *R, int by, double *x);
/* Bring R->x back: false if it is beyond the range of doubles, with the
 * exponent of its norm. */
bool tct_shift_back(tct_run *R, int *exponent);

/* --- low.c ---------------------------------------------------------------- */

/* Begin a run, with r in v[V_R], in the lowest precision that there is. */
void tct_mixed_begin(tct_run *R);
static inline bool tct_is_reduced(const tct_run *R)
{
    return R->A != R->exact;
}
/* How far the recurrence may go from now on, and until which iteration. */
double tct_mixed_goal(const tct_run *R);
/* A turn in low precision has come to its goal, a mark or a breakdown: go on
 * from the true residual where that is needed, or with more bits. */
void tct_mixed_phase(tct_run *R);

/* --- turn.c --------------------------------------------------------------- */

/* Begin a run: whose turn is the first? */
void tct_first_phase(tct_run *R);
/* Goal and limit of the turn that begins, with ||r||^2 = R->rr. */
void tct_begin_phase(tct_run *R);
/* A turn has ended: is there another one? */
bool tct_next_phase(tct_run *R);
/* Does b - A x, of norm `norm_r`, meet the target? */
bool tct_decided(tct_run *R, double norm_r);

/* --- run.c ---------------------------------------------------------------- */

/* Begin a run for the user's b and x. Errors as tct_measure_b. */
tacit_status tct_run_begin(tct_run *R, const double *b, double *x,
                           const tacit_stop *stop);
/* With r in v[V_R] and ||r||^2 = R->rr: does a first turn begin? */
bool tct_run_starts(tct_run *R);
/* The solution for b = 0. */
tacit_status tct_run_zero(tct_run *R);
/* The run is over: bring x home, fill in the result, and say what it came to.
 * The message is that of tacit_solver_run. */
tacit_status tct_run_conclude(tct_run *R, double seconds);

#endif
