/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/values.h - numbers of a file in their order: .npy or plain text. */
#ifndef TCT_STENCIL_VALUES_H
#define TCT_STENCIL_VALUES_H
#include "io/npy.h"

/* The numbers that a file must hold. Extents are those of the array, the
 * slowest first. */
typedef struct tct_values_want {
    int dims;
    int64_t extent[TCT_NPY_DIMS];
    int64_t count; /* their product */
} tct_values_want;

enum { TCT_VALUES_BATCH = 1 << 15 };

/* Takes the next `count` values, TCT_VALUES_BATCH at most, the first of which has number `first`. */
typedef tacit_status tct_values_take(void *ctx, int64_t first, int64_t count,
                                     const double *values);

/* Read `path`, "-" is standard input, and give all values to `take`. An array
 * of one dimension needs no more than the number of values; others have the
 * extents. Values that are not finite are fine.
 * Errors      IO, INPUT, NO_MEMORY, those of `take`. */
tacit_status tct_values_read(const char *path, const tct_values_want *want,
                             tct_values_take *take, void *ctx);

#endif
