/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/store.c - rows of a matrix in a GPU's memory: copied there once,
 * for all formats that are tried. */
#include "operator/gpu/store.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- the functions of a build --------------------------------------------- */

static tacit_status take(tacit_queue *q, size_t bytes, void *out)
{
    (void)q;
    return tct_gpu_upload(NULL, bytes, out);
}

static void give(tacit_queue *q, void *p)
{
    (void)q;
    tct_gpu_release(p);
}

/* All on the queue's stream, in order. */
static gpu_stream stream_of(tacit_queue *q)
{
    tct_gpu_flush(q);
    return tct_gpu_of(q)->stream;
}

static tacit_status zero(tacit_queue *q, void *p, size_t bytes)
{
    return tct_gpu_status(gpu_memset_async(p, 0, bytes, stream_of(q)),
                          "clearing memory of the device");
}

static tacit_status copy(tacit_queue *q, void *to, const void *from,
                         size_t bytes, bool to_host)
{
    const gpu_stream stream = stream_of(q);
    gpu_error error = gpu_memcpy_async(
        to, from, bytes, to_host ? GPU_TO_HOST : GPU_TO_DEVICE, stream);
    if (error == GPU_OK) error = gpu_stream_sync(stream);
    return tct_gpu_status(error, to_host ? "copying from the device"
                                         : "copying to the device");
}

static tacit_status put(tacit_queue *q, void *to, const void *from,
                        size_t bytes)
{
    return copy(q, to, from, bytes, false);
}

static tacit_status get(tacit_queue *q, void *to, const void *from,
                        size_t bytes)
{
    return copy(q, to, from, bytes, true);
}

static tacit_status each(tacit_queue *q, tct_store_task task, int64_t n,
                         const tct_store_work *g)
{
    tct_gpu_store_each(q, task, n, g);
    return q_own_status(q);
}

/* A GPU runs fewer than 2^19 threads at a time. */
const tct_store_kernels tct_gpu_store_kernels = {
    20, take, give, tct_gpu_require, zero, put, get, each};

/* --- rows ----------------------------------------------------------------- */

typedef struct {
    gpu_stream stream;
    gpu_event sent[TCT_STAGED_PIECES]; /* NULL: nothing was sent */
} ring;

static tacit_status pin(void *state, size_t bytes, void *out)
{
    void *p = NULL;
    (void)state;
    if (gpu_host_malloc(&p, bytes, GPU_HOST_MAPPED) != GPU_OK) {
        (void)gpu_last_error();
        FAIL(TACIT_NO_MEMORY, "no pinned memory for %.0f MiB",
             (double)bytes / 0x1p20);
    }
    memcpy(out, &p, sizeof p);
    return TACIT_OK;
}

static void unpin(void *state, void *p)
{
    (void)state;
    (void)gpu_host_free(p);
}

static tacit_status send(void *state, int piece, void *to, const void *from,
                         size_t bytes)
{
    ring *r = state;
    if (!r->sent[piece])
        TRY(tct_gpu_status(
            gpu_event_create_with(&r->sent[piece], GPU_EVENT_NO_TIMING),
            "an event"));
    TRY(tct_gpu_status(
        gpu_memcpy_async(to, from, bytes, GPU_TO_DEVICE, r->stream),
        "copying to the device"));
    return tct_gpu_status(gpu_event_record(r->sent[piece], r->stream),
                          "copying to the device");
}

static tacit_status wait(void *state, int piece)
{
    const ring *r = state;
    if (!r->sent[piece]) return TACIT_OK;
    return tct_gpu_status(gpu_event_sync(r->sent[piece]),
                          "copying to the device");
}

static void end(const ring *r)
{
    for (int i = 0; i < TCT_STAGED_PIECES; i++)
        if (r->sent[i]) (void)gpu_event_destroy(r->sent[i]);
}

static tacit_status send_rows(const tct_local *A, tct_staged *s,
                              tct_store_rows *R)
{
    const size_t n = (size_t)R->entries;
    TRY(tct_staged_copy(s, (void *)(uintptr_t)R->ptr, A->ptr,
                        (size_t)(R->rows + 1) * sizeof *A->ptr));
    TRY(tct_staged_copy(s, (void *)(uintptr_t)R->col, A->col,
                        n * sizeof *A->col));
    return tct_staged_copy(s, (void *)(uintptr_t)R->val, A->val,
                           n * sizeof *A->val);
}

static double bytes_of(const tct_store_rows *R)
{
    return 12.0 * (double)R->entries + 8.0 * (double)(R->rows + 1);
}

static tacit_status copy_few(const tct_local *A, tct_store_rows *R)
{
    const size_t n = (size_t)R->entries;
    TRY(tct_gpu_upload(A->ptr, (size_t)(R->rows + 1) * sizeof *R->ptr,
                       &R->ptr));
    TRY(tct_gpu_upload(A->col, n * sizeof *R->col, &R->col));
    return tct_gpu_upload(A->val, n * sizeof *R->val, &R->val);
}

/* A thread loads kernels of the set-up, whose first use would wait for them,
 * while rows are copied and looked at; TACIT_PRELOAD=0: without. */
typedef struct tct_gpu_loader {
    pthread_t thread;
    int device;
} loader;

/* Devices below 64, as bits, whose kernels are loaded. */
static atomic_uint_fast64_t loaded;

static uint64_t bit_of(int device)
{
    return device < 64 ? UINT64_C(1) << device : 0;
}

static void *load(void *work)
{
    const loader *l = work;
    if (gpu_set_device(l->device) != GPU_OK) return NULL;
    tct_gpu_store_load();
    tct_gpu_slices_load();
    tct_gpu_store_load_blocks();
    (void)gpu_last_error();
    atomic_fetch_or(&loaded, bit_of(l->device));
    return NULL;
}

/* Without memory or a thread first uses wait. */
static loader *begin_loading(const tacit_queue *q)
{
    const char *wish = getenv("TACIT_PRELOAD");
    if (wish && strcmp(wish, "0") == 0) return NULL;
    if (atomic_load(&loaded) & bit_of(tct_gpu_of(q)->device)) return NULL;
    loader *l = tct_calloc(sizeof *l);
    if (!l) return NULL;
    l->device = tct_gpu_of(q)->device;
    if (pthread_create(&l->thread, NULL, load, l) == 0) return l;
    tct_free(l);
    return NULL;
}

static void end_loading(loader *l)
{
    if (l) pthread_join(l->thread, NULL);
    tct_free(l);
}

static tacit_status copy_many(tacit_queue *q, const tct_local *A,
                              tct_store_rows *R)
{
    const size_t n = (size_t)R->entries;
    TRY(tct_gpu_upload(NULL, (size_t)(R->rows + 1) * sizeof *R->ptr, &R->ptr));
    TRY(tct_gpu_upload(NULL, n * sizeof *R->col, &R->col));
    TRY(tct_gpu_upload(NULL, n * sizeof *R->val, &R->val));
    return tct_gpu_rows_send(q, A, R);
}

static tacit_status copy_rows(tacit_queue *q, const tct_local *A,
                              tct_store_rows *R)
{
    R->loader = begin_loading(q);
    return bytes_of(R) < TCT_GPU_STAGED ? copy_few(A, R) : copy_many(q, A, R);
}

tacit_status tct_gpu_rows_send(tacit_queue *q, const tct_local *A,
                               tct_store_rows *R)
{
    ring r = {.stream = stream_of(q)};
    const tct_staged_device device = {&r, pin, unpin, send, wait};
    tct_staged s;
    tacit_status status = tct_staged_open(
        &device, q->team, (size_t)R->entries * sizeof *R->val, &s);
    if (status >= 0) status = send_rows(A, &s, R);
    const tacit_status closed = tct_staged_close(&s);
    end(&r);
    return status < 0 ? status : closed;
}

void tct_gpu_rows_drop(tct_store_rows *R)
{
    tct_gpu_release((void *)(uintptr_t)R->ptr);
    tct_gpu_release((void *)(uintptr_t)R->col);
    tct_gpu_release((void *)(uintptr_t)R->val);
    R->ptr = NULL;
    R->col = NULL;
    R->val = NULL;
    end_loading(R->loader);
    R->loader = NULL;
}

/* The reason why the host stores it; NULL: the device may. */
static const char *refusal(const tct_local *A)
{
    const char *wish = getenv("TACIT_STORE");
    if (wish && strcmp(wish, "host") == 0) return "TACIT_STORE=host";
    if (!A->ptr || A->ptr[A->rows] <= TCT_GPU_SMALL) return "a small matrix";
    return NULL;
}

static tacit_status bring(tacit_queue *q, const tct_local *A, tct_store_rows *R)
{
    TRY(tct_gpu_require(bytes_of(R) + tct_store_scratch(R->kernels, R->rows),
                        "the rows of the matrix"));
    return copy_rows(q, A, R);
}

tacit_status tct_gpu_rows_bring(tacit_queue *q, const tct_local *A,
                                tct_store_rows *R)
{
    const double start = tct_seconds();
    const char *why = refusal(A);
    *R = (tct_store_rows){.q = q,
                          .kernels = &tct_gpu_store_kernels,
                          .rows = A->rows,
                          .cols = A->cols,
                          .entries = A->ptr ? A->ptr[A->rows] : 0};
    const tacit_status status = why ? TACIT_OK : bring(q, A, R);
    if (status == TACIT_NO_MEMORY) why = tacit_error_message();
    if (why) tct_log(TCT_DETAIL, "the host stores the matrix: %s", why);
    if (status < 0) tct_gpu_rows_drop(R);
    if (status == TACIT_OK && !why)
        tct_log(TCT_DETAIL, "rows copied to the device in %.2f ms, %.3f GB",
                1e3 * (tct_seconds() - start), 1e-9 * bytes_of(R));
    return status == TACIT_NO_MEMORY ? TACIT_OK : status;
}
