/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/stepper.h - steps of a block whose neighbours belong to other ranks:
 * ways that the CPU or the link drives, one text for the host and for GPUs.
 *
 * A visit reads the buffer that has the values, with its ghosts, and writes the
 * other one; an exchange then brings the ghosts of that. It goes in place where
 * the neighbours' memory can be reached, else through the queue's link.
 *
 * A visit that overlaps has two lanes. The second one waits for the last
 * exchange, steps the edges and starts the next exchange; the first one steps
 * the inner cells, which read no ghosts. Both lanes wait for the other's steps
 * of the last visit, and only the second one for the neighbours. */
#ifndef TCT_STENCIL_STEPPER_H
#define TCT_STENCIL_STEPPER_H
#include "halo/halo.h"
#include "operator/stencil/device_steps.h"
#include "operator/stencil/split.h"
#include "stencil/field_halo.h"
#include "stencil/way.h"

typedef struct tct_stepper tct_stepper;

/* Puts, signals and waits of a step's edges. */
enum {
    TCT_EDGES_PUT = 1,  /* store cells into the neighbours' ghosts           */
    TCT_EDGES_TELL = 2, /* ... and make the next exchange by that           */
    TCT_EDGES_WAIT = 4  /* wait for the last exchange before they read them */
};

/* Steps on one kind of device: enqueued, if it has a queue. */
typedef struct tct_stepper_ops {
    /* Make and free s->state.  Errors NO_MEMORY, DEVICE. */
    tacit_status (*open)(tct_stepper *s);
    void (*close)(tct_stepper *s);
    /* The puts have changed. OPTIONAL */
    void (*renew)(tct_stepper *s);
    /* `depth` steps of all cells; of the last one the changes, unless NULL. */
    void (*whole)(tct_stepper *s, int depth, double *changes);
    /* `depth` steps of s->split's edges, or of its inner cells. */
    void (*edges)(tct_stepper *s, int depth);
    void (*inner)(tct_stepper *s, int depth);
    /* One step of all cells; of a field that does not compute what edges do
     * besides. */
    void (*step)(tct_stepper *s, int edges_do);
    /* Wait for the exchange that edges have made. */
    void (*await)(tct_stepper *s);
    /* The second lane: what follows goes there, after all so far; what is
     * there so far is what the first one waits for; what follows goes into the
     * first one; the first one waits. OPTIONAL: there is one lane */
    void (*enter)(tct_stepper *s);
    void (*mark)(tct_stepper *s);
    void (*leave)(tct_stepper *s);
    void (*join)(tct_stepper *s);
} tct_stepper_ops;

extern const tct_stepper_ops tct_host_stepper, tct_device_stepper;

/* Store the cells of the edges, after a step, into the neighbours' ghosts. */
void tct_host_stepper_put(const tct_stepper *s);

/* A way of steppers. */
typedef struct tct_stepper_way {
    const char *name;
    bool in_place;        /* the link must reach the neighbours' memory */
    const char *link;     /* the link that it needs, NULL: any        */
    tct_halo_means means; /* of exchanges, where they are possible */
    bool overlaps;        /* has a second lane                           */
    /* A visit of s->field by `depth` steps, with its exchange. */
    void (*visit)(tct_stepper *s, int depth);
} tct_stepper_way;

extern const tct_stepper_way tct_step_copy, tct_step_overlap, tct_step_p2p,
    tct_step_shmem, tct_step_shmem1, tct_step_mpi, tct_step_nccl,
    tct_step_tiles, tct_step_tiles_whole;

struct tct_stepper {
    tacit_field *field;
    const tct_stepper_ops *ops;
    const tct_stepper_way *way;
    const int *depths; /* of the device's visits, NULL: one step       */
    int deepest;       /* steps of a visit, at most                    */
    tct_halo_means means;
    tct_field_ghosts ghosts; /* messages of packed exchanges */
    tct_block_split split;
    int puts; /* of ghosts next to the block, as deep as visits */
    tct_halo_put put[TACIT_HALO_DIRECTIONS];
    bool entered; /* the ghosts are those of the last visit             */
    enum { TCT_NOTHING, TCT_EXCHANGE, TCT_EDGES } pending; /* to wait for */
    void *state;                                           /* of ops */
};

/* Make a stepper of the field's block by `way`, for visits of up to `depth`
 * steps, for which the ghosts are wide enough. The device makes one of `depths`
 * at a time (descending, then 0), or one step if that is NULL. Borrows the
 * field. Collective.
 * Errors      UNSUPPORTED (the link, with the one that it needs), NO_MEMORY,
 *             DEVICE, on all ranks. */
tacit_status tct_stepper_open(tacit_field *f, const tct_stepper_way *way,
                              int depth, const int *depths, void **out);
/* As those of tct_way_ops. Collective. */
void tct_stepper_visit(void *stepper, int depth, double *changes);
void tct_stepper_finish(void *stepper);
void tct_stepper_describe(const void *stepper, tacit_field_result *out);
void tct_stepper_close(void *stepper);

/* --- for ways and loops --------------------------------------------------- */

/* Let the ghosts be those of the values, before the first visit. */
void tct_stepper_enter(tct_stepper *s);
/* Wait for what is pending. */
void tct_stepper_settle(tct_stepper *s);
/* Step all cells, and start the exchange. */
void tct_stepper_step(tct_stepper *s, int depth);

#endif
