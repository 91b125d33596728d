/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/fork.h - a fork: work on a side stream waits for earlier work of
 * the main stream, and the main stream waits for it from the join on. A capture
 * of the main stream includes both. */
#ifndef TCT_DEVICE_GPU_FORK_H
#define TCT_DEVICE_GPU_FORK_H
#include "base/base.h"
#include "device/gpu/runtime.h"

typedef struct {
    gpu_stream apart;            /* borrowed */
    gpu_event begin, first, end; /* NULL: not open */
} tct_fork;

/* Create a side stream, of high priority: the main stream's kernels could fill
 * the GPU. */
tacit_status tct_fork_stream(gpu_stream *apart);

tacit_status tct_fork_open(tct_fork *f, gpu_stream apart);
void tct_fork_close(tct_fork *f);

/* Work enqueued in `apart` between begin and end is concurrent with `stream`
 * until the join. */
gpu_error tct_fork_begin(const tct_fork *f, gpu_stream stream);
/* Work enqueued in `stream` after this waits for what `apart` has so far: what
 * follows in both is ready at the same time, and that of `apart` comes first by
 * its priority. Else the work of `stream` fills the GPU meanwhile, and a kernel
 * of large blocks behind a small one waits for the end of it. */
gpu_error tct_fork_lead(const tct_fork *f, gpu_stream stream);
gpu_error tct_fork_end(const tct_fork *f);
gpu_error tct_fork_join(const tct_fork *f, gpu_stream stream);

#endif
