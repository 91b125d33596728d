/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/count.c - counts operations, flops, bytes and messages, so
 * that tests can check a method's stated cost. count(1) also times every
 * operation, with a wait for the queue before and after it. */
#include "device/decorators.h"
#include <string.h>

typedef struct {
    tacit_tally tally;
    tacit_tally before; /* before the current recording */
    double aside;       /* bytes of set-up and scalars, which do not count */
    bool timed;
} count_state;

static void add(tacit_tally_row *row, int times, double flops, double bytes)
{
    row->count += times;
    row->flops += times * flops;
    row->bytes += times * bytes;
}

/* Bytes of an element of its vectors. */
static double bytes_of(const tct_op *op)
{
    return (double)tct_element_bytes(op->element);
}

/* Trotter et al., section 4.1.4, for m rows and k non-zeros. */
static void add_work(tacit_tally *t, const tct_op *op, int times)
{
    const tct_op_info *info = tct_op_info_of(op);
    const double m = (double)op->n;
    const double k = op->block ? (double)op->block->nonzeros : 0.0;
    const double bytes = bytes_of(op);
    add(&t->spmv, times * info->spmv, 2 * k, 20 * (k + m));
    add(&t->dot, times * info->dot, 2 * m, 2 * bytes * m);
    add(&t->nrm2, times * info->nrm2, 2 * m, bytes * m);
    add(&t->axpy, times * info->axpy, 2 * m, 3 * bytes * m);
}

/* The row that the time of a (perhaps fused) operation goes to. */
static tacit_tally_row *row_of(tacit_tally *t, const tct_op_info *info)
{
    if (info->spmv) return &t->spmv;
    if (info->axpy) return &t->axpy;
    if (info->dot) return &t->dot;
    return info->nrm2 ? &t->nrm2 : NULL;
}

/* --- the counts of operations; each returns the row of its time ----------- */

/* `times` the counts of the table, `moved` doubles for each element, and
 * `further` bytes. */
static tacit_tally_row *count_work(count_state *s, const tct_op *op, int times,
                                   int moved, double further)
{
    tacit_tally *t = &s->tally;
    const double matrix = op->block ? op->block->matrix_bytes : 0.0;
    add_work(t, op, times);
    t->moved_bytes += bytes_of(op) * moved * (double)op->n + matrix + further;
    return row_of(t, tct_op_info_of(op));
}

static tacit_tally_row *count_each(count_state *s, const tct_op *op)
{
    const int times = tct_op_batch(op);
    return count_work(s, op, times, times * tct_op_info_of(op)->moved, 0.0);
}

static tacit_tally_row *count_columns(count_state *s, const tct_op *op)
{
    const int times = op->x.columns;
    return count_work(s, op, times, times * tct_op_info_of(op)->moved, 0.0);
}

/* The rest of a product that has been counted. */
static tacit_tally_row *count_ghosts(count_state *s, const tct_op *op)
{
    const double k = (double)op->block->nonzeros;
    count_each(s, op);
    s->tally.spmv.flops += 2 * k;
    s->tally.spmv.bytes += 20 * k;
    return &s->tally.spmv;
}

/* Each column of a panel moves once. */
static tacit_tally_row *count_gram(count_state *s, const tct_op *op)
{
    const int k = op->x.columns, m = op->y.columns;
    return count_work(s, op, k * m, k + m, 0.0);
}

static tacit_tally_row *count_combine(count_state *s, const tct_op *op)
{
    const int k = op->x.columns, m = op->y.columns;
    return count_work(s, op, k * m, k + 2 * m, 0.0);
}

static tacit_tally_row *count_mix(count_state *s, const tct_op *op)
{
    const int k = op->x.columns, m = op->y.columns;
    return count_work(s, op, k * (m + 1), k + m + 2, 0.0);
}

/* Transfers between levels also read 32-bit numbers and weights but one of a
 * row; a restriction reads the summed vectors, too. */
static tacit_tally_row *count_restrict(count_state *s, const tct_op *op)
{
    const int times = tct_op_batch(op);
    const tct_sets *G = op->sets;
    const double further =
        times * (4.0 * (double)G->count +
                 (20.0 + 8.0 * G->width) * (double)G->elements);
    return count_work(s, op, times, times * tct_op_info_of(op)->moved, further);
}

static tacit_tally_row *count_prolong(count_state *s, const tct_op *op)
{
    const int times = tct_op_batch(op);
    const double further = times * (4.0 + 8.0 * op->count) * (double)op->n;
    return count_work(s, op, times, times * tct_op_info_of(op)->moved, further);
}

static tacit_tally_row *count_aside(count_state *s, const tct_op *op)
{
    s->aside += bytes_of(op) * tct_op_info_of(op)->moved * (double)op->n;
    return NULL;
}

static tacit_tally_row *count_sum_begin(count_state *s, const tct_op *op)
{
    (void)op;
    return &s->tally.reduce;
}

static tacit_tally_row *count_sum_end(count_state *s, const tct_op *op)
{
    tacit_tally_row *row = &s->tally.reduce;
    add(row, 1, 0.0, 8.0 * op->count * tct_op_batch(op));
    return row;
}

static tacit_tally_row *count_exchange_begin(count_state *s, const tct_op *op)
{
    (void)op;
    return &s->tally.exchange;
}

static tacit_tally_row *count_exchange_end(count_state *s, const tct_op *op)
{
    tacit_tally_row *row = &s->tally.exchange;
    add(row, 1, 0.0,
        bytes_of(op) * op->x.columns * (double)op->exchange->values);
    row->messages += op->exchange->messages;
    return row;
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
static tacit_tally_row *count_record_begin(count_state *s, const tct_op *op)
{
    (void)op;
    s->before = s->tally;
    return NULL;
}

static tacit_tally_row *count_record_end(count_state *s, const tct_op *op)
{
    tacit_tally *own = &op->recording->tally;
    *own = s->tally;
    add_tally(own, &s->before, -1);
    s->tally = s->before;
    return NULL;
}

static tacit_tally_row *count_replayed(count_state *s, const tct_op *op)
{
    add_tally(&s->tally, &op->recording->tally, op->times);
    return NULL;
}

typedef tacit_tally_row *count_function(count_state *s, const tct_op *op);
static count_function *const count_of[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, line, host, take, \
          start, count, ...)                                                \
    [TCT_##code] = count_##count,
    TCT_OPS(X)
#undef X
};

tct_work tct_op_work(const tct_op *op)
{
    count_state s = {0};
    const tacit_tally *t = &s.tally;
    if (!op->recording) count_of[op->code](&s, op);
    return (tct_work){
        .flops = t->spmv.flops + t->dot.flops + t->nrm2.flops + t->axpy.flops,
        .bytes = t->spmv.bytes + t->dot.bytes + t->nrm2.bytes + t->axpy.bytes,
        .moved = t->moved_bytes + s.aside};
}

/* --- the layer ------------------------------------------------------------ */

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
    tacit_tally_row *row = count_of[op->code](s, op);
    if (!s->timed || !row) {
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
