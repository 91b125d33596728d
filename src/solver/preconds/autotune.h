/* SPDX-License-Identifier: BSD-3-Clause
 * solver/preconds/autotune.h - autotuning of preconditioners on one system: the
 * candidates, and the time that each would still need. */
#ifndef TCT_SOLVER_PRECONDS_AUTOTUNE_H
#define TCT_SOLVER_PRECONDS_AUTOTUNE_H
#include "precond/precond.h"
#include "solver/solver.h"

typedef struct tct_candidate {
    tacit_precond_trial about;
    char reason[TCT_REFUSAL];
    const tct_precond_kind *row;
    tct_precond_source from;  /* open until the race ends                     */
    tacit_operator *M;        /* NULL: none needed, or not made yet           */
    const tct_driver *driver; /* of its iterations; NULL: M not made yet      */
    double spent, whole; /* cost of its iterations; of a solve with it alone */
    double rate;         /* at which ln ||r|| fell last, a unit of cost  */
    double slowness;     /* iterations until ln ||r|| falls by 1, with care */
} tct_candidate;

/* May it iterate? */
static inline bool tct_is_in(const tct_candidate *c)
{
    return !c->about.reason;
}

enum { TCT_CANDIDATES = 8 };

typedef struct tct_autotuning {
    tacit_solver *S;
    tacit_precond_race wish;
    tct_candidate candidate[TCT_CANDIDATES];
    int count;
    bool shares; /* does one have iterations foretold as a share of others'? */
    double target;    /* ||r|| / ||b||                                        */
    double sweep;     /* cost of one sweep over the matrix, on the host       */
    double iteration; /* cost of one without an expensive preconditioner      */
    double entries;   /* of a row of the matrix, on average; 0: unknown       */
    bool fills; /* would its pairs of neighbours be many more than entries? */
    double squares; /* of the distances of rows' first columns, summed       */
    /* the best x of trials without a solution; x NULL: no memory for it */
    double *x;
    tct_candidate *best;
    tacit_result best_result;
    double *guess; /* the first x, NULL: no memory for it                     */
    double first;  /* its ||r|| / ||b||                                       */
    bool no_gain;  /* no x was better                                         */
    char sentence[TCT_REFUSAL]; /* of the last trial that failed              */
} tct_autotuning;

/* --- candidates.c --------------------------------------------------------- */

/* List the candidates, and why others are excluded.
 * Collective.  Errors INVALID (options), IO (a file of theirs), DEVICE, COMM. */
tacit_status tct_autotuning_begin(tct_autotuning *race);
/* Make `c` the solver's preconditioner; it is dropped if it cannot be made.
 * Collective.  Errors INVALID (options), DEVICE, COMM. */
tacit_status tct_autotuning_take(tct_autotuning *race, tct_candidate *c);
/* Exclude it, with the reason. */
void tct_candidate_drop(tct_candidate *c, const char *why);
/* Log what it has done, on rank 0. */
void tct_candidate_tell(const tct_autotuning *race, const tct_candidate *c);
/* The cost of an iteration with `c`. */
double tct_autotuning_each(const tct_autotuning *race, const tct_candidate *c);
/* Predicted cost until `c` has solved all systems, with ||r|| / ||b|| at
 * `residual` in the first solve; that of one solve from x = 0. */
double tct_autotuning_left(const tct_autotuning *race, const tct_candidate *c,
                           double residual);
double tct_autotuning_whole(const tct_autotuning *race, const tct_candidate *c);
/* The least residuals of a trial: at its start, until iteration k, and until
 * `mark`. */
typedef struct tct_fall {
    int64_t k;
    double first, least;
    int64_t mark;
    double at_mark;
} tct_fall;
/* Set the slowness of `c` if a candidate needs it. */
void tct_autotuning_slow(const tct_autotuning *race, tct_candidate *c,
                         const tct_fall *fall);
/* The cost left of `c`, compared with `other`: if the iterations of that one are
 * foretold from those of c, these are not to be too few. */
double tct_autotuning_against(const tct_autotuning *race,
                              const tct_candidate *c,
                              const tct_candidate *other, double residual);
/* The other candidate with the least cost left; NULL: none. */
tct_candidate *tct_autotuning_best(tct_autotuning *race,
                                   const tct_candidate *besides,
                                   double residual);
/* An exact factor that has not been tried, with less than 1 / `much` of the cost
 * left of `c`, whatever trials there were; NULL: none. */
tct_candidate *tct_autotuning_exact(tct_autotuning *race,
                                    const tct_candidate *c, double much,
                                    double residual);
/* Free the preconditioners. */
void tct_autotuning_free(tct_autotuning *race);

#endif
