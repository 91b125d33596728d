/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/part.h - the part of a factor with which one of Pz processes
 * solves alone: leaf z of the tree and the nodes above it, as a factor.
 *
 * Every row of a panel is in its tree node or above, so a part needs no rows of
 * others: L^z and U^z of "Unified communication optimization strategies for
 * sparse triangular solver on CPU and GPU clusters" (Liu et al., SC '23). If b
 * is divided among the parts, y is the sum of their y. */
#ifndef TCT_TRISOLVE_GRID_PART_H
#define TCT_TRISOLVE_GRID_PART_H
#include "trisolve/gpu/solver.h"
#include "trisolve/grid/distribute_factor.h"
#include "trisolve/grid/plan.h"

typedef struct tct_factor_part {
    tacit_factor_panels P; /* rows in the factor's order; scalings and
                            * `row_order` borrowed from the factor */
    int32_t *place;  /* [P.rows] original row whose b and x are this part's; -1:
                      * another part's */
    int64_t *global; /* [P.rows] original row */
    tct_shared_rows rows; /* shared with other parts */
    void *own[11];        /* the arrays of all members */
} tct_factor_part;

/* Create part `z` of the factor `d`, whose tree has the leaves of `S`.
 * Collective.  Errors as tct_factor_distribution_values, NO_MEMORY. */
tacit_status tct_factor_part_create(const tct_factor_distribution *d,
                                    const tct_pattern *S, int z,
                                    tct_factor_part *out);
void tct_factor_part_clear(tct_factor_part *s);

#endif
