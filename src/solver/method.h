/* SPDX-License-Identifier: BSD-3-Clause
 * solver/method.h - what a method must provide. One file per method in
 * methods/, one table at its bottom, one row in TCT_METHODS. */
#ifndef TCT_SOLVER_METHOD_H
#define TCT_SOLVER_METHOD_H
#include <tacit/solver.h>

typedef struct tct_run tct_run;

typedef struct tct_method {
    tacit_method about;
    /* Is alpha's denominator inferred from recurrences, so that one that is not
     * positive may be rounding's? Then more bits do not help. */
    bool inferred;
    /* Can it go on from r and p with its other vectors formed anew? */
    bool renews;
    /* Is p left as the last direction, not as the next one? */
    bool leaves_last;
    /* Who does the first about.first iterations; NULL: the method itself.
     * Needs no more vectors. */
    const struct tct_method *first;
    /* Who goes on when the recurrences have proved too inaccurate: step_lost,
     * step_pipe_pr, a quantity that was inferred, or b - A x say so. Needs no
     * more vectors. NULL: the method itself. */
    const struct tct_method *rescue;
    /* When b - A x does not meet the target, does the rescue go on even if the
     * turn has gained? Only after three turns that have not? */
    bool distrusted, persists;
    /* Iterate from R->x, with r = b - A x in v[V_R] and its (r, r), summed, in
     * c[C_RR], until tct_done; a direction is left in p, v[V_P]. If R->resumed,
     * p holds the first direction; else it is r. */
    void (*iterate)(tct_run *R);
    void (*with_precond)(tct_run *R); /* with M; NULL: iterate has both */
    /* Make R->own, or make it anew for other settings, and free it: what it
     * needs besides vectors. OPTIONAL: nothing */
    tacit_status (*open)(tct_run *R);
    void (*close)(tct_run *R);
    /* Do its looks stand for blocks of iterations? Then one right-hand side
     * comes after the other. */
    bool blocks;
} tct_method;

#define TCT_METHODS(X) \
    X(cg) X(single) X(pipelined) X(pipe_pr) X(flexible) X(sstep)
#define X(name) extern const tct_method tct_method_##name;
TCT_METHODS(X)
#undef X

#endif
