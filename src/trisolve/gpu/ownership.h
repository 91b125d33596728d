/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/ownership.h - which process owns each node while a plan is
 * distributed (ownership.c, blocks.c, distribute.c). */
#ifndef TCT_TRISOLVE_GPU_OWNERSHIP_H
#define TCT_TRISOLVE_GPU_OWNERSHIP_H
#include "trisolve/gpu/distribute.h"

/* Ownership of a node. */
typedef struct tct_ownership {
    int32_t owner;      /* process that has all of it; -1: in blocks */
    int32_t number;     /* K of distribute.h; -1: a small node */
    int32_t rows, cols; /* of a block: rows (down), columns (up) */
    int32_t down, up;   /* its first block of rows, of columns, in this
                         * process's list of nodes */
} tct_ownership;

typedef struct tct_distributor {
    tct_tri_plan *plan;
    tct_distribution *s;
    tct_ownership *of;     /* [nodes]                               */
    int32_t *doubling_of;  /* [rows] process that exchanges it; -1: not
                            * shared */
    const int32_t *shared; /* [count] shared rows, in the order of recursive
                            * doubling */
    int32_t count;
} tct_distributor;

/* Processes of the grid. */
static inline int tct_processes(const tct_distributor *d)
{
    return d->s->px * d->s->py;
}

static inline unsigned tct_bit(int process)
{
    return 1U << process;
}

/* The number of `readers` other than the sender. */
static inline int tct_others(unsigned readers, int sender)
{
    int count = 0;
    for (readers &= ~tct_bit(sender); readers != 0; readers &= readers - 1)
        count++;
    return count;
}

/* The process of a block of a large node. */
static inline int tct_in_block(const tct_distributor *d, const tct_ownership *h,
                               int32_t block)
{
    const tct_distribution *s = d->s;
    return (block + h->number) % s->px * s->py + h->number % s->py;
}

/* The process of row i of node k (down) and of column j (up). */
static inline int tct_row_owner(const tct_distributor *d, int32_t k, int32_t i)
{
    const tct_ownership *h = &d->of[k];
    return h->owner >= 0 ? h->owner : tct_in_block(d, h, i / h->rows);
}
static inline int tct_col_owner(const tct_distributor *d, int32_t k, int32_t j)
{
    const tct_ownership *h = &d->of[k];
    return h->owner >= 0 ? h->owner : tct_in_block(d, h, j / h->cols);
}

/* Set owners and readers of all nodes.
 * Errors NO_MEMORY. */
tacit_status tct_find_ownership(tct_distributor *d);
/* Replace the values of `d->plan` by those that this process owns.
 * Errors NO_MEMORY. */
tacit_status tct_take_blocks(const tct_distributor *d);

#endif
