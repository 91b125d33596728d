/* SPDX-License-Identifier: BSD-3-Clause
 * solver/create.c - the registry of methods, creation and destruction. */
#include "solver/columns/lockstep.h"
#include "solver/resident/resident.h"
#include "solver/singular.h"
#include <string.h>
#include <tacit/precond.h>

static const tct_method *const methods[] = {
#define X(name) &tct_method_##name,
    TCT_METHODS(X)
#undef X
};
enum { METHODS = sizeof methods / sizeof *methods };

const tacit_method *tacit_method_at(int i)
{
    return i >= 0 && i < METHODS ? &methods[i]->about : NULL;
}

static const tct_method *find(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->about.name, name) == 0) return methods[i];
    return NULL;
}

const tacit_method *tacit_method_find(const char *name)
{
    const tct_method *method = name ? find(name) : NULL;
    return method ? &method->about : NULL;
}

bool tacit_method_resident(const char *name, char *text, size_t size)
{
    return name && text && tct_resident_kernels(name, text, size);
}

static tacit_status unknown(const char *name)
{
    const char *names[METHODS];
    for (int i = 0; i < METHODS; i++) names[i] = methods[i]->about.name;
    return tct_unknown("method", name, names, METHODS);
}

/* Do checks see the scalars of the recurrence? A device posts them with its
 * samples; on the host layers with a sync run later, memcheck in memory of its
 * own. */
static bool sees_scalars(const tacit_queue *q)
{
    if (q->device != &tct_device_host) return q->device->seen != NULL;
    for (const tct_layer *l = q->top; l; l = l->below)
        if (l->ops != &tct_base_layer && l->ops->sync) return false;
    return true;
}

/* Room for the scalars of the recurrence, where checks see them. */
static tacit_status make_ritz(tacit_solver *S)
{
    if (!sees_scalars(S->run.q)) return TACIT_OK;
    TRY(TCT_ALLOC(TCT_RITZ_ROOM, "the solver", &S->ritz.alpha));
    TRY(TCT_ALLOC(TCT_RITZ_ROOM, "the solver", &S->ritz.beta));
    S->ritz.room = TCT_RITZ_ROOM;
    return TACIT_OK;
}

static tacit_status build(tacit_solver *S)
{
    tct_run *R = &S->run;
    if (R->system->method->about.indefinite && R->system->exact->low)
        FAIL(TACIT_UNSUPPORTED,
             "method %s: the matrix has values of low precision, from which a "
             "solve starts anew again and again, and this method is slow from "
             "each start: take precision double",
             R->system->method->about.name);
    for (int i = 0; i < TCT_VECTORS_MOST; i++) {
        const bool mixed =
            R->system->exact->low && (i == V_REF || i == V_GUESS);
        if (i < R->system->method->about.vectors || i == V_BEST || mixed)
            TRY(tacit_queue_alloc(R->q, R->n, &R->v[i]));
    }
    TRY(tct_singular_open(R));
    TRY(make_ritz(S));
    if (R->system->method->open) TRY(R->system->method->open(R));
    return tacit_queue_alloc(R->q, TCT_SCALARS, &R->c);
}

/* Ranks with different check lags would enqueue different iterations. */
static tacit_status agree_on_pace(tacit_solver *S)
{
    int64_t most = (int64_t)S->run.n;
    TRY(tct_reduce_i64(S->run.q->world, TCT_MAX, 1, &most));
    S->most_rows = (size_t)most;
    return TACIT_OK;
}

tacit_status tacit_solver_create(tacit_queue *queue, const tacit_operator *A,
                                 const char *method, tacit_solver **out)
{
    REQUIRE(queue != NULL, A != NULL, out != NULL);
    const tct_method *found = find(method ? method : "cg");
    if (!found) return unknown(method);
    q_enter(queue);
    tacit_solver *S = tct_calloc(sizeof *S);
    tacit_status status = TACIT_OK;
    if (S) {
        S->driver = &tct_driver_host;
        S->wanted = (tacit_stop){.rtol = 1e-6};
        S->system = (tct_system){.method = found, .exact = A};
        S->policy = (tct_restart_policy){.now = found};
        S->run = (tct_run){.q = queue,
                           .A = A->low ? A->low : A,
                           .n = (size_t)A->n,
                           .loop = &S->loop,
                           .system = &S->system,
                           .policy = &S->policy,
                           .low = &S->low};
        status = build(S);
    } else {
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for a solver");
    }
    status = tct_agree(A->world, status);
    if (status >= 0) status = agree_on_pace(S);
    if (status < 0) tacit_solver_destroy(&S);
    else *out = S;
    return status;
}

static tacit_status set_precond(tacit_solver *S, const tacit_operator *M)
{
    tct_run *R = &S->run;
    if (S->running)
        FAIL(TACIT_INVALID, "precond set after a run began: set it before the "
                            "run, or after it");
    if (M && M->n != (int64_t)R->n)
        FAIL(TACIT_INVALID,
             "the preconditioner is for %lld rows of this rank, the matrix "
             "has %zu",
             (long long)M->n, R->n);
    if (M && M->order != R->system->exact->order)
        FAIL(TACIT_UNSUPPORTED,
             "the preconditioner has its rows in another order than the "
             "operator: make both with formats that end in @none");
    if (M && M->varies && !R->system->method->about.varying_precond)
        FAIL(TACIT_UNSUPPORTED,
             "method %s: the preconditioner (%s) is not the same linear map "
             "each time, which this method needs: take method flexible",
             R->system->method->about.name, M->ops->name);
    if (M && !R->z) TRY(tacit_queue_alloc(R->q, R->n, &R->z));
    for (int i = 0; M && i < R->system->method->about.precond_vectors - 1; i++)
        if (!R->y[i]) TRY(tacit_queue_alloc(R->q, R->n, &R->y[i]));
    return TACIT_OK;
}

tacit_status tacit_solver_set_precond(tacit_solver *solver,
                                      const tacit_operator *M)
{
    REQUIRE(solver != NULL);
    tct_run *R = &solver->run;
    q_enter(R->q);
    TRY(tct_agree(R->q->world, set_precond(solver, M)));
    if (M == R->M) return TACIT_OK;
    const tacit_operator *const before = R->M;
    R->M = M; /* the driver's state is of another M */
    tct_lockstep_destroy(&solver->lockstep);
    const tacit_status status =
        tct_agree(R->q->world, tct_drive_by(solver, solver->driver));
    if (status >= 0) return status;
    R->M = before;
    (void)tct_drive_by(solver, &tct_driver_host); /* fits every solver */
    return status;
}

void tacit_solver_destroy(tacit_solver **solver)
{
    if (!solver || !*solver) return;
    tacit_solver *S = *solver;
    tct_run *R = &S->run;
    if (S->running) {
        tct_refuse_destroy(__func__, "solver");
        return;
    }
    q_enter(R->q);
    if (S->driver->close) S->driver->close(R);
    tct_lockstep_destroy(&S->lockstep);
    if (R->system->method->close) R->system->method->close(R);
    for (int i = 0; i < TCT_VECTORS_MOST; i++) q_free(R->q, R->v[i]);
    q_free(R->q, R->z);
    for (int i = 0; i < TCT_PRECOND_MOST - 1; i++) q_free(R->q, R->y[i]);
    tacit_operator_destroy(&S->own_M);
    tacit_operator_destroy(&S->own_diagonal);
    tct_free(S->race);
    TCT_FREE(S->ritz.alpha, S->ritz.beta);
    q_free(R->q, R->system->own_b);
    q_free(R->q, R->system->permuted_x);
    q_free(R->q, R->c);
    tct_free(S);
    *solver = NULL;
}
