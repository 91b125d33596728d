/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/fork.h - work beside a stream: it waits for what was enqueued
 * there before it, and what is enqueued there later waits for it from where
 * they join. While the stream is captured both are of the recording. */
#ifndef TCT_DEVICE_GPU_FORK_H
#define TCT_DEVICE_GPU_FORK_H
#include "base/base.h"
#include "device/gpu/runtime.h"

typedef struct {
    gpu_stream apart;     /* borrowed           */
    gpu_event begin, end; /* NULL: not open */
} tct_fork;

/* A stream for such work. Its kernels come first where both want the GPU, which
 * those of the other would fill. */
tacit_status tct_fork_stream(gpu_stream *apart);

tacit_status tct_fork_open(tct_fork *f, gpu_stream apart);
void tct_fork_close(tct_fork *f);

/* Between the first two, what is enqueued in `apart` is beside `stream`. */
gpu_error tct_fork_begin(const tct_fork *f, gpu_stream stream);
gpu_error tct_fork_end(const tct_fork *f);
gpu_error tct_fork_join(const tct_fork *f, gpu_stream stream);

#endif
