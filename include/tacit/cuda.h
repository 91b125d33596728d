/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cuda.h - a queue next to your own work on a GPU: its stream or yours,
 * kernels of your own, vectors and rows that are in the device's memory. It
 * needs CUDA's headers and is installed only by builds with CUDA. A program
 * links the CUDA runtime itself, of any version that its driver takes.
 *
 *     cudaStreamCreate(&stream);
 *     tacit_queue_on_stream(world, "cuda", 0, stream, &q);
 *     assemble<<<blocks, threads, 0, stream>>>(ptr, cols, vals, b);
 *     tacit_matrix_from_device_rows(q, n, &rows, &matrix);
 *     tacit_operator_create(q, matrix, "auto", &A);
 *     tacit_solver_create(q, A, "cg", &solver);
 *     tacit_solver_run(solver, b, x, NULL, &result);
 *     use<<<blocks, threads, 0, stream>>>(x);
 *
 * Vectors: a device vector is any memory that kernels of the queue's device may
 * read and write: tacit_queue_alloc, cudaMalloc, cudaMallocAsync,
 * cudaMallocManaged, an array of another library. It begins at a multiple of 8
 * bytes; 16 is faster. If only some vectors begin at multiples of 16, the last
 * bits of results may differ. Its contents were enqueued on the queue's stream,
 * or you have waited for them.
 *
 * Errors: call cudaGetLastError for your own calls before you call Tacit; a
 * program that links the static library shares that error with it.
 *
 * Device: a call with a queue, or with an object made on it, may make the
 * queue's device the current one of the calling thread, and leaves it so. So
 * one thread may have queues on several GPUs; set the device before runtime
 * calls of your own. */
#ifndef TACIT_CUDA_H
#define TACIT_CUDA_H
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <tacit/matrix.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

/* Open a queue as tacit_queue_create does, but on `stream`. `spec` is as for
 * that, "trace:cuda(1)@mpi"; NULL is "cuda". The device is the one with the
 * number in `spec`, or else the current one of the calling thread, and `stream`
 * must be of that device.
 *
 * Order: the queue's work comes after what you enqueued on `stream` before the
 * call, without a wait of yours, and before what you enqueue after it. Work on
 * other streams is ordered by your events. During a call only the calling
 * thread uses `stream`, and an operator's function launches its kernels on it.
 *
 * Streams: default streams, NULL and cudaStreamPerThread too, are refused: loop
 * graph could not record them. A stream of cudaStreamCreate and the legacy
 * default stream wait for each other; while loop graph records, in its first
 * iterations, no other thread may use the latter. A stream with
 * cudaStreamNonBlocking has neither property.
 *
 * Capture: a stream that is being captured is refused, and none of this
 * library's calls can be part of a graph of yours: they wait for the device.
 *
 * Collective.  Borrows `world` and `stream`: they must outlive the queue, which
 * waits for the stream when it is destroyed.
 * Errors      as tacit_queue_create; INVALID (a stream that is refused, with
 *             the reason), UNSUPPORTED (a device that has no streams). */
TACIT_API tacit_status tacit_queue_on_stream(tacit_world *world,
                                             const char *spec, int threads,
                                             cudaStream_t stream,
                                             tacit_queue **out);

/* The stream of `queue`. Work enqueued until now runs before your next launch
 * on it: ask again after other calls with the queue.
 *
 *     static tacit_status apply(void *ctx, tacit_queue *q, const double *x,
 *                               double *y)      // of tacit_operator_function
 *     {
 *         cudaStream_t stream;
 *         if (tacit_queue_stream(q, &stream) < 0) return TACIT_UNSUPPORTED;
 *         multiply<<<blocks, threads, 0, stream>>>(n, x, y);
 *         ...
 *     }
 *
 * In tacit_operator_function do not wait for the stream, and do not allocate:
 * loop graph records the launches once and replays them.
 * Returns     in `out` a stream that the queue owns, or the one that it was
 *             given.
 * Errors      INVALID, UNSUPPORTED (the queue's device is not a GPU). */
TACIT_API tacit_status tacit_queue_stream(tacit_queue *queue,
                                          cudaStream_t *out);

/* Rows [first, first + count) of a matrix, in memory of a GPU, as those of
 * tacit_matrix_from_rows; integers of 32 or of 64 bits, the other array NULL.
 *
 *     tacit_device_rows rows = {.size = sizeof rows, .count = n, ...}; */
typedef struct tacit_device_rows {
    size_t size; /* set by the caller: status.h */
    int64_t first, count;
    const int32_t *ptr32; /* [count + 1] where each row starts, the first 0 */
    const int64_t *ptr64;
    const int32_t *cols32; /* [ptr[count]] global columns */
    const int64_t *cols64;
    const double *vals; /* [ptr[count]] */
} tacit_device_rows;

/* Make a matrix of the world of `queue` from `rows` in memory of its device,
 * after the work enqueued on its stream; a rank may own none. New values for an
 * operator come the same way: make a matrix of them for tacit_operator_update.
 * Collective.  Blocking.  Borrows the world of `queue`; copies the rows.
 * Cost        the arrays cross to the host, where set-up reads patterns: 12 to
 *             16 bytes an entry, in pageable memory.
 * Memory      on the host, besides the matrix, 16 bytes an entry and 8 a row
 *             until it returns.
 * Errors      as tacit_matrix_from_rows, with the same sentences; INVALID (the
 *             size of `rows`; an array given in both widths), UNSUPPORTED (the
 *             queue's device is not a GPU), DEVICE (an array that the device
 *             cannot read, or shorter than it should be). */
TACIT_API tacit_status tacit_matrix_from_device_rows(
    tacit_queue *queue, int64_t global_rows, const tacit_device_rows *rows,
    tacit_matrix **out);

TACIT_END_DECLS
#endif
