/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/memory.c - memory of a GPU: the runtime's, or of this thread's
 * pool. */
#include "device/gpu/gpu.h"
#include "device/memory_pool.h"
#include <stdlib.h>
#include <string.h>

/* The memory pool of this thread's set-up (device/memory_pool.h), and the
 * stream of all work on it: since that is ordered, a piece may be reused while
 * earlier work on it is still enqueued. */
static _Thread_local struct {
    tct_memory_pool *from; /* NULL: no pool */
    gpu_stream stream;
} reserved;

static void *runtime_alloc(size_t bytes)
{
    void *p = NULL;
    if (gpu_malloc(&p, bytes ? bytes : 1) == GPU_OK) return p;
    (void)gpu_last_error();
    return NULL;
}

static void runtime_free(void *p)
{
    (void)gpu_free(p);
}

static void *device_alloc(size_t bytes)
{
    return reserved.from ? tct_memory_pool_take(reserved.from, bytes)
                         : runtime_alloc(bytes);
}

/* Wait for earlier work on a reused piece. */
static gpu_error settle(void)
{
    return reserved.from ? gpu_stream_sync(reserved.stream) : GPU_OK;
}

void tct_gpu_memory_pool(tacit_queue *q, size_t slab)
{
    const tct_memory_pool_source runtime = {runtime_alloc, runtime_free};
    tct_memory_pool_close(reserved.from);
    reserved.from = slab > 0 ? tct_memory_pool_open(runtime, slab) : NULL;
    reserved.stream = tct_gpu_of(q)->stream;
}

tacit_status tct_gpu_upload(const void *from, size_t bytes, void *out)
{
    void *p = device_alloc(bytes);
    if (!p)
        FAIL(TACIT_NO_MEMORY, "no GPU memory for %.3f GiB",
             (double)bytes / 0x1p30);
    gpu_error error = settle();
    if (error == GPU_OK && bytes > 0)
        error = from ? gpu_memcpy(p, from, bytes, GPU_TO_DEVICE)
                     : gpu_memset(p, 0xff, bytes);
    /* a copy from pageable memory may return early, and a non-blocking stream
     * would not wait for it */
    if (error == GPU_OK) error = gpu_stream_sync(NULL);
    if (error != GPU_OK) tct_gpu_release(p);
    else memcpy(out, &p, sizeof p);
    return tct_gpu_status(error, "copying to the device");
}

tacit_status tct_gpu_take_reached(size_t bytes, void *out)
{
    void *p = NULL;
    if (GPU_REACHED_IS_ANY) return tct_gpu_upload(NULL, bytes, out);
    TRY(tct_gpu_status(gpu_malloc_reached(&p, bytes), "memory for other GPUs"));
    memcpy(out, &p, sizeof p);
    return TACIT_OK;
}

void tct_gpu_release(void *p)
{
    if (p && !tct_memory_pool_give(p)) runtime_free(p);
}

tacit_status tct_gpu_require(double bytes, const char *what)
{
    size_t unused = 0, all = 0;
    TRY(tct_gpu_status(gpu_memory_info(&unused, &all), "asking for memory"));
    if (bytes <= (double)unused) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY,
         "%s needs %.2f GiB of GPU memory, %.2f of %.2f GiB are free: try "
         "another format, or device host",
         what, bytes / 0x1p30, (double)unused / 0x1p30, (double)all / 0x1p30);
}

double tct_gpu_free_memory(const tacit_queue *q)
{
    size_t unused = 0, all = 0;
    (void)q;
    if (tct_gpu_status(gpu_memory_info(&unused, &all), "asking for memory") < 0)
        return -1.0;
    return (double)unused;
}

bool tct_gpu_poisons(void)
{
    return getenv("TACIT_POISON") != NULL;
}

void *tct_gpu_take(size_t bytes)
{
    void *p = device_alloc(bytes);
    if (p && tct_gpu_poisons()) /* NaN: new memory must not be used unset */
        (void)(settle() == GPU_OK && gpu_memset(p, 0xff, bytes) == GPU_OK &&
               gpu_stream_sync(NULL));
    return p;
}

bool tct_gpu_pools_on(gpu_stream stream)
{
    return reserved.from && reserved.stream == stream;
}
