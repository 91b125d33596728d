/* SPDX-License-Identifier: BSD-3-Clause
 * device/base_layer.c - the lowest layer of a queue: device work goes to the
 * device, messages to the link. */
#include "device/queue.h"

/* --- work of the device --------------------------------------------------- */

static void line_device(tacit_queue *q, const tct_op *op)
{
    if (q->failed == TACIT_OK) q->device->run(q, op);
}

/* Also of a failed queue. */
static void line_get(tacit_queue *q, const tct_op *op)
{
    q->device->run(q, op);
}

static void line_sample(tacit_queue *q, const tct_op *op)
{
    if (q->failed == TACIT_OK || q_goes_on(q))
        q->device->run(q, op); /* sums agree on all ranks */
}

/* Also in a failed queue: the function may exchange messages. */
static void line_call(tacit_queue *q, const tct_op *op)
{
    if (q->device->flush) q->device->flush(q);
    tct_start_messages(q);
    const tct_system_batch batch = q->batch; /* it works on single systems */
    q->batch = (tct_system_batch){0};
    const tacit_status status = op->call(op->host, q, op->v[0], op->v[1]);
    q->batch = batch;
    if (status < 0) q_fail(q, status, "%s", tacit_error_message());
}

/* --- sums ----------------------------------------------------------------- */

/* Does the CPU start messages for an asynchronous device with its own memory?
 * Then scalars are copied, and the device is waited for. */
static bool needs_copies(const tacit_queue *q)
{
    return q->device->alloc_shared && q->link->starter == TCT_BY_CPU;
}

/* Start enqueued work, to run while the CPU waits for messages. */
static void start_enqueued(tacit_queue *q)
{
    if (q->device->flush) q->device->flush(q);
}

/* Copy the scalars of a sum, system by system, to q->sum, or back. */
static void move_scalars(tacit_queue *q, const tct_op *op, tct_opcode code)
{
    for (int j = 0; j < tct_op_batch(op); j++)
        q->device->run(q, &(tct_op){.code = code,
                                    .n = (size_t)op->count,
                                    .v = {op->out + j * TCT_SCALARS},
                                    .host = q->sum + j * op->count});
}

/* Are the scalars of a sum on the device alone, or not contiguous? */
static bool needs_copies_of(const tacit_queue *q, const tct_op *op)
{
    return needs_copies(q) || (q->ranks > 1 && tct_op_batch(op) > 1);
}

/* The sum of the scalars in q->sum. */
static tct_op of_copies(const tacit_queue *q, const tct_op *op)
{
    tct_op local = *op;
    local.out = q->sum;
    local.count = op->count * tct_op_batch(op);
    return local;
}

static void line_sum_begin(tacit_queue *q, const tct_op *op)
{
    if (tct_launcher_of(q)) {
        if (!op->at_once) q->device->run(q, op);
        return;
    }
    if (!needs_copies_of(q, op)) {
        q->link->sum_begin(q, op);
        return;
    }
    const tct_op local = of_copies(q, op);
    move_scalars(q, op, TCT_GET);
    q->device->sync(q);
    tct_start_messages(q);
    q->link->sum_begin(q, &local);
}

static void line_sum_end(tacit_queue *q, const tct_op *op)
{
    if (tct_launcher_of(q)) {
        q->device->run(q, op);
        return;
    }
    if (!needs_copies_of(q, op)) {
        q->link->sum_end(q, op);
        return;
    }
    const tct_op local = of_copies(q, op);
    start_enqueued(q);
    q->link->sum_end(q, &local);
    move_scalars(q, op, TCT_PUT);
}

/* --- exchanges ------------------------------------------------------------ */

/* Messages of an asynchronous device start when it has packed. This wait is
 * delayed to the exchange's end, a sum, or any other wait for ranks, and the
 * device works on what is enqueued until then. */
void tct_start_messages(tacit_queue *q)
{
    const tct_op op = q->begun;
    if (!op.exchange) return;
    q->begun.exchange = NULL;
    if (q->peers_know) return; /* its end will not come either */
    start_enqueued(q);
    q->device->reach(q);
    q->link->exchange_begin(q, &op);
}

static void line_exchange_begin(tacit_queue *q, const tct_op *op)
{
    tct_start_messages(q);
    if (tct_launcher_of(q)) {
        q->device->run(q, op);
        return;
    }
    tct_op pack = *op;
    pack.code = TCT_PACK;
    pack.n = (size_t)op->exchange->values;
    pack.v[0] = tct_buffers_of(q, op->exchange)->pack;
    if (pack.n > 0) line_device(q, &pack);
    if (needs_copies(q)) {
        q->device->mark(q);
        q->begun = *op;
    } else {
        q->link->exchange_begin(q, op);
    }
}

static void line_exchange_end(tacit_queue *q, const tct_op *op)
{
    tct_start_messages(q);
    if (tct_launcher_of(q)) {
        q->device->run(q, op);
        return;
    }
    tct_op unpack = *op;
    unpack.code = TCT_UNPACK;
    unpack.n = (size_t)op->exchange->ghosts;
    unpack.v[0] = tct_landing(q, op->exchange, op->x.columns);
    if (needs_copies(q)) start_enqueued(q);
    q->link->exchange_end(q, op);
    if (unpack.v[0] != op->exchange->ghost) line_device(q, &unpack);
}

/* --- recordings ----------------------------------------------------------- */

static void line_record_begin(tacit_queue *q, const tct_op *op)
{
    if (op->recording->dry_run) q->in_dry_run = true;
    else if (q->failed == TACIT_OK) q->device->record_begin(q);
}

/* It must reach the device even if the queue has failed since. */
static void line_record_end(tacit_queue *q, const tct_op *op)
{
    tct_recording *r = op->recording;
    if (!r->dry_run) r->device = q->device->record_end(q, r->looks, r->c);
    q->in_dry_run = false;
}

static void line_replay(tacit_queue *q, const tct_op *op)
{
    q->device->replay(q, op->recording->device, op->times);
}

/* For decorators that count. */
static void line_replayed(tacit_queue *q, const tct_op *op)
{
    (void)q;
    (void)op;
}

/* --- the layer ------------------------------------------------------------ */

typedef void line_function(tacit_queue *q, const tct_op *op);
static line_function *const line[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, line, ...) \
    [TCT_##code] = line_##line,
    TCT_OPS(X)
#undef X
};

static void base_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    (void)self;
    /* peers_know: all ranks have stopped */
    if (!op->recording && (q->in_dry_run || q->peers_know)) return;
    if (op->element != TACIT_F64 && !tct_op_has_element(op)) q_refuse(q, op);
    else line[op->code](q, op);
}

static void base_sync(tct_layer *self, tacit_queue *q)
{
    (void)self;
    q->device->sync(q);
}

static void *base_alloc(tct_layer *self, tacit_queue *q, size_t bytes)
{
    (void)self;
    return q->device->alloc(q, bytes);
}

static void base_free(tct_layer *self, tacit_queue *q, void *p)
{
    (void)self;
    q->device->free(q, p);
}

const tct_layer_ops tct_base_layer = {
    .about = {.name = "line"},
    .submit = base_submit,
    .sync = base_sync,
    .alloc = base_alloc,
    .free = base_free,
};
