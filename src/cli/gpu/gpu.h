/* SPDX-License-Identifier: BSD-3-Clause
 * cli/gpu/gpu.h - what the program itself does on a GPU: kernels of `life` and
 * `pingpong`, on a stream of the runtime, which is a pointer here. Launches do
 * not wait. A build without CUDA has cli/gpu/none.c, where all fail. */
#ifndef TCT_CLI_GPU_GPU_H
#define TCT_CLI_GPU_GPU_H
#include "cli/commands/life/rule.h"
#include <stddef.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

/* The stream of a queue. Errors UNSUPPORTED. */
tacit_status cli_gpu_stream(tacit_queue *queue, void **stream);
/* Errors      DEVICE, for this call and for launches before it. */
tacit_status cli_gpu_wait(void *stream);
/* Bytes of the device's memory that are free. Errors DEVICE. */
tacit_status cli_gpu_room(double *bytes);
/* Memory of the device, of zeros. Errors NO_MEMORY. */
tacit_status cli_gpu_alloc(size_t bytes, void **out);
void cli_gpu_free(void *p);
/* Copies between any memories, on the stream; a launch. */
void cli_gpu_copy(void *stream, void *to, const void *from, size_t bytes);

/* Record what is enqueued on the stream from begin to end; replay it.
 * Errors      DEVICE. */
tacit_status cli_gpu_record(void *stream);
tacit_status cli_gpu_recorded(void *stream, void **recording);
tacit_status cli_gpu_replay(void *stream, void *recording);
void cli_gpu_free_recording(void *recording);

/* --- life: fields and messages in the device's memory ---------------------- */

/* Fill a field with a tile; step it; put cells of the border into messages, and
 * messages into the ghosts; add to `*wrong` the cells that differ. */
void cli_gpu_life_fill(void *stream, const life_block *b, uint64_t tile,
                       double *u);
void cli_gpu_life_step(void *stream, const life_block *b, const double *u,
                       double *next);
void cli_gpu_life_pack(void *stream, const life_block *b, const double *u,
                       double *out);
void cli_gpu_life_unpack(void *stream, const life_block *b, const double *in,
                         double *u);
void cli_gpu_life_count(void *stream, const life_block *b, uint64_t tile,
                        const double *u, unsigned long long *wrong);

/* --- pingpong ------------------------------------------------------------- */

/* to = from, by a kernel; with number > 0 `from` is filled first, by the bytes
 * of that trip (`cli_trip_byte`). */
void cli_gpu_trip_pack(void *stream, uint64_t number, int64_t bytes,
                       unsigned char *from, unsigned char *to);
/* The same to the receiver's data, adding to `*wrong` the bytes that differ. */
void cli_gpu_trip_unpack(void *stream, uint64_t number, int64_t bytes,
                         const unsigned char *from, unsigned char *to,
                         unsigned long long *wrong);

TACIT_END_DECLS
#endif
