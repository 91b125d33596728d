/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/link_loop.c - steps and messages of the queue's link in a time loop.
 *
 * An iteration of the loop is an even number of steps, so that each begins with
 * the same buffer, and a sum by which all ranks learn of a failure. */
#include "stencil/link_loop.h"
#include "loop/loop.h"
#include "stencil/device.h"

enum {
    EACH = 16, /* steps of an iteration: its sum costs little */
    PERIOD = 2 /* iterations of a recording                   */
};

typedef struct link_loop {
    tct_stepper *stepper;
    tct_loop loop;
    double *scalars; /* [TCT_SCALARS] on the device                       */
    bool graph, opened;
    int recorded; /* the buffer with which a recording begins             */
} link_loop;

static tacit_queue *queue_of(const link_loop *l)
{
    return l->stepper->field->queue;
}

/* --- the iteration -------------------------------------------------------- */

static void one_step(tct_stepper *s)
{
    tct_stepper_step(s, 1);
    tct_stepper_settle(s);
}

/* C_RR, of which a sum is made, is not small: the device goes on. */
static void enqueue(void *of, int64_t k)
{
    link_loop *l = of;
    tacit_queue *q = queue_of(l);
    (void)k;
    for (int step = 0; step < EACH; step++) one_step(l->stepper);
    q_fill(q, 1, 1.0, &l->scalars[C_RR]);
    if (tct_field_communicates(l->stepper->field))
        q_sum(q, 1, &l->scalars[C_RR]);
}

static tct_verdict check(void *of, int64_t k, const tct_sample *c)
{
    (void)of;
    (void)k;
    (void)c;
    return TCT_GO_ON;
}

static bool same(void *of)
{
    const link_loop *l = of;
    return l->recorded == *tct_field_now(l->stepper->field);
}

static void records(void *of, bool begins)
{
    link_loop *l = of;
    if (begins) l->recorded = *tct_field_now(l->stepper->field);
}

static const tct_iteration iteration = {.enqueue = enqueue,
                                        .check = check,
                                        .period = PERIOD,
                                        .same = same,
                                        .records = records};

/* --- visits --------------------------------------------------------------- */

void tct_link_loop_visit(void *state, int depth, double *changes)
{
    link_loop *l = state;
    const int plain = changes ? depth - 1 : depth;
    tct_stepper_enter(l->stepper);
    if (l->graph && plain >= EACH)
        (void)tct_loop_run(&l->loop, l->loop.k + plain / EACH);
    for (int k = l->graph ? plain % EACH : plain; k > 0; k--)
        one_step(l->stepper);
    if (changes) tct_stepper_visit(l->stepper, 1, changes);
    if (l->stepper->field->device)
        l->stepper->field->device->host_is_older = true;
}

void tct_link_loop_finish(void *state)
{
    const link_loop *l = state;
    tct_stepper_finish(l->stepper);
}

void tct_link_loop_describe(const void *state, tacit_field_result *out)
{
    const link_loop *l = state;
    tct_stepper_describe(l->stepper, out);
    out->loop = l->graph ? "graph" : "host";
}

/* --- open and close ------------------------------------------------------- */

static tacit_status open_graph(link_loop *l)
{
    tacit_queue *q = queue_of(l);
    const double zero[TCT_SCALARS] = {0.0};
    l->scalars = q_alloc(q, TCT_SCALARS);
    if (l->scalars) q_put(q, TCT_SCALARS, zero, l->scalars);
    TRY(tct_agree(q->world, q_own_status(q)));
    TRY(tct_loop_open(&l->loop, &tct_loop_graph, &iteration, q, l, l->scalars));
    l->opened = true;
    return TACIT_OK;
}

tacit_status tct_link_loop_open(tacit_field *f, const tct_stepper_way *way,
                                void **out)
{
    void *stepper = NULL;
    link_loop *l = tct_calloc(sizeof *l);
    tacit_status status =
        l ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for steps of a grid");
    status = tct_agree(f->queue->world, status);
    if (status >= 0) status = tct_stepper_open(f, way, 1, NULL, &stepper);
    if (l) l->stepper = stepper;
    if (l) l->graph = f->loop && strcmp(f->loop, "graph") == 0;
    if (status >= 0 && l->graph) status = open_graph(l);
    if (status >= 0) *out = l;
    else tct_link_loop_close(l);
    return status;
}

void tct_link_loop_close(void *state)
{
    link_loop *l = state;
    if (!l) return;
    if (l->opened) tct_loop_close(&l->loop);
    if (l->scalars) q_free(queue_of(l), l->scalars);
    tct_stepper_close(l->stepper);
    tct_free(l);
}
