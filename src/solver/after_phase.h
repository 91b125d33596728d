/* SPDX-License-Identifier: BSD-3-Clause
 * solver/after_phase.h - between two turns: the best x, what rounding allows,
 * and who goes on. */
#ifndef TCT_SOLVER_AFTER_PHASE_H
#define TCT_SOLVER_AFTER_PHASE_H
#include "solver/run.h"

/* --- best.c --------------------------------------------------------------- */

/* x has the true residual `norm_r`: keep it, if it is the best so far. */
void tct_keep_best(tct_run *R, double norm_r);
/* Go on from the best x: b - A x in v[V_R], its norm is returned. */
double tct_go_back_to_best(tct_run *R);
/* The solve ends without a solution: hand out the best x. */
void tct_hand_out_best(tct_run *R);
/* The norm of b - A x that rounding allows at x: eps (|A| |x| + |b|); 0 where
 * |A| is not known. */
double tct_allowed(tct_run *R);
/* May rounding have made the sign of the quantity that broke down? */
bool tct_is_by_rounding(tct_run *R, double norm_r);
/* Iterations since the last call were made by `method`; one that broke down was
 * not made. */
void tct_made(tct_run *R, const tct_method *method);

/* --- after_turn.c --------------------------------------------------------- */

/* A residual has diverged beyond so many times the best one. */
#define TCT_GREW 1e12
/* Of ||s||: the first bound of the drift that asks for a renewal. */
#define TCT_DRIFT_MOST 3e-13
/* Of (p, s): how far (r, s) may be from it in the first iterations. */
#define TCT_APART_MOST 5e-12
/* Has the method whose turn it is a rescue that bears the preconditioner? */
bool tct_can_be_rescued(const tct_run *R);
/* b - A x, of norm `norm_r`, is in v[V_R] and does not meet the target: does
 * somebody go on, R->now? If not, R->why says why. */
bool tct_unsettled(tct_run *R, double norm_r);
/* Is x so much worse than the best one that going on from there is better? */
bool tct_has_lost(const tct_run *R, double norm_r);
/* The turn has ended by drift: does the method go on with vectors formed
 * anew? */
bool tct_renew_vectors(tct_run *R);

#endif
