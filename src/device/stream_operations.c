/* SPDX-License-Identifier: BSD-3-Clause
 * device/stream_operations.c - the functions q_*: each makes one operation.
 * Their inputs are const; an operation has inputs and outputs in one array,
 * hence the casts. */
#include "device/queue.h"

static double *in(const double *x)
{
    return (double *)(uintptr_t)x;
}

/* The queue's batch with vector `k` shared. */
static tct_system_batch sharing(const tacit_queue *q, int k)
{
    tct_system_batch s = q->batch;
    s.shared |= 1U << k;
    return s;
}

void q_batch(tacit_queue *q, int count, size_t stride)
{
    q->batch = (tct_system_batch){.count = count, .stride = stride};
}

static const int pass_vectors[TCT_PASS_COUNT] = {
#define X(name, ...) [PASS_##name] = PASS_VECTORS_##name,
    TCT_PASSES(X)
#undef X
};

void q_run_pass(tacit_queue *q, tct_pass pass, size_t n, double sign,
                const double *alpha, const double *beta, const double *const *v,
                double *out)
{
    tct_op op = {.code = TCT_PASS,
                 .pass = pass,
                 .n = n,
                 .sign = sign,
                 .alpha = alpha,
                 .beta = beta,
                 .out = out,
                 .batch = q->batch};
    for (int k = 0; k < pass_vectors[pass]; k++) op.v[k] = in(v[k]);
    q_submit(q, &op);
}

void q_run_pass_in(tacit_queue *q, tacit_element element, tct_pass pass,
                   size_t n, double sign, const double *alpha,
                   const double *beta, const void *const *v, double *out)
{
    tct_op op = {.code = TCT_PASS,
                 .pass = pass,
                 .element = element,
                 .n = n,
                 .sign = sign,
                 .alpha = alpha,
                 .beta = beta,
                 .out = out};
    for (int k = 0; k < pass_vectors[pass]; k++)
        op.v[k] = (double *)(uintptr_t)v[k];
    q_submit(q, &op);
}

void q_gram(tacit_queue *q, size_t n, tct_panel Z, tct_panel W, double *G)
{
    q_submit(q, &(tct_op){.code = TCT_GRAM,
                          .element = Z.element,
                          .n = n,
                          .x = Z,
                          .y = W,
                          .out = G});
}

void q_combine(tacit_queue *q, size_t n, double sign, tct_panel X,
               const double *C, tct_panel Y)
{
    q_submit(q, &(tct_op){.code = TCT_COMBINE,
                          .element = X.element,
                          .n = n,
                          .sign = sign,
                          .alpha = C,
                          .x = X,
                          .y = Y});
}

void q_mix(tacit_queue *q, size_t n, double sign, tct_panel X, int m,
           const double *C, double *y, const double *held)
{
    q_submit(q, &(tct_op){.code = TCT_MIX,
                          .element = X.element,
                          .n = n,
                          .sign = sign,
                          .alpha = C,
                          .beta = held,
                          .v = {y},
                          .x = X,
                          .y = tct_columns(&X, 0, m)});
}

void q_gather(tacit_queue *q, size_t n, const int32_t *index, const double *x,
              double *y)
{
    q_submit(
        q,
        &(tct_op){.code = TCT_GATHER, .n = n, .index = index, .v = {in(x), y}});
}

void q_restrict(tacit_queue *q, const tct_sets *G, const double *w,
                const double *b, const double *t, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_RESTRICT,
                          .n = (size_t)(G->count * G->width),
                          .sets = G,
                          .v = {in(b), in(t), in(w), y},
                          .batch = sharing(q, 2)});
}

void q_prolong(tacit_queue *q, size_t n, int width, double sign,
               const int32_t *of, const double *w, const double *x, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_PROLONG,
                          .n = n,
                          .count = width,
                          .sign = sign,
                          .index = of,
                          .v = {in(x), in(w), y},
                          .batch = sharing(q, 1)});
}

void q_step(tacit_queue *q, tct_step step, double *c)
{
    q_submit(
        q,
        &(tct_op){.code = TCT_STEP, .step = step, .out = c, .batch = q->batch});
}

void q_blocks(tacit_queue *q, tct_blocks_step step, tct_blocks *B, int formed,
              double *sums, double *c)
{
    q_submit(q, &(tct_op){.code = TCT_BLOCKS,
                          .block_step = step,
                          .blocks = B,
                          .count = formed,
                          .v = {sums},
                          .out = c});
}

void q_sample(tacit_queue *q, double *c)
{
    q_submit(q, &(tct_op){.code = TCT_SAMPLE, .out = c});
}

bool q_sampled(tacit_queue *q, tct_sample *out)
{
    if (q->failed != TACIT_OK && !q_goes_on(q)) return false;
    if (!q->device->seen(q, out)) return false;
    if (out->flags != 0.0) tct_flags_agreed(q, out->flags);
    return true;
}

static void record(tacit_queue *q, tct_opcode code, tct_recording *r,
                   int64_t times)
{
    q_submit(q, &(tct_op){.code = code, .recording = r, .times = times});
}

void q_record_begin(tacit_queue *q, tct_recording *r)
{
    record(q, TCT_RECORD_BEGIN, r, 0);
}

void q_record_end(tacit_queue *q, tct_recording *r)
{
    record(q, TCT_RECORD_END, r, 0);
}

void q_replay(tacit_queue *q, tct_recording *r, int64_t looks)
{
    record(q, TCT_REPLAY, r, looks);
}

void q_replayed(tacit_queue *q, tct_recording *r, int64_t times)
{
    record(q, TCT_REPLAYED, r, times);
}

void q_forget(tacit_queue *q, tct_recording *r)
{
    if (r->device) q->device->record_free(q, r->device);
    r->device = NULL;
}

static void sum(tacit_queue *q, tct_opcode code, int count, double *data,
                bool at_once)
{
    q_submit(q, &(tct_op){.code = code,
                          .count = count,
                          .out = data,
                          .at_once = at_once,
                          .batch = q->batch});
}

void q_sum_begin(tacit_queue *q, int count, double *data)
{
    sum(q, TCT_SUM_BEGIN, count, data, false);
}

void q_sum_end(tacit_queue *q, int count, double *data)
{
    sum(q, TCT_SUM_END, count, data, false);
}

void q_sum(tacit_queue *q, int count, double *data)
{
    sum(q, TCT_SUM_BEGIN, count, data, true);
    sum(q, TCT_SUM_END, count, data, true);
}

/* The messages go out even if this fails: other ranks wait for them. */
void q_exchange_begin(tacit_queue *q, tct_exchange *e, tct_panel x)
{
    if (x.element != e->element) {
        q_fail(q, TACIT_INVALID, "vectors of %s in an exchange of %s",
               tct_element_name(x.element), tct_element_name(e->element));
        x.at = NULL; /* messages go out with zeros: the kernels read nothing */
    }
    q_submit(q, &(tct_op){.code = TCT_EXCHANGE_BEGIN,
                          .element = e->element,
                          .exchange = e,
                          .x = x});
}

void q_exchange_end(tacit_queue *q, tct_exchange *e, int columns)
{
    q_submit(q, &(tct_op){.code = TCT_EXCHANGE_END,
                          .element = e->element,
                          .exchange = e,
                          .x = {.columns = columns}});
}

void q_call(tacit_queue *q, tct_call_fn fn, void *ctx, const double *x,
            double *y)
{
    q_submit(
        q,
        &(tct_op){.code = TCT_CALL, .call = fn, .host = ctx, .v = {in(x), y}});
}

void q_multiply(tacit_queue *q, const tct_block *B, const double *x, double *y,
                double *dot)
{
    q_submit(q, &(tct_op){.code = dot ? TCT_MULTIPLY_DOT : TCT_MULTIPLY,
                          .n = (size_t)B->rows,
                          .block = B,
                          .v = {in(x), y},
                          .out = dot});
}

void q_multiply_dots(tacit_queue *q, const tct_block *B, const double *p,
                     const double *r, double *s, double *out)
{
    q_submit(q, &(tct_op){.code = TCT_MULTIPLY_DOTS,
                          .n = (size_t)B->rows,
                          .block = B,
                          .v = {in(p), s, in(r)},
                          .out = out});
}

void q_multiply_pass(tacit_queue *q, const tct_block *B, const double *x,
                     tct_pass pass, const double *alpha, const double *beta,
                     const double *const *v, double *out)
{
    tct_op op = {.code = TCT_MULTIPLY_PASS,
                 .pass = pass,
                 .n = (size_t)B->rows,
                 .sign = 1.0,
                 .alpha = alpha,
                 .beta = beta,
                 .block = B,
                 .x = q_panel(q, x),
                 .out = out,
                 .batch = q->batch};
    for (int k = 0; k < pass_vectors[pass]; k++) op.v[k] = in(v[k]);
    q_submit(q, &op);
}

void q_multiply_block(tacit_queue *q, const tct_block *B, tct_panel X,
                      tct_panel Y)
{
    q_submit(q, &(tct_op){.code = TCT_MULTIPLY_BLOCK,
                          .element = X.element,
                          .n = (size_t)B->rows,
                          .block = B,
                          .x = X,
                          .y = Y});
}

void q_multiply_add(tacit_queue *q, const tct_block *B, tct_exchange *e,
                    int column, double *y, const double *x, double *dot)
{
    q_submit(q, &(tct_op){.code = TCT_MULTIPLY_ADD,
                          .n = (size_t)B->rows,
                          .block = B,
                          .exchange = e,
                          .v = {y, in(x), e->ghost + column * e->ghosts},
                          .out = dot});
}

void q_multiply_add_pass(tacit_queue *q, const tct_block *B, tct_exchange *e,
                         int column, const tct_op *of)
{
    q_submit(q, &(tct_op){.code = TCT_MULTIPLY_ADD,
                          .n = (size_t)B->rows,
                          .block = B,
                          .exchange = e,
                          .alpha = of->alpha,
                          .v = {of->v[4], of->v[2],
                                e->ghost + column * e->ghosts, of->v[0]},
                          .out = of->out});
}
