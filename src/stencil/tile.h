/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/tile.h - the visit of one tile by one thread; sweep.h has the
 * terms. */
#ifndef TCT_STENCIL_TILE_H
#define TCT_STENCIL_TILE_H
#include "stencil/field.h"
#include "stencil/tiling.h"

typedef struct tct_tile {
    const tacit_field *field;
    const tct_tiling *tiling;
    int depth;            /* steps of this visit                 */
    int64_t lo[3], hi[3]; /* cells that the tile owns            */
    char *planes;         /* [levels][planes][rows][pitch]       */
    char *scratch;        /* [tct_tile_scratch()]                */
    double *changes;      /* of the whole grid, or NULL          */
    bool wraps;           /* in x: level 0 is a copy of its own  */
} tct_tile;

/* Bytes of a piece of a row that is streamed to memory. */
size_t tct_tile_scratch(void);

/* Read [lo, hi) and what is around it from the field's buffer `now`, make the
 * steps, and write [lo, hi) to the other buffer. */
void tct_tile_visit(tct_tile *t);

#endif
