/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/rule.h - the Game of Life on a block of a torus, one text
 * for the CPU and for kernels: cells as doubles of 0 and 1 with a frame of
 * ghosts, boxes of cells that go to the eight neighbours.
 *
 * Direction d, of 0 to 8, is (d % 3 - 1, d / 3 - 1); 4 is the block itself, and
 * 8 - d the opposite one. */
#ifndef TCT_CLI_COMMANDS_LIFE_RULE_H
#define TCT_CLI_COMMANDS_LIFE_RULE_H
#include <stdint.h>

#ifdef __CUDACC__
#define LIFE_BOTH static __host__ __device__ inline
#else
#define LIFE_BOTH static inline
#endif

enum { LIFE_DIRECTIONS = 9, LIFE_SELF = 4, LIFE_TILE = 8, LIFE_PAD = 16 };

typedef struct life_block {
    int64_t n;              /* the field is n x n                         */
    int64_t nx, ny, x0, y0; /* cells of the block, and its first one      */
    int64_t pitch;          /* cells from row to row, ghosts included     */
} life_block;

/* The cell in its array: a row begins LIFE_PAD cells after its first ghost's
 * place, so that rows are aligned. */
LIFE_BOTH int64_t life_at(const life_block *b, int64_t x, int64_t y)
{
    return (y + 1) * b->pitch + LIFE_PAD + x;
}

/* The next state of a cell; `all` is the sum of the nine cells. */
LIFE_BOTH double life_next(double cell, double all)
{
    return all == 3.0 || all - cell == 3.0 ? 1.0 : 0.0;
}

/* A cell of the pattern that repeats: bit (y % 8) 8 + x % 8. */
LIFE_BOTH double life_tile_cell(uint64_t tile, int64_t x, int64_t y)
{
    return (double)(tile >> (y % LIFE_TILE * LIFE_TILE + x % LIFE_TILE) & 1);
}

/* --- messages ------------------------------------------------------------- */

LIFE_BOTH int64_t life_wide(const life_block *b, int d)
{
    return d % 3 == 1 ? b->nx : 1;
}

LIFE_BOTH int64_t life_high(const life_block *b, int d)
{
    return d / 3 == 1 ? b->ny : 1;
}

/* Cells of a message, and where it begins among those of all directions, at a
 * multiple of 16 bytes. */
LIFE_BOTH int64_t life_cells(const life_block *b, int d)
{
    return d == LIFE_SELF ? 0 : life_wide(b, d) * life_high(b, d);
}

LIFE_BOTH int64_t life_first(const life_block *b, int d)
{
    int64_t first = 0;
    for (int k = 0; k < d; k++) first += (life_cells(b, k) + 1) / 2 * 2;
    return first;
}

/* Cell `i` of the message in direction d: its place in the field, or in the
 * ghosts that a message from there fills. */
LIFE_BOTH int64_t life_place(const life_block *b, int d, int64_t i, int ghosts)
{
    const int64_t wide = life_wide(b, d), row = i / wide;
    const int64_t right = ghosts ? b->nx : b->nx - 1, left = ghosts ? -1 : 0;
    const int64_t down = ghosts ? b->ny : b->ny - 1, up = ghosts ? -1 : 0;
    const int64_t x = d % 3 == 0 ? left : d % 3 == 2 ? right : i - row * wide;
    const int64_t y = d / 3 == 0 ? up : d / 3 == 2 ? down : row;
    return life_at(b, x, y);
}

#endif
