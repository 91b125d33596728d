/* SPDX-License-Identifier: BSD-3-Clause
 * solver/preconds/autotune.h - preconditioners that race on one system: who
 * takes part, and what each would still need. */
#ifndef TCT_SOLVER_PRECONDS_AUTOTUNE_H
#define TCT_SOLVER_PRECONDS_AUTOTUNE_H
#include "precond/precond.h"
#include "solver/solver.h"

typedef struct tct_candidate {
    tacit_precond_trial about;
    char reason[TCT_REFUSAL];
    const tct_precond *row;
    tacit_operator *M;        /* NULL: it needs none, or is not made yet      */
    const tct_driver *driver; /* of its iterations; NULL: it is not made yet  */
    double rate;              /* at which ln ||r|| fell at last [1/s]         */
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
    char sentence[TCT_REFUSAL]; /* of the last leg that did not solve         */
    double target; /* ||r|| / ||b||                                        */
    double sweep;  /* seconds of the host for all entries of the matrix    */
    double
        iteration; /* seconds of one without a expensive preconditioner         */
} tct_autotuning;

/* --- candidates.c --------------------------------------------------------- */

/* Who takes part, and why others do not.
 * Collective.  Errors DEVICE, COMM. */
tacit_status tct_autotuning_begin(tct_autotuning *race);
/* Let `c` precondition the solver's runs; it is out where it cannot be made.
 * Collective.  Errors INVALID (options), DEVICE, COMM. */
tacit_status tct_autotuning_take(tct_autotuning *race, tct_candidate *c);
/* It is out. */
void tct_candidate_drop(tct_candidate *c, const char *why);
/* Seconds until `c` has solved all that is to be solved, with ||r|| / ||b|| at
 * `residual` in the first solve; those of one solve from x = 0. */
double tct_autotuning_left(const tct_autotuning *race, const tct_candidate *c,
                           double residual);
double tct_autotuning_whole(const tct_autotuning *race, const tct_candidate *c);
/* Who else has least left; NULL: nobody. */
tct_candidate *tct_autotuning_best(tct_autotuning *race,
                                   const tct_candidate *besides,
                                   double residual);
/* The preconditioners are freed. */
void tct_autotuning_free(tct_autotuning *race);

#endif
