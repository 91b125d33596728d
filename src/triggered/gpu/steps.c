/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/steps.c - the kernels of a queue on a GPU: a start and a wait is
 * one each, whatever the number of messages, and an exchange is one for both. A
 * wait also tries the sends that the queue has started before and not waited
 * for. */
#include "triggered/gpu/driver.h"

enum { ENDS_MOST = 64 * TCT_WAIT_THREADS };

/* Room for ends; older ones stay, since enqueued kernels read them. */
typedef struct tct_trigger_list {
    int room;
    tct_parted **ends; /* on the GPU */
    struct tct_trigger_list *older;
} tct_trigger_list;

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
        tct_gpu_queue_note(q,
                           tct_parts_start(&R->now, R->parts,
                                           tct_gpu_queue_is_early(q),
                                           q->gpu->stream),
                           "starting messages");
    R->now.count = R->parts = 0;
}

static void start_end(tacit_trigger_queue *q, rows *R, const tct_trigger_end *e)
{
    add(R, e);
    if (R->now.count == TCT_ROWS_MOST) flush_starts(q, R);
}

bool tct_gpu_queue_is_capturing(const tacit_trigger_queue *q)
{
    gpu_capture_status now = GPU_NOT_CAPTURING;
    (void)gpu_stream_capturing(q->gpu->stream, &now);
    return now != GPU_NOT_CAPTURING;
}

/* Starts that are recorded happen when the recording is replayed. */
static void count_starts(tacit_trigger_queue *q, const tct_command *c)
{
    for (int k = 0; k < c->count && tct_gpu_queue_is_capturing(q); k++)
        c->started[k].request->number--;
}

static tct_wait_job job_of(const tacit_trigger_queue *q)
{
    const tct_wait_job job = {.limit_ns =
                                  (uint64_t)(1e9 * tct_gpu_limit_of(q->comm)),
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
    tct_gpu_queue_note(q, error, "messages in cells");
    return true;
}

void tct_gpu_start_all(tacit_trigger_queue *q, const tct_command *c)
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

void tct_gpu_lists_free(tacit_trigger_queue *q)
{
    for (tct_trigger_list *l = q->gpu->list, *older; l; l = older) {
        older = l->older;
        tct_trigger_give(q->comm->gpu, l->ends);
        tct_free(l);
    }
    q->gpu->list = NULL;
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
        tct_gpu_queue_note(q,
                           tct_parts_list(&R->now, q->gpu->list->ends,
                                          R->count - R->now.count,
                                          q->gpu->stream),
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
    tct_gpu_queue_note(
        q,
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
        tct_gpu_queue_note(
            q, tct_reduce_run(&job, tct_gpu_queue_is_early(q), q->gpu->stream),
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

void tct_gpu_wait_all(tacit_trigger_queue *q, int count, const tct_started *s)
{
    await_messages(q, count, s);
    reduce_all(q, count, s);
}

/* --- exchanges ------------------------------------------------------------ */

/* A kernel for all, if their ends fit its arguments and no other send is
 * pending. */
void tct_gpu_exchange_all(tacit_trigger_queue *q, const tct_command *c)
{
    rows all = {.count = 0}, R = {.count = 0};
    const int waited = visit_wait(q, &all, c->count, c->started, count_end);
    if (waited > TCT_ROWS_MOST || waited < all.count) {
        tct_gpu_start_all(q, c);
        tct_gpu_wait_all(q, c->count, c->started);
        return;
    }
    if (!run_cells(q, c->count, c->started, true, true)) {
        (void)visit_wait(q, &R, c->count, c->started, list_end);
        if (waited > 0) launch_wait(q, &R, waited, tct_parts_exchange);
    }
    reduce_all(q, c->count, c->started);
    count_starts(q, c);
}
