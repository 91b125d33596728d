/* SPDX-License-Identifier: BSD-3-Clause
 * operator/interface_rows.h - the rows of a rank that have columns of other ranks, and these
 * columns alone, on the host: what an operator has of them, and operators of which
 * a device has the rest. */
#ifndef TCT_OPERATOR_INTERFACE_ROWS_H
#define TCT_OPERATOR_INTERFACE_ROWS_H
#include "sparse/ghosts.h"
#include "operator/operator.h"

typedef struct tct_rim {
    tct_csr A; /* global columns; A.first is the first of all rows of this rank,
                  of which A.rows are here */
    int32_t *row;      /* [A.rows] which of them, ascending, in the operator's
                          order */
    int64_t *starts;   /* [size + 1] first row of each rank */
    tct_ghosts ghosts; /* the columns */
} tct_rim;

/* Of an operator of a matrix, in one order with it (A->order NULL).
 * Errors      NO_MEMORY; to be cleared also then. */
tacit_status tct_rim_of(const tacit_operator *A, tct_rim *out);
void tct_rim_clear(tct_rim *rim);

/* `A`, of this rank's rows and columns alone, becomes one with those of `rim`, of
 * which all ranks have `nonzeros` entries; values are `floats`.
 * Collective.  Errors NO_MEMORY, DEVICE, COMM. */
tacit_status tct_operator_add_rim(tacit_operator *A, const tct_rim *rim,
                                  int64_t nonzeros, bool floats);

#endif
