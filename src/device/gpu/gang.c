/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/gang.c - the host's side of a gang. */
#include "device/gpu/gang.h"

enum { COUNTER = 128 /* bytes that the counter has for itself */ };

bool tct_gang_fits(const tacit_queue *q)
{
    int can = 0;
    (void)gpu_get_attribute(&can, GPU_ATTRIBUTE_COOPERATIVE,
                            tct_gpu_of(q)->device);
    return can != 0;
}

size_t tct_gang_bytes(int blocks)
{
    return COUNTER +
           (size_t)2 * TCT_GANG_SUMS * (size_t)blocks * sizeof(double);
}

int tct_gang_threads(int blocks)
{
    return (blocks + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
}

tct_gang_job tct_gang_job_of(const tacit_queue *q, void *room, double *c,
                             int64_t most)
{
    const tct_gpu *g = tct_gpu_of(q);
    return (tct_gang_job){.counter = room,
                          .sums = (double *)room + COUNTER / sizeof(double),
                          .c = c,
                          .outbox = g->outbox,
                          .looks = g->taken,
                          .most = most,
                          .limit_ns = (uint64_t)(1e9 * q->barrier_seconds),
                          .batch = g->batch};
}

bool tct_gang_start(tacit_queue *q, const tct_gang_job *G,
                    const tct_gang_kernel *K)
{
    tct_gpu *g = tct_gpu_of(q);
    void *arguments[] = {K->job};
    tct_gpu_flush(q);
    g->mailbox->limit = UINT64_MAX;
    g->made += (uint64_t)G->most;
    gpu_error e =
        gpu_memset_async(G->counter, 0, tct_gang_bytes(K->blocks), g->stream);
    if (e == GPU_OK)
        e = gpu_function_attribute(K->code, GPU_DYNAMIC_SHARED, (int)K->shared);
    if (e == GPU_OK)
        e = gpu_launch_cooperative(K->code, (dim3){(unsigned)K->blocks, 1, 1},
                                   (dim3){(unsigned)K->threads, 1, 1},
                                   arguments, K->shared, g->stream);
    return tct_gpu_ok(q, e, "starting a persistent kernel");
}

void tct_gang_end(tacit_queue *q)
{
    tct_gpu_of(q)->mailbox->limit = 0;
}
