/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/cuda.c - the cuda device: opening, synchronising, samples. */
#include "device/gpu/gpu.h"
#include "device/gpu/late.h"
#include "device/gpu/persistent_grid.h"
#include "device/gpu/record.h"
#include "device/gpu/waits.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const double ANSWER_SECONDS = 120.0, BARRIER_SECONDS = 20.0;

/* --- synchronising, memory ------------------------------------------------ */

/* Has a kernel given up because a block did not arrive? Then fail the queue. */
static bool is_late(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    if (g->mailbox->missing != TCT_MISSING_BLOCK) return false;
    g->mailbox->missing = 0;
    g->mailbox->limit = 0; /* ends loops on the device */
    g->playing = NULL;
    q_fail(
        q, TACIT_DEVICE,
        "the GPU: a block of a kernel that stays did not come to its barrier "
        "within %g s",
        q->barrier_seconds);
    return true;
}

/* Collective in effect: all ranks have made the same sums. */
static void cuda_sync(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    tct_gpu_flush(q);
    if (g->capturing) return;
    tct_gpu_ok(q, tct_gpu_finish(q), "running kernels");
    if (is_late(q)) return;
    if (q->ranks == 1 || tct_gpu_deserted(q)) return;
    const double flags = g->mailbox->flags;
    g->mailbox->flags = 0.0;
    if (flags != 0.0) tct_flags_agreed(q, flags);
}

static void *cuda_alloc(tacit_queue *q, size_t bytes)
{
    tct_gpu_flush(q);
    return tct_gpu_take(bytes);
}

static void cuda_free(tacit_queue *q, void *p)
{
    if (tct_gpu_pools_on(tct_gpu_of(q)->stream)) tct_gpu_flush(q);
    else cuda_sync(q);
    tct_gpu_release(p);
}

/* Pinned host memory, at the same address on the device. */
static void *cuda_alloc_shared(tacit_queue *q, size_t bytes)
{
    void *p = NULL;
    tct_gpu_flush(q);
    if (gpu_host_malloc(&p, bytes ? bytes : 1, GPU_HOST_MAPPED) == GPU_OK)
        return p;
    (void)gpu_last_error();
    return NULL;
}

static void cuda_free_shared(tacit_queue *q, void *p)
{
    cuda_sync(q);
    (void)gpu_host_free(p);
}

/* --- samples -------------------------------------------------------------- */

/* Is sample `number` in the box, whole? */
static bool arrived(const volatile tct_posted *box, uint64_t number,
                    tct_sample *out)
{
    const volatile tct_posted *p = &box[number % TCT_SAMPLES];
    const double w[TCT_POSTED_WORDS] = {
        p->rr, p->bad, p->bad_value, p->flags, p->updates, p->alpha, p->beta};
    if (p->check != tct_posted_check(number, w)) return false;
    *out = (tct_sample){w[0], w[1], w[2], w[3], w[4], w[5], w[6]};
    return true;
}

/* The stream is idle: fetch samples of an incomplete batch. */
static bool collect(tacit_queue *q, tct_sample *out)
{
    tct_gpu *g = tct_gpu_of(q);
    if (arrived(g->mailbox->posted, g->taken + 1, out)) return true;
    const size_t at = (size_t)((g->taken + 1) % TCT_SAMPLES);
    const size_t left = TCT_SAMPLES - at;
    const size_t count =
        left < (size_t)g->sample_batch ? left : (size_t)g->sample_batch;
    if (!tct_gpu_ok(q,
                    gpu_memcpy_async((void *)(uintptr_t)&g->mailbox->posted[at],
                                     &g->outbox->posted[at],
                                     count * sizeof(tct_posted), GPU_TO_HOST,
                                     g->stream),
                    "copying looks") ||
        !tct_gpu_ok(q, gpu_stream_sync(g->stream), "running kernels"))
        return false;
    return arrived(g->mailbox->posted, g->taken + 1, out);
}

/* Wait for the next sample, starting replays that are due. */
static bool cuda_sampled(tacit_queue *q, tct_sample *out)
{
    enum { SPINS = 256 };
    tct_gpu *g = tct_gpu_of(q);
    tct_gpu_flush(q);
    const double limit = tct_gpu_limit(q);
    tct_gpu_wait w = {.looked = tct_seconds()};
    for (;;) {
        bool found = false;
        for (int i = 0; i < SPINS && !found; i++)
            found = arrived(g->mailbox->posted, g->taken + 1, out);
        if (is_late(q)) return false;
        if (!found) tct_gpu_wait_again(&w);
        const gpu_error state =
            found ? GPU_NOT_READY : gpu_stream_query(g->stream);
        if (state == GPU_OK) {
            found = collect(q, out);
            if (!found && !tct_record_go_on(q, true)) return false;
        } else if (state != GPU_NOT_READY) {
            tct_gpu_ok(q, state, "running kernels");
            return false;
        } else if (!found && tct_gpu_deserted(q)) {
            return false;
        } else if (!found && w.silent > limit) {
            g->mailbox->limit = 0; /* ends loops on the device */
            g->playing = NULL;
            if (!tct_gpu_break_off(q, limit))
                q_fail(q, TACIT_DEVICE, "the GPU: no answer for %g s", limit);
            return false;
        }
        if (!found) continue;
        g->taken++;
        tct_record_go_on(q, false);
        return true;
    }
}

static int cuda_lag(tacit_queue *q, size_t n)
{
    tct_gpu *g = tct_gpu_of(q);
    const int sample_batch = n < 300000 ? 16 : n < 3000000 ? 4 : 1;
    if (sample_batch == g->sample_batch) return sample_batch;
    const uint64_t word = (uint64_t)sample_batch;
    cuda_sync(q);
    if (tct_gpu_ok(q,
                   gpu_memcpy(&g->outbox->sample_batch, &word, sizeof word,
                              GPU_TO_DEVICE),
                   "setting up looks") &&
        tct_gpu_ok(q, gpu_stream_sync(NULL), "setting up looks"))
        g->sample_batch = sample_batch;
    return sample_batch;
}

/* Kernels occupy the stream, so the flags take the side stream. */
static void cuda_tell(tacit_queue *q, double flags)
{
    tct_gpu *g = tct_gpu_of(q);
    if (g->mailbox->told == flags) return;
    g->mailbox->told = flags;
    tct_gpu_ok(q,
               gpu_memcpy_async(&g->outbox->mine, &g->mailbox->told,
                                sizeof flags, GPU_TO_DEVICE, g->aside),
               "telling flags");
}

/* --- open, close ---------------------------------------------------------- */

static bool cuda_available(char *reason, size_t size)
{
    int count = 0;
    const gpu_error error = gpu_device_count(&count);
    if (error == GPU_OK && count > 0) return true;
    (void)gpu_last_error();
    snprintf(reason, size, "no " GPU_MAKER " GPU is usable here: %s%s",
             error == GPU_OK ? "none found" : gpu_error_text(error),
             GPU_CAVEAT);
    return false;
}

/* The device of the given ordinal; else the current one for a user's stream, or
 * one by this rank's local rank. */
static tacit_status choose_device(const tacit_queue *q, int *out)
{
    int count = 0;
    TRY(tct_gpu_status(gpu_device_count(&count), "counting devices"));
    if (q->ordinal >= count)
        FAIL(TACIT_INVALID, "device cuda(%d): there %s %d here, from 0",
             q->ordinal, count == 1 ? "is" : "are", count);
    if (q->ordinal < 0 && q->on_stream)
        return tct_gpu_status(gpu_get_device(out), "the current device");
    *out = q->ordinal >= 0 ? q->ordinal : q->place % count;
    return TACIT_OK;
}

static tacit_status cuda_identify(const tacit_queue *q, tct_hardware *out)
{
    char reason[256], uuid[16];
    int device = 0;
    gpu_properties p;
    if (q->device_state) device = tct_gpu_of(q)->device;
    else if (!cuda_available(reason, sizeof reason))
        FAIL(TACIT_DEVICE, "device cuda: %s", reason);
    else TRY(choose_device(q, &device));
    TRY(tct_gpu_status(gpu_bus_id(out->bus, (int)sizeof out->bus, device),
                       "its place"));
    TRY(tct_gpu_status(gpu_get_properties(&p, device), "its identity"));
    TRY(tct_gpu_status(gpu_uuid(&p, device, uuid), "its identity"));
    for (size_t k = 0; k < sizeof uuid; k++)
        snprintf(out->uuid + 2 * k, 3, "%02x", (unsigned char)uuid[k]);
    return TACIT_OK;
}

static tacit_status describe_device(tct_gpu *g)
{
    char model[64];
    gpu_properties p;
    TRY(tct_gpu_status(gpu_get_properties(&p, g->device), "its properties"));
    g->sms = p.multiProcessorCount;
    g->l2_bytes = (size_t)p.l2CacheSize;
    g->shared_bytes = gpu_shared_most(&p);
    gpu_model(&p, model, sizeof model);
    snprintf(g->name, sizeof g->name,
             "%.80s, %s, %d multiprocessors, "
             "%.0f GiB%s",
             p.name, model, p.multiProcessorCount,
             (double)p.totalGlobalMem / 0x1p30, GPU_CAVEAT);
    return TACIT_OK;
}

static tacit_status open_memory(tct_gpu *g)
{
    void *box = NULL;
    TRY(tct_gpu_upload(NULL, sizeof(double) * TCT_BLOCKS_MOST * TCT_OP_SUMS,
                       &g->partial));
    TRY(tct_gpu_upload(NULL, TCT_COLUMNS_MOST * sizeof(unsigned), &g->ticket));
    TRY(tct_gpu_status(
        gpu_memset(g->ticket, 0, TCT_COLUMNS_MOST * sizeof(unsigned)),
        "clearing memory"));
    TRY(tct_gpu_status(
        gpu_host_malloc(&box, sizeof(tct_mailbox), GPU_HOST_MAPPED),
        "host memory for the GPU"));
    g->mailbox = box;
    memset(box, 0, sizeof(tct_mailbox));
    TRY(tct_gpu_status(gpu_host_pointer(&box, g->mailbox, 0),
                       "host memory for the GPU"));
    g->mailbox_gpu = box;
    g->sample_batch = 1;
    tct_outbox *outbox = tct_calloc(sizeof *outbox);
    if (!outbox) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    outbox->sample_batch = 1;
    outbox->mailbox = g->mailbox_gpu;
    const tacit_status status =
        tct_gpu_upload(outbox, sizeof *outbox, &g->outbox);
    tct_free(outbox);
    TRY(status);
    return tct_gpu_status(gpu_stream_sync(NULL), "starting");
}

static tacit_status open_device(tacit_queue *q, tct_gpu *g)
{
    TRY(tct_gpu_status(gpu_set_device(g->device), "using the device"));
    TRY(describe_device(g));
    TRY(tct_gpu_open_stream(q));
    TRY(tct_gpu_status(gpu_event_create_with(&g->mark, GPU_EVENT_NO_TIMING),
                       "an event"));
    if (q->ranks > 1)
        TRY(tct_gpu_status(
            gpu_stream_create(&g->aside, GPU_STREAM_NON_BLOCKING), "a stream"));
    return open_memory(g);
}

/* The device becomes current, unless this fails. */
static tacit_status cuda_open(tacit_queue *q)
{
    char reason[256];
    int before = 0;
    if (!cuda_available(reason, sizeof reason))
        FAIL(TACIT_DEVICE, "device cuda: %s", reason);
    tct_gpu *g = tct_calloc(sizeof *g);
    if (!g) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    q->device_state = g;
    q->answer_seconds = ANSWER_SECONDS;
    q->barrier_seconds = BARRIER_SECONDS;
    TRY(tct_gpu_status(gpu_get_device(&before), "the current device"));
    TRY(choose_device(q, &g->device));
    q->ordinal = g->device;
    const tacit_status status = open_device(q, g);
    if (status < 0 && before != g->device) (void)gpu_set_device(before);
    return status;
}

static void cuda_close(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    if (!g) return;
    g->holding = false;
    if (g->stream) (void)gpu_stream_sync(g->stream);
    if (g->stream && !g->borrowed) (void)gpu_stream_destroy(g->stream);
    if (g->aside) (void)gpu_stream_destroy(g->aside);
    if (g->mark) (void)gpu_event_destroy(g->mark);
    tct_gpu_release(g->partial);
    tct_gpu_release(g->ticket);
    tct_gpu_release(g->outbox);
    if (g->mailbox) (void)gpu_host_free(g->mailbox);
    tct_free(g);
}

/* If the device is current, set nothing: the caller may be a function whose
 * work is being recorded. */
static void cuda_enter(tacit_queue *q)
{
    const int device = tct_gpu_of(q)->device;
    int current = -1;
    if (gpu_get_device(&current) == GPU_OK && current == device) return;
    tct_gpu_ok(q, gpu_set_device(device), "making its device the current one");
}

static void cuda_describe(const tacit_queue *q, char *text, size_t size)
{
    snprintf(text, size, "%s", tct_gpu_of(q)->name);
}

const tct_device_ops tct_device_cuda = {
    .name = "cuda",
    .kind = TCT_KIND_GPU,
    .ordinals = true,
    .available = cuda_available,
    .identify = cuda_identify,
    .open = cuda_open,
    .close = cuda_close,
    .enter = cuda_enter,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .free_memory = tct_gpu_free_memory,
    .pool = tct_gpu_memory_pool,
    .run = tct_gpu_run,
    .sync = cuda_sync,
    .flush = tct_gpu_flush,
    .describe = cuda_describe,
    .alloc_shared = cuda_alloc_shared,
    .free_shared = cuda_free_shared,
    .mark = tct_gpu_mark,
    .reach = tct_gpu_reach,
    .seen = cuda_sampled,
    .lag = cuda_lag,
    .tell = cuda_tell,
    .record_begin = tct_record_begin,
    .record_end = tct_record_end,
    .replay = tct_record_replay,
    .record_about = tct_record_about,
    .record_free = tct_record_free,
    .persistent = &tct_persistent_gpu,
};
