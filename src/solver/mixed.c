/* SPDX-License-Identifier: BSD-3-Clause
 * solver/mixed.c - a matrix of low precision in the recurrence, the exact one
 * in the residual: reliable updates.
 *
 * [SV96] Sleijpen and van der Vorst, "Reliable updated residuals in hybrid
 *        Bi-CG methods", Computing 56 (1996).
 *
 * The recurrence runs in legs. A leg ends when it has made the residual smaller
 * by S->leg; then r = b - A x is formed in double, the direction is kept where
 * the method allows, and the next leg begins. How far the recurrence has drifted
 * from r in one leg tells how long the next may be: it ends well above that.
 * Where a leg does not bring the true residual down, low precision is too low
 * for this matrix: the rest is done in double, and the result says so. */
#include "solver/solver.h"
#include <math.h>

static const double LEG_FIRST = 0.1, LEG_LEAST = 1e-4, ABOVE_DRIFT = 30.0;
static const double PROGRESS = 0.5; /* what a leg must at least make of 1 */

double tct_leg_goal(tacit_solver *S, double norm_r)
{
    if (S->A == S->exact) return S->target;
    if (S->leg == 0.0) S->leg = LEG_FIRST;
    return fmax(S->leg * norm_r, S->target);
}

/* The recurrence's r and b - A x differ by a vector that knows of neither, so
 * that squares of norms add up. */
static double next_leg(const tacit_solver *S, double norm_r, double last)
{
    const double drift = sqrt(fabs(norm_r * norm_r - S->rr)) / last;
    return fmin(LEG_FIRST, fmax(LEG_LEAST, ABOVE_DRIFT * drift));
}

/* p = r + beta p_old becomes beta p_old, so that a new r can be added. */
void tct_leg_ends(tacit_solver *S)
{
    S->keeping = S->A != S->exact && S->met && S->now->keeps_direction;
    if (S->keeping) q_axpy(S->q, S->n, -1, NULL, S->v[V_R], S->v[V_P]);
}

static void fall_back(tacit_solver *S)
{
    tct_log(TCT_NOTE,
            "iteration %lld: the low precision of the matrix is too low, going "
            "on in double precision",
            (long long)S->k);
    S->A = S->exact;
    S->result->fell_back = true;
    S->result->breakdown_iteration = -1;
    S->result->breakdown_quantity = NULL;
    S->why = TACIT_STOP_MAX_ITERATIONS;
    S->keeping = false;
}

bool tct_next_leg(tacit_solver *S, double norm_r, double last)
{
    if (S->A == S->exact) return false;
    if (S->why == TACIT_STOP_BREAKDOWN ||
        (S->met && !(norm_r < PROGRESS * last)))
        fall_back(S);
    else if (!S->met) return false;
    else S->result->replacements++;
    S->leg = next_leg(S, norm_r, last);
    if (S->keeping) q_axpy(S->q, S->n, +1, NULL, S->v[V_R], S->v[V_P]);
    return true;
}
