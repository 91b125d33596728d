/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.c - tacit_solver_run. */
#include "solver/solver.h"
#include "precond/history.h"
#include "precond/precond.h"
#include "solver/norms.h"
#include "solver/singular.h"
#include <math.h>
#include <stdio.h>

/* Note the loop in the result. */
static void describe_loop(const tct_run *R, const tct_driver *driver)
{
    tacit_result *r = R->result;
    r->loop = driver->about.name;
    r->loop_detail[0] = '\0';
    if (R->loop->left_from >= 0)
        snprintf(r->loop_detail, sizeof r->loop_detail,
                 "loop host from iteration %lld on",
                 (long long)R->loop->left_from);
    else if (driver->describe)
        driver->describe(R, r->loop_detail, sizeof r->loop_detail);
}

void tct_begin_runs(tacit_solver *S)
{
    tacit_queue *q = S->run.q;
    /* a block is as expensive as its iterations */
    const bool expensive =
        S->run.system->method->blocks || tct_is_expensive(S->run.M);
    const size_t rows = expensive ? SIZE_MAX : S->most_rows;
    S->loop.lag = q->device->lag ? q->device->lag(q, rows) : 0;
    q->stop_wanted = q->stop_agreed = false;
    S->ritz.count = S->ritz.next = 0;
    S->run.ritz = S->ritz.room > 0 ? &S->ritz : NULL;
}

/* Phases, until the solve is decided. */
static tacit_status iterate(tct_run *R, const tct_driver *driver)
{
    const double start = tct_seconds();
    tct_shift(R->q, R->n, R->system->shift, R->x);
    q_put(R->q, 1, &R->system->sigma, &R->c[C_SIGMA]);
    tct_residual(R, R->v[V_R]);
    R->policy->rr = tct_norm2(R, R->v[V_R]);
    bool more = tct_run_starts(R);
    while (more) {
        tct_begin_phase(R);
        driver->iterate(R);
        more = !R->q->peers_know && tct_next_phase(R);
    }
    describe_loop(R, driver);
    return tct_run_conclude(R, tct_seconds() - start);
}

static tacit_status run(tacit_solver *S, const double *b, double *x,
                        const tacit_stop *stop, tacit_result *result)
{
    tct_run *R = &S->run;
    R->result = result;
    tct_begin_runs(S);
    TRY(tct_run_begin(R, b, x, stop));
    return R->system->norm_b == 0.0 ? tct_run_zero(R) : iterate(R, S->driver);
}

static tacit_status check(const tacit_solver *S, const double *b,
                          const double *x, const tacit_stop *stop)
{
    if (S->run.n > 0 && (!b || !x))
        FAIL(TACIT_INVALID,
             "tacit_solver_run: %s is NULL: expected vectors of "
             "%zu rows",
             b ? "x" : "b", S->run.n);
    TRY(tct_stop_check(stop, false));
    if (tct_overlap(b, S->run.n, x, S->run.n))
        FAIL(TACIT_INVALID,
             "tacit_solver_run: b and x share memory: x is written while b is "
             "needed, so they must be two vectors");
    return TACIT_OK;
}

void tct_solver_begin(tacit_solver *S, tct_solver_uses *uses)
{
    S->running = true;
    tct_operator_run_begins(S->run.system->exact);
    tct_use_begin(&uses->A, S->run.system->exact);
    tct_use_begin(&uses->M, S->run.M);
}

void tct_solver_end(tacit_solver *S, tct_solver_uses *uses)
{
    tct_use_end(&uses->M);
    tct_use_end(&uses->A);
    S->running = false;
}

tacit_status tacit_solver_run(tacit_solver *solver, const double *b, double *x,
                              const tacit_stop *stop, tacit_result *result)
{
    REQUIRE(solver != NULL, result != NULL);
    if (solver->running)
        FAIL(TACIT_INVALID, "%s: a run of this solver is under way", __func__);
    q_enter(solver->run.q);
    tacit_stop own = solver->wanted;
    tacit_status status = tct_check_sized("tacit_result", result);
    if (stop && status >= 0)
        status = tct_read_sized("tacit_stop", stop, &own, sizeof own);
    if (status >= 0) status = check(solver, b, x, &own);
    status = tct_agree(solver->run.q->world, status);
    if (status >= 0) status = tct_norm_open(solver, &own);
    if (status >= 0) status = tct_singular_open(&solver->run);
    tacit_world *w = solver->run.q->world;
    TRY(tct_agree(w, status));
    TRY(tct_precond_follow(solver->run.M));
    tacit_result came_to = {.breakdown_iteration = -1,
                            .loop = solver->driver->about.name};
    tct_solver_uses uses;
    tct_solver_begin(solver, &uses);
    const double before = tct_set_timeout(w, solver->run.q->timeout);
    status = run(solver, b, x, &own, &came_to);
    w->timeout = before;
    tct_solver_end(solver, &uses);
    tct_write_sized(&came_to, sizeof came_to, result);
    return status;
}
