/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/device_steps.h - steps of a grid in a GPU's memory, as a
 * table of functions. They enqueue work on the queue; a failure fails it. */
#ifndef TCT_OPERATOR_STENCIL_DEVICE_STEPS_H
#define TCT_OPERATOR_STENCIL_DEVICE_STEPS_H
#include "device/queue.h"
#include "operator/stencil/split.h"
#include "operator/stencil/stencil.h"

/* The data of a kernel: a block of a grid (block.h). A row has a ghost cell at
 * each end, as stencil/field.h says; the kernels keep those of rows that
 * close. */
typedef struct tct_step_work {
    const void *in;       /* cell (0, 0, 0) of the buffer that has the values */
    void *out;            /* ... of the other one                             */
    int64_t pitch, plane; /* cells from row to row, from plane to plane */
    const void *outside;  /* cell 0 of a row of the boundary value */
    const void *coefficient;
    int64_t cells;       /* from a point's coefficients to the next's */
    int n[3];            /* cells that are computed                   */
    int low[3], high[3]; /* those that can be read: ghosts among them */
    bool closes[3];      /* others are at the other end, else outside */
    bool single;
    tct_shape shape;
    tacit_stencil_weights weights;
    double boundary, centre, neighbours;
} tct_step_work;

/* Puts of a step's edges into the neighbours (halo/put.h). */
typedef struct tct_step_halo {
    int count;                      /* of neighbours; 0: nothing         */
    const struct tct_halo_put *put; /* [count], on the device            */
    uint64_t *number;               /* of the last exchange, there       */
    unsigned *ticket;               /* there, 0 between steps            */
    int slot;   /* the buffer that the step writes                          */
    int x;      /* cells of a row of the halo before x = 0                  */
    bool waits; /* for the cells of the last exchange, before ghosts are read */
    bool puts;  /* stores cells into the ghosts of neighbours, too            */
    bool tells; /* ... which then makes the next exchange, with its signals   */
    bool idle;  /* cells stay as they are, and are put so                     */
} tct_step_halo;

/* The boxes of a step: edges, then inner cells. */
typedef struct tct_step_boxes {
    int edges, boxes;
    struct {
        int lo[3], hi[3];
        unsigned first; /* thread block: set by the step */
    } box[TCT_EDGES_MOST + 1];
    tct_step_halo halo;
} tct_step_boxes;

/* A second lane: enqueued work that runs beside that of the queue. */
typedef struct tct_step_lane tct_step_lane;

typedef struct tct_device_steps {
    /* `count` cells of one value. */
    void (*fill)(tacit_queue *q, void *cells, int64_t count, bool single,
                 double value);
    void (*step)(tacit_queue *q, const tct_step_work *w);
    /* The same of some boxes, with stores to neighbours and signals. */
    void (*boxes)(tacit_queue *q, const tct_step_work *w,
                  const tct_step_boxes *b);
    /* Wait on the device for the cells of the last exchange. */
    void (*await)(tacit_queue *q, const tct_step_halo *h);
    /* A visit of `depth` steps, which is one of `depths`. */
    void (*visit)(tacit_queue *q, const tct_step_work *w, int depth);
    /* The depths of visits of this grid, descending, then 0. NULL: it has none,
     * and `reason` says why. */
    const int *(*depths)(const tct_grid_stencil *s, const char **reason);
    /* Of each row's blocks the sum of squares of out - in, into `changes`
     * [rows][blocks], as host_rows.h has it. */
    void (*change)(tacit_queue *q, const tct_step_work *w, int64_t block,
                   double *changes);
    /* Copies between the host and the device, done when they return. */
    void (*put)(tacit_queue *q, void *to, const void *from, size_t bytes);
    void (*get)(tacit_queue *q, void *to, const void *from, size_t bytes);
    /* Open and close a second lane.  Errors DEVICE, NO_MEMORY. */
    tacit_status (*lane_open)(tacit_queue *q, tct_step_lane **out);
    void (*lane_close)(tct_step_lane *lane);
    /* The lane waits for the queue's work so far; and the queue for the lane's
     * work before the mark. */
    void (*lane_fork)(tacit_queue *q, tct_step_lane *lane);
    void (*lane_mark)(tacit_queue *q, tct_step_lane *lane);
    void (*lane_join)(tacit_queue *q, tct_step_lane *lane);
    /* All that is enqueued goes into the lane, messages as well; or into the
     * queue again. */
    void (*lane_enter)(tacit_queue *q, tct_step_lane *lane);
    void (*lane_leave)(tacit_queue *q, tct_step_lane *lane);
} tct_device_steps;

/* Those of the device of `q`; NULL: it has none. */
const tct_device_steps *tct_device_steps_on(const tacit_queue *q);

/* The kernels of one type. */
typedef struct tct_step_kernels {
    void (*fill)(tacit_queue *q, void *cells, int64_t count, double value);
    void (*step)(tacit_queue *q, const tct_step_work *w);
    void (*boxes)(tacit_queue *q, const tct_step_work *w,
                  const tct_step_boxes *b);
    void (*visit)(tacit_queue *q, const tct_step_work *w, int depth);
    void (*change)(tacit_queue *q, const tct_step_work *w, int64_t block,
                   double *changes);
} tct_step_kernels;
#ifdef __cplusplus
extern "C" {
#endif
extern const tct_step_kernels tct_step_kernels_float, tct_step_kernels_double;
#ifdef __cplusplus
}
#endif

#endif
