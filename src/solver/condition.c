/* SPDX-License-Identifier: BSD-3-Clause
 * solver/condition.c - the condition of the preconditioned operator, from the
 * scalars of the recurrence.
 *
 * On a device that runs beside the CPU checks see samples, which have no alpha
 * and beta: nothing is noted there. */
#include "solver/norms.h"
#include "solver/solver.h"
#include <math.h>

/* The first check of a phase may come before its first iteration. */
static bool is_new(const tct_run *R)
{
    return R->k > R->policy->from && R->k == R->ritz->at + 1;
}

void tct_note_ritz(tct_run *R)
{
    tct_ritz *z = R->ritz;
    const tct_method *now = R->policy->now;
    const bool begins = z->from != R->policy->from || z->count == 0;
    const double *c = &R->c[C_ALPHA]; /* in host memory, and just read */
    _Static_assert(C_BETA == C_ALPHA + 1, "they are read together");
    if (begins) z->at = R->policy->from;
    if (z->count == z->room || !is_new(R)) return;
    z->at = R->k;
    if (!(c[0] > 0.0) || !isfinite(c[0]) || !(c[1] >= 0.0)) return;
    z->from = R->policy->from;
    if (now->lanczos == BETA_BEFORE && z->count > 0)
        z->beta[z->count - 1] = begins ? 0.0 : c[1];
    if (now->lanczos == BETA_OF_IT && begins && z->count > 0)
        z->beta[z->count - 1] = 0.0;
    z->alpha[z->count] = c[0];
    z->beta[z->count++] = now->lanczos == BETA_OF_IT ? c[1] : 0.0;
}

double tacit_solver_condition(const tacit_solver *solver)
{
    if (!solver) return 0.0;
    const tct_ritz *z = &solver->ritz;
    return tct_ritz_condition(z->count, z->alpha, z->beta);
}
