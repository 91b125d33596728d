/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/field_halo.h - ghost cells of a field from the neighbours' blocks. */
#ifndef TCT_STENCIL_FIELD_HALO_H
#define TCT_STENCIL_FIELD_HALO_H
#include "device/numbered.h"
#include "halo/halo.h"
#include "stencil/field.h"

/* Let exchanges in place be those that visits of `depth` steps need. Nothing
 * where they are packed. Collective; a failure is the queue's. */
void tct_field_narrow(tacit_field *f, int depth);

/* Bytes that this rank sends in an exchange for visits of `depth` steps. */
double tct_field_sent_bytes(const tacit_field *f, int depth);

/* Why exchanges are packed; NULL: they are in place. */
const char *tct_field_why_packed(const tacit_field *f);

/* Exchanges for visits of `depth` steps on the host: in place where peers reach
 * the buffers, packed elsewhere. */
typedef struct tct_field_ghosts {
    tacit_field *field;
    int depth;
    tacit_halo *packed; /* NULL: in place, or the grid is not divided */
} tct_field_ghosts;

/* Collective.
 * Errors      NO_MEMORY, COMM, on all ranks. */
tacit_status tct_field_ghosts_open(tacit_field *f, int depth,
                                   tct_field_ghosts *out);
void tct_field_ghosts_close(tct_field_ghosts *g);

/* Let the ghosts of the buffer that has the values be the neighbours' cells.
 * Collective; a failure is the queue's. */
void tct_field_ghosts_exchange(tct_field_ghosts *g);

/* Two arrays of numbered values (device/numbered.h), laid out as the buffers of
 * `f` and 0 at first, which the neighbours of visits of `depth` steps reach;
 * `cell` is cell (0, 0, 0) of each. They belong to `halo`. Collective.
 * Errors      NO_MEMORY, DEVICE, COMM, UNSUPPORTED (they cannot be reached), on
 *             all ranks. */
tacit_status tct_field_open_numbers(tacit_field *f, int depth,
                                    tacit_halo **halo, tct_numbered *cell[2]);

#endif
