/* SPDX-License-Identifier: BSD-3-Clause
 * device/queue.c - the queue: its failure, layers and memory. */
#include "device/queue.h"
#include "device/decorators.h"
#include "device/thread_pool.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- failure -------------------------------------------------------------- */

void q_fail(tacit_queue *q, tacit_status status, const char *format, ...)
{
    if (q->failed != TACIT_OK) return;
    va_list args;
    va_start(args, format);
    vsnprintf(q->why, sizeof q->why, format, args);
    va_end(args);
    q->failed = status;
}

void tct_note_lost_rank(tct_lost_rank *d, int rank, double seconds)
{
    char name[32] = "another rank";
    if (d->noted) return;
    if (rank >= 0) snprintf(name, sizeof name, "rank %d", rank);
    d->rank = rank;
    snprintf(d->why, sizeof d->why, "%s has not answered for %g s", name,
             seconds);
    d->noted = true;
}

void q_lose_rank(tacit_queue *q, int rank, double seconds)
{
    tct_note_lost_rank(q->lost_rank, rank, seconds);
    q_fail(q, TACIT_COMM, "%s", q->lost_rank->why);
    q->peers_know = true;
}

bool q_is_deserted(tacit_queue *q)
{
    const tct_lost_rank *d = q->lost_rank;
    if (!d->noted && d->look) d->look(q->world);
    if (d->noted) q_lose_rank(q, d->rank, 0.0);
    return d->noted;
}

void q_refuse(tacit_queue *q, const tct_op *op)
{
    const char *name = tct_op_info_of(op)->text;
    if (op->element == TACIT_F64)
        q_fail(q, TACIT_UNSUPPORTED, "device %s: it has no operation '%s'",
               q->device->name, name);
    else
        q_fail(q, TACIT_UNSUPPORTED,
               "device %s: it has no operation '%s' on elements %s",
               q->device->name, name, tct_element_name(op->element));
}

/* By the first layer from `at` down that can. */
static void sync_by(tct_layer *at, tacit_queue *q)
{
    while (!at->ops->sync) at = at->below;
    at->ops->sync(at, q);
}

static void q_sync(tacit_queue *q)
{
    sync_by(q->top, q);
}

tacit_status q_status(tacit_queue *q)
{
    q_sync(q);
    if (q->failed == TACIT_OK) return TACIT_OK;
    FAIL(q->failed, "%s", q->why);
}

tacit_status q_own_status(tacit_queue *q)
{
    const tacit_status status = q_status(q);
    return q->by_peer ? TACIT_OK : status;
}

double tct_flags_mine(const tacit_queue *q)
{
    return (q->failed != TACIT_OK ? 1.0 : 0.0) +
           (q->stop_wanted ? TCT_FLAG_STOP : 0.0);
}

void tct_flags_agreed(tacit_queue *q, double word)
{
    if (word >= TCT_FLAG_STOP) q->stop_agreed = true;
    if (!tct_flags_say_failed(word) || q->peers_know) return;
    q->by_peer = q->failed == TACIT_OK;
    q_fail(q, TACIT_COMM, "another rank has failed");
    q->peers_know = true;
}

void q_tell(tacit_queue *q)
{
    if (q->ranks == 1) tct_flags_agreed(q, tct_flags_mine(q));
    else q->device->tell(q, tct_flags_mine(q));
}

/* --- layers --------------------------------------------------------------- */

void tct_below_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    self->below->ops->submit(self->below, q, op);
}

void tct_below_sync(tct_layer *self, tacit_queue *q)
{
    sync_by(self->below, q);
}

/* --- creation: "decorator(argument):decorator:device" --------------------- */

static const tct_layer_ops *const decorators[] = {
#define X(name) &tct_layer_##name,
    TCT_DECORATORS(X)
#undef X
};
enum { DECORATORS = sizeof decorators / sizeof *decorators };

static const struct {
    tacit_device about;
    const tct_device_ops *ops; /* NULL: not in this build */
} devices[] = {
    {{"host", "the processors of this machine", NULL, false}, &tct_device_host},
    {{"cuda", TCT_HIP ? "an AMD GPU" : "an NVIDIA GPU", TCT_NO_CUDA, true},
#if TCT_HAVE_CUDA
     &tct_device_cuda
#else
     NULL
#endif
    }};
enum { DEVICES = sizeof devices / sizeof *devices };

const tacit_device *tacit_device_at(int i)
{
    return i >= 0 && i < DEVICES ? &devices[i].about : NULL;
}

const tacit_decorator *tacit_decorator_at(int i)
{
    return i >= 0 && i < DECORATORS ? &decorators[i]->about : NULL;
}

static tacit_status find_device(const char *name, const tct_device_ops **out)
{
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(devices[i].about.name, name) == 0) *out = devices[i].ops;
    if (*out) return TACIT_OK;
    FAIL(TACIT_INVALID, "unknown device '%s': this build has 'host'%s", name,
         TCT_HAVE_CUDA ? " and 'cuda'" : "");
}

tct_device_kind tct_kind_of(const char *device)
{
    const tct_device_ops *ops = NULL;
    return find_device(device, &ops) < 0 ? TCT_KIND_GPU : ops->kind;
}

tacit_status tacit_device_probe(const char *name)
{
    char reason[256];
    const tct_device_ops *device = NULL;
    REQUIRE(name != NULL);
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(devices[i].about.name, name) == 0 && devices[i].about.reason)
            FAIL(TACIT_UNSUPPORTED, "%s", devices[i].about.reason);
    TRY(find_device(name, &device));
    if (!device->available || device->available(reason, sizeof reason))
        return TACIT_OK;
    FAIL(TACIT_DEVICE, "%s", reason);
}

static tacit_status push_layer(tacit_queue *q, const tct_layer_ops *ops,
                               const char *argument)
{
    tct_layer *layer = NULL;
    TRY(TCT_ALLOC(1, "a queue", &layer));
    *layer = (tct_layer){.ops = ops, .below = q->top};
    q->top = layer;
    return ops->open ? ops->open(layer, q, argument) : TACIT_OK;
}

/* Split one "name" or "name(argument)" off the front of a spec. */
static tacit_status push_decorator(tacit_queue *q, const char *word, size_t len)
{
    char name[32], argument[32] = "";
    const char *open = memchr(word, '(', len);
    const size_t n = open ? (size_t)(open - word) : len;
    const size_t inner = open ? len - n - 1 : 0;
    if (n >= sizeof name || inner >= sizeof argument ||
        (open && word[len - 1] != ')'))
        FAIL(TACIT_INVALID, "decorator '%.*s': expected name or name(number)",
             (int)len, word);
    memcpy(name, word, n);
    name[n] = '\0';
    if (open) {
        memcpy(argument, open + 1, inner - 1);
        argument[inner - 1] = '\0';
    }
    const char *names[DECORATORS];
    for (int i = 0; i < DECORATORS; i++) {
        names[i] = decorators[i]->about.name;
        if (strcmp(names[i], name) == 0)
            return push_layer(q, decorators[i], argument);
    }
    return tct_unknown("decorator", name, names, DECORATORS);
}

/* Decorators are pushed from the innermost: the last before the device. */
static tacit_status push_decorators(tacit_queue *q, const char *spec,
                                    const char *device)
{
    while (device > spec) {
        const char *end = device - 1, *start = end; /* at ':' */
        while (start > spec && start[-1] != ':') start--;
        TRY(push_decorator(q, start, (size_t)(end - start)));
        device = start;
    }
    return TACIT_OK;
}

/* "name" or "name(ordinal)" */
static tacit_status parse_device(tacit_queue *q, const char *text)
{
    char name[64];
    const size_t n = strcspn(text, "(");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    TRY(find_device(name, &q->device));
    int after = 0;
    if (text[n] == '\0') return TACIT_OK;
    if (q->device->ordinals &&
        sscanf(text + n, "(%d)%n", &q->ordinal, &after) == 1 && after > 0 &&
        text[n + (size_t)after] == '\0' && q->ordinal >= 0)
        return TACIT_OK;
    FAIL(TACIT_INVALID, "device '%s': expected %s%s", text, name,
         q->device->ordinals ? " or, with a number from 0, cuda(1)" : "");
}

tacit_status tct_device_identify(const char *device, int place,
                                 tct_hardware *out)
{
    tacit_queue probe = {.ordinal = -1, .place = place};
    memset(out, 0, sizeof *out);
    TRY(parse_device(&probe, device));
    if (!probe.device->identify) return TACIT_OK;
    return probe.device->identify(&probe, out);
}

static tacit_status build(tacit_queue *q, const char *spec)
{
    TRY(tct_read_timeout(&q->peer_seconds));
    const char *colon = strrchr(spec, ':');
    const char *name = colon ? colon + 1 : spec;
    TRY(parse_device(q, name));
    if (q->on_stream && q->device->kind != TCT_KIND_GPU)
        FAIL(TACIT_UNSUPPORTED,
             "device %s has no stream: a queue on a stream is on a GPU, as in "
             "'cuda'",
             q->device->name);
    if (q->threads < 1 || q->threads > TCT_TEAM_MOST)
        FAIL(TACIT_INVALID, "threads: expected 1 to %d, got %d", TCT_TEAM_MOST,
             q->threads);
    TRY(tct_team_take(q->threads, &q->team));
    q->threads = tct_team_size(q->team);
    TRY(q->device->open(q));
    q->sum = tct_alloc_shared(q, TCT_SUM_MOST * sizeof *q->sum);
    if (!q->sum) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    TRY(push_layer(q, &tct_base_layer, ""));
    return push_decorators(q, spec, name);
}

tacit_status tct_queue_new(const tacit_queue *prototype, const char *spec,
                           tacit_queue **out)
{
    tacit_queue *q = NULL;
    TRY(TCT_ALLOC(1, "a queue", &q));
    *q = *prototype;
    q->ordinal = -1;
    const tacit_status status = build(q, spec ? spec : "host");
    if (status < 0) tacit_queue_destroy(&q);
    else *out = q;
    return status;
}

void tacit_queue_destroy(tacit_queue **queue)
{
    if (!queue || !*queue) return;
    tacit_queue *q = *queue;
    if (q->uses) {
        tct_refuse_destroy(__func__, "queue");
        return;
    }
    if (q->top) q_enter(q); /* else the device was not opened */
    while (q->top) {
        tct_layer *layer = q->top;
        if (layer->ops->close) layer->ops->close(layer, q);
        q->top = layer->below;
        tct_free(layer);
    }
    for (q->via = 0; q->via < TCT_LINKS_MOST; q->via++) {
        const tct_link *link = q->links[q->via].link;
        if (link && link->close) link->close(q);
    }
    q->link = NULL;
    /* this waits for the device; links have aborted its waits for ranks */
    if (q->sum) tct_free_shared(q, q->sum);
    if (q->device && q->device->close) q->device->close(q);
    tct_team_give(&q->team);
    tct_free(q);
    *queue = NULL;
}

void *tct_alloc_shared(tacit_queue *q, size_t bytes)
{
    return q->device->alloc_shared ? q->device->alloc_shared(q, bytes)
                                   : q->device->alloc(q, bytes);
}

void tct_free_shared(tacit_queue *q, void *p)
{
    if (q->device->free_shared) q->device->free_shared(q, p);
    else q->device->free(q, p);
}

int tacit_queue_threads(const tacit_queue *queue)
{
    return queue ? queue->threads : 0;
}

void tacit_queue_describe(const tacit_queue *queue, char *text, size_t size)
{
    if (!text || size == 0) return;
    text[0] = '\0';
    if (queue) queue->device->describe(queue, text, size);
}

const tacit_tally *tacit_queue_tally(const tacit_queue *queue)
{
    return queue ? queue->tally : NULL;
}

void tacit_queue_clear_tally(tacit_queue *queue)
{
    if (queue && queue->tally) *queue->tally = (tacit_tally){0};
}

/* --- memory --------------------------------------------------------------- */

/* The first layer with an allocator. */
static tct_layer *allocator(const tacit_queue *q)
{
    tct_layer *layer = q->top;
    while (!layer->ops->alloc) layer = layer->below;
    return layer;
}

static double *alloc(tacit_queue *q, size_t n)
{
    tct_layer *layer = allocator(q);
    if (n > SIZE_MAX / 2 / sizeof(double)) return NULL; /* overflow */
    return layer->ops->alloc(layer, q, (n ? n : 1) * sizeof(double));
}

double *q_alloc(tacit_queue *q, size_t n)
{
    double *p = alloc(q, n);
    if (!p) q_fail(q, TACIT_NO_MEMORY, "no device memory for %zu doubles", n);
    return p;
}

void q_free(tacit_queue *q, double *p)
{
    tct_layer *layer = allocator(q);
    if (p) layer->ops->free(layer, q, p);
}

/* Only with one rank: IPC handles of pieces would be those of slabs. */
void q_memory_pool(tacit_queue *q, size_t slab)
{
    if (q->device->pool && q->ranks == 1) q->device->pool(q, slab);
}

tacit_status tacit_queue_alloc(tacit_queue *queue, size_t n, double **out)
{
    REQUIRE(queue != NULL && out != NULL);
    q_enter(queue);
    double *p = alloc(queue, n);
    if (!p && queue->device->kind == TCT_KIND_GPU)
        FAIL(TACIT_NO_MEMORY, "no device memory for %zu doubles", n);
    if (!p)
        FAIL(TACIT_NO_MEMORY,
             "no memory for %zu doubles (%.3g GiB, %.3g GiB free)", n,
             (double)n * sizeof *p / 0x1p30,
             (double)tct_memory_available() / 0x1p30);
    *out = p;
    return TACIT_OK;
}

void tacit_queue_free(tacit_queue *queue, double **x)
{
    if (!x || !*x) return;
    if (!queue) {
        tct_log(TCT_WARN, "tacit_queue_free: expected queue != NULL");
        return;
    }
    q_enter(queue);
    q_free(queue, *x);
    *x = NULL;
}

static void copy(tacit_queue *q, tct_opcode code, tacit_element element,
                 size_t n, const void *x, const void *host)
{
    const tct_op op = {.code = code,
                       .element = element,
                       .n = n,
                       .v = {(double *)(uintptr_t)x},
                       .host = (void *)(uintptr_t)host};
    q_submit(q, &op);
    q_sync(q);
}

void q_get_in(tacit_queue *q, tacit_element element, size_t n, const void *x,
              void *host)
{
    copy(q, TCT_GET, element, n, x, host);
}

void q_put_in(tacit_queue *q, tacit_element element, size_t n, const void *host,
              void *x)
{
    copy(q, TCT_PUT, element, n, x, host);
}

void q_get(tacit_queue *q, size_t n, const double *x, double *host)
{
    copy(q, TCT_GET, TACIT_F64, n, x, host);
}

void q_put(tacit_queue *q, size_t n, const double *host, double *x)
{
    copy(q, TCT_PUT, TACIT_F64, n, x, host);
}

tacit_status tacit_queue_put(tacit_queue *queue, size_t n, const double *host,
                             double *x)
{
    REQUIRE(queue != NULL && (n == 0 || (host != NULL && x != NULL)));
    q_enter(queue);
    q_put(queue, n, host, x);
    return q_status(queue);
}

tacit_status tacit_queue_get(tacit_queue *queue, size_t n, const double *x,
                             double *host)
{
    REQUIRE(queue != NULL && (n == 0 || (host != NULL && x != NULL)));
    q_enter(queue);
    q_get(queue, n, x, host);
    return q_status(queue);
}

tacit_status tacit_queue_fill(tacit_queue *queue, size_t n, double value,
                              double *x)
{
    REQUIRE(queue != NULL && (n == 0 || x != NULL));
    q_enter(queue);
    q_fill(queue, n, value, x);
    return q_status(queue);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tacit_status tacit_queue_measure_copy(tacit_queue *queue, size_t bytes,
                                      double *gbytes_per_second)
{
    enum { RUNS = 7 };
    static const double LEAST = 2e-3; /* seconds: makes launch costs
                                       * negligible */
    REQUIRE(queue != NULL && gbytes_per_second != NULL);
    q_enter(queue);
    const int ranks = queue->neighbours;
    if (queue->device->kind != TCT_KIND_GPU)
        TRY(tct_memory_require_of(ranks, (double)bytes * ranks, "measuring"));
    const size_t n = bytes / 2 / sizeof(double) + 1;
    double *x = NULL, *y = NULL, seconds[RUNS];
    int times = 1; /* copies per timing */
    tacit_status status = tacit_queue_alloc(queue, n, &x);
    if (status == TACIT_OK) status = tacit_queue_alloc(queue, n, &y);
    if (status == TACIT_OK) {
        q_fill(queue, n, 1.0, x);
        q_copy(queue, n, x, y);
        q_sync(queue);
        for (int i = -1; i < RUNS; i++) {
            const double start = tct_seconds();
            for (int k = 0; k < times; k++) q_copy(queue, n, x, y);
            q_sync(queue);
            const double each = (tct_seconds() - start) / times;
            if (i < 0) times = each < LEAST ? (int)(LEAST / each) + 1 : 1;
            else seconds[i] = each;
        }
        qsort(seconds, RUNS, sizeof *seconds, by_value);
        status = q_status(queue);
        *gbytes_per_second =
            2e-9 * (double)(n * sizeof(double)) / seconds[RUNS / 2];
    }
    tacit_queue_free(queue, &x);
    tacit_queue_free(queue, &y);
    return status;
}
