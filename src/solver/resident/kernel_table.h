/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/kernel_table.h - which kernels the persistent loop has: of
 * each method a row for each block size, store and walk of a sliced matrix.
 *
 * Each kernel takes about two seconds to compile and 60 KB of the program, so a
 * row has to earn them: it is what format `auto` chooses for matrices that were
 * measured (docs/performance/gpu.md), or what keeps a method usable with a format.
 *
 * A walk is an optimisation, not a property of the data: GPU_RUNS takes slices
 * that are joined, and GPU_ANY takes all slices, with the same bits. So where a
 * table has no row of a walk, the kernel of the next more general one is taken,
 * and each store that a table has it has with GPU_ANY. Where it has no row of a
 * block size and store the loop refuses the matrix, and says which it has.
 * GPU_GRID, of format stencil, stands for itself: no other kernel takes it. */
#ifndef TCT_SOLVER_RESIDENT_KERNEL_TABLE_H
#define TCT_SOLVER_RESIDENT_KERNEL_TABLE_H
#include "base/constant.h"
#include "operator/layout/layout.h"

/* The solves that a kernel is for: on one GPU or several, with a
 * preconditioner, which is a diagonal, or without. */
enum {
    TCT_ALONE = 1,
    TCT_ALONE_DIAGONAL = 2,
    TCT_PEERED = 4,
    TCT_PEERED_DIAGONAL = 8,
    TCT_ON_ONE_GPU = TCT_ALONE | TCT_ALONE_DIAGONAL,
    TCT_EVERYWHERE = TCT_ON_ONE_GPU | TCT_PEERED | TCT_PEERED_DIAGONAL
};
/* Of cg with ic0, on one GPU: whether the rows of its factor are nodes. */
enum { TCT_FACTOR_ROWS = 1, TCT_FACTOR_NODES = 2, TCT_FACTOR_BOTH = 3 };

typedef struct tct_kernel_row {
    int b, store, walk, solves;
} tct_kernel_row;

/* The rescue of a method continues in the same loop: single has what pipe-pr
 * and sstep have, and cg what single has. Stores of low precision are for
 * --precision mixed and mixed48. */
TCT_CONSTANT tct_kernel_row tct_cg_table[] = {
    {1, GPU_F64, GPU_ANY, TCT_EVERYWHERE},
    {1, GPU_F64, GPU_RUNS, TCT_ON_ONE_GPU | TCT_PEERED},
    {1, GPU_DICT8, GPU_ANY, TCT_EVERYWHERE},
    {1, GPU_DICT8, GPU_RUNS, TCT_ON_ONE_GPU},
    {1, GPU_DICT8, GPU_JOINED, TCT_ALONE | TCT_PEERED},
    {1, GPU_F32, GPU_ANY, TCT_ON_ONE_GPU},
    {1, GPU_F48, GPU_ANY, TCT_ALONE},
    {1, GPU_DICT16, GPU_ANY, TCT_ALONE},
    {1, GPU_F64, GPU_GRID, TCT_EVERYWHERE},
    {2, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
    {3, GPU_F64, GPU_ANY, TCT_EVERYWHERE},
    {3, GPU_DICT8, GPU_ANY, TCT_ALONE | TCT_PEERED},
    {3, GPU_F32, GPU_ANY, TCT_ALONE},
    {3, GPU_F48, GPU_ANY, TCT_ALONE},
    {4, GPU_F64, GPU_ANY, TCT_ALONE},
    {5, GPU_F64, GPU_ANY, TCT_ALONE},
    {6, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
};

TCT_CONSTANT tct_kernel_row tct_single_table[] = {
    {1, GPU_F64, GPU_ANY, TCT_EVERYWHERE},
    {1, GPU_F64, GPU_RUNS, TCT_ALONE},
    {1, GPU_DICT8, GPU_ANY, TCT_ON_ONE_GPU | TCT_PEERED},
    {1, GPU_DICT8, GPU_JOINED, TCT_ALONE | TCT_PEERED},
    {1, GPU_F64, GPU_GRID, TCT_EVERYWHERE},
    {2, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
    {3, GPU_F64, GPU_ANY, TCT_EVERYWHERE},
    {3, GPU_DICT8, GPU_ANY, TCT_ALONE | TCT_PEERED},
    {6, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
};

TCT_CONSTANT tct_kernel_row tct_pipe_pr_table[] = {
    {1, GPU_F64, GPU_ANY, TCT_EVERYWHERE},
    {1, GPU_F64, GPU_RUNS, TCT_ALONE | TCT_PEERED},
    {1, GPU_DICT8, GPU_ANY, TCT_ALONE | TCT_PEERED},
    {1, GPU_DICT8, GPU_JOINED, TCT_ALONE | TCT_PEERED},
    {1, GPU_F64, GPU_GRID, TCT_EVERYWHERE},
    {2, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
    {3, GPU_F64, GPU_ANY, TCT_EVERYWHERE},
    {3, GPU_DICT8, GPU_ANY, TCT_ALONE | TCT_PEERED},
    {6, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
};

TCT_CONSTANT tct_kernel_row tct_sstep_table[] = {
    {1, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
    {1, GPU_F64, GPU_RUNS, TCT_ALONE},
    {1, GPU_DICT8, GPU_ANY, TCT_ON_ONE_GPU},
    {1, GPU_DICT8, GPU_RUNS, TCT_ALONE},
    {1, GPU_DICT8, GPU_JOINED, TCT_ALONE},
    {1, GPU_F64, GPU_GRID, TCT_ON_ONE_GPU},
    {3, GPU_F64, GPU_ANY, TCT_ON_ONE_GPU},
};

/* Rows are nodes where the matrix has dense blocks, whatever its format.
 * Products are the smaller part of an iteration: rows of nodes need no walk of
 * their own. */
TCT_CONSTANT tct_kernel_row tct_cg_factor_table[] = {
    {1, GPU_F64, GPU_ANY, TCT_FACTOR_BOTH},
    {1, GPU_F64, GPU_RUNS, TCT_FACTOR_ROWS},
    {1, GPU_DICT8, GPU_ANY, TCT_FACTOR_BOTH},
    {1, GPU_DICT8, GPU_RUNS, TCT_FACTOR_ROWS},
    {1, GPU_DICT8, GPU_JOINED, TCT_FACTOR_ROWS},
    {1, GPU_F64, GPU_GRID, TCT_FACTOR_BOTH},
    {2, GPU_F64, GPU_ANY, TCT_FACTOR_BOTH},
    {3, GPU_F64, GPU_ANY, TCT_FACTOR_BOTH},
    {3, GPU_DICT8, GPU_ANY, TCT_FACTOR_BOTH},
    {6, GPU_F64, GPU_ANY, TCT_FACTOR_BOTH},
};

/* Has `table` a row of this, for these solves? */
TCT_CONSTANT_FUNCTION bool tct_table_has(const tct_kernel_row *table, int count,
                                         int b, int store, int walk, int solves)
{
    for (int i = 0; i < count; i++)
        if (table[i].b == b && table[i].store == store &&
            table[i].walk == walk && (table[i].solves & solves) == solves)
            return true;
    return false;
}
#define TCT_TABLE_COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define TCT_TABLE_HAS(table, b, store, walk, solves) \
    tct_table_has(table, TCT_TABLE_COUNT(table), b, store, walk, solves)

#endif
