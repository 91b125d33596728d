/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_setup_impl.h - what set-up on a device works on
 * (there.h), and its words: for there.c, and there_coarsen.c, which has the
 * aggregates. */
#ifndef TCT_PRECOND_AMG_DEVICE_DEVICE_SETUP_IMPL_H
#define TCT_PRECOND_AMG_DEVICE_DEVICE_SETUP_IMPL_H
#include "precond/amg/device/device_setup.h"
#include "precond/amg/device/interface_rows.h"
#include <string.h>

struct tct_amg_device {
    const tct_amg_kernels *kernels;
    tacit_queue *q;
    tacit_world *world;
    double *matrix, *coarse; /* memory of A and of C                          */
    double *pass;            /* ... and of B, unless that is A                */
    double *smooth, *next;   /* of this level, NULL: ones; of the next one   */
    double *room;            /* what g points to else                        */
    tct_amg_csr A, B, C;     /* of the level, its last pass, the next level  */
    tct_amg_state about, after; /* what `look_over` found of these           */
    int64_t nonzeros, nonzeros_after; /* of all ranks                        */
    tct_amg_transfer down; /* not yet taken                                */
    tct_amg_interface interface,
        interface_after;           /* of several ranks, as what follows    */
    double *beyond, *beyond_after; /* [2][rows] sums of |a| over columns of
                                       others: plain, and with w            */
    tct_amg_work g;
    tct_amg_state seen;
};

static inline void tct_amg_device_each(const tct_amg_device *t,
                                       tct_amg_task task, int64_t n)
{
    if (n > 0) t->kernels->each(t->q, task, n, &t->g);
}

static inline void tct_amg_device_clear_state(const tct_amg_device *t)
{
    q_fill(t->q, TCT_AMG_STATE, 0.0, (double *)(void *)t->g.state);
}

static inline tacit_status tct_amg_device_inspect(tct_amg_device *t)
{
    double state[TCT_AMG_STATE];
    memset(state, 0, sizeof state);
    q_get(t->q, TCT_AMG_STATE, (const double *)(const void *)t->g.state, state);
    memcpy(&t->seen, state, sizeof t->seen);
    return q_own_status(t->q);
}

/* Sum up `count` [n]; what it comes to in all is in the state. */
static inline void tct_amg_device_sum_up(const tct_amg_device *t, int64_t n)
{
    t->kernels->sum_up(t->q, n, &t->g);
}

/* ... and read it. */
static inline tacit_status tct_amg_device_find_sum(tct_amg_device *t, int64_t n,
                                                   int64_t *all)
{
    tct_amg_device_sum_up(t, n);
    TRY(tct_amg_device_inspect(t));
    *all = (int64_t)t->seen.total;
    return TACIT_OK;
}

/* --- there_coarsen.c ------------------------------------------------------ */

/* Where the pieces of g are in a room for levels of `n` rows; with `room` NULL
 * only how many doubles it takes. */
size_t tct_amg_device_divide_room(double *room, int64_t n, tct_amg_work *g);
/* Put them where that says, and begin with the level's own matrix. */
void tct_amg_device_tidy(tct_amg_device *t);
void tct_amg_device_begin_level(tct_amg_device *t);
/* P, the smooth vector of the next level, and C, of this rank's rows and
 * columns.
 * Local.  Errors UNSUPPORTED (rows too long), NO_MEMORY, DEVICE. */
tacit_status tct_amg_device_coarsen_own(tct_amg_device *t,
                                        const tct_coarsening *how, int *rounds);

#endif
