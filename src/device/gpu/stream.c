/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/stream.c - the stream, for kernels of users. */
#include "device/gpu/gpu.h"
#include <tacit/cuda.h>

tacit_status tacit_queue_stream(tacit_queue *queue, gpu_stream *out)
{
    REQUIRE(queue != NULL && out != NULL);
    if (queue->device != &tct_device_cuda)
        FAIL(TACIT_UNSUPPORTED,
             "tacit_queue_stream: the queue is on device %s, which has no "
             "stream",
             queue->device->name);
    tct_gpu_flush(queue);
    *out = tct_gpu_of(queue)->stream;
    return TACIT_OK;
}
