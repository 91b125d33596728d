/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/sweep.h - visits of tiles on the host: a thread takes a tile and
 * makes `depth` steps of it while its rows are in the cache.
 *
 * A visit goes from one buffer of the field to the other. A tile owns the cells
 * [lo, hi) in each direction. Level l is its state after l steps: that of
 * [lo - (depth - l), hi + (depth - l)), so that cells at a border are computed
 * by each tile that needs them, all from the same values in the same order.
 * Planes stream through the levels: after plane z + 1 of level l - 1 comes
 * plane z of level l, so that a level keeps three planes. Where a direction is
 * periodic a tile counts on past the end of the grid, and wraps when it reads
 * the field. */
#ifndef TCT_STENCIL_SWEEP_H
#define TCT_STENCIL_SWEEP_H
#include "operator/stencil/split.h"
#include "stencil/field.h"
#include "stencil/tiling.h"

typedef struct tct_tile_sweep tct_tile_sweep;

/* Tiles of `field` for visits of up to `depth` steps. Borrows the field.
 * Errors      NO_MEMORY. */
tacit_status tct_sweep_create(tacit_field *field, int depth,
                              tct_tile_sweep **out);
void tct_sweep_destroy(tct_tile_sweep **sweep);
const tct_tiling *tct_sweep_tiling(const tct_tile_sweep *sweep);

/* Make `depth` steps. `changes` [rows][blocks], or NULL: of each row's blocks
 * the sum of squares of the last step's change. */
void tct_sweep_visit(tct_tile_sweep *sweep, int depth, double *changes);
/* The same of the cells of a box, without the exchange of the buffers: with
 * others it covers the block. A box with `changes` begins and ends in direction
 * 0 at multiples of TCT_CHANGE_BLOCK. */
void tct_sweep_box(tct_tile_sweep *sweep, int depth, const tct_cell_box *box,
                   double *changes);

int tct_sweep_threads(const tct_tile_sweep *sweep);
/* Bytes to and from memory of a step, predicted. */
double tct_sweep_bytes(const tct_tile_sweep *sweep);

#endif
