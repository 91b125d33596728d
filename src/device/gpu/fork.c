/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/fork.c - forks to a side stream: three events. */
#include "device/gpu/fork.h"
#include "device/gpu/gpu.h"

tacit_status tct_fork_stream(gpu_stream *apart)
{
    int least = 0, first = 0;
    TRY(tct_gpu_status(gpu_stream_ranks(&least, &first), "streams"));
    return tct_gpu_status(
        gpu_stream_create_ranked(apart, GPU_STREAM_NON_BLOCKING, first),
        "a stream");
}

tacit_status tct_fork_open(tct_fork *f, gpu_stream apart)
{
    gpu_event *const event[] = {&f->begin, &f->first, &f->end};
    f->apart = apart;
    for (int i = 0; i < 3; i++)
        TRY(tct_gpu_status(gpu_event_create_with(event[i], GPU_EVENT_NO_TIMING),
                           "an event"));
    return TACIT_OK;
}

void tct_fork_close(tct_fork *f)
{
    if (f->begin) (void)gpu_event_destroy(f->begin);
    if (f->first) (void)gpu_event_destroy(f->first);
    if (f->end) (void)gpu_event_destroy(f->end);
}

gpu_error tct_fork_begin(const tct_fork *f, gpu_stream stream)
{
    const gpu_error error = gpu_event_record(f->begin, stream);
    return error == GPU_OK ? gpu_stream_wait_event(f->apart, f->begin, 0)
                           : error;
}

gpu_error tct_fork_lead(const tct_fork *f, gpu_stream stream)
{
    const gpu_error error = gpu_event_record(f->first, f->apart);
    return error == GPU_OK ? gpu_stream_wait_event(stream, f->first, 0) : error;
}

gpu_error tct_fork_end(const tct_fork *f)
{
    return gpu_event_record(f->end, f->apart);
}

gpu_error tct_fork_join(const tct_fork *f, gpu_stream stream)
{
    return gpu_stream_wait_event(stream, f->end, 0);
}
