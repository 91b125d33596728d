/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/way.h - ways to make steps: a table each, a row of
 * TCT_STENCIL_WAYS. */
#ifndef TCT_STENCIL_WAY_H
#define TCT_STENCIL_WAY_H
#include "stencil/field.h"

#define TCT_STENCIL_WAYS(X) \
    X(copy)                 \
    X(overlap)              \
    X(p2p)                  \
    X(shmem) X(shmem1) X(mpi) X(nccl) X(free) X(free2) X(cached) X(tiles)

/* A way on one kind of device. */
typedef struct tct_way_ops {
    /* Prepare visits of up to `depth` steps; make `depth` steps, and note their
     * changes as tct_sweep_visit does; say threads and moved_bytes. */
    tacit_status (*open)(tacit_field *f, int depth, void **state);
    void (*visit)(void *state, int depth, double *changes);
    void (*describe)(const void *state, tacit_field_result *out);
    /* Wait for the visits so far. OPTIONAL: they are done */
    void (*finish)(void *state);
    void (*close)(void *state);
    /* Of a deep way: depths that are worth a trial, then 0; NULL: it is not for
     * this grid. */
    const int *(*depths)(const tacit_field *f);
    /* Boundary tiles that are worth a trial beside the formula's, then 0; a deep
     * way takes no others. OPTIONAL, and NULL: none */
    const int *(*boundaries)(const tacit_field *f);
    /* Is a trial worth it for this grid? OPTIONAL: it is */
    bool (*fits)(const tacit_field *f);
    /* Of a way that stays for many visits of its depth: the most steps of one
     * call of `visit`, when it is open; NULL: `depth`. */
    int (*most)(const tacit_field *f, const void *state);
    bool named;  /* only if asked for by name: auto does not try it */
    bool loops;  /* takes a loop, f->loop */
    bool layers; /* takes any number of boundary tiles, f->boundary_tiles */
} tct_way_ops;

typedef struct tct_way {
    tacit_stencil_way about;
    const tct_way_ops *host, *device; /* NULL: not there */
    const tct_way_ops *gpus; /* of a grid that is divided among some; NULL: as
                              * `device` */
} tct_way;

extern const tct_way_ops tct_device_copy, tct_device_tiles;
extern const tct_way_ops tct_ranks_copy, tct_ranks_tiles; /* rank_ways.c */
extern const tct_way_ops tct_gpu_tiles; /* device_tiles.c: one of these    */

/* `way` on the device of `f`, NULL: it has it not. */
static inline const tct_way_ops *tct_way_on(const tct_way *way,
                                            const tacit_field *f)
{
    if (!f->device) return way->host;
    return f->halo && way->gpus ? way->gpus : way->device;
}

#define X(name) extern const tct_way tct_way_##name;
TCT_STENCIL_WAYS(X)
#undef X

const tct_way *tct_way_at(int i); /* NULL past the end */
/* Way `name` for the device of `f`.
 * Errors      INVALID (unknown, with the nearest name), UNSUPPORTED. */
tacit_status tct_way_find(const char *name, const tacit_field *f,
                          const tct_way **out);

#endif
