/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_rows.h - interface rows: rows with columns of
 * other ranks. In a device set-up on several ranks (device_setup.h) they stay
 * on the host. Aggregates then have rows of one rank, so that the device needs
 * no remote data; the host adds up the few entries of P'A P between ranks. */
#ifndef TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#define TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#include "comm/setup/halo.h"
#include "operator/interface_rows.h"
#include "precond/amg/systems/near_null.h"

typedef struct tct_amg_interface {
    tct_interface_rows of; /* rows, and first row of each rank   */
    tct_halo halo;         /* of their columns                   */
    int k;                 /* near-null vectors; 0: one smooth vector */
    double *w;             /* [of.A.rows][k] smooth vectors      */
    double *beyond;        /* [ghosts][k] those of ghosts */
    /* With near-null vectors, if nodes are to be paired: */
    int32_t *node;                 /* [of.A.rows] of this rank */
    int64_t *ghost_node;           /* [ghosts] of all ranks */
    int64_t first_node, all_nodes; /* of this rank, of all */
} tct_amg_interface;

/* The interface of the finest level, with the vectors of `near`, of which
 * `value` may be NULL, or a smooth vector of ones; clear it also after an
 * error, before `A` is updated.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_interface_open(const tacit_operator *A,
                                    const tct_near_null *near,
                                    tct_amg_interface *out);
void tct_amg_interface_clear(tct_amg_interface *r);

/* Rows whose aggregates the next level needs: the interface rows, then the rows
 * that other ranks ask for. */
static inline int64_t tct_amg_interface_asked(const tct_amg_interface *r)
{
    return r->of.A.rows + r->halo.shared;
}
void tct_amg_interface_ask(const tct_amg_interface *r, int32_t *rows);
/* The interface of the next level, where this rank has `coarse` aggregates.
 * `group` [asked] are the aggregates of the rows asked for (-1: none), `weight`
 * their entries of P. Clear it also after an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_interface_next(const tct_amg_interface *r,
                                    const double *group, const double *weight,
                                    int64_t coarse, tct_amg_interface *next);

/* --- interface_nodes.c ---------------------------------------------------- */

/* tct_amg_interface_open for near-null vectors. */
tacit_status tct_amg_interface_open_nodes(tacit_world *world,
                                          const tct_near_null *near,
                                          tct_amg_interface *r);
/* tct_amg_interface_next for them: `weight` [asked][k]; the vectors of `next`
 * are to be taken. */
tacit_status tct_amg_interface_next_nodes(const tct_amg_interface *r,
                                          const double *group,
                                          const double *weight, int64_t coarse,
                                          tct_amg_interface *next);
/* Take the near-null vectors `smooth` [asked][k] of the rows that `r` asks for.
 * Collective.  Errors COMM. */
tacit_status tct_amg_interface_take_smooth(tct_amg_interface *r,
                                           const double *smooth);
/* The nodes of interface rows, *count of them, and the sum of their edges to
 * nodes of other ranks; the caller frees both, also after an error.
 * Errors      NO_MEMORY. */
tacit_status tct_amg_interface_edges(const tct_amg_interface *r, int64_t *count,
                                     int32_t **node, double **sum);
/* Add the energies and sizes of interface rows to `sum` [2][k]. */
void tct_amg_interface_energies(const tct_amg_interface *r, double *sum);

/* The distinct numbers >= 0 of `word` [count], ascending, into `out`; at[k] is
 * the position of word[k], -1: negative. Overwrites `word`.
 * Errors      NO_MEMORY. */
tacit_status tct_amg_number_distinct(int64_t count, int64_t *word, int32_t *at,
                                     tct_ghosts *out);

/* --- interface_rows.c ----------------------------------------------------- */

/* Sums of interface row k over columns of other ranks: |a|; with a single smooth
 * vector w, |a w w| and a w w. */
typedef struct tct_interface_sums {
    double plain, size, energy;
} tct_interface_sums;
tct_interface_sums tct_amg_interface_sum(const tct_amg_interface *r, int64_t k);

/* `plain` and `size` of all rows, [2][of.A.rows]. */
void tct_amg_interface_sums(const tct_amg_interface *r, double *sum);

/* The diagonal block of `A`: rows and columns from 0; clear it also after an
 * error.
 * Errors      NO_MEMORY. */
tacit_status tct_amg_interface_without(const tct_csr *A, tct_csr *out);
/* Merge the diagonal block `own` and the interface `r` into `out`, columns
 * ascending; `out` has its sizes and memory for all entries. */
void tct_amg_interface_absorb(const tct_csr *own, const tct_amg_interface *r,
                              tct_csr *out);

#endif
