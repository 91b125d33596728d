/* SPDX-License-Identifier: BSD-3-Clause
 * solver/settings.c - the settings of a solver by name and value, in the words
 * of the command line: a row each. */
#include "solver/norms.h"
#include "solver/solver.h"
#include "solver/sstep/sstep.h"
#include <math.h>
#include <string.h>
#include <tacit/precond.h>

typedef struct {
    tacit_setting about;
    tacit_status (*apply)(tacit_solver *S, const char *value);
} setting;

/* --- values --------------------------------------------------------------- */

static tacit_status set_precond(tacit_solver *S, const char *value)
{
    tacit_operator *M = NULL;
    const tacit_precond_options options = {
        .size = sizeof options,
        .positive = S->run.system->method->about.indefinite};
    TRY(tacit_precond_create_of(S->run.system->exact, NULL, value, &options,
                                &M));
    const tacit_status status = tacit_solver_set_precond(S, M);
    tacit_operator *const unused = status < 0 ? M : S->own_M;
    if (status >= 0) S->own_M = M;
    tacit_operator_destroy(&(tacit_operator *){unused});
    return status;
}

/* Renew the block data of a method for a changed setting. */
static tacit_status open_anew(tacit_solver *S, const char *name, int steps,
                              int basis)
{
    tct_run *R = &S->run;
    const int old_steps = R->system->steps, old_basis = R->system->basis;
    if (!R->system->method->open)
        FAIL(TACIT_INVALID, "%s belongs to method sstep, and this is %s", name,
             R->system->method->about.name);
    void *const before = R->own; /* until all ranks have the new one */
    R->system->steps = steps;
    R->system->basis = basis;
    R->own = NULL;
    const tacit_status status =
        tct_agree(R->q->world, R->system->method->open(R));
    void *const kept = status < 0 ? before : R->own;
    if (status >= 0) R->own = before;
    R->system->method->close(R);
    R->own = kept;
    if (status >= 0) /* the driver's state is of the old one */
        return tct_drive_by(S, S->driver);
    R->system->steps = old_steps;
    R->system->basis = old_basis;
    return status;
}

static tacit_status set_steps(tacit_solver *S, const char *value)
{
    int64_t steps = 0;
    const bool given = strcmp(value, "auto") != 0;
    if (given && (!tct_parse_int64(value, &steps) || steps < 1 ||
                  steps > TCT_SSTEP_MOST))
        FAIL(TACIT_INVALID,
             "steps '%s': expected a whole number from 1 to %d, or auto", value,
             TCT_SSTEP_MOST);
    return open_anew(S, "steps", (int)steps, S->run.system->basis);
}

static tacit_status set_basis(tacit_solver *S, const char *value)
{
    const char *names[TCT_BASES];
    for (int i = 0; i < TCT_BASES; i++) {
        names[i] = tct_basis_name(i);
        if (strcmp(names[i], value) != 0) continue;
        if (S->run.pure && i != BASIS_MONOMIAL)
            FAIL(TACIT_UNSUPPORTED,
                 "basis %s: its interval is found by iterations of cg, which "
                 "a pure solve does not make: take monomial",
                 value);
        return open_anew(S, "basis", S->run.system->steps, i);
    }
    return tct_unknown("basis", value, names, TCT_BASES);
}

static tacit_status set_pure(tacit_solver *S, const char *value)
{
    tct_run *R = &S->run;
    const bool pure = strcmp(value, "on") == 0;
    if (!pure && strcmp(value, "off") != 0)
        FAIL(TACIT_INVALID, "pure '%s': expected on or off", value);
    if (pure && R->system->exact->low)
        FAIL(TACIT_UNSUPPORTED,
             "pure: the matrix has values of low precision, from which a solve "
             "goes on again and again: take precision double");
    if (pure && R->system->method->blocks && R->system->basis != BASIS_MONOMIAL)
        TRY(open_anew(S, "basis", R->system->steps, BASIS_MONOMIAL));
    R->pure = pure; /* the driver's state is of the other */
    return tct_drive_by(S, S->driver);
}

/* --- the table ------------------------------------------------------------ */

static const setting settings[] = {
    {{"loop", "who drives the iteration: host, graph, resident, or auto: the "
              "fastest"},
     tct_choose_loop},
    {{"precond", "none or jacobi; for others see tacit/precond.h"},
     set_precond},
    {{"steps", "of method sstep: iterations for one reduction, 1 to 16, or "
               "auto: 8"},
     set_steps},
    {{"basis", "of method sstep: chebyshev, newton, or monomial: the powers of "
               "the matrix, in which more than 4 steps break down"},
     set_basis},
    {{"pure", "on: the method's published recurrence alone, without another "
              "method's start or rescue, replacements and restarts; sstep then "
              "has basis monomial; off at first"},
     set_pure},
    {{"rtol", "stop when ||b - A x|| <= rtol ||b||; 1e-6 at first"},
     tct_set_rtol},
    {{"atol", "... or <= atol; 0 at first"}, tct_set_atol},
    {{"norm", "of b - A x that decides: residual (at first), preconditioned, "
              "scaled by the diagonal, or backward, its backward error"},
     tct_set_norm},
    {{"relative-to", "what rtol is relative to: b (at first), or r0, the first "
                     "residual"},
     tct_set_relative_to},
    {{"max-iterations", "... or after this many; 10000 at first"},
     tct_set_max_iterations},
    {{"iterations", "make exactly this many, whatever the residual, until "
                    "max-iterations is set"},
     tct_set_iterations},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

const tacit_setting *tacit_solver_setting(int i)
{
    return i >= 0 && i < SETTINGS ? &settings[i].about : NULL;
}

static tacit_status unknown(const char *name)
{
    const char *names[SETTINGS];
    for (int i = 0; i < SETTINGS; i++) names[i] = settings[i].about.name;
    const char *near = tct_nearest(name, names, SETTINGS);
    FAIL(TACIT_INVALID, "a solver has no '%s'%s%s%s", name,
         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static tacit_status set(tacit_solver *S, const char *name, const char *value)
{
    const setting *s = NULL;
    for (int i = 0; i < SETTINGS && !s; i++)
        if (strcmp(settings[i].about.name, name) == 0) s = &settings[i];
    if (!s) return unknown(name);
    if (S->running)
        FAIL(TACIT_INVALID,
             "%s set after a run began: set it before the run, or after it",
             name);
    return s->apply(S, value);
}

tacit_status tacit_solver_set(tacit_solver *solver, const char *name,
                              const char *value)
{
    REQUIRE(solver != NULL, name != NULL, value != NULL);
    q_enter(solver->run.q);
    return tct_agree(solver->run.system->exact->world,
                     set(solver, name, value));
}

tacit_status tacit_solver_set_loop(tacit_solver *solver, const char *loop)
{
    return tacit_solver_set(solver, "loop", loop ? loop : "auto");
}
