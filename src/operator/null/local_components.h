/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/local_components.h - components among the rows of one rank. */
#ifndef TCT_OPERATOR_NULL_LOCAL_COMPONENTS_H
#define TCT_OPERATOR_NULL_LOCAL_COMPONENTS_H
#include "sparse/csr.h"
#include <stdatomic.h>

/* The parent of a row that is ruled out. */
enum { TCT_RULED_OUT = -1 };

/* Rows whose component has a row that stands are ruled out: in `state` [rows],
 * a tct_row_state of each row, these two set them to stand, and return how many
 * rows do not. Entries of rows that stand are not looked at. */

/* Only where neighbours in a few sweeps show it. Costs a look at one entry of
 * most rows. */
int64_t tct_sweep_local_rows(const tct_csr *A, unsigned char *state);

/* All. `parent` [rows] is the lowest row of its component for each row that does
 * not stand; of others it is not set. Costs a look at two entries of each row
 * that is left, and at all of those that are so then. */
int64_t tct_join_local_rows(const tct_csr *A, unsigned char *state,
                            atomic_int_fast64_t *parent);

static inline int64_t tct_parent_of(const atomic_int_fast64_t *parent,
                                    int64_t i)
{
    return atomic_load_explicit(&parent[i], memory_order_relaxed);
}

#endif
