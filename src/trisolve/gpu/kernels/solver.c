/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/solver.c - solves on a GPU: the plan is uploaded once,
 * and a solve is one launch. */
#include "comm/world/world.h"
#include "device/parallel.h"
#include "trisolve/gpu/kernels/parts.h"
#include <inttypes.h>
#include <stdio.h>

static const char *const what = "a solver of factors";

enum { TIMEOUT_SECONDS = 10 };

/* --- upload --------------------------------------------------------------- */

/* Upload `count` elements of `size` bytes and add to info.bytes. */
static tacit_status send(tacit_factor_solver *S, const void *from,
                         int64_t count, size_t size, void *out)
{
    const size_t bytes = (size_t)(count > 0 ? count : 1) * size;
    if (count > 0 && !from) { /* optional array */
        *(void **)out = NULL;
        return TACIT_OK;
    }
    S->info.bytes += (double)bytes;
    return tct_gpu_upload(count > 0 ? from : NULL, bytes, out);
}

static tacit_status send_plan(tacit_factor_solver *S,
                              const tacit_factor_panels *P,
                              const int32_t *place, const int32_t *from)
{
    const tct_tri_plan *p = &S->plan;
    tct_tri_arrays *a = &S->a;
#define SEND(member, from, count) \
    TRY(send(S, (from), (count), sizeof *a->member, &a->member))
    SEND(node, p->node, p->nodes + p->blocks);
    SEND(order, p->order, p->nodes);
    SEND(level, p->level, p->levels);
    SEND(branch, p->branch, p->branches);
    SEND(value, p->value, p->stored);
    SEND(upper, p->upper, p->stored);
    SEND(row, p->row, p->updates);
    SEND(take, p->take, p->slots);
    SEND(rest, p->rest, p->rests);
    SEND(place, place, p->rows);
    SEND(scale, p->scale, p->rows);
#undef SEND
    return tct_solver_send_permuted(S, P, place, from);
}

/* Rows in the factor's order. */
static tacit_status send_in_order(tacit_factor_solver *S,
                                  const tacit_factor_panels *P)
{
    int32_t *place = NULL;
    TRY(TCT_ALLOC(P->rows, what, &place));
    for (int64_t i = 0; i < P->rows; i++) place[i] = (int32_t)i;
    const tacit_status status = send_plan(S, P, place, NULL);
    tct_free(place);
    return status;
}

static tacit_status make_room(tacit_factor_solver *S, int64_t count,
                              double **out)
{
    const size_t bytes = (size_t)(count > 0 ? count : 1) *
                         (size_t)tct_tri_stride(S->columns) * sizeof **out;
    S->info.bytes += (double)bytes;
    return tct_gpu_upload(NULL, bytes, out);
}

/* Counters and the queue start from 0. */
static tacit_status clear(const tacit_factor_solver *S, int c)
{
    const size_t counters = (size_t)tct_counters(S->plan.nodes);
    const gpu_stream stream = tct_gpu_of(S->q)->stream;
    TRY(tct_gpu_status(gpu_memset_async(S->cut[c].counter, 0,
                                        counters * sizeof(uint64_t), stream),
                       "clearing memory"));
    return tct_gpu_status(
        gpu_memset_async(S->cut[c].queue, 0, sizeof(tct_task_queue), stream),
        "clearing memory");
}

static tacit_status send_tasks(tacit_factor_solver *S, int c)
{
    const tct_cut *from = &S->plan.cut[c];
    const int64_t counters = tct_counters(S->plan.nodes);
    const int columns = c == TCT_FOR_ONE ? 1 : S->columns;
    tct_solver_task_queue *to = &S->cut[c];
    TRY(send(S, from->task, (int64_t)from->down + from->between + from->up,
             sizeof *to->task, &to->task));
    TRY(send(S, from->due, counters, sizeof *to->due, &to->due));
    TRY(tct_gpu_upload(NULL, (size_t)counters * sizeof *to->counter,
                       &to->counter));
    TRY(tct_gpu_upload(NULL, sizeof *to->queue, &to->queue));
    S->info.bytes += 8.0 * (double)counters;
    if (columns > 1 || c == TCT_FOR_ONE)
        TRY(tct_gpu_status(
            S->spread ? tct_distribution_occupancy(columns, &to->blocks)
                      : tct_tri_occupancy(columns, &to->blocks),
            "its kernel"));
    to->blocks *= tct_gpu_of(S->q)->sms;
    return clear(S, c);
}

/* --- create --------------------------------------------------------------- */

static tacit_status check(const tacit_queue *q,
                          const tacit_factor_solver_options *o)
{
    if (q->device->kind != TCT_KIND_GPU)
        FAIL(TACIT_UNSUPPORTED,
             "a solver of factors is for a GPU, and this queue is on device "
             "%s: solve with tacit_factor_solve",
             q->device->name);
    if (o->columns < 0 || o->columns > TCT_SOLVE_AT_ONCE)
        FAIL(TACIT_INVALID,
             "columns of a solver of factors: expected up to %d at once, got "
             "%d; more go in several launches",
             TCT_SOLVE_AT_ONCE, o->columns);
    return TACIT_OK;
}

static tacit_status check_alone(const tacit_queue *q)
{
    if (q->ranks == 1) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "a solver of factors is of one process, and here are %d: make its "
         "queue in a world of its own (tacit_world_self), or solve on a grid "
         "(tacit/trsv.h)",
         q->ranks);
}

static void describe(tacit_factor_solver *S)
{
    const tct_tri_plan *p = &S->plan;
    const tct_cut *one = &p->cut[TCT_FOR_ONE], *many = &p->cut[TCT_FOR_MANY];
    tacit_factor_solver_info *info = &S->info;
    info->columns = S->columns;
    info->nodes = p->nodes;
    info->branches = p->branches;
    info->tasks = one->down + one->up;
    info->tasks_of_many = many->down + many->up;
    info->depth = p->depth;
    info->narrowed = p->narrowed;
    info->condition = p->condition;
    info->plan_seconds = p->seconds;
    info->values_bytes = 8.0 * (double)p->stored;
    info->blocks = S->cut[TCT_FOR_ONE].blocks;
    snprintf(info->path, sizeof info->path,
             "%s a solve, %d blocks, inverted diagonal blocks, sums in one "
             "order",
             S->shared && one->between == 0 ? "two kernels" : "one kernel",
             info->blocks);
}

static tacit_status plan(tacit_factor_solver *S, const tacit_factor_panels *P)
{
    int each = 0;
    TCT_THREADS_OF(S->q->team);
    TRY(tct_gpu_status(tct_tri_occupancy(1, &each), "its kernel"));
    return tct_tri_plan_create(P, each * tct_gpu_of(S->q)->sms, &S->plan);
}

static tacit_status upload(tacit_factor_solver *S, const tacit_factor_panels *P,
                           const int32_t *place, const int32_t *from)
{
    const double start = tct_seconds();
    tct_tri_plan *p = &S->plan;
    const int stride = tct_tri_stride(S->columns);
    TRY(tct_gpu_require(
        tct_tri_plan_bytes(p) +
            8.0 * stride * (2.0 * (double)p->rows + (double)p->updates) +
            (P->row_order ? 8.0 * S->columns * (double)S->all_rows : 0.0),
        what));
    if (!place) place = P->original;
    TRY(place ? send_plan(S, P, place, from) : send_in_order(S, P));
    if (!S->spread) {
        TRY(make_room(S, p->rows, &S->a.y));
        TRY(make_room(S, p->rows, &S->a.x));
        TRY(make_room(S, p->updates, &S->a.u));
    }
    S->info.upload_seconds = tct_seconds() - start;
    return TACIT_OK;
}

/* Upload the tasks; free the host's arrays. */
static tacit_status finish(tacit_factor_solver *S)
{
    const double start = tct_seconds();
    tct_tri_plan *p = &S->plan;
    for (int c = 0; c < TCT_CUTS; c++) TRY(send_tasks(S, c));
    TCT_FREE(p->value, p->upper, p->row, p->take, p->rest);
    p->value = p->upper = NULL;
    p->row = p->rest = NULL;
    p->take = NULL;
    describe(S);
    TRY(tct_gpu_status(gpu_stream_sync(tct_gpu_of(S->q)->stream), "a plan"));
    S->info.upload_seconds += tct_seconds() - start;
    return TACIT_OK;
}

static tacit_status begin(tacit_queue *q, const tacit_factor_panels *P,
                          const tacit_factor_solver_options *options,
                          tacit_factor_panels *panels,
                          tacit_factor_solver **out)
{
    tacit_factor_solver_options o = {.columns = 0};
    *panels = (tacit_factor_panels){.rows = 0};
    if (options)
        TRY(tct_read_sized("tacit_factor_solver_options", options, &o,
                           sizeof o));
    TRY(tct_read_sized("tacit_factor_panels", P, panels, sizeof *panels));
    TRY(check(q, &o));
    tacit_factor_solver *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    S->q = q;
    S->columns = o.columns ? o.columns : 1;
    S->seconds = o.seconds > 0.0 ? o.seconds : TIMEOUT_SECONDS;
    S->all_rows = panels->rows;
    *out = S;
    return TACIT_OK;
}

tacit_status tct_factor_solver_new(tacit_queue *q, const tacit_factor_panels *P,
                                   const int32_t *place, const int32_t *from,
                                   const tacit_factor_solver_options *options,
                                   tacit_factor_solver **out)
{
    tacit_factor_panels panels;
    tacit_factor_solver *S = NULL;
    tacit_status status = begin(q, P, options, &panels, &S);
    if (status >= 0) status = check_alone(q);
    if (status >= 0) status = plan(S, &panels);
    if (status >= 0) status = upload(S, &panels, place, from);
    if (status >= 0) status = finish(S);
    if (status < 0) tacit_factor_solver_destroy(&S);
    else *out = S;
    return status;
}

tacit_status tct_factor_solver_share(
    tacit_queue *q, const tacit_factor_panels *P, const int32_t *place,
    const tct_shared_rows *rows, int px, int py,
    const tacit_factor_solver_options *options, tacit_factor_solver **out)
{
    tacit_factor_panels panels;
    tacit_factor_solver *S = NULL;
    tacit_status status = begin(q, P, options, &panels, &S);
    if (status >= 0) {
        S->seconds = q->peer_seconds; /* 0: no limit */
        S->all_rows = rows->all_rows;
        tacit_factor_panels part = panels;
        part.row_order = NULL; /* of the whole factor's rows */
        status = plan(S, &part);
    }
    status = tct_agree(q->world, status);
    if (status >= 0) status = tct_shared_open(S, rows, px * py);
    if (status >= 0 && px * py > 1)
        status = tct_distribution_open(S, rows, px, py);
    if (status >= 0) status = upload(S, &panels, place, NULL);
    if (status >= 0) status = finish(S);
    status = tct_agree(q->world, status);
    if (status >= 0) status = tct_shared_make(S);
    if (status >= 0 && px * py > 1) status = tct_distribution_make(S);
    if (status < 0) tacit_factor_solver_destroy(&S);
    else *out = S;
    return status;
}

tacit_status tacit_factor_solver_create(
    tacit_queue *queue, const tacit_factor_panels *panels,
    const tacit_factor_solver_options *options, tacit_factor_solver **out)
{
    REQUIRE(queue != NULL, panels != NULL, out != NULL);
    q_enter(queue);
    return tct_factor_solver_new(queue, panels, NULL, NULL, options, out);
}

static void release(const void *p)
{
    tct_gpu_release((void *)(uintptr_t)p);
}

void tacit_factor_solver_destroy(tacit_factor_solver **solver)
{
    tacit_factor_solver *S = solver ? *solver : NULL;
    if (!S) return;
    q_enter(S->q);
    (void)gpu_stream_sync(tct_gpu_of(S->q)->stream);
    tct_shared_close(S);
    tct_distribution_close(S);
    const tct_tri_arrays *a = &S->a;
    const void *const all[] = {
        a->node, a->order,     a->level,     a->branch, a->value, a->upper,
        a->row,  a->take,      a->rest,      a->place,  a->scale, a->y,
        a->x,    a->row_scale, a->col_scale, a->u,      S->from,  S->given};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) release(all[i]);
    for (int c = 0; c < TCT_CUTS; c++) {
        release(S->cut[c].task);
        release(S->cut[c].due);
        release(S->cut[c].counter);
        release(S->cut[c].queue);
    }
    tct_tri_plan_clear(&S->plan);
    tct_free(S);
    *solver = NULL;
}

/* --- solve ---------------------------------------------------------------- */

tacit_status tct_factor_solver_pass(tacit_factor_solver *S, unsigned passes,
                                    int columns, const double *B, size_t ldb,
                                    double *X, size_t ldx)
{
    tct_gpu_flush(S->q);
    if (S->plan.rows == 0 && !S->shared) return TACIT_OK;
    for (int j = 0; j < columns; j += S->columns) {
        const int some = columns - j < S->columns ? columns - j : S->columns;
        const double *b = B + (size_t)j * ldb;
        double *x = X + (size_t)j * ldx;
        size_t ld = ldb;
        if (passes & TCT_DOWN) TRY(tct_solver_gather(S, some, &b, &ld));
        const tct_tri_job job = tct_solver_job(S, passes, some, b, ld, x, ldx);
        TRY(S->shared ? tct_shared_solve(S, some, b, ld, x, ldx)
                      : tct_solver_launch(S, &job));
    }
    return TACIT_OK;
}

tacit_status tacit_factor_solver_run(tacit_factor_solver *solver, int columns,
                                     const double *B, size_t ldb, double *X,
                                     size_t ldx)
{
    REQUIRE(solver != NULL, columns > 0, B != NULL, X != NULL);
    const size_t rows = (size_t)solver->all_rows;
    REQUIRE(ldb >= rows, ldx >= rows);
    q_enter(solver->q);
    return tct_factor_solver_pass(solver, TCT_DOWN | TCT_UP, columns, B, ldb, X,
                                  ldx);
}

/* Fail with one sentence on the task that timed out, from `counters`. */
static tacit_status tell_late(const tacit_factor_solver *S, int c,
                              tct_task_queue *T, uint64_t *counters)
{
    const tct_tri_plan *p = &S->plan;
    const tct_cut *cut = &p->cut[c];
    const tct_round R = {.queue = T,
                         .task = cut->task,
                         .counter = counters,
                         .due = cut->due,
                         .upper = tct_counts_up(p->nodes, 0),
                         .end = cut->down + cut->between + cut->up};
    const int32_t k = tct_task_queue_late(&R);
    if (T->missing && (k < 0 || k >= cut->down + cut->between))
        return tct_shared_tell(S, T->missing);
    if (k < 0)
        FAIL(TACIT_DEVICE,
             "a triangular solve on the GPU has not ended in %g s", S->seconds);
    const tct_task *t = &cut->task[k];
    const uint64_t enough = tct_task_queue_enough(&R, T->down, T->up, t);
    FAIL(TACIT_DEVICE,
         "a triangular solve on the GPU: on the way %s panel %" PRId32
         " waited %g s for panels %s it, of whose %" PRIu32 " tasks %" PRIu64
         " were not done; X is void%s",
         k < cut->down ? "down" : "up", tct_solver_panel(S, c, k), S->seconds,
         k < cut->down ? "below" : "above", cut->due[t->wait],
         enough - counters[t->wait],
         S->shared ? "" : ", and the next solve begins anew");
}

static tacit_status look_after(const tacit_factor_solver *S, int c)
{
    const gpu_stream stream = tct_gpu_of(S->q)->stream;
    const size_t bytes = (size_t)tct_counters(S->plan.nodes) * sizeof(uint64_t);
    tct_task_queue T;
    TRY(tct_gpu_status(
        gpu_memcpy_async(&T, S->cut[c].queue, sizeof T, GPU_TO_HOST, stream),
        "a triangular solve"));
    TRY(tct_gpu_status(gpu_stream_sync(stream), "a triangular solve"));
    if (!T.late) return TACIT_OK;
    if (S->spread)
        return T.missing ? tct_shared_tell(S, T.missing)
                         : tct_distribution_signal(S, c, &T);
    uint64_t *counters = tct_alloc(bytes);
    if (!counters) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    tacit_status status = tct_gpu_status(
        gpu_memcpy(counters, S->cut[c].counter, bytes, GPU_TO_HOST),
        "a triangular solve");
    /* with other ranks, their numbers would not be reset */
    if (status >= 0 && !S->shared) status = clear(S, c);
    if (status >= 0) status = tell_late(S, c, &T, counters);
    tct_free(counters);
    return status;
}

tacit_status tacit_factor_solver_wait(tacit_factor_solver *solver)
{
    REQUIRE(solver != NULL);
    tacit_status status = TACIT_OK;
    q_enter(solver->q);
    for (int c = 0; c < TCT_CUTS; c++) {
        const tacit_status now = look_after(solver, c);
        if (now < 0) status = now;
    }
    return status;
}

tacit_status tacit_factor_solver_describe(const tacit_factor_solver *solver,
                                          tacit_factor_solver_info *out)
{
    REQUIRE(solver != NULL, out != NULL);
    TRY(tct_check_sized("tacit_factor_solver_info", out));
    tct_write_sized(&solver->info, sizeof solver->info, out);
    return TACIT_OK;
}
