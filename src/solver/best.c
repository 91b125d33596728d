/* SPDX-License-Identifier: BSD-3-Clause
 * solver/best.c - the best x so far, the residual that rounding allows, and how
 * many iterations each method made. */
#include "operator/backward.h"
#include "solver/after_phase.h"
#include <math.h>
#include <string.h>

/* A quantity up to this part of |A| |p|^2, or of |r| |M r|, may be rounding. */
static const double ROUNDING = 0x1p-48, ROUNDING_PRECOND = 0x1p-40;
/* A breakdown is by rounding if the residual is at most this many times what
 * rounding allows. */
static const double NEAR = 1e3;

void tct_keep_best(tct_run *R, double norm_r)
{
    tct_restart_policy *P = R->policy;
    if (!(norm_r < P->kept)) return;
    q_copy(R->q, R->n, R->x, R->v[V_BEST]);
    P->kept = norm_r;
    P->kept_at = R->k;
}

double tct_go_back_to_best(tct_run *R)
{
    q_copy(R->q, R->n, R->v[V_BEST], R->x);
    tct_residual(R, R->v[V_R]);
    return sqrt(tct_norm2(R, R->v[V_R]));
}

/* At the iteration limit the last iterate is returned, even if the first guess
 * has the smaller residual: cg reduces the error, not the residual. A least
 * squares solution is returned, too: in the norm of M its residual is the
 * smallest. */
void tct_hand_out_best(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const double norm_r = R->result->true_relative_residual * R->system->norm_b;
    const bool asked =
        P->why == TACIT_STOP_MAX_ITERATIONS || P->why == TACIT_STOP_INTERRUPTED;
    if (R->pure || norm_r <= P->kept || !isfinite(P->kept)) return;
    if (R->system->exactly && isfinite(norm_r)) return;
    if (P->why == TACIT_STOP_LEAST_SQUARES) return;
    if (asked && P->kept_at == 0 && isfinite(norm_r)) return;
    q_copy(R->q, R->n, R->v[V_BEST], R->x);
    R->result->true_relative_residual = P->kept / R->system->norm_b;
    if (!isfinite(P->rr)) P->rr = P->kept * P->kept;
}

double tct_allowed(tct_run *R)
{
    const tct_system *S = R->system;
    if (!(S->exact->norm > 0.0)) return 0.0;
    const double norm_x = sqrt(tct_norm2(R, R->x));
    return 0x1p-52 * (S->exact->norm * norm_x + S->norm_b);
}

double tct_allowed_at_end(tct_run *R)
{
    const tct_system *S = R->system;
    const double allowed = tct_allowed(R);
    double *x = R->v[V_P], *s = R->v[V_T];
    if (!(allowed > 0.0)) return allowed;
    q_copy(R->q, R->n, R->x, x);
    if (!tct_form_magnitude(S->exact, R->q, x, s)) return allowed;
    const double sum = sqrt(tct_norm2(R, s));
    return fmin(allowed, 0x1p-52 * (sum + S->norm_b));
}

bool tct_is_by_rounding(tct_run *R, double norm_r)
{
    const tacit_result *result = R->result;
    const double value = fabs(result->breakdown_value);
    if (!isfinite(value)) return false;
    if (norm_r <= NEAR * tct_allowed(R)) return true;
    if (value == 0.0) return false;
    if (strcmp(result->breakdown_quantity, "r'Mr") == 0) {
        /* minres leaves M u, where checks are late of a later u */
        if (R->policy->now->about.indefinite)
            apply(R->M, R->q, R->v[V_R], R->z);
        return value <= ROUNDING_PRECOND * norm_r * sqrt(tct_norm2(R, R->z));
    }
    return value <= ROUNDING * R->system->exact->norm * tct_norm2(R, R->v[V_P]);
}

void tct_made(tct_run *R, const tct_method *method)
{
    tct_restart_policy *P = R->policy;
    tacit_made *made = R->result->made;
    const int64_t k = P->end == PHASE_BROKEN ? R->k - 1 : R->k;
    const int64_t iterations = k - P->made;
    int i = 0;
    if (iterations <= 0) return;
    while (i < TACIT_MADE_MOST - 1 && made[i].method &&
           strcmp(made[i].method, method->about.name) != 0)
        i++;
    P->made = k;
    made[i].method = method->about.name;
    made[i].iterations += iterations;
}
