/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/stream.c - the stream of a queue, its own or the user's, and marks
 * on it. */
#include "device/gpu/gpu.h"
#include <tacit/cuda.h>

/* The default stream cannot be recorded; the per-thread one differs between
 * threads. */
static tacit_status refuse_defaults(gpu_stream stream)
{
    if (stream != NULL && stream != GPU_STREAM_LEGACY &&
        stream != GPU_STREAM_PER_THREAD)
        return TACIT_OK;
    FAIL(
        TACIT_INVALID,
        "a default stream cannot be a queue's: make one with cudaStreamCreate, "
        "which waits for the default stream and which that waits for");
}

static tacit_status refuse_capture(gpu_stream stream)
{
    gpu_capture_status state = GPU_NOT_CAPTURING;
    TRY(tct_gpu_status(gpu_stream_capturing(stream, &state), "the stream"));
    if (state == GPU_NOT_CAPTURING) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "the stream is being captured: make the queue before, or after");
}

/* Find a stream's device by recording an event of `device`, which fails on
 * others; this works with old runtimes. */
static tacit_status check_device(gpu_stream stream, int device)
{
    gpu_event here = NULL;
    TRY(tct_gpu_status(gpu_event_create_with(&here, GPU_EVENT_NO_TIMING),
                       "an event"));
    const gpu_error error = gpu_event_record(here, stream);
    (void)gpu_event_destroy(here);
    if (error != GPU_BAD_HANDLE) return tct_gpu_status(error, "the stream");
    (void)gpu_last_error();
    FAIL(TACIT_INVALID,
         "the stream is not of device cuda(%d): name its own, or make that the "
         "current one",
         device);
}

tacit_status tct_gpu_open_stream(const tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    if (!q->on_stream)
        return tct_gpu_status(
            gpu_stream_create(&g->stream, GPU_STREAM_NON_BLOCKING), "a stream");
    const gpu_stream given = q->stream;
    TRY(refuse_defaults(given));
    TRY(refuse_capture(given));
    TRY(check_device(given, g->device));
    g->stream = given;
    g->borrowed = true;
    return TACIT_OK;
}

void tct_gpu_mark(tacit_queue *q)
{
    const tct_gpu *g = tct_gpu_of(q);
    tct_gpu_flush(q);
    tct_gpu_ok(q, gpu_event_record(g->mark, g->stream), "marking the stream");
}

void tct_gpu_reach(tacit_queue *q)
{
    tct_gpu_ok(q, gpu_event_sync(tct_gpu_of(q)->mark), "running kernels");
}

tacit_status tacit_queue_stream(tacit_queue *queue, gpu_stream *out)
{
    REQUIRE(queue != NULL, out != NULL);
    if (queue->device->kind != TCT_KIND_GPU)
        FAIL(TACIT_UNSUPPORTED,
             "tacit_queue_stream: the queue is on device %s, which has no "
             "stream",
             queue->device->name);
    q_enter(queue);
    tct_gpu_flush(queue);
    *out = tct_gpu_of(queue)->stream;
    return TACIT_OK;
}
