/* SPDX-License-Identifier: BSD-3-Clause
 * device/host.c - the host device: an operation runs when it is enqueued.
 *
 * Vectors are divided into chunks by element number alone, and the threads of
 * the team share the chunks. Partial sums are added in the order of chunks, so
 * a sum has the same bits in every run. Vector operations use as many threads
 * as the last product. */
#include "device/host_vector.h"
#include "device/isa.h"
#include <stdio.h>
#include <string.h>

enum {
    SERIAL_BELOW = 4096, /* elements: calling the team costs about 1 us */
    GRAIN = 512,         /* elements: chunks end at pages */
    CHUNKS_MOST = 256    /* of a vector                          */
};

typedef struct {
    const tct_host_vector *vector;
    const tct_host_panel *panel;
    double (*partial)[8]; /* [CHUNKS_MOST], a cache line each */
    double *grams;        /* [CHUNKS_MOST * TCT_SUM_MOST]     */
    int threads;          /* for vectors; 0: all */
} host_state;

static const host_state *loops_of(const tacit_queue *q)
{
    return q->device_state;
}

static int threads_of(const tacit_queue *q)
{
    const host_state *h = loops_of(q);
    return h->threads ? h->threads : q->threads;
}

static size_t chunks_of(size_t n)
{
    const size_t grains = (n + GRAIN - 1) / GRAIN;
    return grains < CHUNKS_MOST ? grains : CHUNKS_MOST;
}

/* First element of chunk `c` of `chunks`. */
static size_t limit(size_t n, size_t chunks, size_t c)
{
    const size_t grains = (n + GRAIN - 1) / GRAIN;
    const size_t at = grains * c / chunks * GRAIN;
    return at < n ? at : n;
}

typedef struct {
    const tct_op *op;
    size_t chunks;
    tct_host_range range;
    double (*partial)[8];
} vector_work;

static void run_chunk(void *work, int64_t c)
{
    const vector_work *w = work;
    const size_t n = w->op->n, k = (size_t)c;
    double part[TCT_OP_SUMS] = {0};
    w->range(w->op, limit(n, w->chunks, k), limit(n, w->chunks, k + 1), part);
    memcpy(w->partial[k], part, sizeof part);
}

static void run_vector(tacit_queue *q, int threads, tct_host_range range,
                       const tct_op *op)
{
    const host_state *h = q->device_state;
    const size_t chunks = chunks_of(op->n);
    vector_work work = {op, chunks, range, h->partial};
    if (op->n < SERIAL_BELOW) threads = 1;
    tct_team_run(q->team, threads, (int64_t)chunks, NULL, run_chunk, &work);
    for (int j = 0; j < tct_op_info_of(op)->sums; j++) {
        double total = 0.0;
        for (size_t c = 0; c < chunks; c++) total += h->partial[c][j];
        op->out[j] = total;
    }
}

static void host_pass(tacit_queue *q, const tct_op *op)
{
    run_vector(q, threads_of(q),
               loops_of(q)->vector->pass[op->element][op->pass], op);
}

static void host_gather(tacit_queue *q, const tct_op *op)
{
    run_vector(q, threads_of(q), loops_of(q)->vector->gather, op);
}

static void host_restrict(tacit_queue *q, const tct_op *op)
{
    run_vector(q, threads_of(q), loops_of(q)->vector->restrict_to, op);
}

static void host_prolong(tacit_queue *q, const tct_op *op)
{
    run_vector(q, threads_of(q), loops_of(q)->vector->prolong, op);
}

/* --- panels --------------------------------------------------------------- */

typedef struct {
    const tct_op *op;
    size_t chunks;
    tct_host_range range;
    double *grams; /* [chunks][k m] */
} panel_work;

static void run_panel_chunk(void *work, int64_t c)
{
    const panel_work *w = work;
    const tct_op *op = w->op;
    const size_t n = op->n, k = (size_t)c;
    const size_t each = (size_t)(op->x.columns * op->y.columns);
    w->range(op, limit(n, w->chunks, k), limit(n, w->chunks, k + 1),
             w->grams + k * each);
}

static void run_panel(tacit_queue *q, tct_host_range range, const tct_op *op)
{
    const host_state *h = q->device_state;
    const size_t chunks = chunks_of(op->n);
    const size_t each = (size_t)(op->x.columns * op->y.columns);
    panel_work work = {op, chunks, range, h->grams};
    const int threads = op->n * each < SERIAL_BELOW ? 1 : threads_of(q);
    tct_team_run(q->team, threads, (int64_t)chunks, NULL, run_panel_chunk,
                 &work);
}

static void host_gram(tacit_queue *q, const tct_op *op)
{
    const host_state *h = q->device_state;
    const size_t chunks = chunks_of(op->n);
    const size_t each = (size_t)(op->x.columns * op->y.columns);
    run_panel(q, h->panel->gram, op);
    for (size_t j = 0; j < each; j++) op->out[j] = 0.0;
    for (size_t c = 0; c < chunks; c++)
        for (size_t j = 0; j < each; j++) op->out[j] += h->grams[c * each + j];
}

static void host_combine(tacit_queue *q, const tct_op *op)
{
    run_panel(q, loops_of(q)->panel->combine, op);
}

static void host_mix(tacit_queue *q, const tct_op *op)
{
    if (*op->beta == 0.0) run_panel(q, loops_of(q)->panel->mix, op);
}

/* --- products ------------------------------------------------------------- */

/* The block of a product; vector operations then use its threads. */
static const tct_block *block_of(tacit_queue *q, const tct_op *op)
{
    host_state *h = q->device_state;
    h->threads = op->block->threads;
    return op->block;
}

static void host_multiply(tacit_queue *q, const tct_op *op)
{
    const tct_block *B = block_of(q, op);
    B->ops->multiply(B, op->v[0], op->v[1], op->out);
}

/* s of small matrices is still cached. */
static void host_multiply_dots(tacit_queue *q, const tct_op *op)
{
    host_multiply(q, op);
    host_pass(q, &(tct_op){.code = TCT_PASS,
                           .pass = PASS_dots,
                           .n = op->n,
                           .v = {op->v[2], op->v[1]},
                           .out = op->out + 1});
}

static void host_multiply_pass(tacit_queue *q, const tct_op *op)
{
    const tct_block *B = block_of(q, op);
    B->ops->multiply_pass(B, op,
                          loops_of(q)->vector->pass[TACIT_F64][op->pass]);
}

static void host_multiply_block(tacit_queue *q, const tct_op *op)
{
    const tct_block *B = block_of(q, op);
    if (B->ops->multiply_block) {
        B->ops->multiply_block(B, &op->x, &op->y);
        return;
    }
    for (int j = 0; j < op->x.columns; j++)
        B->ops->multiply(B, tct_column(&op->x, j), tct_column(&op->y, j), NULL);
}

static void host_multiply_add(tacit_queue *q, const tct_op *op)
{
    (void)q;
    op->block->ops->multiply_add(op->block, op);
}

/* --- the others ----------------------------------------------------------- */

static void pack_floats(const tct_op *op)
{
    const tct_exchange *e = op->exchange;
    const int columns = op->x.columns;
    float *to = (float *)(void *)op->v[0];
    for (int j = 0; j < columns; j++) {
        const float *x = tct_float_column(&op->x, j);
        for (int64_t i = 0; i < e->values; i++)
            to[i * columns + j] = x[e->index[i]];
    }
}

static void host_pack(tacit_queue *q, const tct_op *op)
{
    (void)q;
    const tct_exchange *e = op->exchange;
    const int columns = op->x.columns;
    if (op->element == TACIT_F32) {
        pack_floats(op);
        return;
    }
    for (int j = 0; j < columns; j++) {
        const double *x = tct_column(&op->x, j);
        for (int64_t i = 0; i < e->values; i++)
            op->v[0][i * columns + j] = x[e->index[i]];
    }
}

static void unpack_floats(const tct_op *op)
{
    const tct_exchange *e = op->exchange;
    const int columns = op->x.columns;
    const float *from = (const float *)(const void *)op->v[0];
    float *ghost = (float *)(void *)e->ghost;
    for (int j = 0; j < columns; j++)
        for (int64_t i = 0; i < e->ghosts; i++)
            ghost[j * e->ghosts + i] = from[i * columns + j];
}

static void host_unpack(tacit_queue *q, const tct_op *op)
{
    (void)q;
    const tct_exchange *e = op->exchange;
    const int columns = op->x.columns;
    if (op->element == TACIT_F32) {
        unpack_floats(op);
        return;
    }
    for (int j = 0; j < columns; j++)
        for (int64_t i = 0; i < e->ghosts; i++)
            e->ghost[j * e->ghosts + i] = op->v[0][i * columns + j];
}

static void host_blocks(tacit_queue *q, const tct_op *op)
{
    (void)q;
    tct_blocks_desk desk;
    tct_blocks_run(op->block_step, op->blocks, op->count, op->v[0], op->out,
                   &desk);
}

static void host_get(tacit_queue *q, const tct_op *op)
{
    (void)q;
    memcpy(op->host, op->v[0], op->n * tct_element_bytes(op->element));
}

static void host_put(tacit_queue *q, const tct_op *op)
{
    (void)q;
    memcpy(op->v[0], op->host, op->n * tct_element_bytes(op->element));
}

static void host_step(tacit_queue *q, const tct_op *op)
{
    (void)q;
    if (op->batch.count > 0) tct_step_counted(op->step, op->out);
    else tct_step_run(op->step, op->out);
}

/* The host reads scalars at once. */
static void host_sample(tacit_queue *q, const tct_op *op)
{
    (void)q;
    (void)op;
}

static void host_none(tacit_queue *q, const tct_op *op)
{
    q_refuse(q, op);
}

/* --- the device ----------------------------------------------------------- */

typedef void host_function(tacit_queue *q, const tct_op *op);
static host_function *const run_one[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, line, host, ...) \
    [TCT_##code] = host_##host,
    TCT_OPS(X)
#undef X
};

static void host_run(tacit_queue *q, const tct_op *op)
{
    const bool together = op->code == TCT_MULTIPLY_PASS;
    if (together) run_one[op->code](q, op);
    for (int j = 0; j < tct_op_batch(op) && !together; j++) {
        const tct_op one = tct_op_system(op, j);
        run_one[op->code](q, &one);
    }
}

static tacit_status host_open(tacit_queue *q)
{
    host_state *h = NULL;
    TRY(TCT_ALLOC(1, "the host device", &h));
    *h = (host_state){.vector = &tct_host_vector_base,
                      .panel = &tct_host_panel_base};
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX2) h->vector = &tct_host_vector_avx2;
    if (isa == TCT_ISA_AVX512) h->vector = &tct_host_vector_avx512;
    if (isa == TCT_ISA_AVX2) h->panel = &tct_host_panel_avx2;
    if (isa == TCT_ISA_AVX512) h->panel = &tct_host_panel_avx512;
#endif
    q->device_state = h;
    TRY(TCT_ALLOC(CHUNKS_MOST, "the host device", &h->partial));
    return TCT_ALLOC(CHUNKS_MOST * TCT_SUM_MOST, "the host device", &h->grams);
}

static void host_close(tacit_queue *q)
{
    host_state *h = q->device_state;
    if (h) tct_free(h->partial);
    if (h) tct_free(h->grams);
    tct_free(h);
}

/* First touch by the threads that will use the vector; below the threshold by
 * one. */
static void *host_alloc(tacit_queue *q, size_t bytes)
{
    double *p = tct_alloc(bytes);
    const size_t n = bytes / sizeof(double);
    if (p && q->threads > 1 && n >= SERIAL_BELOW)
        run_vector(
            q, q->threads, loops_of(q)->vector->pass[TACIT_F64][PASS_fill],
            &(tct_op){.code = TCT_PASS, .pass = PASS_fill, .n = n, .v = {p}});
    return p;
}

static void host_free(tacit_queue *q, void *p)
{
    (void)q;
    tct_free(p);
}

static void host_sync(tacit_queue *q)
{
    (void)q; /* everything has run */
}

static void host_describe(const tacit_queue *q, char *text, size_t size)
{
    char model[128] = "processor";
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %127[^\n]", model) == 1) break;
    if (f) fclose(f);
    static const char *const isa[] = {"base", "AVX2", "AVX-512"};
    snprintf(text, size, "%s, %s, %d thread%s", model, isa[tct_isa_best()],
             q->threads, q->threads == 1 ? "" : "s");
}

const tct_device_ops tct_device_host = {
    .name = "host",
    .kind = TCT_KIND_HOST,
    .open = host_open,
    .close = host_close,
    .alloc = host_alloc,
    .free = host_free,
    .run = host_run,
    .sync = host_sync,
    .describe = host_describe,
};
