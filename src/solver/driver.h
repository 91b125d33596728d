/* SPDX-License-Identifier: BSD-3-Clause
 * solver/driver.h - the drivers: each runs the phases of a method in a kind of
 * loop (loop/loop.h). Each has one file and one row in TCT_DRIVERS. */
#ifndef TCT_SOLVER_DRIVER_H
#define TCT_SOLVER_DRIVER_H
#include "solver/run.h"

enum { TCT_REFUSAL = 640 }; /* bytes of a reason */

typedef struct tct_driver {
    tacit_loop about;
    const tct_loop_kind *kind;
    /* Can it drive R? If not, the reason goes into `reason` [TCT_REFUSAL].
     * OPTIONAL: yes */
    bool (*fits)(const tct_run *R, char *reason, size_t size);
    /* Make R->drive, which is kept over phases and runs, and free it. OPTIONAL:
     * nothing */
    tacit_status (*open)(tct_run *R);
    void (*close)(tct_run *R);
    /* One phase of R->policy->now. */
    void (*iterate)(tct_run *R);
    /* Its form: "while node, 10 iterations", into `text` [size]. OPTIONAL */
    void (*describe)(const tct_run *R, char *text, size_t size);
} tct_driver;

#define TCT_DRIVERS(X) X(host) X(graph) X(resident)
#define X(name)        extern const tct_driver tct_driver_##name;
TCT_DRIVERS(X)
#undef X

/* Run the iterate function of the current method. */
static inline void tct_iterate(tct_run *R)
{
    const tct_method *now = R->policy->now;
    if (R->M && now->with_precond) now->with_precond(R);
    else now->iterate(R);
}

/* --- drivers/host.c ------------------------------------------------------- */

/* The members of an iteration that is the method's text. */
bool tct_iterate_text(void *run);
tct_verdict tct_check_run(void *run, int64_t k, const tct_sample *c);
/* R->loop for a phase of R. */
tct_loop *tct_loop_of_phase(tct_run *R, const tct_iteration *I);

#endif
