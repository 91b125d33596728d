/* SPDX-License-Identifier: BSD-3-Clause
 * solver/after_phase.h - between two phases: the best x, what rounding allows,
 * and which method goes on. */
#ifndef TCT_SOLVER_AFTER_PHASE_H
#define TCT_SOLVER_AFTER_PHASE_H
#include "solver/run.h"

/* --- best.c --------------------------------------------------------------- */

/* x has the true residual `norm_r`: keep it if it is the best so far. */
void tct_keep_best(tct_run *R, double norm_r);
/* Go on from the best x: b - A x in v[V_R], its norm is returned. */
double tct_go_back_to_best(tct_run *R);
/* The solve ends without a solution: return the best x. */
void tct_hand_out_best(tct_run *R);
/* The norm of b - A x that rounding allows at x: eps (|A| |x| + |b|); 0 where
 * |A| is not known. */
double tct_allowed(tct_run *R);
/* The same with the norm of |A| |x| where it can be formed and is smaller: rows
 * may be of sizes far apart. Ends the recurrence. Collective. */
double tct_allowed_at_end(tct_run *R);
/* May rounding have made the sign of the quantity that broke down? */
bool tct_is_by_rounding(tct_run *R, double norm_r);
/* Iterations since the last call were made by `method`; one that broke down
 * does not count. */
void tct_made(tct_run *R, const tct_method *method);

/* --- after_phase.c -------------------------------------------------------- */

/* A residual this many times the best one has diverged. */
#define TCT_GREW 1e12
/* First bound of the drift of s = A p, times ||s||, that asks for a renewal. */
#define TCT_DRIFT_MOST 3e-13
/* Bound of (r, s) - (p, s), times (p, s), in the first iterations. */
#define TCT_APART_MOST 5e-12
/* Has the current method a rescue that accepts the preconditioner? */
bool tct_can_be_rescued(const tct_run *R);
/* b - A x, of norm `norm_r`, is in v[V_R] and does not meet the target: does a
 * method go on? If so it is policy->now; if not, policy->why has the
 * reason. */
bool tct_unsettled(tct_run *R, double norm_r);
/* Is x so much worse than the best one that the solve goes back to it? */
bool tct_has_lost(const tct_run *R, double norm_r);
/* The phase ended by drift: does the method go on with vectors formed anew? */
bool tct_renew_vectors(tct_run *R);

/* --- explain.c ------------------------------------------------------------ */

/* The status of the run, with a message if it did not succeed. */
tacit_status tct_explain(const tct_run *R);

/* --- least_squares.c ------------------------------------------------------ */

/* b - A x, in v[V_R], does not meet the target, and the recurrence has found
 * that it gets no smaller: is x a least squares solution? the reason says so then.
 */
bool tct_is_least(tct_run *R);
/* |A| for the recurrence, negative once r was found in rows far below it; and
 * the iteration of the next look at b - A x then. */
double tct_least_norm(const tct_run *R);
int64_t tct_least_until(const tct_run *R);

#endif
