/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/distribute_factor.h - distributes a factor to the ranks of a
 * world: each receives the pattern, and the values piece by piece, through a
 * callback. */
#ifndef TCT_TRISOLVE_GRID_DISTRIBUTE_FACTOR_H
#define TCT_TRISOLVE_GRID_DISTRIBUTE_FACTOR_H
#include "comm/world/world.h"
#include "factor/factor.h"

typedef struct tct_factor_distribution {
    tacit_world *world;
    bool each;             /* all ranks have it; else rank 0 */
    tacit_factor_panels P; /* value arrays are NULL on ranks without it */
    void *got[12];         /* arrays that this rank received, or NULL */
} tct_factor_distribution;

/* Broadcast the pattern of `panels`, NULL on ranks that are to receive it.
 * Collective.  Errors as tacit_factor_check, INVALID, NO_MEMORY, COMM. */
tacit_status tct_factor_distribution_open(tacit_world *world,
                                          const tacit_factor_panels *panels,
                                          tct_factor_distribution *out);
void tct_factor_distribution_close(tct_factor_distribution *d);

/* Receives panels [from, end): `value` and `upper` (or NULL) begin with the
 * first one's. */
typedef void tct_factor_distribution_function(void *ctx, int32_t from,
                                              int32_t end, const double *value,
                                              const double *upper);
/* Broadcast all values in consecutive pieces.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status
tct_factor_distribution_values(const tct_factor_distribution *d,
                               tct_factor_distribution_function *take,
                               void *ctx);

#endif
