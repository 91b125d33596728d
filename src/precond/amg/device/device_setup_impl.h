/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_setup_impl.h - state of a set-up on a device and
 * functions shared by device_setup.c, device_coarsen.c, device_nodes.c. */
#ifndef TCT_PRECOND_AMG_DEVICE_DEVICE_SETUP_IMPL_H
#define TCT_PRECOND_AMG_DEVICE_DEVICE_SETUP_IMPL_H
#include "precond/amg/device/device_setup.h"
#include "precond/amg/device/interface_rows.h"
#include <string.h>

struct tct_amg_device {
    const tct_amg_kernels *kernels;
    tacit_queue *q;
    tacit_world *world;
    double *matrix, *coarse; /* of A, of C                                    */
    double *pass;            /* of B, unless B is A                           */
    double *smooth, *next;   /* this level (NULL: ones), next level          */
    int vectors;             /* near-null ones, [rows][vectors]; 0: `smooth` */
    double *node;            /* of each row; NULL: `vectors` rows each       */
    double *graph, *graph_after; /* memory of N, N_after; NULL: lent         */
    double *room;           /* workspace of g                               */
    tct_amg_csr A, B, C;    /* level, last pass, next level                 */
    tct_amg_csr N, N_after; /* graphs */
    int64_t nodes;          /* of this level */
    bool graph_known;       /* N has the pattern */
    tct_amg_state about, after; /* statistics of A, of C                     */
    int64_t nonzeros, nonzeros_after; /* of all ranks                        */
    tct_amg_transfer down; /* until taken                                  */
    const tct_amg_transfer *P; /* it, or that of another hierarchy */
    tct_amg_interface interface,
        interface_after;           /* several ranks only, as what follows  */
    double *beyond, *beyond_after; /* [2][rows] sums of |a| over columns of
                                    * other ranks: plain, scaled by w */
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

/* Prefix sums of `count` [n]; the total goes into the state. */
static inline void tct_amg_device_sum_up(const tct_amg_device *t, int64_t n)
{
    t->kernels->sum_up(t->q, n, &t->g);
}

/* The same, and read the total. */
static inline tacit_status tct_amg_device_find_sum(tct_amg_device *t, int64_t n,
                                                   int64_t *all)
{
    tct_amg_device_sum_up(t, n);
    TRY(tct_amg_device_inspect(t));
    *all = (int64_t)t->seen.total;
    return TACIT_OK;
}

/* --- device_setup.c ------------------------------------------------------- */

/* Scatter `value` [count], of rows `row`, to *out [rows], otherwise 0; `arrays`
 * of them.
 * Errors NO_MEMORY, DEVICE. */
tacit_status tct_amg_device_scatter(tct_amg_device *t, int arrays,
                                    int64_t count, const int32_t *row,
                                    const double *value, int64_t rows,
                                    double **out);

/* --- device_coarsen.c ----------------------------------------------------- */

/* Set the pieces of g for levels of `n` rows in `room`; with `room` NULL only
 * returns its doubles. */
size_t tct_amg_device_divide_room(double *room, int64_t n, tct_amg_work *g);
/* Reset the pieces and start on the level's own matrix. */
void tct_amg_device_tidy(tct_amg_device *t);
void tct_amg_device_begin_level(tct_amg_device *t);
/* The aggregates of the matrix t->A: g.of, g.coarse; t->B and t->pass are those
 * of the last pass. */
tacit_status tct_amg_device_pair_up(tct_amg_device *t,
                                    const tct_coarsening *how, int *rounds);
/* Allocate P of `width` columns an aggregate and its smooth vectors. */
tacit_status tct_amg_device_open_transfer(tct_amg_device *t, int width);
/* List the `rows` of each aggregate of `of`, ascending, in g.ptr and g.list. */
void tct_amg_device_list_members(tct_amg_device *t, int64_t rows, int32_t *of,
                                 int32_t *ptr, int32_t *list);
/* Compute the rows of g.out, by lists or pairs of g, in new memory.
 * Errors UNSUPPORTED (rows too long), NO_MEMORY, DEVICE. */
tacit_status tct_amg_device_accumulate(tct_amg_device *t, double **memory);
/* P, the smooth vector of the next level, and C, for this rank's rows and
 * columns.
 * Local.  Errors UNSUPPORTED (rows too long), NO_MEMORY, DEVICE. */
tacit_status tct_amg_device_coarsen_own(tct_amg_device *t,
                                        const tct_coarsening *how, int *rounds);

/* --- device_nodes.c ----------------------------------------------------- */

/* Upload the nodes and vectors of the finest level.
 * Local.  Errors NO_MEMORY, DEVICE. */
tacit_status tct_amg_device_take_near(tct_amg_device *t,
                                      const tct_near_null *B);
/* As tct_amg_device_coarsen_own, for near-null vectors. */
tacit_status tct_amg_device_coarsen_nodes(tct_amg_device *t,
                                          const tct_coarsening *how,
                                          int *rounds);
/* The same by the P of `as`. */
tacit_status tct_amg_device_coarsen_blocks(tct_amg_device *t,
                                           const tct_amg_level *as);
/* Is rounding to floats harmless for all vectors? */
tacit_status tct_amg_device_floats_near(tct_amg_device *t, bool *out);
/* The next level's graph becomes this one's. */
void tct_amg_device_descend_nodes(tct_amg_device *t);

#endif
