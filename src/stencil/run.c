/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/run.c - the time loop: visits, and measured changes between them. */
#include "stencil/run.h"
#include "comm/world/world.h"
#include "stencil/device.h"
#include <math.h>

enum { NORM_EVERY = 64 }; /* a multiple of usual depths */

static int most_of(const tct_way_ops *ops, const tacit_field *f, int depth)
{
    return ops->most ? ops->most(f) : depth;
}

tacit_status tct_engine_open(tacit_field *f, const tct_way *way, int depth,
                             int boundary, tct_engine *out)
{
    void *state = NULL;
    const tct_way_ops *ops = tct_way_on(way, f);
    f->boundary_tiles = boundary;
    const tacit_status mine = ops->open(f, depth, &state);
    const tacit_status status = tct_agree(f->queue->world, mine);
    if (status >= 0)
        *out = (tct_engine){way,  ops, depth, boundary, most_of(ops, f, depth),
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
static void reduce(const tct_field_run *run, tct_reduction op, size_t count,
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
    reduce(run, TCT_MAX, 1, &seconds);
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
    reduce(run, TCT_SUM, 2, sums);
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
    reduce(run, TCT_MAX, 2, most);
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

static tacit_status check_loop(const char *name)
{
    static const char *const names[] = {"host", "graph"};
    if (!name || strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0)
        return TACIT_OK;
    return tct_unknown("loop", name, names, 2);
}

/* A part of a step is timed beside the other one, with the same depth. */
static tacit_status check_skip(const tacit_field *f,
                               const tacit_field_options *o)
{
    if (o->skip == TACIT_SKIP_NOTHING) return TACIT_OK;
    if (o->skip != TACIT_SKIP_COMPUTING && o->skip != TACIT_SKIP_COMMUNICATION)
        FAIL(TACIT_INVALID, "skip %d: expected 0, 1 or 2", (int)o->skip);
    if (!f->halo)
        FAIL(TACIT_INVALID, "skip: steps on one rank have no communication: "
                            "take several ranks");
    if (!o->way || strcmp(o->way, "auto") == 0)
        FAIL(TACIT_INVALID, "skip: ways would be chosen by steps that are not "
                            "whole: name a way");
    if (o->rtol != 0.0 || o->norm_every != 0)
        FAIL(TACIT_INVALID, "skip: the field has no solution to be measured: "
                            "leave rtol and norm_every out");
    return TACIT_OK;
}

static tacit_status check_options(const tacit_field *f,
                                  const tacit_field_options *o)
{
    TRY(check_skip(f, o));
    if (o->steps < 0)
        FAIL(TACIT_INVALID, "%lld steps: expected 0 or more",
             (long long)o->steps);
    if (o->depth < 0 || o->depth > TACIT_FIELD_DEPTH_MOST)
        FAIL(TACIT_INVALID, "depth %d: expected 1 to %d, or 0: measured",
             o->depth, TACIT_FIELD_DEPTH_MOST);
    if (o->boundary_tiles < -1)
        FAIL(TACIT_INVALID,
             "%d boundary tiles: expected 1 or more, -1: none, or 0: measured",
             o->boundary_tiles);
    if (o->norm_every < 0)
        FAIL(TACIT_INVALID, "norm_every %lld: expected 0 or more",
             (long long)o->norm_every);
    TRY(check_loop(o->loop));
    if (!(o->rtol >= 0.0) || !isfinite(o->rtol))
        FAIL(TACIT_INVALID, "rtol %g: expected a finite number, 0 or more",
             o->rtol);
    return TACIT_OK;
}

/* Ranks that differ would wait for each other. */
static tacit_status agree_options(const tct_field_run *run)
{
    const tacit_field_options *o = &run->options;
    tacit_world *w = run->field->queue->world;
    if (w->size == 1) return TACIT_OK;
    const double all[] = {
        (double)o->steps,   o->depth, (double)o->norm_every, o->rtol,
        o->monitor != NULL, o->skip,  o->boundary_tiles};
    TRY(tct_agree_name(w, "the way of a run", o->way));
    TRY(tct_agree_name(w, "the loop of a run", o->loop));
    return tct_field_alike(w, "options of a run", all, sizeof all);
}

static tacit_status open_run(tct_field_run *run)
{
    tacit_field_options *o = &run->options;
    TRY(agree_options(run));
    run->field->loop = o->loop;
    TRY(check_options(run->field, o));
    run->field->skip = o->skip;
    if (o->rtol > 0.0 && o->norm_every == 0) o->norm_every = NORM_EVERY;
    if (o->norm_every == 0) return TACIT_OK;
    return TCT_ALLOC(tct_field_all_blocks(run->field), "changes of rows",
                     &run->changes);
}

static void describe(tct_field_run *run, const tct_engine *e)
{
    const tct_grid_stencil *s = &run->field->s;
    tacit_field_result *r = &run->result;
    const int arrays =
        2 + (s->weights == TACIT_WEIGHTS_CELLS ? s->about->points : 0);
    double sums[2];
    r->way = e->way->about.name;
    r->depth = e->depth;
    r->bytes = (double)s->cells * (double)s->bytes * arrays;
    e->ops->describe(e->state, r);
    sums[0] = tct_field_computes(run->field) ? r->moved_bytes : 0.0;
    sums[1] =
        tct_field_communicates(run->field) ? r->halo_bytes / e->depth : 0.0;
    reduce(run, TCT_SUM, 2, sums);
    r->moved_bytes = sums[0];
    r->halo_bytes = sums[1];
    r->ghost = tct_block_is_divided(&run->field->block) ? e->depth : 0;
}

void tct_engine_finish(const tct_engine *e)
{
    if (e->ops->finish) e->ops->finish(e->state);
}

/* All steps. Those after the trials say what a step costs. */
static tacit_status run_all(tct_field_run *run)
{
    tct_engine e = {.way = NULL};
    const double start = tct_seconds();
    TRY(tct_run_choose(run, &e));
    tacit_field_result *r = &run->result;
    const double chosen = tct_seconds();
    const int64_t before = r->steps;
    while (!tct_run_is_over(run)) tct_run_visit(run, &e, e.most);
    tct_engine_finish(&e);
    const double seconds = tct_run_clock(run, chosen);
    r->seconds = tct_run_clock(run, start);
    r->step_seconds = r->steps > before ? seconds / (double)(r->steps - before)
                                        : r->seconds / (double)r->steps;
    describe(run, &e);
    tct_engine_close(&e);
    return q_status(run->field->queue);
}

static tacit_status outcome(const tct_field_run *run)
{
    const tacit_field_result *r = &run->result;
    if (run->end != TACIT_OK || run->stops || run->options.rtol <= 0.0)
        return run->end;
    return tacit_error_set(
        TACIT_NOT_CONVERGED,
        "not converged after %lld steps: the change of step %lld is %.3g of "
        "the first step's: allow more steps, or a larger rtol than %g",
        (long long)r->steps, (long long)r->changed_at,
        r->change / r->first_change, run->options.rtol);
}

tacit_status tacit_field_run(tacit_field *field,
                             const tacit_field_options *options,
                             tacit_field_result *out)
{
    REQUIRE(field != NULL && options != NULL && out != NULL);
    tct_field_run run = {
        .field = field,
        .result = {.change = (double)NAN, .first_change = (double)NAN}};
    TRY(tct_check_sized("tacit_field_result", out));
    TRY(tct_read_sized("tacit_field_options", options, &run.options,
                       sizeof run.options));
    tacit_status status = open_run(&run);
    q_enter(field->queue);
    if (status >= 0 && run.changes) status = tct_field_measures(field);
    status = tct_agree(field->queue->world, status);
    if (status >= 0) status = tct_agree(field->queue->world, run_all(&run));
    tct_free(run.changes);
    TRY(status);
    tct_write_sized(&run.result, sizeof run.result, out);
    return outcome(&run);
}
