/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/own_steps.h - steps of a grid by kernels that stay on a GPU
 * for many steps: each block of threads has a tile of its own (own_tiles.h). */
#ifndef TCT_OPERATOR_STENCIL_OWN_STEPS_H
#define TCT_OPERATOR_STENCIL_OWN_STEPS_H
#include "device/numbered.h"
#include "operator/stencil/device_steps.h"
#include "operator/stencil/own_tiles.h"

typedef enum tct_own_kind {
    TCT_OWN_FREE,  /* all cells in memory                               */
    TCT_OWN_FREE2, /* the same; boundary layers have a kernel of theirs */
    TCT_OWN_CACHED /* cells in registers and shared memory              */
} tct_own_kind;

typedef struct tct_own_about {
    int blocks, threads; /* of one */
    int of_layer;        /* blocks of a boundary layer                     */
    double formula;      /* what the paper's formula gives for it          */
    double on_chip;      /* share of the cells that stay there             */
    double exchanged;    /* cells of a step that go through memory         */
} tct_own_about;

/* The neighbours of a block when a run begins. */
typedef struct tct_own_peers {
    int count; /* 0: none */
    const tct_halo_put *put;
    int slot;        /* the buffer of w->in                            */
    int x;           /* cells of a row of the halo before x = 0        */
    uint64_t number; /* the exchange that has brought its ghosts       */
    uint64_t *word;  /* where the GPU has the number of the last one; NULL:
                      * numbered values, which need none               */
    bool idle;       /* no steps are computed: exchanges and waits     */
} tct_own_peers;

typedef struct tct_own_steps {
    /* Do tiles of CACHED fit, of a block of up to n[d] cells? */
    bool (*fits)(const tacit_queue *q, const int64_t n[3],
                 const tct_step_work *w, int depth);
    /* The same of tiles in shared memory, whose edges are numbered values. */
    bool (*chip_fits)(const tacit_queue *q, const int64_t n[3],
                      const tct_step_work *w, int depth);
    /* Get ready for `block`; `w` has its type, shape, weights and sides. Visits
     * of CACHED have `depth` steps, others one; `of_layer` as in
     * tct_own_layers. `cell` is cell (0, 0, 0) of two arrays of numbered values,
     * laid out as the field, 0 at first and nobody else's: tiles are then in
     * shared memory, and of FREE each visit stores all cells, too. NULL: they
     * are not.
     * Errors      UNSUPPORTED (what no kernel has; more blocks than can be
     *             resident; cells that do not fit), NO_MEMORY, DEVICE. */
    tacit_status (*open)(tacit_queue *q, const tct_grid_block *block,
                         const tct_step_work *w, tct_own_kind kind, int depth,
                         int of_layer, tct_numbered *const cell[2], void **out);
    /* Enqueue `steps` steps from w->in on; returns visits. After an odd number
     * the result is in w->out, else in w->in. CACHED leaves nothing of use in
     * the other one, unless it is of the one step. Each visit but the last makes
     * an exchange; tiles in shared memory put into the arrays of the peers, and
     * make none of the field's. A failure is the queue's. */
    int (*run)(void *state, const tct_step_work *w, const tct_own_peers *peers,
               int steps);
    tct_own_about (*about)(const void *state);
    void (*close)(void *state);
} tct_own_steps;

/* Those of the device of `q`; NULL: it has none. */
const tct_own_steps *tct_own_steps_on(const tacit_queue *q);

#endif
