/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_host.h - ways of the host that make many steps without a barrier:
 * tiles with an owner each, and flags between neighbours (own_tiles.h).
 *
 * Work of a thread block on a GPU is a task here: a visit of a tile.
 * Threads draw tasks in the order of visits. So whoever waits, waits for tasks
 * that are drawn already, and any number of threads makes them all. Tiles at a
 * side also wait for other ranks, store cells into their ghosts and tell them,
 * by counters of the halo. */
#ifndef TCT_STENCIL_OWN_HOST_H
#define TCT_STENCIL_OWN_HOST_H
#include "operator/stencil/own_tiles.h"
#include "stencil/field.h"

typedef struct tct_own_host tct_own_host;

/* Visit `visit` of tile `tile`, of `steps` steps, from f->buffer[from] to the
 * other one; the last one leaves all its cells there. */
typedef void (*tct_own_visit_fn)(tct_own_host *h, int tile, int from, int steps,
                                 bool last);

struct tct_own_host {
    tacit_field *field;
    tct_own_tiles tiles;
    int reach; /* steps of a visit            */
    int threads;
    uint64_t *flag;      /* [tiles] visits finished     */
    uint64_t visited;    /* ... before this run         */
    tct_own_sides sides; /* of a run                 */
    unsigned *ticket;    /* [2][sides.count]         */
    uint64_t exchange;   /* that has brought the ghosts of the run's first */
    tct_own_visit_fn visit;
    char *memory; /* of tiles that keep their cells, or NULL */
    size_t each;  /* ... bytes of one            */
};

/* Tiles that the threads of `f` own, for visits of `reach` steps; with `layers`
 * the first and the last planes are tiles of their own.
 * Errors      NO_MEMORY. */
tacit_status tct_own_host_create(tacit_field *f, int reach, bool layers,
                                 tct_own_visit_fn visit, tct_own_host **out);
void tct_own_host_destroy(tct_own_host **h);

/* Make `steps` steps. */
void tct_own_host_run(tct_own_host *h, int steps);
/* Of the step that was last, and the only one of its run or of a way that
 * stores all cells at each step: as tct_sweep_visit. */
void tct_own_host_measure(const tct_own_host *h, double *changes);

/* A row of inputs of cell (x, y, z), from f->buffer[from]. */
tct_row_inputs tct_own_inputs(const tacit_field *f, int from, int64_t z,
                              int64_t y, int64_t x);
/* Copy the ends of a row that closes, as far as a tile has them. */
void tct_own_close_row(const tacit_field *f, int buffer, const tct_box *box,
                       int64_t z, int64_t y);

#endif
