/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/record.h - recordings: CUDA graphs, replayed by the CPU or by a
 * while node on the device. See the members of tct_device_ops. */
#ifndef TCT_DEVICE_GPU_RECORD_H
#define TCT_DEVICE_GPU_RECORD_H
#include "device/gpu/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

void tct_record_begin(tacit_queue *q);
void *tct_record_end(tacit_queue *q, int looks, const double *c);
void tct_record_replay(tacit_queue *q, void *record, int64_t looks);
void tct_record_about(const void *record, char *text, size_t size);
void tct_record_free(tacit_queue *q, void *record);

/* Start replays of the current recording that are due. `idle`: all started work
 * has run, and its samples were read. False: nothing was started. */
bool tct_record_go_on(tacit_queue *q, bool idle);

/* A graph of one while node around `body`, which repeats while `c` has neither
 * met its target nor broken down, no rank has a flag, and `outbox` has fewer
 * than `limit` samples; all are addresses of the device. */
gpu_error tct_record_while(gpu_graph body, const double *c,
                           const tct_outbox *outbox,
                           const volatile uint64_t *limit, gpu_graph *out);

#ifdef __cplusplus
}
#endif
#endif
