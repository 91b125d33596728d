/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_grid.c - the host's part of persistent grids. */
#include "device/gpu/persistent_grid.h"
#include <stdio.h>
#include <string.h>

enum { COUNTER = 128 /* bytes reserved for the counter */ };

bool tct_persistent_fits(const tacit_queue *q)
{
    int can = 0;
    (void)gpu_get_attribute(&can, GPU_ATTRIBUTE_COOPERATIVE,
                            tct_gpu_of(q)->device);
    return can != 0;
}

static size_t bytes_of_barrier(int blocks)
{
    return COUNTER +
           (size_t)2 * TCT_PERSISTENT_SUMS * (size_t)blocks * sizeof(double);
}

size_t tct_persistent_bytes(int blocks)
{
    return bytes_of_barrier(blocks) +
           TCT_CLOCKS * (size_t)blocks * sizeof(tct_spending);
}

/* --- timing --------------------------------------------------------------- */

static void add_spending(tct_spending *sum, const tct_spending *more)
{
    for (int i = 0; i < TCT_PHASES; i++) sum->cycles[i] += more->cycles[i];
    sum->rounds += more->rounds;
    sum->ns += more->ns;
}

void tct_persistent_spending(const void *room, int blocks, char *text,
                             size_t size)
{
    static const char *const of[TCT_PHASES] = {"product", "ghosts",  "edges",
                                               "vectors", "sending", "barrier",
                                               "sum",     "ranks"};
    const char *from = (const char *)room + bytes_of_barrier(blocks);
    tct_spending sum = {.rounds = 0}, one;
    uint64_t all = 0;
    text[0] = '\0';
    for (int b = 0; TCT_CLOCKS && b < blocks; b++)
        if (gpu_memcpy(&one, from + (size_t)b * sizeof one, sizeof one,
                       GPU_TO_HOST) == GPU_OK)
            add_spending(&sum, &one);
    for (int i = 0; i < TCT_PHASES; i++) all += sum.cycles[i];
    if (all == 0 || sum.rounds == 0) return;
    const double us = 1e-3 * (double)sum.ns / (double)all / (double)sum.rounds;
    for (int i = 0; i < TCT_PHASES; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%s %.2f", i ? ", " : "", of[i],
                 us * (double)sum.cycles[i]);
    }
}

/* --- start ---------------------------------------------------------------- */

int tct_persistent_threads(int blocks)
{
    return (blocks + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
}

tct_persistent_job tct_persistent_job_of(const tacit_queue *q, void *room,
                                         double *c, int64_t most)
{
    const tct_gpu *g = tct_gpu_of(q);
    return (tct_persistent_job){
        .counter = room,
        .sums = (double *)room + COUNTER / sizeof(double),
        .c = c,
        .outbox = g->outbox,
        .looks = g->taken,
        .most = most,
        .limit_ns = (uint64_t)(1e9 * q->barrier_seconds),
        .sample_batch = g->sample_batch};
}

bool tct_persistent_start(tacit_queue *q, const tct_persistent_job *G,
                          const tct_persistent_kernel *K)
{
    tct_gpu *g = tct_gpu_of(q);
    void *arguments[] = {K->job};
    if (q->failed != TACIT_OK)
        return false; /* one may still run: its limit stays */
    tct_gpu_flush(q);
    g->mailbox->limit = UINT64_MAX;
    g->made += (uint64_t)G->most;
    gpu_error e = gpu_memset_async(G->counter, 0,
                                   tct_persistent_bytes(K->blocks), g->stream);
    if (e == GPU_OK)
        e = gpu_function_attribute(K->code, GPU_DYNAMIC_SHARED, (int)K->shared);
    if (e == GPU_OK)
        e = gpu_launch_cooperative(K->code, (dim3){(unsigned)K->blocks, 1, 1},
                                   (dim3){(unsigned)K->threads, 1, 1},
                                   arguments, K->shared, g->stream);
    return tct_gpu_ok(q, e, "starting a persistent kernel");
}

/* --- samples -------------------------------------------------------------- */

static void end_kernel(tacit_queue *q)
{
    tct_gpu_of(q)->mailbox->limit = 0;
}

static void kernel_is_over(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    g->made = g->taken;
}

static void kernel_is_late(tacit_queue *q)
{
    if (tct_gpu_deserted(q)) return;
    q_fail(q, TACIT_DEVICE,
           "the GPU: a block of the persistent kernel did not come to its "
           "barrier within %g s",
           q->barrier_seconds);
}

const tct_persistent_ops tct_persistent_gpu = {
    .samples = TCT_SAMPLES - 64,
    .end = end_kernel,
    .over = kernel_is_over,
    .late = kernel_is_late,
};
