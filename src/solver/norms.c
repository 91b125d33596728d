/* SPDX-License-Identifier: BSD-3-Clause
 * solver/norms.c - the norm of b - A x that decides.
 *
 * The recurrence knows the Euclidean norm only. Between two decisions in
 * another norm the ratio of both is taken to stay as it is: that gives the
 * Euclidean goal of the next phase. */
#include "solver/norms.h"
#include "operator/backward.h"
#include "solver/columns/lockstep.h"
#include "solver/singular.h"
#include "solver/solver.h"
#include <math.h>
#include <tacit/precond.h>

/* A phase aims this far below what the ratio asks for, so that it is not of
 * one iteration. */
static const double BELOW = 0.7;
/* A recurrence is right up to this factor. */
static const double RIGHT = 1.5;

static const char *const names[] = {"residual", "preconditioned", "scaled",
                                    "backward"};
enum { NORMS = sizeof names / sizeof *names };

const char *tct_norm_name(int i)
{
    return i >= 0 && i < NORMS ? names[i] : NULL;
}

/* The diagonal as an operator, made once. */
static tacit_status open_scaled(tacit_solver *S)
{
    const tacit_precond_options options = {.size = sizeof options,
                                           .positive = true};
    if (S->system.diagonal) return tct_precond_follow(S->system.diagonal);
    const tacit_status status = tacit_precond_create_of(
        S->system.exact, NULL, "jacobi", &options, &S->own_diagonal);
    if (status < 0)
        return tacit_error_set(
            status, "norm scaled divides by the diagonal: %s%s",
            tacit_error_message(),
            status == TACIT_INPUT ? ": take another norm" : "");
    S->system.diagonal = S->own_diagonal;
    if (S->run.z) return TACIT_OK;
    tct_lockstep_destroy(&S->lockstep); /* it has no z */
    return tacit_queue_alloc(S->run.q, S->run.n, &S->run.z);
}

tacit_status tct_norm_open(tacit_solver *S, const tacit_stop *stop)
{
    const tct_run *R = &S->run;
    if ((int)stop->norm < 0 || (int)stop->norm >= NORMS)
        FAIL(TACIT_INVALID, "norm %d: there are 0 to %d", (int)stop->norm,
             NORMS - 1);
    if (stop->norm == TACIT_NORM_PRECONDITIONED && !R->M)
        FAIL(TACIT_INVALID, "norm preconditioned: the solver has no "
                            "preconditioner");
    if (stop->norm == TACIT_NORM_BACKWARD && !(R->system->exact->norm > 0.0))
        FAIL(TACIT_UNSUPPORTED, "norm backward: the operator's norm is not "
                                "known");
    if (stop->norm == TACIT_NORM_BACKWARD && stop->relative_to_first)
        FAIL(TACIT_INVALID, "norm backward is relative to A, x and b: leave "
                            "relative_to_first out");
    return stop->norm == TACIT_NORM_SCALED ? open_scaled(S) : TACIT_OK;
}

/* sqrt(v' M v), or |D^-1 v|. */
static double by_operator(tct_run *R, const double *v)
{
    const tct_system *S = R->system;
    const bool scaled = S->stop.norm == TACIT_NORM_SCALED;
    apply(scaled ? S->diagonal : R->M, R->q, v, R->z);
    return sqrt(scaled ? tct_norm2(R, R->z) : tct_dot(R, v, R->z));
}

double tct_norm_of(tct_run *R, const double *r, double norm_r)
{
    const tct_system *S = R->system;
    switch (S->stop.norm) {
    case TACIT_NORM_RESIDUAL: break;
    case TACIT_NORM_PRECONDITIONED:
    case TACIT_NORM_SCALED: return by_operator(R, r);
    case TACIT_NORM_BACKWARD:
        return tct_backward_error(S->exact, R->q, r, R->x, S->b, S->sigma);
    }
    return norm_r;
}

/* The norm of b, times sigma. */
static double norm_of_b(tct_run *R)
{
    const tct_system *S = R->system;
    if (S->stop.norm == TACIT_NORM_RESIDUAL) return S->norm_b;
    if (S->stop.norm == TACIT_NORM_BACKWARD) return 1.0;
    q_copy(R->q, R->n, S->b, R->v[V_T]);
    if (S->sigma != 1.0) q_scale(R->q, R->n, S->sigma, R->v[V_T]);
    return by_operator(R, R->v[V_T]);
}

void tct_norm_target(tct_run *R, double norm_r)
{
    tct_system *S = R->system;
    const bool plain = S->stop.norm == TACIT_NORM_RESIDUAL;
    const double unit = S->stop.norm == TACIT_NORM_BACKWARD ? 1.0 : S->sigma;
    S->reference = S->stop.relative_to_first ? tct_norm_of(R, R->v[V_R], norm_r)
                                             : norm_of_b(R);
    S->wanted = fmax(S->stop.rtol * S->reference, S->stop.atol * unit);
    if (plain) S->wanted = tct_singular_target(R, S->wanted);
    S->target = plain ? S->wanted : S->stop.rtol * norm_r;
}

bool tct_norm_reached(tct_run *R, const double *r, double norm_r)
{
    tct_system *S = R->system;
    const double is = tct_norm_of(R, r, norm_r);
    R->result->measure = S->reference > 0.0 ? is / S->reference : is;
    if (is <= (S->exactly ? 0.0 : S->wanted)) return true;
    if (S->stop.norm != TACIT_NORM_RESIDUAL && isfinite(is))
        S->target = BELOW * norm_r * (S->wanted / is);
    return false;
}

bool tct_norm_asks(const tct_run *R, double told, double norm_r)
{
    return R->system->stop.norm != TACIT_NORM_RESIDUAL &&
           R->policy->end == PHASE_MET && !R->pure &&
           norm_r <= RIGHT * fmax(told, R->policy->goal) &&
           R->k < R->system->limit;
}

bool tct_norm_go_on(tct_run *R, double norm_r)
{
    tct_restart_policy *P = R->policy;
    if (norm_r < P->best) P->best = norm_r;
    R->low->start = norm_r;
    P->rr = norm_r * norm_r;
    R->resumed = false;
    tct_restart_step(R, norm_r);
    return !R->q->peers_know;
}
