/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/brought.h - the rows of one rank in a GPU's memory from the
 * beginning of a set-up or an update: the device looks at their sizes and sums
 * (layout/look_device.h) and then stores them. Without it the host looks, and
 * the rows are brought to be stored. */
#ifndef TCT_OPERATOR_CHOICE_BROUGHT_H
#define TCT_OPERATOR_CHOICE_BROUGHT_H
#include "operator/assembled.h"
#include "operator/layout/store_device.h"

typedef struct tct_brought {
    tct_store_rows rows;
    const double *from; /* the host's values of these rows */
    bool looked;        /* members below are known         */
    tct_row_sizes sizes;
    unsigned char *state; /* as tct_look_at_rows           */
    double *diagonal;     /* [rows] in the device's memory */
    double seconds;       /* for the copy                */
} tct_brought;

/* Bring `rows` of A and look at them, before they are stored in `format`.
 * Nothing is done on the host, on several ranks, for few rows, without memory
 * for them, and for a format that the host stores.
 * Errors      INVALID (the format), DEVICE. */
tacit_status tct_bring_first(tct_assembled *A, const char *format,
                             const tct_csr *rows);
/* End of the set-up, or of the use of these rows. */
void tct_brought_drop(tct_assembled *A);

/* The sizes, and the states, the caller's then, of tct_look_at_rows. False: the
 * device had no look. */
bool tct_brought_sizes(const tct_assembled *A, tct_row_sizes *sizes,
                       unsigned char **state);
/* Let `local` have the rows on the device, if they are the same. */
void tct_brought_lend(const tct_assembled *A, tct_local *local);
/* Let A have the diagonal, if it is in A's order. False: it is not known. */
bool tct_brought_diagonal(tct_assembled *A);

#endif
