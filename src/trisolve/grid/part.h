/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/part.h - the part of a factor that one of Pz processes solves
 * with by itself: leaf z of the tree and what is above it, as a factor of its
 * own.
 *
 * Every row of a panel is in its tree node or above, so the part needs no row
 * of another one: L^z and U^z of "Unified communication optimization strategies
 * for sparse triangular solver on CPU and GPU clusters" (Liu et al., SC '23).
 * If b is divided among the parts, the sum of what they have for y is y. */
#ifndef TCT_TRISOLVE_GRID_PART_H
#define TCT_TRISOLVE_GRID_PART_H
#include "trisolve/gpu/solver.h"
#include "trisolve/grid/distribute_factor.h"
#include "trisolve/grid/plan.h"

typedef struct tct_factor_part {
    tacit_factor_panels P; /* the part: its rows follow one another as in the
                              factor; scalings are the factor's, borrowed     */
    int32_t *place;  /* [P.rows] the original row whose b this part begins with,
                         and whose x it gives; -1: that is another's          */
    int64_t *global; /* [P.rows] the original row of all                     */
    tct_shared_rows rows; /* which others have, too                           */
    void *own[10];        /* what is behind all of these                      */
} tct_factor_part;

/* Part `z` of the factor `d`, whose tree has the leaves of `S`.
 * Collective.  Errors as tct_factor_distribution_values, NO_MEMORY. */
tacit_status tct_factor_part_create(const tct_factor_distribution *d,
                                    const tct_pattern *S, int z,
                                    tct_factor_part *out);
void tct_factor_part_clear(tct_factor_part *s);

#endif
