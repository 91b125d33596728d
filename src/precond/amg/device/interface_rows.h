/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_rows.h - of levels that the devices of several ranks make (there.h) what
 * the host has: rows with columns of other ranks. Aggregates are of rows of one rank
 * there, so that a device needs nothing of the others, and these rows are few: what
 * is P'A P between ranks the host adds up. */
#ifndef TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#define TCT_PRECOND_AMG_DEVICE_INTERFACE_ROWS_H
#include "operator/interface_rows.h"
#include "comm/setup/halo.h"

typedef struct tct_amg_rim {
    tct_rim of;     /* rows, and where others begin       */
    tct_halo halo;  /* of their columns                   */
    double *w;      /* [of.A.rows] smooth vector          */
    double *beyond; /* [ghosts] that of other ranks' rows */
} tct_amg_rim;

/* Of the finest level, whose smooth vector has ones; to be cleared, also after an
 * error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_rim_open(const tacit_operator *A, tct_amg_rim *out);
void tct_amg_rim_clear(tct_amg_rim *r);

/* Rows of this rank whose aggregates must be known for the next level: those of the
 * rim, and then those that others ask for. */
static inline int64_t tct_amg_rim_asked(const tct_amg_rim *r)
{
    return r->of.A.rows + r->halo.shared;
}
void tct_amg_rim_ask(const tct_amg_rim *r, int32_t *rows);
/* Of the next level, with `coarse` aggregates of this rank: `group` [asked] of these
 * rows, -1 of none, and what P has there. To be cleared, also after an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_rim_next(const tct_amg_rim *r, const double *group,
                              const double *weight, int64_t coarse,
                              tct_amg_rim *next);

/* Sums of row k of the rim over columns of other ranks: |a|; with the smooth vector
 * w of |a w w| and a w w. */
typedef struct tct_rim_sums {
    double plain, size, energy;
} tct_rim_sums;
tct_rim_sums tct_amg_rim_sum(const tct_amg_rim *r, int64_t k);

/* This rank's rows of `A` without columns of other ranks: rows and columns from 0 on;
 * to be cleared, also after an error.
 * Errors      NO_MEMORY. */
tacit_status tct_amg_rim_without(const tct_csr *A, tct_csr *out);
/* The other way about: rows of `own`, which are so, and of `r`, columns ascending,
 * into `out`, which has its sizes and room for all entries. */
void tct_amg_rim_join(const tct_csr *own, const tct_amg_rim *r, tct_csr *out);

#endif
