/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/tiling.h - how a block of a grid is cut into tiles. */
#ifndef TCT_STENCIL_TILING_H
#define TCT_STENCIL_TILING_H
#include "operator/stencil/block.h"
#include "operator/stencil/host_rows.h"

typedef struct tct_tiling {
    int depth;        /* steps of a visit, at most                         */
    int64_t size[3];  /* cells of a tile, but for the last in a direction  */
    int64_t tiles[3]; /* in each direction                                 */
    int64_t lead, pitch, height; /* of a tile's planes: cells before x = lo,
                                  * from row to row; rows                  */
    int group, planes; /* planes that are made at once, and that a level keeps;
                        * more than one at once in two dimensions */
    size_t bytes;      /* of the planes of all levels            */
} tct_tiling;

/* Tiles for visits of up to `depth` steps, by so many threads, whose planes
 * take `room` bytes if that can be; a cell takes `bytes`. With `flat` planes
 * are rows: several are made at once, of a width that the first cache keeps. */
void tct_tiling_choose(const tct_grid_block *b, size_t bytes, bool flat,
                       int depth, int threads, int64_t room, tct_tiling *out);
/* Half of the second cache. */
int64_t tct_tiling_room(void);

#endif
