/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/split.h - the split of a block of a grid: edges, the cells
 * that neighbours have as ghosts and those that read ghosts, and the inner
 * cells, which wait for no neighbour. */
#ifndef TCT_OPERATOR_STENCIL_SPLIT_H
#define TCT_OPERATOR_STENCIL_SPLIT_H
#include <stdbool.h>
#include <stdint.h>

/* The cells of a block with lo <= cell < hi in each direction. */
typedef struct tct_cell_box {
    int64_t lo[3], hi[3];
} tct_cell_box;

enum { TCT_EDGES_MOST = 6 };

typedef struct tct_block_split {
    int edges;
    tct_cell_box edge[TCT_EDGES_MOST];
    tct_cell_box inner; /* may be empty */
} tct_block_split;

/* Split a block of n[0] x n[1] x n[2] cells: each cell is in one box. Cells
 * less than low[d] from the low side of direction d, or high[d] from its high
 * side, are in edges; 0: no neighbour is there. Edges in direction 0 begin and
 * end at multiples of `unit` cells, or at the ends of rows. */
void tct_split_block(const int64_t n[3], const int64_t low[3],
                     const int64_t high[3], int64_t unit, tct_block_split *out);

bool tct_box_is_empty(const tct_cell_box *b);
/* Cells of a box. */
int64_t tct_box_cells(const tct_cell_box *b);

#endif
