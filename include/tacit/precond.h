/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/precond.h - preconditioners: operators M, near to the inverse of A,
 * that a solver applies to residuals.
 *
 *     tacit_operator *M = NULL;
 *     tacit_precond_create(A, "jacobi", &M);
 *     tacit_solver_set_precond(solver, M);     // or tacit_solver_set, "precond"
 *     ...
 *     tacit_operator_destroy(&M);              // after the solver
 *
 * An operator of your own (tacit_operator_from_function) is one, too: symmetric
 * positive definite for method cg; for method flexible it may change from one
 * application to the next. Solves stop on the residual of A x = b, as without.
 * On a GPU loops host and graph take any, loop resident jacobi alone.
 *
 * Threads     as their world: see tacit/world.h. */
#ifndef TACIT_PRECOND_H
#define TACIT_PRECOND_H
#include <tacit/solver.h>

TACIT_BEGIN_DECLS

typedef struct tacit_precond {
    const char *name; /* "jacobi" */
    const char *summary;
    const char *reason; /* why this build has it not; NULL: it has */
} tacit_precond;

/* Preconditioner `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_precond *tacit_precond_at(int i);

/* Make the preconditioner called `name` for `A`:
 *   none     no preconditioner: `*out` becomes NULL
 *   jacobi   the inverse of the diagonal
 * It knows A as it is now: make it anew after tacit_operator_update.
 * Collective.  Borrows `A`, which must outlive it.
 * Errors      INVALID (unknown, with the nearest known name), INPUT (a diagonal
 *             entry is zero), UNSUPPORTED (A does not tell its diagonal),
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_precond_create(const tacit_operator *A,
                                            const char *name,
                                            tacit_operator **out);

/* Precondition what `solver` solves from now on with `M`; NULL: with nothing.
 * Collective.  Borrows `M`, which must outlive the solver or be taken from it.
 * Cost        an application of M an iteration, and a scalar in its sum.
 * Errors      INVALID (M is for other rows, a run has begun), UNSUPPORTED (the
 *             method takes none), NO_MEMORY. */
TACIT_API tacit_status tacit_solver_set_precond(tacit_solver *solver,
                                                const tacit_operator *M);

TACIT_END_DECLS
#endif
