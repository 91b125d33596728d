/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/ownership.h - whose nodes are, while a plan is dealt out: what
 * the files that do it (shares.c, blocks.c, spread.c) have in common. */
#ifndef TCT_TRISOLVE_GPU_OWNERSHIP_H
#define TCT_TRISOLVE_GPU_OWNERSHIP_H
#include "trisolve/gpu/distribute.h"

/* Whose a node is. */
typedef struct tct_ownership {
    int32_t home;       /* has all of it; -1: it is in blocks          */
    int32_t turn;       /* K of spread.h; -1: a small node             */
    int32_t rows, cols; /* of a block, on the way down; on the way up  */
    int32_t down, up;   /* first of its blocks here, among nodes: those
                           of rows; of columns                         */
} tct_ownership;

typedef struct tct_distributor {
    tct_tri_plan *plan;
    tct_distribution *s;
    tct_ownership *of;     /* [nodes]                               */
    int32_t *doubling_of;  /* [rows] who swaps it; -1: it is no shared one */
    const int32_t *shared; /* [count] rows, as they are swapped     */
    int32_t count;
} tct_distributor;

/* Of the grid. */
static inline int tct_processes(const tct_distributor *d)
{
    return d->s->px * d->s->py;
}

static inline unsigned tct_bit(int process)
{
    return 1U << process;
}

/* How many of `readers` are not the sender. */
static inline int tct_others(unsigned readers, int sender)
{
    int count = 0;
    for (readers &= ~tct_bit(sender); readers != 0; readers &= readers - 1)
        count++;
    return count;
}

/* Who has a block of a node in blocks. */
static inline int tct_in_block(const tct_distributor *d, const tct_ownership *h,
                               int32_t block)
{
    const tct_distribution *s = d->s;
    return (block + h->turn) % s->px * s->py + h->turn % s->py;
}

/* Who has row i of node k on the way down, and column j on the way up. */
static inline int tct_row_owner(const tct_distributor *d, int32_t k, int32_t i)
{
    const tct_ownership *h = &d->of[k];
    return h->home >= 0 ? h->home : tct_in_block(d, h, i / h->rows);
}
static inline int tct_col_owner(const tct_distributor *d, int32_t k, int32_t j)
{
    const tct_ownership *h = &d->of[k];
    return h->home >= 0 ? h->home : tct_in_block(d, h, j / h->cols);
}

/* Whose each node is, and who reads what.
 * Errors NO_MEMORY. */
tacit_status tct_find_ownership(tct_distributor *d);
/* Instead of the values of `d->plan` those that this process has.
 * Errors NO_MEMORY. */
tacit_status tct_take_blocks(const tct_distributor *d);

#endif
