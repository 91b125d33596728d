/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/block.h - the block of a grid that a rank has, and how its
 * buffers hold it.
 *
 * A grid is cut into count[0] x count[1] x count[2] blocks; those of a rank's
 * place have numbers as cells have, along direction 0 first. A direction of
 * more than one block is divided: the buffers hold `ghost` cells more on each
 * side, those of the neighbours. Cells are numbered from the block's first, so
 * that ghosts are below 0 or from n on. Beyond an end of the grid ghosts are
 * stored too, and are the boundary value for ever.
 *
 * Cells [low, high) can be read as they are. Others are copies of the block's
 * other end where the direction closes, and else the boundary value at all
 * levels. A direction closes if it is periodic and not divided. */
#ifndef TCT_OPERATOR_STENCIL_BLOCK_H
#define TCT_OPERATOR_STENCIL_BLOCK_H
#include "operator/stencil/stencil.h"

typedef struct tct_grid_block {
    int64_t grid[3];         /* cells of the whole grid                   */
    int64_t first[3];        /* the block's first cell in the grid        */
    int64_t n[3];            /* cells of the block                        */
    int64_t cells;           /* ... in all                                */
    int count[3], place[3];  /* blocks of the grid, this one's number     */
    int64_t ghost[3];        /* cells on each side, 0: not divided        */
    int64_t low[3], high[3]; /* cells that can be read as they are        */
    bool closes[3];          /* others wrap                               */
    int64_t pitch, plane;    /* cells from row to row, from plane to plane */
    int64_t origin;          /* cells of a buffer before cell (0, 0, 0)   */
    int64_t stored;          /* cells of a buffer; INT64_MAX: too many    */
} tct_grid_block;

/* Cut the grid of `s` for so many ranks: slabs along direction 2 if they have
 * 4 * depth planes each, else the blocks with the fewest ghosts of that width,
 * which no block may be narrower than. If there are none, half the depth is
 * tried; slabs if there are none of depth 1. */
void tct_block_divide(const tct_grid_stencil *s, int ranks, int64_t depth,
                      int count[3]);

/* The block of `rank`, whose buffers have `ghost` cells at each side of a
 * divided direction. */
void tct_block_make(const tct_grid_stencil *s, const int count[3], int rank,
                    int64_t ghost, tct_grid_block *out);

/* A host's rows of floats of three dimensions, as near one another as lines of a
 * cache allow: prefetchers fetch what is between rows, too. Doubles gain nothing
 * by measuring. Ghosts at the end of a row
 * are followed by those at the begin of the next. A halo that takes rows with
 * both of their ghosts keeps them apart. */
void tct_block_pack(const tct_grid_stencil *s, tct_grid_block *b);

/* The fewest cells that any block has along direction `d`. */
int64_t tct_block_narrowest(const tct_grid_block *b, int d);

static inline bool tct_block_is_divided(const tct_grid_block *b)
{
    return b->count[0] > 1 || b->count[1] > 1 || b->count[2] > 1;
}

/* Cells of a buffer before cell (x, y, z). */
static inline int64_t tct_block_at(const tct_grid_block *b, int64_t z,
                                   int64_t y, int64_t x)
{
    return b->origin + z * b->plane + y * b->pitch + x;
}

/* Row `row` of the block, without ghosts, in the order of y, then z. */
static inline int64_t tct_block_row(const tct_grid_block *b, int64_t row)
{
    return tct_block_at(b, row / b->n[1], row % b->n[1], 0);
}

static inline int64_t tct_block_rows(const tct_grid_block *b)
{
    return b->n[1] * b->n[2];
}

/* Cell `i` of direction `d` has a value of the grid. */
static inline bool tct_block_has(const tct_grid_block *b, int d, int64_t i)
{
    return b->closes[d] || (i >= b->low[d] && i < b->high[d]);
}

/* Where such a cell is stored. */
static inline int64_t tct_block_wrap(const tct_grid_block *b, int d, int64_t i)
{
    if (!b->closes[d] || (i >= 0 && i < b->n[d])) return i;
    const int64_t rest = i % b->n[d];
    return rest < 0 ? rest + b->n[d] : rest;
}

#endif
