/* SPDX-License-Identifier: BSD-3-Clause
 * factor/front_tasks.h - the state of a numeric factorization, the sizes of its
 * fronts' squares, and the tasks that its fronts make. */
#ifndef TCT_FACTOR_FRONT_TASKS_H
#define TCT_FACTOR_FRONT_TASKS_H
#include "factor/dense.h"
#include "factor/factor.h"

/* Fronts in the order of postorder, begin to end - 1: a subtree, or all. */
typedef struct tct_front_task {
    int32_t begin, end;
    double flops;
    int64_t stack[2]; /* predicted stack sizes, in values  */
    int64_t failed;   /* column of a failed pivot, from 1  */
} tct_front_task;

/* Only squares of fronts in tasks are on stacks. */
typedef enum tct_standing {
    TCT_IN_TASK = 0,
    TCT_ROOT_OF_TASK,
    TCT_ABOVE_TASKS
} tct_standing;

typedef struct tct_numeric {
    tacit_factor *L;
    const tct_fronts *F;
    const tct_entries *A;
    const tct_dense *dense;
    int sides; /* 2 if U' is stored, else 1 */
    double *side[2];
    int32_t *child, *next;     /* [fronts] first child, next sibling     */
    double **square;           /* [fronts] squares, sides in sequence    */
    tct_standing *standing_of; /* [fronts] */
    tct_front_task *tasks;     /* [fronts + 1], of them `count`          */
    int count, threads;
    int64_t scaled; /* scratch of a worker for kind LDLT */
} tct_numeric;

/* --- squares -------------------------------------------------------------- */

/* The lower triangle of a square of m rows is stored in blocks of columns, each
 * from its first row on, so that little more than half is stored. */
static inline int64_t tct_square_block(int64_t m)
{
    return m > 8 * 64 ? (m + 7) / 8 : m < 64 ? m : 64;
}

/* Values of the first `blocks` blocks, all full. */
static inline int64_t tct_square_values(int64_t m, int64_t blocks)
{
    const int64_t w = tct_square_block(m);
    return w * (blocks * m - w * (blocks * (blocks - 1) / 2));
}

/* Values of one side of front `f`'s square. */
static inline int64_t tct_square_side(const tct_fronts *F, int32_t f)
{
    const int64_t m = tct_front_below(F, f), w = tct_square_block(m);
    if (m == 0) return 0;
    const int64_t full = m / w, rest = m - full * w;
    return tct_square_values(m, full) + rest * rest;
}

/* Values of both sides. */
static inline int64_t tct_square_size(const tct_numeric *N, int32_t f)
{
    return N->sides * tct_square_side(N->F, f);
}

/* --- front_tasks.c -------------------------------------------------------- */

/* Link the fronts to their children, and make tasks for each thread; for one
 * thread, the whole forest.
 * Errors      NO_MEMORY. */
tacit_status tct_front_tasks_make(tct_numeric *N);
/* The most values, other than L's, that the tasks and the fronts above need at
 * once. */
double tct_front_tasks_peak(const tct_numeric *N);

#endif
