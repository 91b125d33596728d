/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/operations.c - the operations of a GPU: how each is taken when it
 * is enqueued, and the kernel that it starts (TCT_OPS). */
#include "device/gpu/gpu.h"

/* --- kernels of operations, when their turn comes ------------------------- */

static const tct_gpu_block *block_of(const tct_op *op)
{
    return (const tct_gpu_block *)(const void *)op->block;
}

static void start_pack(const tct_op *op, const tct_gpu_launch *L)
{
    tct_gpu_pack(op, op->v[0], L);
}

static void start_unpack(const tct_op *op, const tct_gpu_launch *L)
{
    tct_gpu_unpack(op, op->v[0], L);
}

static void start_epilogue(const tct_op *op, const tct_gpu_launch *L)
{
    (void)op;
    tct_gpu_epilogue(L);
}

static void start_multiply(const tct_op *op, const tct_gpu_launch *L)
{
    const tct_gpu_block *B = block_of(op);
    B->gpu->multiply(B, L, op->v[0], op->v[1]);
}

/* Three dots with a product: in its kernel, or in one more. */
static void start_multiply_dots(const tct_op *op, const tct_gpu_launch *L)
{
    const tct_gpu_block *B = block_of(op);
    double *const *v = op->v;
    if (B->gpu->multiply_dots && B->gpu->multiply_dots(B, L, v[0], v[2], v[1]))
        return;
    tct_gpu_launch product = *L, dots = *L;
    product.epilogue.count = 0;
    dots.out = L->out + 1;
    B->gpu->multiply(B, &product, v[0], v[1]);
    tct_gpu_pass(
        &(tct_op){
            .code = TCT_PASS, .pass = PASS_dots, .n = op->n, .v = {v[2], v[1]}},
        &dots);
}

static void start_multiply_pass(const tct_op *op, const tct_gpu_launch *L)
{
    const tct_gpu_block *B = block_of(op);
    B->gpu->multiply_pass(B, L, op);
}

static void start_multiply_add(const tct_op *op, const tct_gpu_launch *L)
{
    const tct_gpu_block *B = block_of(op);
    B->gpu->multiply_add(B, L, op);
}

/* Several columns per pass, if the block can. */
static void start_multiply_block(const tct_op *op, const tct_gpu_launch *L)
{
    const tct_gpu_block *B = block_of(op);
    const int columns = op->x.columns;
    if (B->gpu->multiply_columns) {
        B->gpu->multiply_columns(B, L, &op->x, &op->y);
        return;
    }
    for (int j = 0; j < columns; j++) {
        tct_gpu_launch part = *L;
        if (j + 1 < columns) part.epilogue.count = 0;
        B->gpu->multiply(B, &part, tct_column(&op->x, j),
                         tct_column(&op->y, j));
    }
}

static void start_sum(const tct_op *op, const tct_gpu_launch *L)
{
    tct_launcher_of(L->queue)->sum(L->queue, op, L);
}

static void start_sum_begin(const tct_op *op, const tct_gpu_launch *L)
{
    tct_launcher_of(L->queue)->sum_begin(L->queue, op, L);
}

static void start_exchange_begin(const tct_op *op, const tct_gpu_launch *L)
{
    tct_launcher_of(L->queue)->exchange_begin(L->queue, op, L);
}

static void start_exchange_end(const tct_op *op, const tct_gpu_launch *L)
{
    tct_launcher_of(L->queue)->exchange_end(L->queue, op, L);
}

static void start_none(const tct_op *op, const tct_gpu_launch *L)
{
    q_refuse(L->queue, op);
}

typedef void start_function(const tct_op *op, const tct_gpu_launch *L);
static start_function *const start[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, line, host, take, \
          gpu, ...)                                                         \
    [TCT_##code] = gpu,
    TCT_OPS(X)
#undef X
};

/* --- the pending operation ------------------------------------------------ */

static tct_gpu_launch launch_of(tacit_queue *q, double *out)
{
    const tct_gpu *g = tct_gpu_of(q);
    return (tct_gpu_launch){.queue = q,
                            .stream = g->stream,
                            .sms = g->sms,
                            .partial = g->partial,
                            .ticket = g->ticket,
                            .out = out,
                            .keeps = q->rank == 0,
                            .epilogue = g->epilogue,
                            .l2_bytes = g->l2_bytes};
}

void tct_gpu_flush(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    if (!g->holding) return;
    g->holding = false;
    const tct_op *op = &g->held;
    const tct_gpu_launch L = launch_of(q, op->out);
    start[op->code](op, &L);
    tct_gpu_ok(q, gpu_last_error(), tct_op_info_of(op)->text);
}

static void take_pend(tacit_queue *q, const tct_op *op)
{
    tct_gpu *g = tct_gpu_of(q);
    tct_gpu_flush(q);
    g->held = *op;
    g->epilogue = (tct_epilogue){.outbox = g->outbox, .batch = op->batch.count};
    g->holding = true;
}

static void take_message(tacit_queue *q, const tct_op *op)
{
    if (tct_launcher_of(q)) take_pend(q, op);
    else q_refuse(q, op);
}

/* --- operations on elements ----------------------------------------------- */

/* A sum over no elements is 0. */
static void sum_nothing(tacit_queue *q, const tct_op *op, size_t sums)
{
    tct_gpu *g = tct_gpu_of(q);
    if (sums == 0 || !op->out) return;
    tct_gpu_flush(q);
    for (int j = 0; j < tct_op_batch(op); j++)
        tct_gpu_ok(q,
                   gpu_memset_async(op->out + j * TCT_SCALARS, 0,
                                    sums * sizeof(double), g->stream),
                   "clearing sums");
}

static void take_rows(tacit_queue *q, const tct_op *op)
{
    if (op->n > 0) take_pend(q, op);
    else sum_nothing(q, op, (size_t)tct_op_info_of(op)->sums);
}

static void take_gram(tacit_queue *q, const tct_op *op)
{
    if (op->n > 0) take_pend(q, op);
    else sum_nothing(q, op, (size_t)(op->x.columns * op->y.columns));
}

/* --- operations that need no kernel --------------------------------------- */

/* A step or a sample: part of the pending operation's epilogue, or a kernel of
 * its own. */
static void follow(tacit_queue *q, const tct_op *op, tct_epilogue_kind kind)
{
    tct_gpu *g = tct_gpu_of(q);
    /* sending kernels have no epilogue */
    const bool sends =
        g->held.code == TCT_EXCHANGE_BEGIN || g->held.code == TCT_SUM_BEGIN;
    const bool fits = g->holding && !sends &&
                      g->epilogue.count < TCT_EPILOGUE_MOST &&
                      g->epilogue.batch == op->batch.count &&
                      (g->epilogue.count == 0 || g->epilogue.c == op->out);
    if (!fits) take_pend(q, op);
    g->epilogue.c = op->out;
    g->epilogue.action[g->epilogue.count].kind = kind;
    g->epilogue.action[g->epilogue.count++].step = op->step;
}

static void take_follow(tacit_queue *q, const tct_op *op)
{
    follow(q, op, EPILOGUE_STEP);
}

static void take_sample(tacit_queue *q, const tct_op *op)
{
    tct_gpu *g = tct_gpu_of(q);
    follow(q, op, EPILOGUE_SAMPLE);
    if (!g->capturing) g->made++;
}

/* Before a copy to or from pageable memory, in which the runtime waits for
 * earlier work without a limit. */
static bool may_copy(tacit_queue *q)
{
    tct_gpu_flush(q);
    if (!q->link || !q->link->give_up || tct_gpu_of(q)->capturing) return true;
    return tct_gpu_ok(q, tct_gpu_finish(q), "running kernels");
}

static void take_get(tacit_queue *q, const tct_op *op)
{
    const size_t bytes = op->n * tct_element_bytes(op->element);
    if (may_copy(q))
        tct_gpu_ok(q,
                   gpu_memcpy_async(op->host, op->v[0], bytes, GPU_TO_HOST,
                                    tct_gpu_of(q)->stream),
                   "copying from the device");
}

static void take_put(tacit_queue *q, const tct_op *op)
{
    const size_t bytes = op->n * tct_element_bytes(op->element);
    if (may_copy(q))
        tct_gpu_ok(q,
                   gpu_memcpy_async(op->v[0], op->host, bytes, GPU_TO_DEVICE,
                                    tct_gpu_of(q)->stream),
                   "copying to the device");
}

static void take_none(tacit_queue *q, const tct_op *op)
{
    q_refuse(q, op);
}

typedef void take_function(tacit_queue *q, const tct_op *op);
static take_function *const take[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, line, host, take, \
          ...)                                                              \
    [TCT_##code] = take_##take,
    TCT_OPS(X)
#undef X
};

void tct_gpu_run(tacit_queue *q, const tct_op *op)
{
    take[op->code](q, op);
}
