/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/halo.h - ghost cells of a field from the neighbours' blocks. */
#ifndef TCT_STENCIL_HALO_H
#define TCT_STENCIL_HALO_H
#include "halo/halo.h"
#include "stencil/field.h"

/* The halo of a divided field, with ghosts as wide as those of f->block, and its
 * two buffers: on a GPU those of the device. Links shm and peer reach them.
 * Collective.
 * Errors      NO_MEMORY, DEVICE, COMM, on all ranks. */
tacit_status tct_field_open_halo(tacit_field *f, char *buffer[2]);

/* Exchanges for visits of `depth` steps: in place where peers reach the
 * buffers, packed elsewhere. */
typedef struct tct_ghosts {
    tacit_field *field;
    int depth;
    tacit_halo *packed; /* NULL: in place, or the grid is not divided */
    double bytes;       /* that this rank sends                       */
} tct_ghosts;

/* Collective.
 * Errors      NO_MEMORY, DEVICE, COMM, on all ranks. */
tacit_status tct_ghosts_open(tacit_field *f, int depth, tct_ghosts *out);
void tct_ghosts_close(tct_ghosts *g);

/* Let the ghosts of the buffer that has the values be the neighbours' cells, also
 * where a row closes: on the host at once, on a GPU in the order of the queue.
 * Collective; a failure is the queue's. */
void tct_ghosts_exchange(tct_ghosts *g);

#endif
