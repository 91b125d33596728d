/* SPDX-License-Identifier: BSD-3-Clause
 * solver/singular.h - systems with a known null space. Without one the functions
 * change nothing. */
#ifndef TCT_SOLVER_SINGULAR_H
#define TCT_SOLVER_SINGULAR_H
#include "solver/run.h"

/* Room for copies of b and x: P b, or in another order. Errors NO_MEMORY. */
tacit_status tct_singular_open(tct_run *R);
/* With null vectors the part of r along them would grow below rounding: each
 * phase ends near it, and the next begins from a residual without that part. */
static inline bool tct_begins_again(const tct_run *R)
{
    return R->system->exact->null && !R->pure;
}
/* b = P b, in own_b, and the first guess x = P x. Collective. */
tacit_status tct_singular_enter(tct_run *R);
/* The Euclidean target `wanted`, less the part of b that no x takes away. */
double tct_singular_target(const tct_run *R, double wanted);
/* The solve has ended: x = P x, while it is scaled. Collective. */
tacit_status tct_singular_leave(tct_run *R);
/* The result says what was projected; it is not solved if b was outside the
 * range of A. */
void tct_singular_judge(tct_run *R);

#endif
