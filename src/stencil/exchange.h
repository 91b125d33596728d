/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/exchange.h - ghost cells from the neighbours' blocks. */
#ifndef TCT_STENCIL_EXCHANGE_H
#define TCT_STENCIL_EXCHANGE_H
#include "stencil/field.h"

typedef struct tct_ghost_exchange tct_ghost_exchange;

/* Of ghosts of width `depth`, which the buffers hold; NULL if the grid is not
 * divided. Borrows the field. Collective.
 * Errors      NO_MEMORY, the same on all ranks. */
tacit_status tct_ghost_exchange_create(tacit_field *f, int64_t depth,
                                       tct_ghost_exchange **out);
void tct_ghost_exchange_destroy(tct_ghost_exchange **exchange);

/* Let the ghosts of the buffer that has the values be the neighbours' cells.
 * NULL is fine. Collective; a failure fails the queue. */
void tct_ghost_exchange_run(tct_ghost_exchange *exchange);

/* Bytes that this rank sends. */
double tct_ghost_exchange_bytes(const tct_ghost_exchange *exchange);

#endif
