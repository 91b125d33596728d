/* SPDX-License-Identifier: BSD-3-Clause
 * solver/solver.h - the state of a solver from run to run. */
#ifndef TCT_SOLVER_SOLVER_H
#define TCT_SOLVER_SOLVER_H
#include "solver/driver.h"
#include "solver/norms.h"

struct tacit_solver {
    const tct_driver *driver;
    tacit_stop wanted; /* for a run without a tacit_stop                  */
    bool running;
    size_t most_rows;      /* of any rank: sets the pace of all          */
    tacit_operator *own_M; /* made by the setting "precond", or by autotuning */
    struct tct_autotuning
        *race; /* the last autotuning; NULL: none             */
    struct tct_lockstep *lockstep; /* for several columns; NULL: one by one */
    int alone_columns; /* with so many, one by one was faster             */
    tct_run run;
    /* of the run */
    tct_system system;
    tct_restart_policy policy;
    tct_reduced low;
    tct_loop loop;
    tct_ritz ritz;
    tacit_operator *own_diagonal; /* of norm scaled */
};

/* While a run is under way, the solver, its operator and its preconditioner can
 * be neither freed nor changed. solver.c */
typedef struct {
    tct_use A, M;
} tct_solver_uses;
void tct_solver_begin(tacit_solver *S, tct_solver_uses *uses);
void tct_solver_end(tacit_solver *S, tct_solver_uses *uses);

/* Values of settings of the stop. settings_stop.c */
tacit_status tct_set_rtol(tacit_solver *S, const char *value);
tacit_status tct_set_atol(tacit_solver *S, const char *value);
tacit_status tct_set_max_iterations(tacit_solver *S, const char *value);
tacit_status tct_set_iterations(tacit_solver *S, const char *value);
tacit_status tct_set_norm(tacit_solver *S, const char *value);
tacit_status tct_set_relative_to(tacit_solver *S, const char *value);

/* Call before runs begin. solver.c */
void tct_begin_runs(tacit_solver *S);

/* Take the loop of that name; "auto": the fastest. drivers/choose.c */
tacit_status tct_choose_loop(tacit_solver *S, const char *name);
/* Change the driver, or reset the state of the current one. */
tacit_status tct_drive_by(tacit_solver *S, const tct_driver *driver);

#endif
