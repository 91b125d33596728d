/* SPDX-License-Identifier: BSD-3-Clause
 * device/words.c - the words of a solver: each makes one operation. Input
 * vectors are const in the words; an operation lists inputs and outputs in
 * one array, hence the casts. */
#include "device/queue.h"

static double *in(const double *x)
{
    return (double *)(uintptr_t)x;
}

void q_fill(tacit_queue *q, size_t n, double value, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_FILL, .n = n, .sign = value, .v = {y}});
}

void q_copy(tacit_queue *q, size_t n, const double *x, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_COPY, .n = n, .v = {in(x), y}});
}

void q_scale(tacit_queue *q, size_t n, double factor, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_SCALE, .n = n, .sign = factor, .v = {y}});
}

void q_gather(tacit_queue *q, size_t n, const int32_t *index, const double *x,
              double *y)
{
    q_submit(
        q,
        &(tct_op){.code = TCT_GATHER, .n = n, .index = index, .v = {in(x), y}});
}

void q_axpy(tacit_queue *q, size_t n, double sign, const double *alpha,
            const double *x, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_AXPY,
                          .n = n,
                          .sign = sign,
                          .alpha = alpha,
                          .v = {in(x), y}});
}

void q_aypx(tacit_queue *q, size_t n, double sign, const double *alpha,
            const double *x, double *y)
{
    q_submit(q, &(tct_op){.code = TCT_AYPX,
                          .n = n,
                          .sign = sign,
                          .alpha = alpha,
                          .v = {in(x), y}});
}

void q_dot(tacit_queue *q, size_t n, const double *x, const double *y,
           double *out)
{
    q_submit(
        q, &(tct_op){.code = TCT_DOT, .n = n, .v = {in(x), in(y)}, .out = out});
}

void q_norm(tacit_queue *q, size_t n, const double *x, double *out)
{
    q_submit(q, &(tct_op){.code = TCT_NORM, .n = n, .v = {in(x)}, .out = out});
}

void q_axpy_norm(tacit_queue *q, size_t n, double sign, const double *alpha,
                 const double *x, double *y, double *out)
{
    q_submit(q, &(tct_op){.code = TCT_AXPY_NORM,
                          .n = n,
                          .sign = sign,
                          .alpha = alpha,
                          .v = {in(x), y},
                          .out = out});
}

void q_cg_update(tacit_queue *q, size_t n, const double *alpha,
                 const double *beta, const double *r, double *p, double *x)
{
    q_submit(q, &(tct_op){.code = TCT_CG_UPDATE,
                          .n = n,
                          .alpha = alpha,
                          .beta = beta,
                          .v = {in(r), p, x}});
}

void q_dots(tacit_queue *q, size_t n, const double *x, const double *y,
            double *out)
{
    q_submit(q, &(tct_op){
                    .code = TCT_DOTS, .n = n, .v = {in(x), in(y)}, .out = out});
}

void q_single_update(tacit_queue *q, size_t n, const double *alpha,
                     const double *beta, const double *s, double *r, double *p,
                     double *x, double *rr)
{
    q_submit(q, &(tct_op){.code = TCT_SINGLE_UPDATE,
                          .n = n,
                          .alpha = alpha,
                          .beta = beta,
                          .v = {in(s), r, p, x},
                          .out = rr});
}

void q_pipelined_update(tacit_queue *q, size_t n, const double *alpha,
                        const double *beta, const double *nn, double *z,
                        double *s, double *w, double *p, double *r, double *x,
                        double *out)
{
    q_submit(q, &(tct_op){.code = TCT_PIPELINED_UPDATE,
                          .n = n,
                          .alpha = alpha,
                          .beta = beta,
                          .v = {in(nn), z, s, w, p, r, x},
                          .out = out});
}

void q_pipe_pr_update(tacit_queue *q, size_t n, const double *alpha,
                      const double *beta, const double *w, const double *u,
                      double *s, double *r, double *p, double *x, double *out)
{
    q_submit(q, &(tct_op){.code = TCT_PIPE_PR_UPDATE,
                          .n = n,
                          .alpha = alpha,
                          .beta = beta,
                          .v = {in(w), in(u), s, r, p, x},
                          .out = out});
}

void q_step(tacit_queue *q, tct_step step, double *c)
{
    q_submit(q, &(tct_op){.code = TCT_STEP, .step = step, .out = c});
}

void q_look(tacit_queue *q, double *c)
{
    q_submit(q, &(tct_op){.code = TCT_LOOK, .out = c});
}

bool q_seen(tacit_queue *q, tct_seen *out)
{
    return q->failed == TACIT_OK && q->device->seen(q, out);
}

void q_sum_begin(tacit_queue *q, int count, double *data)
{
    q_submit(q, &(tct_op){.code = TCT_SUM_BEGIN, .count = count, .out = data});
}

void q_sum_end(tacit_queue *q, int count, double *data)
{
    q_submit(q, &(tct_op){.code = TCT_SUM_END, .count = count, .out = data});
}

void q_sum(tacit_queue *q, int count, double *data)
{
    tct_op op = {
        .code = TCT_SUM_BEGIN, .count = count, .out = data, .at_once = true};
    q_submit(q, &op);
    op.code = TCT_SUM_END;
    q_submit(q, &op);
}

void q_exchange_begin(tacit_queue *q, tct_exchange *e, tct_panel x)
{
    q_submit(q, &(tct_op){.code = TCT_EXCHANGE_BEGIN, .exchange = e, .x = x});
}

void q_exchange_end(tacit_queue *q, tct_exchange *e, int columns)
{
    q_submit(q, &(tct_op){.code = TCT_EXCHANGE_END,
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

void q_multiply_pair(tacit_queue *q, const tct_block *B, const double *x0,
                     double *y0, const double *x1, double *y1)
{
    q_submit(q, &(tct_op){.code = TCT_MULTIPLY_PAIR,
                          .n = (size_t)B->rows,
                          .block = B,
                          .v = {in(x0), y0, in(x1), y1}});
}

void q_multiply_add(tacit_queue *q, const tct_block *B, tct_exchange *e,
                    int column, double *y, const double *x, double *dot)
{
    q_submit(q, &(tct_op){.code = TCT_MULTIPLY_ADD,
                          .block = B,
                          .exchange = e,
                          .v = {y, in(x), e->ghost + column * e->ghosts},
                          .out = dot});
}
