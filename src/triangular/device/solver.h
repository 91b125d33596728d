/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/solver.h - solves on a GPU, for those inside the library: the parts of
 * tacit_factor_solver. */
#ifndef TCT_TRIANGULAR_SOLVER_H
#define TCT_TRIANGULAR_SOLVER_H
#include "triangular/device/nodes.h"
#include <tacit/factor.h>

/* As tacit_factor_solver_create; row k of the factor is row place[k] of B and X,
 * NULL: its original one. */
tacit_status tct_factor_solver_new(tacit_queue *q, const tacit_factor_panels *P,
                                   const int32_t *place,
                                   const tacit_factor_solver_options *options,
                                   tacit_factor_solver **out);
/* As tacit_factor_solver_run, but only the passes TCT_DOWN, which leaves its result
 * in the solver, or TCT_UP, which begins with that; of as many columns as fit at
 * once. */
tacit_status tct_factor_solver_pass(tacit_factor_solver *S, unsigned passes,
                                    int columns, const double *B, size_t ldb,
                                    double *X, size_t ldx);

#endif
