/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.h - what stays from run to run. */
#ifndef TCT_SOLVER_SOLVER_H
#define TCT_SOLVER_SOLVER_H
#include "solver/driver.h"

struct tacit_solver {
    const tct_driver *driver;
    tacit_stop wanted; /* of a run without a tacit_stop                   */
    bool running;
    size_t most_rows;      /* of a rank: what paces all                  */
    tacit_operator *own_M; /* made by the setting "precond", or by a race */
    struct tct_autotuning
        *race; /* the last one; NULL: there was none          */
    struct tct_lockstep *lockstep; /* for columns; NULL: one after the other */
    int alone_columns; /* with so many, one after the other was faster    */
    tct_run run;
};

/* From begin to end a run is under way: the solver, its operator and
 * preconditioner can be neither freed nor changed. solver.c */
typedef struct {
    tct_use A, M;
} tct_solver_uses;
void tct_solver_begin(tacit_solver *S, tct_solver_uses *uses);
void tct_solver_end(tacit_solver *S, tct_solver_uses *uses);

/* Before runs begin. solver.c */
void tct_begin_runs(tacit_solver *S);

/* Take the loop of that name; "auto": the fastest. drivers/choose.c */
tacit_status tct_choose_loop(tacit_solver *S, const char *name);
/* Another driver, or the same without what it kept. */
tacit_status tct_drive_by(tacit_solver *S, const tct_driver *driver);

#endif
