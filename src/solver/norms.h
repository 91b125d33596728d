/* SPDX-License-Identifier: BSD-3-Clause
 * solver/norms.h - the norm that decides, and the scalars of the recurrence,
 * from which the condition follows. */
#ifndef TCT_SOLVER_NORMS_H
#define TCT_SOLVER_NORMS_H
#include "solver/run.h"

/* The scalars of a run's recurrence, alpha and beta, as far as there is room;
 * room 0: they are not at hand. */
enum { TCT_RITZ_ROOM = 16384 };
typedef struct tct_ritz {
    int64_t count, room;
    int64_t from, at; /* k at the start of the phase, and at the last check */
    int64_t next;     /* k of the next check of growth.c                   */
    double *alpha, *beta;
} tct_ritz;

/* --- norms.c -------------------------------------------------------------- */

/* The norm's name, NULL past the end. */
const char *tct_norm_name(int i);
/* Can S be stopped in the norm of `stop`? Norm scaled allocates once.
 * Collective up to tct_agree.  Errors INVALID, UNSUPPORTED, INPUT, NO_MEMORY. */
tacit_status tct_norm_open(tacit_solver *S, const tacit_stop *stop);
/* The norm of b - A x in `r`, whose Euclidean norm is `norm_r`. */
double tct_norm_of(tct_run *R, const double *r, double norm_r);
/* Set the target, with the first residual in v[V_R]. */
void tct_norm_target(tct_run *R, double norm_r);
/* Is the target met? If not, set the Euclidean goal of the recurrence. */
bool tct_norm_reached(tct_run *R, const double *r, double norm_r);

/* Was the recurrence, with ||r|| at `told`, right, and does the chosen norm
 * alone ask for more than `norm_r`? */
bool tct_norm_asks(const tct_run *R, double told, double norm_r);
/* Go on from b - A x, in v[V_R], towards the target. */
bool tct_norm_go_on(tct_run *R, double norm_r);

/* --- condition.c ---------------------------------------------------------- */

/* Note the scalars of the iteration before the check at R->k, of which `c` is
 * the sample. */
void tct_note_ritz(tct_run *R, const tct_sample *c);

/* --- growth.c ------------------------------------------------------------- */

/* At a check, a few times in a solve whose Ritz values ask for it: has x grown
 * so large that the target cannot be met? Sets system->outgrown. False where
 * checks are late: the device is amid later iterations.
 * Collective. */
bool tct_has_outgrown(tct_run *R);

#endif
