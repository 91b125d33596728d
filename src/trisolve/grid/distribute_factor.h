/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/distribute_factor.h - a factor for the ranks of a world: each
 * gets its pattern, and of its values what is handed to a function piece by
 * piece. */
#ifndef TCT_TRISOLVE_GRID_DISTRIBUTE_FACTOR_H
#define TCT_TRISOLVE_GRID_DISTRIBUTE_FACTOR_H
#include "comm/world/world.h"
#include "factor/factor.h"

typedef struct tct_factor_distribution {
    tacit_world *world;
    bool each;             /* rank has it; only rank 0 does        */
    tacit_factor_panels P; /* arrays of values: NULL, but where it is */
    void *got[11];         /* what this rank has got, or NULL      */
} tct_factor_distribution;

/* The pattern of `panels`, NULL on ranks that are to get it, on all.
 * Collective.  Errors as tacit_factor_check, INVALID, NO_MEMORY, COMM. */
tacit_status tct_factor_distribution_open(tacit_world *world,
                                          const tacit_factor_panels *panels,
                                          tct_factor_distribution *out);
void tct_factor_distribution_close(tct_factor_distribution *d);

/* Take panels [from, end): `value` and `upper` (NULL: there is none) begin with
 * those of the first. */
typedef void tct_factor_distribution_function(void *ctx, int32_t from,
                                              int32_t end, const double *value,
                                              const double *upper);
/* All values, in pieces that follow one another. Collective.  Errors NO_MEMORY, COMM. */
tacit_status
tct_factor_distribution_values(const tct_factor_distribution *d,
                               tct_factor_distribution_function *take,
                               void *ctx);

#endif
