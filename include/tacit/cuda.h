/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cuda.h - kernels of your own beside those of a queue. The one public
 * header that needs CUDA's; installed only where Tacit was built with CUDA. A
 * program links the CUDA runtime itself, of any version that its driver takes.
 *
 *     static tacit_status apply(void *ctx, tacit_queue *q, const double *x,
 *                               double *y)      // of tacit_operator_function
 *     {
 *         cudaStream_t stream;
 *         if (tacit_queue_stream(q, &stream) < 0) return TACIT_UNSUPPORTED;
 *         multiply<<<blocks, threads, 0, stream>>>(n, x, y);
 *         ...
 *     } */
#ifndef TACIT_CUDA_H
#define TACIT_CUDA_H
#include <cuda_runtime_api.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

/* The stream of `queue`. What was enqueued until now runs before what is
 * launched on it next: ask again before you launch something, after other calls
 * with the queue. In tacit_operator_function nothing may wait for the stream,
 * nor allocate: loop graph records what is launched, once, and runs it again.
 * Returns     in `out` a stream that the queue owns.
 * Errors      INVALID, UNSUPPORTED (the queue's device is not a GPU). */
TACIT_API tacit_status tacit_queue_stream(tacit_queue *queue,
                                          cudaStream_t *out);

TACIT_END_DECLS
#endif
