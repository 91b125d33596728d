/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/gpu/device_rows.c - a matrix from rows in GPU memory, which are copied
 * to the host for set-up. */
#include "device/gpu/gpu.h"
#include "matrix/matrix.h"
#include <string.h>
#include <tacit/cuda.h>

typedef struct {
    int64_t *ptr, *cols;
    double *vals;
} host_rows;

/* NULL stays NULL: tacit_matrix_from_rows reports what is missing. */
static tacit_status get(gpu_stream stream, const void *from, size_t bytes,
                        void *to, const char *what)
{
    TRY(tct_gpu_status(gpu_memcpy_async(to, from, bytes, GPU_TO_HOST, stream),
                       what));
    return tct_gpu_status(gpu_stream_sync(stream), what);
}

/* Widen `n` 32-bit integers at the start of `x` in place, last first. */
static void widen(int64_t n, int64_t *x)
{
    for (int64_t k = n - 1; k >= 0; k--) {
        int32_t narrow;
        memcpy(&narrow, (const char *)x + (size_t)k * sizeof narrow,
               sizeof narrow);
        x[k] = narrow;
    }
}

static tacit_status get_integers(gpu_stream stream, int64_t n,
                                 const int32_t *narrow, const int64_t *wide,
                                 const char *what, int64_t **out)
{
    if (narrow && wide)
        FAIL(TACIT_INVALID,
             "%s: it is given with 32 and with 64 bits: one of them is NULL",
             what);
    if (!narrow && !wide) return TACIT_OK;
    TRY(TCT_ALLOC(n, what, out));
    if (wide) return get(stream, wide, (size_t)n * sizeof *wide, *out, what);
    TRY(get(stream, narrow, (size_t)n * sizeof *narrow, *out, what));
    widen(n, *out);
    return TACIT_OK;
}

/* The number of entries; 0 if `ptr` is wrong, which is reported later. */
static int64_t entries_of(const int64_t *ptr, int64_t rows)
{
    if (!ptr || ptr[0] != 0) return 0;
    for (int64_t i = 0; i < rows; i++)
        if (ptr[i + 1] < ptr[i]) return 0;
    return ptr[rows];
}

static tacit_status download(tacit_queue *queue, int64_t global_rows,
                             const tacit_device_rows *d, host_rows *h)
{
    gpu_stream stream;
    TRY(tacit_queue_stream(queue, &stream));
    if (d->count < 1 || d->count > global_rows) return TACIT_OK;
    TRY(get_integers(stream, d->count + 1, d->ptr32, d->ptr64,
                     "ptr, from the device", &h->ptr));
    const int64_t entries = entries_of(h->ptr, d->count);
    if (entries == 0) return TACIT_OK;
    TRY(get_integers(stream, entries, d->cols32, d->cols64,
                     "cols, from the device", &h->cols));
    if (!d->vals) return TACIT_OK;
    static const char vals[] = "vals, from the device";
    TRY(TCT_ALLOC(entries, vals, &h->vals));
    return get(stream, d->vals, (size_t)entries * sizeof *d->vals, h->vals,
               vals);
}

tacit_status tacit_matrix_from_device_rows(tacit_queue *queue,
                                           int64_t global_rows,
                                           const tacit_device_rows *rows,
                                           tacit_matrix **out)
{
    REQUIRE(queue != NULL, rows != NULL, out != NULL);
    tacit_world *world = queue->world;
    tacit_device_rows d = {0};
    host_rows h = {0};
    tacit_status status =
        tct_read_sized("tacit_device_rows", rows, &d, sizeof d);
    if (status >= 0) status = download(queue, global_rows, &d, &h);
    status = tct_agree(world, status);
    if (status >= 0)
        status = tacit_matrix_from_rows(world, global_rows, d.first, d.count,
                                        h.ptr, h.cols, h.vals, out);
    TCT_FREE(h.ptr, h.cols, h.vals);
    return status;
}
