/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_rows.h - of levels that the devices of several
 * ranks make (there.h) what the host has: rows with columns of other ranks.
 * Aggregates are of rows of one rank there, so that a device needs nothing of
 * the others, and these rows are few: what is P'A P between ranks the host adds
 * up. */
#ifndef TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#define TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#include "comm/setup/halo.h"
#include "operator/interface_rows.h"

typedef struct tct_amg_interface {
    tct_interface_rows of; /* rows, and where others begin       */
    tct_halo halo;         /* of their columns                   */
    double *w;             /* [of.A.rows] smooth vector          */
    double *beyond;        /* [ghosts] that of other ranks' rows */
} tct_amg_interface;

/* Of the finest level, whose smooth vector has ones; to be cleared, also after
 * an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_interface_open(const tacit_operator *A,
                                    tct_amg_interface *out);
void tct_amg_interface_clear(tct_amg_interface *r);

/* Rows of this rank whose aggregates must be known for the next level: those of
 * the interface, and then those that others ask for. */
static inline int64_t tct_amg_interface_asked(const tct_amg_interface *r)
{
    return r->of.A.rows + r->halo.shared;
}
void tct_amg_interface_ask(const tct_amg_interface *r, int32_t *rows);
/* Of the next level, with `coarse` aggregates of this rank: `group` [asked] of
 * these rows, -1 of none, and what P has there. To be cleared, also after an
 * error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_interface_next(const tct_amg_interface *r,
                                    const double *group, const double *weight,
                                    int64_t coarse, tct_amg_interface *next);

/* Sums of row k of the interface over columns of other ranks: |a|; with the
 * smooth vector w of |a w w| and a w w. */
typedef struct tct_interface_sums {
    double plain, size, energy;
} tct_interface_sums;
tct_interface_sums tct_amg_interface_sum(const tct_amg_interface *r, int64_t k);

/* This rank's rows of `A` without columns of other ranks: rows and columns from
 * 0 on; to be cleared, also after an error.
 * Errors      NO_MEMORY. */
tacit_status tct_amg_interface_without(const tct_csr *A, tct_csr *out);
/* The other way about: rows of `own`, which are so, and of `r`, columns
 * ascending, into `out`, which has its sizes and room for all entries. */
void tct_amg_interface_absorb(const tct_csr *own, const tct_amg_interface *r,
                              tct_csr *out);

#endif
