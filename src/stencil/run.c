/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/run.c - the time loop: visits, and measured changes between them. */
#include "stencil/run.h"
#include "stencil/device.h"
#include <math.h>

enum { NORM_EVERY = 64 }; /* a multiple of usual depths */

tacit_status tct_engine_open(tacit_field *f, const tct_way *way, int depth,
                             tct_engine *out)
{
    void *state = NULL;
    const tct_way_ops *ops = tct_way_on(way, f);
    TRY(ops->open(f, depth, &state));
    const int most = ops->most ? ops->most(f) : depth;
    *out = (tct_engine){way, ops, depth, most > depth ? most : depth, state};
    return TACIT_OK;
}

void tct_engine_close(tct_engine *e)
{
    if (e->way) e->ops->close(e->state);
    *e = (tct_engine){.way = NULL};
}

/* --- changes -------------------------------------------------------------- */

/* In the order of the grid: the sum is the same for all ways and threads. */
static double total_change(const tct_field_run *run)
{
    const int64_t all = tct_field_all_blocks(run->field);
    double sum = 0.0;
    for (int64_t k = 0; k < all; k++) sum += run->changes[k];
    return sqrt(sum);
}

static void breaks_down(tct_field_run *run)
{
    run->end = tacit_error_set(
        TACIT_BREAKDOWN,
        "step %lld: the change is not finite: look for nan in the start "
        "field, or for weights that let it grow",
        (long long)run->result.steps);
}

static void judge(tct_field_run *run)
{
    const tacit_field_options *o = &run->options;
    tacit_field_result *r = &run->result;
    r->change = total_change(run);
    r->changed_at = r->steps;
    if (r->steps == 1) r->first_change = r->change;
    if (o->rtol > 0.0 && !isfinite(r->change)) breaks_down(run);
    run->stops = o->rtol > 0.0 && r->change <= o->rtol * r->first_change;
    if (!o->monitor) return;
    if (o->monitor(o->monitor_ctx, r->steps, r->change) != 0)
        run->end =
            tacit_error_set(TACIT_INTERRUPTED, "interrupted after step %lld",
                            (long long)r->steps);
    q_enter(run->field->queue);
    (void)tct_field_to_device(run->field); /* a failure fails the queue */
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
    if (measured && run->field->queue->failed == TACIT_OK) judge(run);
    return (int)depth;
}

static tacit_status check_options(const tacit_field_options *o)
{
    if (o->steps < 0)
        FAIL(TACIT_INVALID, "%lld steps: expected 0 or more",
             (long long)o->steps);
    if (o->depth < 0 || o->depth > TACIT_FIELD_DEPTH_MOST)
        FAIL(TACIT_INVALID, "depth %d: expected 1 to %d, or 0: measured",
             o->depth, TACIT_FIELD_DEPTH_MOST);
    if (o->norm_every < 0)
        FAIL(TACIT_INVALID, "norm_every %lld: expected 0 or more",
             (long long)o->norm_every);
    if (!(o->rtol >= 0.0) || !isfinite(o->rtol))
        FAIL(TACIT_INVALID, "rtol %g: expected a finite number, 0 or more",
             o->rtol);
    return TACIT_OK;
}

static tacit_status open_run(tct_field_run *run)
{
    tacit_field_options *o = &run->options;
    TRY(check_options(o));
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
    r->way = e->way->about.name;
    r->depth = e->depth;
    r->bytes = (double)s->cells * (double)s->bytes * arrays;
    e->ops->describe(e->state, r);
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
    const double end = tct_seconds();
    r->seconds = end - start;
    r->step_seconds = r->steps > before
                          ? (end - chosen) / (double)(r->steps - before)
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
    if (status >= 0) status = tct_field_to_device(field);
    if (status >= 0) status = run_all(&run);
    tct_free(run.changes);
    TRY(status);
    tct_write_sized(&run.result, sizeof run.result, out);
    return outcome(&run);
}
