/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/way.h - ways to make steps: a table each, a row of
 * TCT_STENCIL_WAYS. */
#ifndef TCT_STENCIL_WAY_H
#define TCT_STENCIL_WAY_H
#include "stencil/field.h"

#define TCT_STENCIL_WAYS(X) \
    X(copy)                 \
    X(overlap)              \
    X(p2p) X(shmem) X(mpi) X(nccl) X(free) X(free2) X(cached) X(tiles)

typedef struct tct_way {
    tacit_stencil_way about;
    /* Prepare visits of up to `depth` steps; make `depth` steps, and note their
     * changes as tct_sweep_visit does; say threads and moved_bytes. NULL where
     * about.reason is not. */
    tacit_status (*open)(tacit_field *f, int depth, void **state);
    void (*visit)(void *state, int depth, double *changes);
    void (*describe)(const void *state, tacit_field_result *out);
    void (*close)(void *state);
} tct_way;

#define X(name) extern const tct_way tct_way_##name;
TCT_STENCIL_WAYS(X)
#undef X

const tct_way *tct_way_at(int i); /* NULL past the end */
/* Errors      INVALID (unknown, with the nearest name), UNSUPPORTED. */
tacit_status tct_way_find(const char *name, const tct_way **out);

#endif
