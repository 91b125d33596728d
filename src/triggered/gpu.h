/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu.h - what this room asks of a GPU: memory of ends, and queues on
 * a stream. An end whose buffer is on a GPU has its signals there, too, and
 * kernels alone touch them; its block in the heap only says when it is closed.
 * gpu/ has these functions, gpu_none.c those of a build without a GPU. */
#ifndef TCT_TRIGGERED_GPU_H
#define TCT_TRIGGERED_GPU_H
#include "triggered/queue.h"

/* Collective.
 * Errors      UNSUPPORTED (no GPU, or one that does not reach the others'),
 *             NO_MEMORY, DEVICE. */
tacit_status tct_trigger_gpu_open(tacit_trigger_comm *c);
/* No request is left. */
void tct_trigger_gpu_close(tacit_trigger_comm *c);
/* Is `data` in memory of the communicator's GPU? */
bool tct_trigger_gpu_has(const tacit_trigger_comm *c, const void *data);

/* --- ends; the caller holds the communicator's lock ----------------------- */

/* Take memory for an end, and say in its offer where it is.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_gpu_end_prepare(tacit_trigger_comm *c, tct_trigger_end *e);
/* The offer of the other end has come.
 * Errors      DEVICE. */
tacit_status tct_gpu_end_connect(tacit_trigger_comm *c, tct_trigger_end *e);
/* This rank touches the other end's memory no more; its peer has closed it. */
void tct_gpu_end_leave(tacit_trigger_comm *c, struct tct_gpu_end *g);
void tct_gpu_end_free(tacit_trigger_comm *c, struct tct_gpu_end *g);
/* Have all its waits been done? Any thread. */
bool tct_gpu_end_is_over(tacit_trigger_comm *c, const tct_trigger_end *e);

/* Memory of zeros on the communicator's GPU, for messages. NULL: no memory, or
 * the device fails, with the message. The caller does not hold the lock. */
char *tct_gpu_scratch_take(tacit_trigger_comm *c, size_t bytes);
void tct_gpu_scratch_give(tacit_trigger_comm *c, const char *memory);

/* --- queues --------------------------------------------------------------- */

/* Errors      INVALID (the stream), NO_MEMORY, DEVICE. */
tacit_status tct_gpu_queue_open(tacit_trigger_queue *q, void *stream);
void tct_gpu_queue_close(tacit_trigger_queue *q);
/* Enqueue a command on the stream. A failure is that of the communicator. */
void tct_gpu_queue_run(tacit_trigger_queue *q, tct_command *c);
bool tct_gpu_queue_is_done(const tacit_trigger_queue *q);
/* Wait for the stream. Then the communicator may have failed. */
void tct_gpu_queue_wait(tacit_trigger_queue *q);

/* --- halos ------------------------------------------------------------------ */

/* A queue on the stream of `q`, which learns of lost ranks, and memory of zeros
 * on its GPU, which stays with the communicator. Collective.
 * Errors      INVALID (the communicator has another GPU), UNSUPPORTED,
 *             NO_MEMORY, DEVICE, on all ranks. */
tacit_status tct_gpu_halo_open(tacit_trigger_comm *c, tacit_queue *q,
                               size_t bytes, tacit_trigger_queue **line,
                               char **memory);
/* NULL-safe. The requests are freed. */
void tct_gpu_halo_close(tacit_trigger_comm *c, tacit_trigger_queue **line,
                        const char *memory);

#endif
