/* SPDX-License-Identifier: BSD-3-Clause
 * solver/driver.h - who drives a method's text: the loops. One file and one row
 * in TCT_DRIVERS each. */
#ifndef TCT_SOLVER_DRIVER_H
#define TCT_SOLVER_DRIVER_H
#include "solver/run.h"

enum { TCT_REFUSAL = 320 }; /* of a sentence that says why not */

typedef struct tct_driver {
    tacit_loop about;
    tct_starter needs; /* who must be able to start messages */
    /* Can it drive R? If not, why, into `reason`, of TCT_REFUSAL.
     * OPTIONAL: yes */
    bool (*fits)(const tct_run *R, char *reason, size_t size);
    /* Make R->drive, and free it: what is kept from turn to turn, and from run
     * to run. OPTIONAL: nothing is */
    tacit_status (*open)(tct_run *R);
    void (*close)(tct_run *R);
    /* A turn of R->now. */
    void (*iterate)(tct_run *R);
    /* How it went: "while node, 10 iterations", into `text` [size]. OPTIONAL */
    void (*describe)(const tct_run *R, char *text, size_t size);
} tct_driver;

#define TCT_DRIVERS(X) X(host) X(graph) X(resident)
#define X(name)        extern const tct_driver tct_driver_##name;
TCT_DRIVERS(X)
#undef X

/* Iterate by the text of the method whose turn it is. */
static inline void tct_iterate(tct_run *R)
{
    const tct_method *now = R->now;
    if (R->M && now->with_precond) now->with_precond(R);
    else now->iterate(R);
}

/* --- drivers/host.c ------------------------------------------------------- */

/* The look of a device that runs behind the CPU. */
bool tct_check_lagged(tct_run *R);
/* Take the looks that are ahead but for `leave`, and judge them. True if the
 * turn has ended: R->k then is the iteration of the look that says so. */
bool tct_take_samples(tct_run *R, int leave);
/* A turn whose text looks by `look`. */
void tct_iterate_text(tct_run *R, bool (*look)(tct_run *R));

#endif
