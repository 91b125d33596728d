/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/device_stepper.c - steps of a block on a GPU. A visit of a box is that
 * of a smaller block, whose ghosts are the cells around it. */
#include "stencil/device.h"
#include "stencil/stepper.h"

typedef struct device {
    tct_step_lane *lane;
    unsigned *ticket;
    tct_halo_put *put; /* [TACIT_HALO_DIRECTIONS] on the device */
} device;

static const tct_device_steps *steps_of(const tct_stepper *s)
{
    return s->field->device->steps;
}

static void device_close(tct_stepper *s)
{
    device *d = s->state;
    tacit_queue *q = s->field->queue;
    if (!d) return;
    q_enter(q);
    if (d->lane) steps_of(s)->lane_close(d->lane);
    if (d->ticket) q->device->free(q, d->ticket);
    if (d->put) q->device->free(q, d->put);
    tct_free(d);
}

static tacit_status device_open(tct_stepper *s)
{
    static const unsigned none[2];
    tacit_queue *q = s->field->queue;
    device *d = tct_calloc(sizeof *d);
    if (!d) FAIL(TACIT_NO_MEMORY, "no memory for steps of a grid");
    s->state = d;
    q_enter(q);
    if (s->way->overlaps) TRY(steps_of(s)->lane_open(q, &d->lane));
    d->ticket = q->device->alloc(q, sizeof none);
    if (!d->ticket) FAIL(TACIT_NO_MEMORY, "no GPU memory for steps of a grid");
    steps_of(s)->put(q, d->ticket, none, sizeof none);
    d->put = q->device->alloc(q, sizeof s->put);
    if (!d->put) FAIL(TACIT_NO_MEMORY, "no GPU memory for steps of a grid");
    return q_status(q);
}

static void renew(tct_stepper *s)
{
    const device *d = s->state;
    steps_of(s)->put(s->field->queue, d->put, s->put, sizeof s->put);
}

/* --- boxes ---------------------------------------------------------------- */

static void add_box(tct_step_boxes *b, const tct_cell_box *box)
{
    if (tct_box_is_empty(box)) return;
    for (int d = 0; d < 3; d++) {
        b->box[b->boxes].lo[d] = (int)box->lo[d];
        b->box[b->boxes].hi[d] = (int)box->hi[d];
    }
    b->boxes++;
}

static void add_edges(const tct_stepper *s, tct_step_boxes *b)
{
    for (int k = 0; k < s->split.edges; k++) add_box(b, &s->split.edge[k]);
    b->edges = b->boxes;
}

static void step_boxes(tct_stepper *s, const tct_step_boxes *b)
{
    const tct_step_work w = tct_device_work(s->field);
    if (b->boxes > 0) steps_of(s)->boxes(s->field->queue, &w, b);
}

/* The box as a block. */
static void visit_box(tct_stepper *s, const tct_cell_box *box, int depth)
{
    tct_step_work w = tct_device_work(s->field);
    const int64_t at = box->lo[2] * w.plane + box->lo[1] * w.pitch + box->lo[0];
    if (tct_box_is_empty(box)) return;
    w.in = (const char *)w.in + at * (int64_t)s->field->s.bytes;
    w.out = (char *)w.out + at * (int64_t)s->field->s.bytes;
    for (int d = 0; d < 3; d++) {
        const int lo = (int)box->lo[d];
        w.n[d] = (int)box->hi[d] - lo;
        w.low[d] -= lo;
        w.high[d] -= lo;
    }
    steps_of(s)->visit(s->field->queue, &w, depth);
}

static void edges(tct_stepper *s, int depth)
{
    tct_step_boxes b = {.boxes = 0};
    add_edges(s, &b);
    if (depth == 1) step_boxes(s, &b);
    else
        for (int k = 0; k < s->split.edges; k++)
            visit_box(s, &s->split.edge[k], depth);
}

static void inner(tct_stepper *s, int depth)
{
    tct_step_boxes b = {.boxes = 0};
    add_box(&b, &s->split.inner);
    if (depth == 1) step_boxes(s, &b);
    else visit_box(s, &s->split.inner, depth);
}

static void whole(tct_stepper *s, int depth, double *changes)
{
    tacit_field *f = s->field;
    tct_field_device *d = f->device;
    const tct_step_work w = tct_device_work(f);
    if (depth > 1) steps_of(s)->visit(f->queue, &w, depth);
    else steps_of(s)->step(f->queue, &w);
    if (!changes) return;
    const size_t count = (size_t)tct_field_all_blocks(f);
    steps_of(s)->change(f->queue, &w, TCT_CHANGE_BLOCK, d->changes);
    steps_of(s)->get(f->queue, changes, d->changes, count * sizeof *changes);
}

/* --- what edges do for the neighbours -------------------------------------- */

static tct_step_halo halo_of(const tct_stepper *s, int edges_do)
{
    const device *d = s->state;
    const tct_halo_puts *p = tct_halo_puts_of(s->field->halo);
    return (tct_step_halo){.count = s->puts,
                           .put = d->put,
                           .number = p->number,
                           .ticket = d->ticket,
                           .slot = *tct_field_now(s->field) ^ 1,
                           .x = (int)s->field->halo_x,
                           .waits = (edges_do & TCT_EDGES_WAIT) != 0,
                           .puts = (edges_do & TCT_EDGES_PUT) != 0,
                           .tells = (edges_do & TCT_EDGES_TELL) != 0,
                           .idle = !tct_field_computes(s->field)};
}

static void step(tct_stepper *s, int edges_do)
{
    tct_step_boxes b = {.halo = halo_of(s, edges_do)};
    add_edges(s, &b);
    if (!b.halo.idle) add_box(&b, &s->split.inner);
    step_boxes(s, &b);
    if (b.halo.tells) tct_halo_advance(s->field->halo, 1);
}

static void await(tct_stepper *s)
{
    const tct_step_halo h = halo_of(s, 0);
    steps_of(s)->await(s->field->queue, &h);
}

/* --- lanes ---------------------------------------------------------------- */

static tct_step_lane *lane_of(const tct_stepper *s)
{
    const device *d = s->state;
    return d->lane;
}

static void enter(tct_stepper *s)
{
    steps_of(s)->lane_fork(s->field->queue, lane_of(s));
    steps_of(s)->lane_enter(s->field->queue, lane_of(s));
}

static void mark(tct_stepper *s)
{
    steps_of(s)->lane_mark(s->field->queue, lane_of(s));
}

static void leave(tct_stepper *s)
{
    steps_of(s)->lane_leave(s->field->queue, lane_of(s));
}

static void join(tct_stepper *s)
{
    steps_of(s)->lane_join(s->field->queue, lane_of(s));
}

const tct_stepper_ops tct_device_stepper = {.open = device_open,
                                            .close = device_close,
                                            .renew = renew,
                                            .whole = whole,
                                            .edges = edges,
                                            .inner = inner,
                                            .step = step,
                                            .await = await,
                                            .enter = enter,
                                            .mark = mark,
                                            .leave = leave,
                                            .join = join};
