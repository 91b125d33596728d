/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/halo.c - messages of halos on GPUs: a queue on the stream of the
 * arrays' queue. Messages are in memory of the communicator, which peers may
 * have open longer than a halo lives. */
#include "triggered/gpu/driver.h"

static tacit_status open_line(tacit_trigger_comm *c, tacit_queue *q,
                              size_t bytes, tacit_trigger_queue **line,
                              char **memory)
{
    const tct_gpu *gpu = tct_gpu_of(q);
    if (c->gpu->device != gpu->device)
        FAIL(TACIT_INVALID,
             "halo: the communicator is of GPU %d, the queue of GPU %d: make "
             "them with the same current GPU",
             c->gpu->device, gpu->device);
    TRY(tacit_trigger_queue_create(c, TACIT_TRIGGER_KERNEL, gpu->stream, line));
    tct_gpu_queue_tells(*line, gpu);
    pthread_mutex_lock(&c->lock);
    *memory = tct_trigger_take(c->gpu, bytes);
    pthread_mutex_unlock(&c->lock);
    return *memory ? TACIT_OK : TACIT_NO_MEMORY;
}

tacit_status tct_gpu_halo_open(tacit_trigger_comm *c, tacit_queue *q,
                               size_t bytes, tacit_trigger_queue **line,
                               char **memory)
{
    TRY(tacit_trigger_comm_use_gpu(c));
    return tct_agree(c->world, open_line(c, q, bytes, line, memory));
}

void tct_gpu_halo_close(tacit_trigger_comm *c, tacit_trigger_queue **line,
                        const char *memory)
{
    if (*line) (void)tacit_trigger_queue_free(line);
    if (!memory) return;
    pthread_mutex_lock(&c->lock);
    tct_trigger_give(c->gpu, memory);
    pthread_mutex_unlock(&c->lock);
}
