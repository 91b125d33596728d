/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/visit.c - visits of a run by a way that is ready for it, and what is
 * checked between them. */
#include "comm/world/world.h"
#include "stencil/device.h"
#include "stencil/run.h"
#include <math.h>

tacit_status tct_engine_open(tacit_field *f, const tct_way *way, int depth,
                             int boundary, tct_engine *out)
{
    void *state = NULL;
    const tct_way_ops *ops = tct_way_on(way, f);
    f->boundary_tiles = boundary;
    const tacit_status mine = ops->open(f, depth, &state);
    const tacit_status status = tct_agree(f->queue->world, mine);
    if (status >= 0)
        *out = (tct_engine){
            way,  ops, depth, boundary, ops->most ? ops->most(f, state) : depth,
            state};
    else if (mine >= 0) ops->close(state);
    return status;
}

void tct_engine_close(tct_engine *e)
{
    if (e->way) e->ops->close(e->state);
    *e = (tct_engine){.way = NULL};
}

/* --- changes -------------------------------------------------------------- */

/* A reduction whose failure is the queue's. */
void tct_run_reduce(const tct_field_run *run, tct_reduction op, size_t count,
                    double *data)
{
    tacit_queue *q = run->field->queue;
    if (q->world->size == 1) return;
    if (tct_reduce_f64(q->world, op, count, data) < 0)
        q_fail(q, TACIT_COMM, "%s", tacit_error_message());
}

double tct_run_clock(const tct_field_run *run, double start)
{
    double seconds = tct_seconds() - start;
    tct_run_reduce(run, TCT_MAX, 1, &seconds);
    return seconds;
}

/* In the order of the grid: the sum is the same for all ways and threads, and
 * on all ranks. */
static double total_change(const tct_field_run *run)
{
    tacit_queue *q = run->field->queue;
    const int64_t all = tct_field_all_blocks(run->field);
    double sums[2] = {0.0, q->failed == TACIT_OK ? 0.0 : 1.0};
    for (int64_t k = 0; k < all; k++) sums[0] += run->changes[k];
    tct_run_reduce(run, TCT_SUM, 2, sums);
    if (sums[1] > 0.0 && q->failed == TACIT_OK)
        q_fail(q, TACIT_COMM, "steps of a grid failed on another rank");
    return sqrt(sums[0]);
}

/* Values that a monitor has put are where the next visit reads them. */
static void take_changed(tct_field_run *run, const tct_engine *e)
{
    tacit_field *f = run->field;
    tct_engine_finish(e);
    q_enter(f->queue);
    const tacit_status status =
        tct_agree(f->queue->world, tct_field_to_device(f));
    if (status < 0 && f->queue->failed == TACIT_OK)
        q_fail(f->queue, status, "%s", tacit_error_message());
}

/* A monitor of any rank ends the run of all. */
static void ask_monitor(tct_field_run *run, const tct_engine *e)
{
    const tacit_field_options *o = &run->options;
    const tacit_field_result *r = &run->result;
    double most[2] = {0.0};
    if (!o->monitor) return;
    run->field->changed = false;
    if (o->monitor(o->monitor_ctx, r->steps, r->change) != 0) most[0] = 1.0;
    if (run->field->changed) most[1] = 1.0;
    q_enter(run->field->queue);
    tct_run_reduce(run, TCT_MAX, 2, most);
    if (most[0] > 0.0)
        run->end =
            tacit_error_set(TACIT_INTERRUPTED, "interrupted after step %lld",
                            (long long)r->steps);
    if (most[1] > 0.0) take_changed(run, e);
}

static void breaks_down(tct_field_run *run)
{
    run->end = tacit_error_set(
        TACIT_BREAKDOWN,
        "step %lld: the change is not finite: look for nan in the start "
        "field, or for weights that let it grow",
        (long long)run->result.steps);
}

static void judge(tct_field_run *run, const tct_engine *e)
{
    const tacit_field_options *o = &run->options;
    tacit_field_result *r = &run->result;
    r->change = total_change(run);
    if (run->field->queue->failed != TACIT_OK) return;
    r->changed_at = r->steps;
    if (r->steps == 1) r->first_change = r->change;
    if (o->rtol > 0.0 && !isfinite(r->change)) breaks_down(run);
    run->stops = o->rtol > 0.0 && r->change <= o->rtol * r->first_change;
    ask_monitor(run, e);
}

/* Steps to the next whose change is measured: multiples of norm_every, and the
 * first, to which rtol refers. */
static int64_t to_measured(const tct_field_run *run)
{
    const int64_t every = run->options.norm_every, made = run->result.steps;
    if (every == 0) return INT64_MAX;
    if (made == 0 && run->options.rtol > 0.0) return 1;
    return every - made % every;
}

/* --- the loop ------------------------------------------------------------- */

bool tct_run_is_over(const tct_field_run *run)
{
    return run->stops || run->end != TACIT_OK ||
           run->field->queue->failed != TACIT_OK ||
           run->result.steps == run->options.steps;
}

int tct_run_visit(tct_field_run *run, const tct_engine *e, int most)
{
    const int64_t left = run->options.steps - run->result.steps;
    const int64_t to = to_measured(run);
    int64_t depth = left < most ? left : most;
    if (to < depth) depth = to;
    const bool measured = depth == to;
    e->ops->visit(e->state, (int)depth, measured ? run->changes : NULL);
    run->result.steps += depth;
    if (measured) judge(run, e);
    return (int)depth;
}

void tct_engine_finish(const tct_engine *e)
{
    if (e->ops->finish) e->ops->finish(e->state);
}
