/* SPDX-License-Identifier: BSD-3-Clause
 * io/distribute.h - sends the entries that rank 0 reads to the owners of their
 * rows, batch by batch. */
#ifndef TCT_IO_DISTRIBUTE_H
#define TCT_IO_DISTRIBUTE_H
#include "io/format.h"

/* Receives entries of this rank's rows. */
typedef tacit_status (*tct_entry_receiver)(void *ctx, const tct_batch *batch);

/* Read `s` on rank 0, NULL on the others, to its end. Rank r owns rows
 * starts[r] to starts[r + 1]; each rank's `take` gets its entries. Messages
 * name the file `path`.
 * Collective.  Borrows all.
 * Errors       of the source, of `take` on any rank; INPUT, NO_MEMORY. */
tacit_status tct_distribute_entries(tacit_world *w, const char *path,
                                    tct_source *s, tct_crew *crew,
                                    const int64_t *starts,
                                    tct_entry_receiver take, void *ctx);

#endif
