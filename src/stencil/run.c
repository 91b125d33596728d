/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/run.c - the time loop: visits, and measured changes between them. */
#include "stencil/run.h"
#include "comm/world/world.h"
#include "stencil/device.h"
#include <math.h>

enum { NORM_EVERY = 64 }; /* a multiple of usual depths */

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
    tct_run_reduce(run, TCT_SUM, 2, sums);
    r->moved_bytes = sums[0];
    r->halo_bytes = sums[1];
    r->ghost = tct_block_is_divided(&run->field->block) ? e->depth : 0;
}

/* All steps. Those after the trials say what a step costs; if there are none,
 * the best trial does. */
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
    if (r->steps > before)
        r->step_seconds = seconds / (double)(r->steps - before);
    else if (r->step_seconds == 0.0)
        r->step_seconds = r->seconds / (double)r->steps;
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
    REQUIRE(field != NULL, options != NULL, out != NULL);
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
