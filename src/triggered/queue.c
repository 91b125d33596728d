/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/queue.c - queues; those on a GPU go on in gpu/. On the host a thread
 * does the commands in order.
 * Its waits try the pending sends of the queue; with no command left it goes on
 * trying them, so that a send whose wait is not enqueued yet is not held up. */
#include "triggered/gpu.h"
#include <stdio.h>
#include <time.h>

enum { IDLE_US = 50, WAIT_US = 1000 };

/* --- the thread ----------------------------------------------------------- */

static void pause_for(pthread_cond_t *until, pthread_mutex_t *lock, long us)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(until, lock, &t);
}

/* Sends that are pending while there is no command. */
static void idle(tacit_trigger_queue *q)
{
    if (!q->line.first) {
        pthread_cond_wait(&q->work, &q->lock);
        return;
    }
    pthread_mutex_unlock(&q->lock);
    if (tct_trigger_failed(q->comm)) tct_line_drop(&q->line);
    else tct_line_progress(&q->line);
    pthread_mutex_lock(&q->lock);
    if (q->line.first && !q->first && !q->ending)
        pause_for(&q->work, &q->lock, IDLE_US);
}

/* The next command; NULL: the end. */
static tct_command *next_command(tacit_trigger_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->first && !q->ending) idle(q);
    tct_command *c = q->first;
    if (c) q->first = c->next;
    if (!q->first) q->last = &q->first;
    pthread_mutex_unlock(&q->lock);
    return c;
}

static void execute(tacit_trigger_queue *q, const tct_command *c)
{
    const bool failed = tct_trigger_failed(q->comm);
    if (failed) tct_line_drop(&q->line);
    const bool starts = c->kind != TCT_COMMAND_WAIT && !failed;
    const bool waits = c->kind != TCT_COMMAND_START && !failed;
    if (c->kind == TCT_COMMAND_TASK) c->task(c->ctx);
    for (int k = 0; k < c->count && starts; k++)
        tct_line_start(&q->line, &c->started[k]);
    if (c->count > 0 && waits &&
        tct_line_wait(q->comm, &q->line, NULL, c->count, c->started) < 0)
        tct_line_drop(&q->line);
    for (int k = 0; k < c->count; k++)
        __atomic_fetch_sub(&c->started[k].request->busy, 1, __ATOMIC_RELEASE);
}

static void *run(void *arg)
{
    tacit_trigger_queue *q = arg;
    for (tct_command *c; (c = next_command(q)) != NULL;) {
        execute(q, c);
        tct_free(c);
        pthread_mutex_lock(&q->lock);
        if (++q->executed == q->enqueued) pthread_cond_broadcast(&q->done);
        pthread_mutex_unlock(&q->lock);
    }
    tct_line_drop(&q->line);
    return NULL;
}

/* --- commands ------------------------------------------------------------- */

tacit_status tct_command_new(tct_command_kind kind, int count,
                             tct_command **out)
{
    tct_command *c = tct_alloc(sizeof *c + (size_t)count * sizeof(tct_started));
    if (!c) FAIL(TACIT_NO_MEMORY, "no memory for a queue's work");
    *c = (tct_command){.kind = kind, .count = count};
    *out = c;
    return TACIT_OK;
}

void tct_queue_push(tacit_trigger_queue *q, tct_command *c)
{
    if (q->gpu) {
        tct_gpu_queue_run(q, c);
        tct_free(c);
        return;
    }
    for (int k = 0; k < c->count; k++)
        __atomic_fetch_add(&c->started[k].request->busy, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&q->lock);
    *q->last = c;
    q->last = &c->next;
    q->enqueued++;
    pthread_cond_signal(&q->work);
    pthread_mutex_unlock(&q->lock);
}

tacit_status tacit_trigger_enqueue_task(tacit_trigger_queue *queue,
                                        tacit_trigger_task *task, void *ctx)
{
    REQUIRE(queue != NULL, task != NULL);
    tct_command *c = NULL;
    TRY(tct_command_new(TCT_COMMAND_TASK, 0, &c));
    c->task = task;
    c->ctx = ctx;
    tct_queue_push(queue, c);
    return TACIT_OK;
}

void tct_queue_activate(tacit_trigger_queue *q, tacit_trigger_request *r)
{
    r->active = true;
    r->queue = q;
    r->number++;
    r->before = r->after = NULL;
    if (!q) return;
    r->after = q->active;
    if (r->after) r->after->before = r;
    q->active = r;
}

void tct_queue_forget(tacit_trigger_request *r)
{
    if (r->active && r->queue) {
        if (r->after) r->after->before = r->before;
        if (r->before) r->before->after = r->after;
        else r->queue->active = r->after;
    }
    r->before = r->after = NULL;
    r->active = false;
}

/* --- queues --------------------------------------------------------------- */

/* Is the queue to be on a GPU? */
static tacit_status check_kind(const tacit_trigger_comm *c,
                               tacit_trigger_kind kind, const void *stream,
                               bool *on_gpu)
{
    const int k = (int)kind;
    *on_gpu =
        kind == TACIT_TRIGGER_KERNEL || (kind == TACIT_TRIGGER_AUTO && stream);
    if (k < 0 || k > (int)TACIT_TRIGGER_THREAD)
        FAIL(TACIT_INVALID, "tacit_trigger_queue_create: there is no kind %d",
             k);
    if (kind == TACIT_TRIGGER_MEMOP)
        FAIL(TACIT_UNSUPPORTED,
             "tacit_trigger_queue_create: kind memop: memory operations of a "
             "stream are slower than kernels here: use kind kernel");
    if (kind == TACIT_TRIGGER_THREAD && stream)
        FAIL(TACIT_UNSUPPORTED,
             "tacit_trigger_queue_create: kind thread with a stream, for which "
             "a thread would have to wait: use kind kernel, or no stream");
    if (*on_gpu && !c->gpu)
        FAIL(TACIT_UNSUPPORTED,
             "tacit_trigger_queue_create: a queue on a GPU: call "
             "tacit_trigger_comm_use_gpu first, or MPI_Queue_use_gpu, on all "
             "ranks");
    return TACIT_OK;
}

static void init_locks(tacit_trigger_queue *q)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, &clock);
    pthread_cond_init(&q->done, &clock);
    pthread_condattr_destroy(&clock);
}

static void free_queue(tacit_trigger_queue *q)
{
    if (q->gpu) tct_gpu_queue_close(q);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->done);
    tct_free(q);
}

static tacit_status start_thread(tacit_trigger_queue *q)
{
    const int code = pthread_create(&q->thread, NULL, run, q);
    if (code)
        FAIL(TACIT_NO_MEMORY, "tacit_trigger_queue_create: no thread: %s",
             strerror(code));
    return TACIT_OK;
}

tacit_status tacit_trigger_queue_create(tacit_trigger_comm *comm,
                                        tacit_trigger_kind kind, void *stream,
                                        tacit_trigger_queue **out)
{
    REQUIRE(comm != NULL, out != NULL);
    bool on_gpu = false;
    TRY(check_kind(comm, kind, stream, &on_gpu));
    tacit_trigger_queue *q = tct_calloc(sizeof *q);
    if (!q) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    q->comm = comm;
    q->last = &q->first;
    q->line.last = &q->line.first;
    init_locks(q);
    const tacit_status status =
        on_gpu ? tct_gpu_queue_open(q, stream) : start_thread(q);
    if (status < 0) {
        free_queue(q);
        return status;
    }
    __atomic_fetch_add(&comm->used, 1, __ATOMIC_RELAXED);
    *out = q;
    return TACIT_OK;
}

static bool is_done(tacit_trigger_queue *q)
{
    if (q->gpu) return tct_gpu_queue_is_done(q);
    pthread_mutex_lock(&q->lock);
    const bool done = q->executed == q->enqueued;
    pthread_mutex_unlock(&q->lock);
    return done;
}

static void end_thread(tacit_trigger_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ending = true;
    pthread_cond_signal(&q->work);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
}

tacit_status tacit_trigger_queue_free(tacit_trigger_queue **queue)
{
    if (!queue || !*queue) return TACIT_OK;
    tacit_trigger_queue *q = *queue;
    const bool failed = tct_trigger_failed(q->comm);
    if (!failed && !is_done(q))
        FAIL(TACIT_INVALID, "tacit_trigger_queue_free: the queue has work: "
                            "wait for it first");
    if (!failed && q->active)
        FAIL(TACIT_INVALID,
             "tacit_trigger_queue_free: requests that the queue has started "
             "are not waited for: enqueue their wait, and wait for the queue");
    if (!q->gpu) end_thread(q);
    while (q->active) tct_queue_forget(q->active);
    __atomic_fetch_sub(&q->comm->used, 1, __ATOMIC_RELEASE);
    free_queue(q);
    *queue = NULL;
    return TACIT_OK;
}

static void wait_for_thread(tacit_trigger_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->executed < q->enqueued) {
        pause_for(&q->done, &q->lock, WAIT_US);
        pthread_mutex_unlock(&q->lock);
        tct_match_poll(q->comm);
        tct_host_progress(q->comm);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
}

tacit_status tacit_trigger_queue_wait(tacit_trigger_queue *queue)
{
    REQUIRE(queue != NULL);
    if (queue->gpu) tct_gpu_queue_wait(queue);
    else wait_for_thread(queue);
    return tct_trigger_sound(queue->comm);
}
