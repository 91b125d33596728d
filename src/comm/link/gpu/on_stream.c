/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/on_stream.c - queues on a stream of the caller. */
#include "comm/link/link.h"
#include "device/gpu/runtime.h"
#include <tacit/cuda.h>

tacit_status tacit_queue_on_stream(tacit_world *world, const char *spec,
                                   int threads, gpu_stream stream,
                                   tacit_queue **out)
{
    REQUIRE(world != NULL, out != NULL, threads >= 0);
    void *const given = stream;
    return tct_queue_open(world, spec ? spec : "cuda", threads, &given, out);
}
