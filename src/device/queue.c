/* SPDX-License-Identifier: BSD-3-Clause
 * device/queue.c - the queue: its failure, layers and memory. */
#include "device/queue.h"
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

/* --- reports -------------------------------------------------------------- */

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
    if (!p)
        q_fail(q, TACIT_NO_MEMORY,
               "no device memory for %zu doubles (%.3g GiB)", n,
               (double)n * sizeof *p / 0x1p30);
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

/* ", 3.2 GiB free" in `text` [size], or "". */
static const char *free_memory(const tacit_queue *q, char *text, size_t size)
{
    double bytes = 0.0;
    text[0] = '\0';
    if (q->device->free_memory && (bytes = q->device->free_memory(q)) >= 0.0)
        snprintf(text, size, ", %.3g GiB free", bytes / 0x1p30);
    return text;
}

tacit_status tacit_queue_alloc(tacit_queue *queue, size_t n, double **out)
{
    char text[32];
    REQUIRE(queue != NULL, out != NULL);
    q_enter(queue);
    double *p = alloc(queue, n);
    if (!p && queue->device->kind == TCT_KIND_GPU)
        FAIL(TACIT_NO_MEMORY,
             "no device memory for %zu doubles (%.3g GiB%s): take more GPUs, "
             "a method of fewer vectors (cg has the fewest), or the host",
             n, (double)n * sizeof *p / 0x1p30,
             free_memory(queue, text, sizeof text));
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
        tct_log(TCT_WARN, "tacit_queue_free: queue is NULL");
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
    REQUIRE(queue != NULL, n == 0 || host != NULL, n == 0 || x != NULL);
    q_enter(queue);
    q_put(queue, n, host, x);
    return q_status(queue);
}

tacit_status tacit_queue_get(tacit_queue *queue, size_t n, const double *x,
                             double *host)
{
    REQUIRE(queue != NULL, n == 0 || host != NULL, n == 0 || x != NULL);
    q_enter(queue);
    q_get(queue, n, x, host);
    return q_status(queue);
}

tacit_status tacit_queue_fill(tacit_queue *queue, size_t n, double value,
                              double *x)
{
    REQUIRE(queue != NULL, n == 0 || x != NULL);
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
    static const double LEAST[] = {2e-4, 2e-3}; /* seconds of a timing: the
                                                 * clock's, and launches, are
                                                 * negligible */
    REQUIRE(queue != NULL, gbytes_per_second != NULL);
    q_enter(queue);
    const int ranks = queue->neighbours;
    const bool gpu = queue->device->kind == TCT_KIND_GPU;
    if (!gpu)
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
            if (i < 0)
                times = each < LEAST[gpu] ? (int)(LEAST[gpu] / each) + 1 : 1;
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
