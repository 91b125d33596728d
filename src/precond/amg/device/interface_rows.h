/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_rows.h - interface rows: rows with columns of
 * other ranks. In a device set-up on several ranks (device_setup.h) they stay
 * on the host. Aggregates then have rows of one rank, so that the device needs
 * no remote data; the host adds up the few entries of P'A P between ranks. */
#ifndef TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#define TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#include "comm/setup/halo.h"
#include "operator/interface_rows.h"

typedef struct tct_amg_interface {
    tct_interface_rows of; /* rows, and first row of each rank   */
    tct_halo halo;         /* of their columns                   */
    double *w;             /* [of.A.rows] smooth vector          */
    double *beyond;        /* [ghosts] smooth vector of ghosts */
} tct_amg_interface;

/* The interface of the finest level, with a smooth vector of ones; clear it
 * also after an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_interface_open(const tacit_operator *A,
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

/* Sums of interface row k over columns of other ranks: |a|; with the smooth
 * vector w, |a w w| and a w w. */
typedef struct tct_interface_sums {
    double plain, size, energy;
} tct_interface_sums;
tct_interface_sums tct_amg_interface_sum(const tct_amg_interface *r, int64_t k);

/* The diagonal block of `A`: rows and columns from 0; clear it also after an
 * error.
 * Errors      NO_MEMORY. */
tacit_status tct_amg_interface_without(const tct_csr *A, tct_csr *out);
/* Merge the diagonal block `own` and the interface `r` into `out`, columns
 * ascending; `out` has its sizes and memory for all entries. */
void tct_amg_interface_absorb(const tct_csr *own, const tct_amg_interface *r,
                              tct_csr *out);

#endif
