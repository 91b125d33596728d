/* SPDX-License-Identifier: BSD-3-Clause
 * solver/method.h - what a method provides. Each has one file in methods/, a
 * table at its end, and one row in TCT_METHODS. */
#ifndef TCT_SOLVER_METHOD_H
#define TCT_SOLVER_METHOD_H
#include <tacit/solver.h>

typedef struct tct_run tct_run;

typedef struct tct_method {
    tacit_method about;
    /* Is alpha's denominator inferred from recurrences? Rounding alone may then
     * make it negative, and a higher precision does not help. */
    bool inferred;
    /* Can it go on from r and p with its other vectors formed anew? */
    bool renews;
    /* Is p at the end the last direction instead of the next one? */
    bool leaves_last;
    /* The method of the first about.first iterations; NULL: the method itself.
     * It needs no more vectors. */
    const struct tct_method *first;
    /* The method that takes over if the recurrences prove too inaccurate
     * (step_lost, step_pipe_pr, an inferred quantity, or b - A x). It needs no
     * more vectors. NULL: the method itself. */
    const struct tct_method *rescue;
    /* If b - A x does not meet the target: `distrusted`: the rescue takes over
     * even if the phase gained. `persists`: only after three phases without
     * gain. */
    bool distrusted, persists;
    /* Iterate from R->x until tct_done, with r = b - A x in v[V_R] and its (r,
     * r), summed, in c[C_RR]. A direction is left in p, v[V_P]. If R->resumed,
     * p holds the first direction; else r is. */
    void (*iterate)(tct_run *R);
    void (*with_precond)(tct_run *R); /* with M; NULL: iterate has both */
    /* Make R->own, its data besides vectors, or renew it for other settings;
     * and free it. OPTIONAL: nothing */
    tacit_status (*open)(tct_run *R);
    void (*close)(tct_run *R);
    /* Has a check the alpha of the last iteration in the block of scalars, with
     * its beta (BETA_OF_IT), or with that of the one before? */
    enum { NO_LANCZOS, BETA_OF_IT, BETA_BEFORE } lanczos;
    /* Does one check stand for a block of iterations? Right-hand sides are then
     * solved one by one. */
    bool blocks;
} tct_method;

#define TCT_METHODS(X) \
    X(cg) X(single) X(pipelined) X(pipe_pr) X(flexible) X(sstep) X(minres)
#define X(name) extern const tct_method tct_method_##name;
TCT_METHODS(X)
#undef X

#endif
