/* SPDX-License-Identifier: BSD-3-Clause
 * solver/run.h - a run: one solve as a method sees it.
 *
 * A method is its recurrence. A run is a sequence of phases. A phase is one
 * call of a method's iterate function; it ends at the goal of the recurrence,
 * at a mark (an iteration at which the solver has to decide something), or with
 * a failure. restart.c then forms the true residual; after_phase.c names the
 * next phase's method, mixed_precision.c its bits; driver.h has the loops. */
#ifndef TCT_SOLVER_RUN_H
#define TCT_SOLVER_RUN_H
#include "loop/loop.h"
#include "operator/null/null_space.h"
#include "precond/precond.h"
#include "solver/method.h"

enum { TCT_VECTORS_MOST = 9, TCT_PRECOND_MOST = 4 };
/* Vectors of every method: r, p, scratch between two calls of `iterate`, and the
 * best x by b - A x. Optional: r_0, to watch orthogonality; x_0, to start over. */
enum { V_R = 0, V_P = 1, V_T = 2, V_REF = 6, V_GUESS = 7, V_BEST = 8 };

/* How a phase has ended. */
typedef enum tct_end {
    PHASE_ON,      /* it goes on                          */
    PHASE_MET,     /* the recurrence has met its goal     */
    PHASE_DRIFTED, /* BAD_DRIFT                           */
    PHASE_STALE,   /* BAD_STALE                           */
    PHASE_GREW,    /* BAD_GROWTH                          */
    PHASE_LEAST,   /* BAD_LEAST                           */
    PHASE_BROKEN,  /* a breakdown, as in the result       */
    PHASE_MARK,    /* its limit of iterations             */
    PHASE_STOPPED, /* a monitor's wish                    */
    PHASE_PAUSED   /* paused: the method is to be called again, BAD_PAUSE */
} tct_end;

/* Reduced precision: mixed_precision.c. */
typedef struct tct_reduced {
    int64_t since;    /* iteration at which this precision began */
    int64_t mark;     /* iteration of the next drift check       */
    double start;     /* ||r|| when the segment began            */
    double reduction; /* factor by which a segment reduces ||r|| */
} tct_reduced;

/* The system, and the settings of its solver. */
typedef struct tct_system {
    const tct_method *method;
    int steps, basis;            /* 0: auto, and sstep/sstep.h   */
    const tacit_operator *exact; /* A, or A in full precision */
    const double *b;
    double *own_b, *permuted_x, *user_x; /* copies, or NULL; the solution's */
    double sigma;                        /* factor of b: 2^i */
    int shift;
    tacit_stop stop;
    int64_t limit;                   /* of iterations */
    bool exactly, attained, outside; /* all asked for; no less; no solution */
    bool accepted, refused;          /* by this rank's monitor */
    bool outgrown;                   /* rounding leaves too much: growth.c */
    double norm_b, target;           /* times sigma   */
    double reference, wanted; /* in stop.norm: of what rtol is for; target */
    const tacit_operator *diagonal; /* of norm scaled: D^-1; NULL: not made */
    tct_null_part along;            /* of b, along A's null space: singular.c */
} tct_system;

/* The restart policy: the phase, and what decides on the next one. */
typedef struct tct_restart_policy { /* the phase */
    const tct_method *now; /* method, its first, or its rescue            */
    double goal;           /* of the recurrence                              */
    int64_t most;          /* iterations: the limit, or an earlier mark */
    int64_t from;          /* k at its start                           */
    tct_end end;
    tacit_stop_reason why; /* reason if the solve ended now */
    int64_t checked;       /* k of the last check, -1: none yet   */
    double rr;             /* at the last check                   */
    /* of the solve */
    int64_t begun;                /* k of the last start from x_0        */
    double ref_rr;                /* of r_0                              */
    double best;                  /* ||b - A x|| so far                  */
    int futile;                   /* phases in a row without gain        */
    double kept;                  /* ||b - A x|| of V_BEST               */
    int64_t kept_at;              /* ... and its iteration               */
    int64_t renewed;              /* iteration of the last renewal       */
    double drift_most;            /* of ||s||, asks for the next         */
    double apart_most;            /* of (p, s): it is too late */
    int64_t made;                 /* iterations in result->made          */
    double mark_k[2], mark_rr[2]; /* checks half, a quarter as far: rates */
    double size; /* least_squares.c: |A| of the rows where r is, 0: of all */
    bool narrowed, unsure; /* it fell by half; no |A| |x|, and so no size */
} tct_restart_policy;

/* The run as methods see it. */
struct tct_run {
    tacit_queue *q;
    const tacit_operator *A;             /* the matrix of the recurrence  */
    const tacit_operator *M;             /* preconditioner, or NULL       */
    size_t n;                            /* local rows                    */
    double *v[TCT_VECTORS_MOST];         /* the method's vectors          */
    double *z, *y[TCT_PRECOND_MOST - 1]; /* ... with a preconditioner     */
    double *c;                           /* scalars on the device: steps.h */
    double *x;                           /* the solution times 2^shift    */
    void *own;                           /* the method's data: see open   */
    int64_t k;                           /* updates of x so far           */
    bool resumed;                        /* see iterate of the method     */
    bool pure; /* a setting: the method's recurrence alone */
    tacit_result *result;
    bool (*look)(tct_run *R); /* the driver's: tct_done        */
    tct_loop *loop; /* the solver's; methods of blocks set their members */
    void *drive;    /* the driver's state: driver.h */
    tct_system *system;
    tct_restart_policy *policy;
    tct_reduced *low;
    struct tct_ritz *ritz; /* norms.h; NULL: not noted */
};

/* --- convergence.c -------------------------------------------------------- */

/* The convergence check: has the recurrence met its goal, or must the phase end
 * for another reason? Tells the monitor. A method calls it after every sum of
 * (r, r), when R->k counts the updates of x. */
static inline bool tct_done(tct_run *R)
{
    return R->look(R);
}
/* Judge the sample of iteration R->k: has the phase ended? */
bool tct_judge(tct_run *R, const tct_sample *c);
/* Do the scalars on the device stay as they are at this end of a phase? Updates
 * enqueued after the check then have no effect. */
static inline bool tct_is_held(const tct_run *R)
{
    return R->policy->end == PHASE_MET || R->policy->end == PHASE_DRIFTED ||
           R->policy->end == PHASE_STALE || R->policy->end == PHASE_GREW ||
           R->policy->end == PHASE_LEAST || R->policy->end == PHASE_BROKEN ||
           R->policy->end == PHASE_PAUSED;
}
/* r = sigma b - A x into `r`; tct_form_residual does not count the product as
 * an extra one. */
void tct_form_residual(tct_run *R, double *r);
void tct_residual(tct_run *R, double *r);
/* (v, v), or (v, w), summed over the ranks and waited for. */
double tct_norm2(tct_run *R, const double *v);
double tct_dot(tct_run *R, const double *v, const double *w);
/* Tell the monitor of R->k and R->policy->rr, once per iteration. */
void tct_tell_monitor(tct_run *R);
/* Note a breakdown at R->k. */
void tct_broke_down(tct_run *R, const char *quantity, double value);
void tct_forget_breakdown(tct_run *R);

/* --- restart_step.c ------------------------------------------------------- */

/* One iteration from v[V_R], of norm `norm_r`, along p, which need not belong
 * to it. R->resumed becomes false if p is of no use or the limit is reached. */
void tct_restart_step(tct_run *R, double norm_r);

/* --- scaling.c ------------------------------------------------------------ */

/* Set sigma, shift and norm_b. Errors INPUT (b has entries not finite). */
tacit_status tct_measure_b(tct_run *R);
/* x = 2^by x */
void tct_shift(tacit_queue *q, size_t n, int by, double *x);
/* Undo the scaling of R->x. False if x exceeds the range of doubles: `exponent`
 * is then that of its norm. */
bool tct_shift_back(tct_run *R, int *exponent);

/* --- mixed_precision.c ---------------------------------------------------- */

/* Begin a run, with r in v[V_R], in the lowest precision available. */
void tct_mixed_begin(tct_run *R);
static inline bool tct_is_reduced(const tct_run *R)
{
    return R->A != R->system->exact;
}
/* Goal of the recurrence for the next segment. */
double tct_mixed_goal(const tct_run *R);
/* A phase in reduced precision has reached its goal, a mark or a breakdown: go
 * on from the true residual if needed, or with more bits. */
void tct_mixed_phase(tct_run *R);

/* --- restart.c ------------------------------------------------------------ */

/* Begin a run: choose the method of the first phase. */
void tct_first_phase(tct_run *R);
/* Goal and limit of the next phase, with ||r||^2 = R->policy->rr. */
void tct_begin_phase(tct_run *R);
/* A phase has ended: is there another one? */
bool tct_next_phase(tct_run *R);
/* Does b - A x in `r`, of norm `norm_r`, meet the target? */
bool tct_decided(tct_run *R, const double *r, double norm_r);

/* --- run.c ---------------------------------------------------------------- */

/* Begin a run for the user's b and x. Errors as tct_measure_b. */
tacit_status tct_run_begin(tct_run *R, const double *b, double *x,
                           const tacit_stop *stop);
/* With r in v[V_R] and ||r||^2 = R->policy->rr: is a phase needed? */
bool tct_run_starts(tct_run *R);
/* The solution for b = 0. */
tacit_status tct_run_zero(tct_run *R);
/* End the run: copy x to the user's, fill in the result, return its status. The
 * message is that of tacit_solver_run. */
tacit_status tct_run_conclude(tct_run *R, double seconds);

#endif
