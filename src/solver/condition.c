/* SPDX-License-Identifier: BSD-3-Clause
 * solver/condition.c - the condition of the preconditioned operator, from the
 * scalars of the recurrence, which come with each sample. */
#include "solver/norms.h"
#include "solver/solver.h"
#include <math.h>

/* The first check of a phase may come before its first iteration. */
static bool is_new(const tct_run *R)
{
    return R->k > R->policy->from && R->k == R->ritz->at + 1;
}

void tct_note_ritz(tct_run *R, const tct_sample *c)
{
    tct_ritz *z = R->ritz;
    const tct_method *now = R->policy->now;
    const bool begins = z->from != R->policy->from || z->count == 0;
    if (begins) z->at = R->policy->from;
    if (z->count == z->room || !is_new(R)) return;
    z->at = R->k;
    if (!(c->alpha > 0.0) || !isfinite(c->alpha) || !(c->beta >= 0.0)) return;
    z->from = R->policy->from;
    if (now->lanczos == BETA_BEFORE && z->count > 0)
        z->beta[z->count - 1] = begins ? 0.0 : c->beta;
    if (now->lanczos == BETA_OF_IT && begins && z->count > 0)
        z->beta[z->count - 1] = 0.0;
    z->alpha[z->count] = c->alpha;
    z->beta[z->count++] = now->lanczos == BETA_OF_IT ? c->beta : 0.0;
}

double tacit_solver_condition(const tacit_solver *solver)
{
    if (!solver) return 0.0;
    const tct_ritz *z = &solver->ritz;
    return tct_ritz_condition(z->count, z->alpha, z->beta);
}
