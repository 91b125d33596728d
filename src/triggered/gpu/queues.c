/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/queues.c - queues on a stream of a GPU: opened and closed, their
 * commands, the host's wait, failures. steps.c launches. */
#include "triggered/gpu/driver.h"
#include <sched.h>
#include <stdio.h>

/* --- failures ------------------------------------------------------------- */

void tct_gpu_queue_note(tacit_trigger_queue *q, gpu_error error,
                        const char *what)
{
    char why[448];
    if (error == GPU_OK) return;
    (void)tct_gpu_status(error, what);
    snprintf(why, sizeof why, "rank %d: %.400s", q->comm->rank,
             tacit_error_message());
    tct_trigger_fail(q->comm, q->comm->rank, why);
}

static const char *stage(const tct_trigger_end *e, bool stored)
{
    if (e->mine.direction == TCT_RECEIVES) return "its message has not come";
    return stored ? "its receiver has not started it"
                  : "its receiver has not made room for it";
}

double tct_gpu_limit_of(const tacit_trigger_comm *c)
{
    double limit;
    __atomic_load(&c->limit, &limit, __ATOMIC_RELAXED);
    return limit;
}

/* The message of a wait that gave up. */
static void note_missing(tacit_trigger_queue *q)
{
    const tct_wait_board *b = q->gpu->board;
    const tct_trigger_end *e = (tct_trigger_end *)(uintptr_t)b->name;
    char text[160], why[448];
    if (!b->said || tct_trigger_failed(q->comm)) return;
    tct_trigger_say_end(e, text, sizeof text);
    snprintf(why, sizeof why,
             "rank %d has not answered for %g s; rank %d waits for it in %s, "
             "number %llu: %s",
             e->peer, tct_gpu_limit_of(q->comm), q->comm->rank, text,
             (unsigned long long)b->number, stage(e, b->stored != 0));
    tct_trigger_fail(q->comm, e->peer, why);
}

/* --- commands ------------------------------------------------------------- */

void tct_gpu_queue_run(tacit_trigger_queue *q, tct_command *c)
{
    const int before = tct_gpu_enter(q->comm);
    const bool failed = tct_trigger_failed(q->comm);
    q->gpu->owner = pthread_self();
    if (c->kind == TCT_COMMAND_TASK)
        tct_gpu_queue_note(q, gpu_launch_host(q->gpu->stream, c->task, c->ctx),
                           "a task");
    else if (!failed && c->kind == TCT_COMMAND_START) tct_gpu_start_all(q, c);
    else if (!failed && c->kind == TCT_COMMAND_EXCHANGE)
        tct_gpu_exchange_all(q, c);
    else if (!failed) tct_gpu_wait_all(q, c->count, c->started);
    tct_gpu_leave(before);
}

void tct_gpu_queue_tells(tacit_trigger_queue *q, const tct_gpu *of)
{
    q->gpu->outbox = of->outbox;
}

bool tct_gpu_queue_is_done(const tacit_trigger_queue *q)
{
    const gpu_error state = gpu_stream_query(q->gpu->stream);
    if (state != GPU_OK) (void)gpu_last_error();
    return state == GPU_OK;
}

/* Try the pending sends of this thread's queues: their streams may have no wait
 * yet, and other ranks may wait for them. */
static void progress(tacit_trigger_comm *c)
{
    pthread_mutex_lock(&c->gpu->listing);
    for (tacit_trigger_queue *p = c->gpu->queues; p; p = p->gpu->next)
        if (p->active && pthread_equal(p->gpu->owner, pthread_self()) &&
            !tct_gpu_queue_is_capturing(p))
            tct_gpu_wait_all(p, 0, NULL);
    pthread_mutex_unlock(&c->gpu->listing);
}

/* Other ranks have failed, or one was killed: waits end. */
static void look_for_failures(tacit_trigger_queue *q)
{
    tacit_trigger_comm *c = q->comm;
    char why[64];
    const int killed =
        c->world->ops->killed ? c->world->ops->killed(c->world) : -1;
    snprintf(why, sizeof why, "rank %d was killed", killed);
    if (killed >= 0) tct_trigger_fail(c, killed, why);
    if (tct_trigger_failed(c)) q->gpu->board->gone = 1;
}

void tct_gpu_queue_wait(tacit_trigger_queue *q)
{
    enum { SPINS = 2000, OFTEN = 1024 };
    gpu_error state;
    const int before = tct_gpu_enter(q->comm);
    q->gpu->owner = pthread_self();
    for (unsigned k = 1;
         (state = gpu_stream_query(q->gpu->stream)) == GPU_NOT_READY; k++) {
        (void)gpu_last_error();
        if (k < SPINS) continue;
        sched_yield();
        tct_match_poll(q->comm);
        tct_host_progress(q->comm);
        if (k % OFTEN == 0) look_for_failures(q);
        if (k % OFTEN == 0) progress(q->comm);
    }
    tct_gpu_queue_note(q, state, "running messages");
    note_missing(q);
    if (!tct_trigger_failed(q->comm)) progress(q->comm);
    tct_gpu_leave(before);
}

/* --- open, close ---------------------------------------------------------- */

static tacit_status check_stream(const void *stream)
{
    if (!stream || stream == (const void *)GPU_STREAM_LEGACY)
        FAIL(TACIT_INVALID,
             "tacit_trigger_queue_create: the default stream waits for all "
             "others: make one for the queue");
    return TACIT_OK;
}

static tacit_status open_memory(tacit_trigger_queue *q)
{
    struct tct_gpu_queue *g = q->gpu;
    void *board = NULL;
    TRY(tct_gpu_status(
        gpu_host_malloc(&board, sizeof *g->board, GPU_HOST_MAPPED),
        "host memory for the GPU"));
    memset(board, 0, sizeof *g->board);
    g->board = board;
    TRY(tct_gpu_status(gpu_host_pointer(&board, board, 0),
                       "host memory for the GPU"));
    g->board_gpu = board;
    pthread_mutex_lock(&q->comm->lock);
    g->claim =
        (unsigned *)(void *)tct_trigger_take(q->comm->gpu, sizeof *g->claim);
    g->turn = (uint64_t *)(void *)tct_trigger_take(
        q->comm->gpu, TCT_PARTS_MOST * sizeof *g->turn);
    pthread_mutex_unlock(&q->comm->lock);
    return g->claim && g->turn ? TACIT_OK : TACIT_NO_MEMORY;
}

tacit_status tct_gpu_queue_open(tacit_trigger_queue *q, void *stream)
{
    TRY(check_stream(stream));
    q->gpu = tct_calloc(sizeof *q->gpu);
    if (!q->gpu) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    q->gpu->stream = stream;
    q->gpu->owner = pthread_self();
    const int before = tct_gpu_enter(q->comm);
    const tacit_status status = open_memory(q);
    tct_gpu_leave(before);
    if (status < 0) {
        tct_gpu_queue_close(q);
        return status;
    }
    pthread_mutex_lock(&q->comm->gpu->listing);
    q->gpu->next = q->comm->gpu->queues;
    q->comm->gpu->queues = q;
    pthread_mutex_unlock(&q->comm->gpu->listing);
    return TACIT_OK;
}

static void unlist(tacit_trigger_queue *q)
{
    tacit_trigger_queue **at = &q->comm->gpu->queues;
    pthread_mutex_lock(&q->comm->gpu->listing);
    while (*at && *at != q) at = &(*at)->gpu->next;
    if (*at) *at = q->gpu->next;
    pthread_mutex_unlock(&q->comm->gpu->listing);
}

static void give_memory(tacit_trigger_queue *q)
{
    pthread_mutex_lock(&q->comm->lock);
    tct_trigger_give(q->comm->gpu, q->gpu->claim);
    tct_trigger_give(q->comm->gpu, q->gpu->turn);
    tct_gpu_lists_free(q);
    pthread_mutex_unlock(&q->comm->lock);
}

/* After a failure waits may be left, which end soon. */
void tct_gpu_queue_close(tacit_trigger_queue *q)
{
    const int before = tct_gpu_enter(q->comm);
    unlist(q);
    if (q->gpu->board && tct_trigger_failed(q->comm)) {
        q->gpu->board->gone = 1;
        (void)gpu_stream_sync(q->gpu->stream);
    }
    give_memory(q);
    if (q->gpu->board) (void)gpu_host_free(q->gpu->board);
    tct_free(q->gpu);
    q->gpu = NULL;
    tct_gpu_leave(before);
}
