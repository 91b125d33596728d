/* SPDX-License-Identifier: BSD-3-Clause
 * operator/interface_rows.h - the rows of a rank that have columns of other
 * ranks, and these columns alone, on the host: what an operator has of them,
 * and operators of which a device has the rest. */
#ifndef TCT_OPERATOR_INTERFACE_ROWS_H
#define TCT_OPERATOR_INTERFACE_ROWS_H
#include "operator/operator.h"
#include "sparse/ghosts.h"

typedef struct tct_interface_rows {
    tct_csr A; /* global columns; A.first is the first of all rows of this rank,
                  of which A.rows are here */
    int32_t *row;      /* [A.rows] which of them, ascending, in the operator's
                          order */
    int64_t *starts;   /* [size + 1] first row of each rank */
    tct_ghosts ghosts; /* the columns */
} tct_interface_rows;

/* Of an operator of a matrix, in one order with it (A->order NULL).
 * Errors      NO_MEMORY; to be cleared also then. */
tacit_status tct_interface_rows_of(const tacit_operator *A,
                                   tct_interface_rows *out);
void tct_interface_rows_clear(tct_interface_rows *interface);

/* `A`, of this rank's rows and columns alone, becomes one with those of
 * `interface`, of which all ranks have `nonzeros` entries; values are `floats`.
 * Collective.  Errors NO_MEMORY, DEVICE, COMM. */
tacit_status tct_operator_add_interface(tacit_operator *A,
                                        const tct_interface_rows *interface,
                                        int64_t nonzeros, bool floats);

#endif
