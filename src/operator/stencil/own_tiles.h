/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/own_tiles.h - how the block of a rank is cut among blocks of
 * threads that stay for many steps, each with a tile of its own, and which of
 * them wait for each other.
 *
 * A visit of `reach` steps reads the tile and `reach` cells around it. Tile a
 * waits for tile b before visit m if b has cells that a reads, and b then waits
 * for a: this is symmetric. A flag for each tile counts its visits. With two
 * buffers, of which a visit reads one and writes the other, nothing is written
 * before it has been read: who writes a buffer in visit m + 1 has seen that all
 * that read it in visit m - 1 have finished visit m.
 *
 * Tiles of boundary layers come first. So do those of the paper: TB x boundary
 * / (inner + 2 boundary) blocks of threads for each layer. */
#ifndef TCT_OPERATOR_STENCIL_OWN_TILES_H
#define TCT_OPERATOR_STENCIL_OWN_TILES_H
#include "halo/put.h"
#include "operator/stencil/block.h"

/* Words from a flag to the next: two lines of a cache. */
enum { TCT_FLAG_WORDS = 16, TCT_LAYERS_MOST = 6 };

typedef struct tct_box {
    int lo[3], hi[3]; /* cells [lo, hi) */
} tct_box;

typedef struct tct_own_tiles {
    int count;
    int layers;          /* boundary layers                              */
    int of_layers;       /* tiles that these have, the first ones        */
    int of_layer;        /* ... the largest number of one                */
    double formula;      /* that the paper's formula gives, of the same  */
    tct_box *box;        /* [count]                                      */
    int *first, *others; /* those that tile t waits for, itself among
                          * them: others[first[t] .. first[t + 1])       */
} tct_own_tiles;

/* Up to `tiles` tiles for visits of one step. Layers of one cell at each side
 * that has a neighbour have tiles of their own, `of_layer` or, if it is 0, as
 * many as the formula says, at least 1 and at most (tiles - 1) / layers; if it
 * is negative, layers belong to the tiles around. Else with `apart` the first and the last plane of direction 2 are such layers in any
 * case.
 * Errors      NO_MEMORY. */
tacit_status tct_own_layers(const tct_grid_block *b, int tiles, int of_layer,
                            bool apart, tct_own_tiles *out);

/* Up to `tiles` tiles for visits of `reach` steps, cut in all directions.
 * Errors      NO_MEMORY. */
tacit_status tct_own_blocks(const tct_grid_block *b, int tiles, int reach,
                            tct_own_tiles *out);

/* Up to `tiles` tiles for visits of `reach` steps, cut in directions 0 and 2:
 * as many as there can be that have at most width - 2 reach columns.
 * Errors      NO_MEMORY, UNSUPPORTED (no column is left). */
tacit_status tct_own_columns(const tct_grid_block *b, int tiles, int width,
                             int reach, tct_own_tiles *out);

/* Up to `tiles` tiles of whole rows for visits of one step, cut in directions
 * 1 and 2. A tile has at most `most` rows of a plane, which `groups` warps
 * share.
 * Errors      NO_MEMORY, UNSUPPORTED (rows are too many). */
tacit_status tct_own_planes(const tct_grid_block *b, int tiles, int most,
                            int groups, tct_own_tiles *out);

/* Up to `tiles` tiles of a grid of two dimensions for visits of `reach` steps,
 * cut so that the largest room, a tile and `reach` cells around it, has the
 * fewest cells, in at most `widest` columns.
 * Errors      NO_MEMORY, UNSUPPORTED (columns are too many). */
tacit_status tct_own_rooms(const tct_grid_block *b, int tiles, int reach,
                           int widest, tct_own_tiles *out);
/* The cells of that room, of a block of nx columns; -1: there is none. `count`:
 * tiles in each direction, or NULL. */
int64_t tct_own_room(int64_t nx, int64_t nz, int tiles, int reach, int widest,
                     int count[3]);

/* Tiles at a block's sides. They store cells into the neighbours' ghosts, and
 * wait in visit m for exchange e + m, where e has brought the ghosts of the
 * first visit. A neighbour is told of exchange e + m + 1 when all tiles at its
 * side have finished visit m: they then read the ghosts of exchange e + m no
 * more. Tickets count them, in turn for even and odd visits, since a tile may be
 * a visit ahead of one that is far from it. */
typedef struct tct_own_sides {
    int count;          /* neighbours                                    */
    tct_halo_put *put;  /* [count] cells that visits of this depth need  */
    int *first, *sides; /* of tile t: sides[first[t] .. first[t + 1])    */
    int *parts;         /* [count] tiles at each                         */
} tct_own_sides;

/* `puts` of a halo whose rows begin `x` cells before x = 0.
 * Errors      NO_MEMORY. */
tacit_status tct_own_find_sides(const tct_own_tiles *t, int count,
                                const tct_halo_put *puts, int x, int reach,
                                tct_own_sides *out);
void tct_own_sides_free(tct_own_sides *s);

/* The most cells that a tile has in direction `d`. */
int tct_own_most(const tct_own_tiles *t, int d);
void tct_own_tiles_free(tct_own_tiles *t);

#endif
