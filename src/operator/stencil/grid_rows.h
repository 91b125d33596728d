/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/grid_rows.h - rows of a matrix that are cells of a grid, all
 * with one stencil of constant coefficients: where the neighbours of a row are,
 * one text for host and device.
 *
 * A rank has consecutive cells of the grid, numbered row by row, or all cells
 * of a box. Cells outside the grid are 0. Cells of other ranks are in the ghost
 * block: here they are missing, like those outside.
 *
 * The 27 points around a cell are numbered 3 r + dx + 1, where r = 3 (dz + 1) +
 * (dy + 1) is a line of cells, as in stencil.h. Columns of a row ascend with
 * this number. */
#ifndef TCT_OPERATOR_STENCIL_GRID_ROWS_H
#define TCT_OPERATOR_STENCIL_GRID_ROWS_H
#include "device/steps.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    TCT_GRID_LINES = 9,   /* around a cell, itself in line 4 */
    TCT_GRID_POINTS = 27, /* the cell itself is point 13     */
    TCT_GRID_STAR = 7     /* of these in a star              */
};

/* For quotients of numbers below 2^31 without a division. */
typedef struct tct_divisor {
    uint32_t times, shift;
} tct_divisor;

typedef struct tct_grid_rows {
    int32_t n[2];    /* cells of a line, lines of a plane             */
    int32_t from[2]; /* x and y of row 0                              */
    int32_t rows;
    int32_t step[TCT_GRID_LINES]; /* from a row to that of line r; if it is
                                   * beyond all rows, about 2^31 */
    tct_divisor by[2];            /* of n */
    bool box;  /* all points of lines; else those of a star         */
    bool flat; /* one plane: lines 3 to 5 only */
    double k[TCT_GRID_POINTS]; /* coefficients */
} tct_grid_rows;

TCT_BOTH int32_t tct_quotient(int32_t number, tct_divisor d)
{
    const uint32_t n = (uint32_t)number;
    const uint32_t high = (uint32_t)((uint64_t)n * d.times >> 32);
    return (int32_t)((high + n) >> d.shift);
}

/* Which neighbours of a row along x and y are in the grid. */
typedef struct tct_grid_cell {
    int32_t row;
    bool west, east, north, south;
} tct_grid_cell;

TCT_BOTH tct_grid_cell tct_grid_cell_of(const tct_grid_rows *g, int32_t row)
{
    const int32_t at = g->from[0] + row, line = tct_quotient(at, g->by[0]);
    const int32_t x = at - line * g->n[0], y_of_all = g->from[1] + line;
    const int32_t y = y_of_all - tct_quotient(y_of_all, g->by[1]) * g->n[1];
    tct_grid_cell c;
    c.row = row;
    c.west = x > 0;
    c.east = x < g->n[0] - 1;
    c.north = y > 0;
    c.south = y < g->n[1] - 1;
    return c;
}

/* The row of the neighbour in line r, at x + dx; < 0: there is none. A cell
 * below the first plane or above the last one has no row either: with x and y
 * in the grid, its number is outside those of the rows. */
TCT_BOTH int32_t tct_grid_neighbour(const tct_grid_rows *g, tct_grid_cell c,
                                    int r, int dx)
{
    const uint32_t at = (uint32_t)c.row + (uint32_t)g->step[r] + (uint32_t)dx;
    const int dy = r % 3 - 1;
    const bool x = dx == 0 || (dx < 0 ? c.west : c.east);
    const bool y = dy == 0 || (dy < 0 ? c.north : c.south);
    return x && y && at < (uint32_t)g->rows ? (int32_t)at : -1;
}

/* Point i of a star: 4, 10, 12, 13, 14, 16, 22. */
TCT_BOTH int tct_star_point(int i)
{
    return i == 0 ? 4 : i == 1 ? 10 : i == 5 ? 16 : i == 6 ? 22 : 10 + i;
}

#endif
