/* SPDX-License-Identifier: BSD-3-Clause
 * operator/interface_rows.h - the interface rows of a rank: its rows with
 * columns of other ranks, with these columns alone, on the host. Read from an
 * operator, or added to one whose other entries are on a device. */
#ifndef TCT_OPERATOR_INTERFACE_ROWS_H
#define TCT_OPERATOR_INTERFACE_ROWS_H
#include "operator/operator.h"
#include "sparse/ghosts.h"

typedef struct tct_interface_rows {
    tct_csr A;       /* interface rows; a column is its position in `ghosts` */
    int32_t *row;    /* [A.rows] their numbers, ascending, in the
                   * operator's order */
    int64_t *starts; /* [size + 1] first row of each rank */
    tct_ghosts ghosts; /* global numbers of the columns */
} tct_interface_rows;

/* Those of the operator of a matrix, in the matrix's order (A->order NULL).
 * Entries are borrowed: clear *out before `A` is updated or destroyed.
 * Errors      NO_MEMORY; clear it also then. */
tacit_status tct_interface_rows_of(const tacit_operator *A,
                                   tct_interface_rows *out);
void tct_interface_rows_clear(tct_interface_rows *interface);

/* Add `interface` to `A`, which has this rank's rows and columns alone; all
 * ranks then have `nonzeros` entries; values are `floats`.
 * Collective.  Errors NO_MEMORY, DEVICE, COMM. */
tacit_status tct_operator_add_interface(tacit_operator *A,
                                        const tct_interface_rows *interface,
                                        int64_t nonzeros, bool floats);

#endif
