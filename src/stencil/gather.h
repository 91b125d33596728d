/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/gather.h - rows of the grid on rank 0, and values of rank 0 on all:
 * some at a time, whatever the size of the grid. */
#ifndef TCT_STENCIL_GATHER_H
#define TCT_STENCIL_GATHER_H
#include "stencil/field.h"
#include "stencil/values.h"

typedef struct tct_row_gather tct_row_gather;

/* For up to `most` rows at a time. Borrows the field, whose values the host
 * has. Collective.
 * Errors      NO_MEMORY, on all ranks. */
tacit_status tct_row_gather_create(const tacit_field *f, int64_t most,
                                   tct_row_gather **out);
void tct_row_gather_destroy(tct_row_gather **gather);

/* Rows [first, first + count) of the grid, in the order of y, then z; `*rows`
 * has them on rank 0, without gaps, until the next call. Collective.
 * Errors      COMM. */
tacit_status tct_row_gather_next(tct_row_gather *gather, int64_t first,
                                 int64_t count, const char **rows);

/* tct_values_read by rank 0, which gives all values to `take` of all ranks.
 * Collective.
 * Errors      IO, INPUT, NO_MEMORY, those of `take`, on all ranks. */
tacit_status tct_values_bcast(tacit_world *w, const char *path,
                              const tct_values_want *want,
                              tct_values_take *take, void *ctx);

#endif
