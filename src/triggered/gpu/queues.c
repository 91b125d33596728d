/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/queues.c - queues on a stream of a GPU: a start and a wait is a
 * kernel each, whatever the number of messages, and an exchange is one kernel
 * for both. A wait also tries the sends that the queue has started before and
 * not waited for. */
#include "triggered/gpu/driver.h"
#include <sched.h>
#include <stdio.h>

enum { ENDS_MOST = 64 * TCT_WAIT_THREADS };

/* Room for ends; older ones stay, since enqueued kernels read them. */
typedef struct tct_trigger_list {
    int room;
    tct_parted **ends; /* on the GPU */
    struct tct_trigger_list *older;
} tct_trigger_list;

/* --- failures ------------------------------------------------------------- */

/* A call of the runtime has failed: all ranks learn of it. */
static void fail(tacit_trigger_queue *q, gpu_error error, const char *what)
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

static double limit_of(const tacit_trigger_comm *c)
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
             e->peer, limit_of(q->comm), q->comm->rank, text,
             (unsigned long long)b->number, stage(e, b->stored != 0));
    tct_trigger_fail(q->comm, e->peer, why);
}

/* --- rows of ends --------------------------------------------------------- */

typedef struct rows {
    tct_trigger_rows now;
    int count, parts; /* of all */
} rows;

/* Ends of a request: visit each. */
typedef void visit(tacit_trigger_queue *q, rows *R, const tct_trigger_end *e);

static void visit_ends(tacit_trigger_queue *q, rows *R,
                       const tacit_trigger_request *r, bool pending, visit *v)
{
    for (int k = 0; k < r->ends; k++) {
        const tct_trigger_end *e = &r->end[k];
        const bool may_be =
            e->mine.direction == TCT_SENDS && e->mine.detail != TCT_SEND_READY;
        if (!pending || may_be) v(q, R, e);
    }
}

static void add(rows *R, const tct_trigger_end *e)
{
    R->now.end[R->now.count++] = e->gpu->parted;
    R->count++;
    if (R->parts < e->gpu->parts) R->parts = e->gpu->parts;
}

/* --- starts --------------------------------------------------------------- */

static void flush_starts(tacit_trigger_queue *q, rows *R)
{
    if (R->now.count > 0)
        fail(q,
             tct_parts_start(&R->now, R->parts, tct_gpu_queue_is_early(q),
                             q->gpu->stream),
             "starting messages");
    R->now.count = R->parts = 0;
}

static void start_end(tacit_trigger_queue *q, rows *R, const tct_trigger_end *e)
{
    add(R, e);
    if (R->now.count == TCT_ROWS_MOST) flush_starts(q, R);
}

static bool is_capturing(const tacit_trigger_queue *q)
{
    gpu_capture_status now = GPU_NOT_CAPTURING;
    (void)gpu_stream_capturing(q->gpu->stream, &now);
    return now != GPU_NOT_CAPTURING;
}

/* Starts that are recorded happen when the recording is replayed. */
static void count_starts(tacit_trigger_queue *q, const tct_command *c)
{
    for (int k = 0; k < c->count && is_capturing(q); k++)
        c->started[k].request->number--;
}

static tct_wait_job job_of(const tacit_trigger_queue *q)
{
    const tct_wait_job job = {.limit_ns = (uint64_t)(1e9 * limit_of(q->comm)),
                              .board = q->gpu->board_gpu,
                              .claim = q->gpu->claim,
                              .turn = q->gpu->turn,
                              .outbox = q->gpu->outbox};
    return job;
}

/* Do kernels of cells do it? */
static bool run_cells(tacit_trigger_queue *q, int count, const tct_started *s,
                      bool starts, bool waits)
{
    gpu_error error = GPU_OK;
    const tct_wait_job job = job_of(q);
    if (!tct_gpu_cells_run(q, count, s, &job, starts, waits, &error))
        return false;
    fail(q, error, "messages in cells");
    return true;
}

static void start_all(tacit_trigger_queue *q, const tct_command *c)
{
    rows R = {.count = 0};
    const bool done = run_cells(q, c->count, c->started, true, false);
    for (int k = 0; k < c->count && !done; k++)
        visit_ends(q, &R, c->started[k].request, false, start_end);
    flush_starts(q, &R);
    count_starts(q, c);
}

/* --- waits ---------------------------------------------------------------- */

/* A list with room for `count`.
 * Errors      NO_MEMORY, DEVICE. */
static tacit_status grow_list(tacit_trigger_queue *q, int count)
{
    struct tct_gpu_queue *g = q->gpu;
    if (g->list && g->list->room >= count) return TACIT_OK;
    tct_trigger_list *l = tct_calloc(sizeof *l);
    if (!l) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    l->room = 2 * count;
    pthread_mutex_lock(&q->comm->lock);
    l->ends = (tct_parted **)(void *)tct_trigger_take(
        q->comm->gpu, (size_t)l->room * sizeof *l->ends);
    pthread_mutex_unlock(&q->comm->lock);
    if (!l->ends) {
        tct_free(l);
        return TACIT_NO_MEMORY;
    }
    l->older = g->list;
    g->list = l;
    return TACIT_OK;
}

static void count_end(tacit_trigger_queue *q, rows *R, const tct_trigger_end *e)
{
    (void)q;
    R->count++;
    if (R->parts < e->gpu->parts) R->parts = e->gpu->parts;
}

/* Write the ends gathered so far to the list. */
static void flush_list(tacit_trigger_queue *q, rows *R)
{
    if (R->now.count > 0)
        fail(q,
             tct_parts_list(&R->now, q->gpu->list->ends,
                            R->count - R->now.count, q->gpu->stream),
             "listing messages");
    R->now.count = 0;
}

static void list_end(tacit_trigger_queue *q, rows *R, const tct_trigger_end *e)
{
    add(R, e);
    if (R->now.count == TCT_ROWS_MOST && R->now.list) flush_list(q, R);
}

/* The ends of a wait, and pending sends; returns how many of the first. */
static int visit_wait(tacit_trigger_queue *q, rows *R, int count,
                      const tct_started *s, visit *v)
{
    for (int k = 0; k < count; k++) visit_ends(q, R, s[k].request, false, v);
    const int waited = R->count;
    for (const tacit_trigger_request *r = q->active; r; r = r->after)
        visit_ends(q, R, r, true, v);
    return waited;
}

typedef gpu_error launch(const tct_trigger_rows *rows, int parts,
                         const tct_wait_job *job, bool early,
                         gpu_stream stream);

static void launch_wait(tacit_trigger_queue *q, rows *R, int waited, launch *by)
{
    const tct_wait_job job = job_of(q);
    R->now.count = R->count;
    R->now.waited = waited;
    fail(q,
         by(&R->now, R->parts, &job, tct_gpu_queue_is_early(q), q->gpu->stream),
         "waiting for messages");
}

/* The totals of all-reductions that were waited for. */
static void reduce_all(tacit_trigger_queue *q, int count, const tct_started *s)
{
    for (int k = 0; k < count; k++) {
        const tacit_trigger_request *r = s[k].request;
        if (!r->scratch) continue;
        const tct_reduce_job job = {.type = r->type,
                                    .op = r->reduction,
                                    .ranks = q->comm->ranks,
                                    .count = r->count,
                                    .parts = r->scratch,
                                    .total = r->result};
        fail(q, tct_reduce_run(&job, tct_gpu_queue_is_early(q), q->gpu->stream),
             "reducing");
    }
}

static void await_messages(tacit_trigger_queue *q, int count,
                           const tct_started *s)
{
    rows all = {.count = 0}, R = {.count = 0};
    const int waits = visit_wait(q, &all, count, s, count_end);
    if (all.count == 0 ||
        (waits == all.count && run_cells(q, count, s, false, true)))
        return;
    if (all.count > ENDS_MOST ||
        (all.count > TCT_ROWS_MOST && grow_list(q, all.count) < 0)) {
        tct_trigger_fail(q->comm, q->comm->rank,
                         all.count > ENDS_MOST ? "a wait for too many messages"
                                               : tacit_error_message());
        return;
    }
    if (all.count > TCT_ROWS_MOST) R.now.list = q->gpu->list->ends;
    const int waited = visit_wait(q, &R, count, s, list_end);
    if (R.now.list) flush_list(q, &R);
    launch_wait(q, &R, waited, tct_parts_wait);
}

static void wait_all(tacit_trigger_queue *q, int count, const tct_started *s)
{
    await_messages(q, count, s);
    reduce_all(q, count, s);
}

/* --- exchanges ------------------------------------------------------------ */

/* A kernel for all, if their ends fit its arguments and no other send is
 * pending. */
static void exchange_all(tacit_trigger_queue *q, const tct_command *c)
{
    rows all = {.count = 0}, R = {.count = 0};
    const int waited = visit_wait(q, &all, c->count, c->started, count_end);
    if (waited > TCT_ROWS_MOST || waited < all.count) {
        start_all(q, c);
        wait_all(q, c->count, c->started);
        return;
    }
    if (!run_cells(q, c->count, c->started, true, true)) {
        (void)visit_wait(q, &R, c->count, c->started, list_end);
        if (waited > 0) launch_wait(q, &R, waited, tct_parts_exchange);
    }
    reduce_all(q, c->count, c->started);
    count_starts(q, c);
}

/* --- commands ------------------------------------------------------------- */

void tct_gpu_queue_run(tacit_trigger_queue *q, tct_command *c)
{
    const int before = tct_gpu_enter(q->comm);
    const bool failed = tct_trigger_failed(q->comm);
    q->gpu->owner = pthread_self();
    if (c->kind == TCT_COMMAND_TASK)
        fail(q, gpu_launch_host(q->gpu->stream, c->task, c->ctx), "a task");
    else if (!failed && c->kind == TCT_COMMAND_START) start_all(q, c);
    else if (!failed && c->kind == TCT_COMMAND_EXCHANGE) exchange_all(q, c);
    else if (!failed) wait_all(q, c->count, c->started);
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
            !is_capturing(p))
            wait_all(p, 0, NULL);
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
    fail(q, state, "running messages");
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

static void free_lists(tacit_trigger_queue *q)
{
    pthread_mutex_lock(&q->comm->lock);
    tct_trigger_give(q->comm->gpu, q->gpu->claim);
    tct_trigger_give(q->comm->gpu, q->gpu->turn);
    for (tct_trigger_list *l = q->gpu->list, *older; l; l = older) {
        older = l->older;
        tct_trigger_give(q->comm->gpu, l->ends);
        tct_free(l);
    }
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
    free_lists(q);
    if (q->gpu->board) (void)gpu_host_free(q->gpu->board);
    tct_free(q->gpu);
    q->gpu = NULL;
    tct_gpu_leave(before);
}
