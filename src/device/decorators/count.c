/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/count.c - counts operations, flops, bytes and messages, so
 * that tests can check a method's stated cost. count(1) also times every
 * operation, with a wait for the queue before and after it. */
#include "device/decorators.h"
#include <string.h>

typedef struct {
    tacit_tally tally;
    tacit_tally before; /* before the current recording */
    bool timed;
} count_state;

static void add(tacit_tally_row *row, int times, double flops, double bytes)
{
    row->count += times;
    row->flops += times * flops;
    row->bytes += times * bytes;
}

/* The factor of the table's counts. */
static int times_of(const tct_op *op)
{
    const int columns = op->x.columns;
    const bool small = op->code == TCT_GRAM || op->code == TCT_COMBINE;
    if (small) return columns * op->y.columns;
    if (op->code == TCT_MIX) return columns * (op->y.columns + 1);
    return op->code == TCT_MULTIPLY_BLOCK ? columns : tct_op_batch(op);
}

/* Trotter et al., section 4.1.4, for m rows and k non-zeros. */
static void add_work(tacit_tally *t, const tct_op *op)
{
    const tct_op_info *info = tct_op_info_of(op);
    const double m = (double)op->n;
    const double k = op->block ? (double)op->block->nonzeros : 0.0;
    const int times = times_of(op);
    add(&t->spmv, times * info->spmv, 2 * k, 20 * (k + m));
    add(&t->dot, times * info->dot, 2 * m, 16 * m);
    add(&t->nrm2, times * info->nrm2, 2 * m, 8 * m);
    add(&t->axpy, times * info->axpy, 2 * m, 24 * m);
    if (op->code == TCT_MULTIPLY_ADD) { /* the rest of a product counted */
        t->spmv.flops += 2 * k;
        t->spmv.bytes += 20 * k;
    }
}

/* Doubles moved per element, each column of a panel once. */
static int moved_by(const tct_op *op)
{
    if (op->code == TCT_GRAM) return op->x.columns + op->y.columns;
    if (op->code == TCT_COMBINE) return op->x.columns + 2 * op->y.columns;
    if (op->code == TCT_MIX) return op->x.columns + op->y.columns + 2;
    return times_of(op) * tct_op_info_of(op)->moved;
}

/* Further bytes of transfers between levels: 32-bit numbers, weights but one of
 * a row, and in a restriction the summed vectors. */
static double bytes_between(const tct_op *op)
{
    const int times = tct_op_batch(op);
    if (op->code == TCT_PROLONG)
        return times * (4.0 + 8.0 * op->count) * (double)op->n;
    if (op->code != TCT_RESTRICT) return 0.0;
    const tct_sets *G = op->sets;
    return times * (4.0 * (double)G->count +
                    (20.0 + 8.0 * G->width) * (double)G->elements);
}

tct_work tct_op_work(const tct_op *op)
{
    tacit_tally t = {0};
    add_work(&t, op);
    const double matrix = op->block ? op->block->matrix_bytes : 0.0;
    return (tct_work){
        .flops = t.spmv.flops + t.dot.flops + t.nrm2.flops + t.axpy.flops,
        .bytes = t.spmv.bytes + t.dot.bytes + t.nrm2.bytes + t.axpy.bytes,
        .moved =
            8.0 * moved_by(op) * (double)op->n + matrix + bytes_between(op)};
}

static void count_op(tacit_tally *t, const tct_op *op)
{
    switch ((int)op->code) {
    case TCT_SAMPLE:
    case TCT_GET:
    case TCT_PUT: break; /* set-up and scalars */
    case TCT_SUM_END:
        add(&t->reduce, 1, 0.0, 8.0 * op->count * tct_op_batch(op));
        break;
    case TCT_EXCHANGE_END:
        add(&t->exchange, 1, 0.0,
            8.0 * op->x.columns * (double)op->exchange->values);
        t->exchange.messages += op->exchange->messages;
        break;
    default: add_work(t, op); t->moved_bytes += tct_op_work(op).moved;
    }
}

static void add_row(tacit_tally_row *t, const tacit_tally_row *d, int64_t times)
{
    t->count += times * d->count;
    t->seconds += (double)times * d->seconds;
    t->flops += (double)times * d->flops;
    t->bytes += (double)times * d->bytes;
    t->messages += times * d->messages;
}

/* t += times d */
static void add_tally(tacit_tally *t, const tacit_tally *d, int64_t times)
{
    add_row(&t->spmv, &d->spmv, times);
    add_row(&t->dot, &d->dot, times);
    add_row(&t->nrm2, &d->nrm2, times);
    add_row(&t->axpy, &d->axpy, times);
    add_row(&t->reduce, &d->reduce, times);
    add_row(&t->exchange, &d->exchange, times);
    t->moved_bytes += (double)times * d->moved_bytes;
}

/* A recording counts only when it is replayed. */
static void count_record(count_state *s, const tct_op *op)
{
    tct_recording *r = op->recording;
    switch ((int)op->code) {
    case TCT_RECORD_BEGIN: s->before = s->tally; break;
    case TCT_RECORD_END:
        r->tally = s->tally;
        add_tally(&r->tally, &s->before, -1);
        s->tally = s->before;
        break;
    case TCT_REPLAYED: add_tally(&s->tally, &r->tally, op->times); break;
    default: break;
    }
}

/* The row that the time of a (perhaps fused) operation goes to. */
static tacit_tally_row *row_of(tacit_tally *t, const tct_op *op)
{
    const tct_op_info *info = tct_op_info_of(op);
    switch ((int)op->code) {
    case TCT_SUM_BEGIN:
    case TCT_SUM_END: return &t->reduce;
    case TCT_EXCHANGE_BEGIN:
    case TCT_EXCHANGE_END: return &t->exchange;
    case TCT_MULTIPLY_ADD: return &t->spmv;
    default: break;
    }
    if (info->spmv) return &t->spmv;
    if (info->axpy) return &t->axpy;
    if (info->dot) return &t->dot;
    return info->nrm2 ? &t->nrm2 : NULL;
}

static tacit_status count_open(tct_layer *self, tacit_queue *q,
                               const char *argument)
{
    count_state *s = NULL;
    TRY(TCT_ALLOC(1, "a tally", &s));
    *s = (count_state){.timed = strcmp(argument, "1") == 0};
    self->state = s;
    q->tally = &s->tally;
    if (argument[0] != '\0' && !s->timed)
        FAIL(TACIT_INVALID, "count(%s): expected count or count(1)", argument);
    return TACIT_OK;
}

static void count_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    count_state *s = self->state;
    if (op->recording) count_record(s, op);
    else count_op(&s->tally, op);
    tacit_tally_row *row = s->timed ? row_of(&s->tally, op) : NULL;
    if (!row) {
        tct_below_submit(self, q, op);
        return;
    }
    tct_below_sync(self, q);
    const double start = tct_seconds();
    tct_below_submit(self, q, op);
    tct_below_sync(self, q);
    row->seconds += tct_seconds() - start;
}

static void count_close(tct_layer *self, tacit_queue *q)
{
    q->tally = NULL;
    tct_free(self->state);
}

const tct_layer_ops tct_layer_count = {
    .about = {"count",
              "count operations, messages and bytes; count(1) times them too"},
    .open = count_open,
    .submit = count_submit,
    .close = count_close,
};
