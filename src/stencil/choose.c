/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/choose.c - the engine of a run: the one that was asked for, or the
 * fastest of some. Candidates make the first steps of the run in turn; all give
 * the same bits, so that no step is made twice. */
#include "comm/world/world.h"
#include "stencil/device.h"
#include "stencil/run.h"
#include <stdio.h>

enum {
    ROUNDS = 3,
    SHORT = 32, /* steps of a trial's visit, unless a way is deeper */
    PART = 2 /* trials get one in so many of a run's steps, or a visit each */
};
static const double LEAST = 2e-4; /* seconds of a trial, for the clock */

typedef struct trials {
    int count;
    const tct_way *way[TACIT_FIELD_TRIALS];
    int depth[TACIT_FIELD_TRIALS];
    int boundary[TACIT_FIELD_TRIALS];
    tct_engine engine[TACIT_FIELD_TRIALS];
    double seconds[TACIT_FIELD_TRIALS]; /* of a step, 0: unknown */
} trials;

static void add(const tct_way *way, int depth, int boundary, trials *all)
{
    if (all->count == TACIT_FIELD_TRIALS) return;
    all->way[all->count] = way;
    all->boundary[all->count] = boundary;
    all->depth[all->count++] = depth;
}

/* Boundary tiles that the way may have besides. */
static const int *others(const tacit_field *f, const tct_way *way)
{
    const tct_way_ops *ops = tct_way_on(way, f);
    return ops->boundaries ? ops->boundaries(f) : NULL;
}

static bool takes(const tacit_field *f, const tct_way *way, int tiles)
{
    if (tiles == 0 || tct_way_on(way, f)->layers) return true;
    for (const int *k = others(f, way); k && *k != 0; k++)
        if (*k == tiles) return true;
    return false;
}

/* A way of one step with its boundary tiles, those that were `given` or some
 * that are worth a trial: one of these where other ways are tried, too. */
static void add_layers(const tacit_field *f, const tct_way *way, int given,
                       bool one_way, trials *all)
{
    const tct_way_ops *ops = tct_way_on(way, f);
    const int *boundary = NULL;
    add(way, 1, ops->layers ? given : 0, all);
    if (given == 0 && !f->skip) boundary = others(f, way);
    for (; boundary && *boundary != 0; boundary++) {
        add(way, 1, *boundary, all);
        if (!one_way) break;
    }
}

/* A depth of a deep way, with each of its boundary tiles. */
static void add_depth(const tacit_field *f, const tct_way *way, int depth,
                      int given, trials *all)
{
    const bool tries = given == 0 && depth > 1 && !f->skip;
    add(way, depth, takes(f, way, given) ? given : 0, all);
    if (!tries) return;
    for (const int *k = others(f, way); k && *k != 0; k++)
        add(way, depth, *k, all);
}

/* A way with each of its depths that blocks are wide enough for, or the one that
 * was asked for. */
static void add_way(const tacit_field *f, const tct_way *way,
                    const tacit_field_options *o, trials *all)
{
    const int count = all->count, most = tct_field_deepest(f);
    const int given = o->depth;
    const bool one_way = o->way && strcmp(o->way, "auto") != 0;
    const int *depth = NULL;
    if (!way->about.deep) {
        add_layers(f, way, o->boundary_tiles, one_way, all);
        return;
    }
    if (given == 0) depth = tct_way_on(way, f)->depths(f);
    for (; depth && *depth > 0; depth++)
        if (*depth <= most) add_depth(f, way, *depth, o->boundary_tiles, all);
    if (count == all->count)
        add_depth(f, way, given > 0 ? given : most, o->boundary_tiles, all);
}

static bool suits(const tacit_field *f, const tct_way *way)
{
    const tct_way_ops *ops = tct_way_on(way, f);
    return ops && !ops->named && !way->about.reason &&
           (!ops->fits || ops->fits(f)) && (!way->about.deep || ops->depths(f));
}

static tacit_status add_candidates(const tct_field_run *run, trials *all)
{
    tacit_field *f = run->field;
    const tacit_field_options *o = &run->options;
    const tct_way *way = NULL;
    if (o->way && strcmp(o->way, "auto") != 0) {
        TRY(tct_way_find(o->way, f, &way));
        if (o->depth > 1 && !way->about.deep)
            FAIL(TACIT_INVALID,
                 "depth %d: way %s makes one step at a time: leave it out, or "
                 "take way tiles",
                 o->depth, o->way);
        if (o->loop && !tct_way_on(way, f)->loops)
            FAIL(TACIT_INVALID,
                 "loop '%s' belongs to ways mpi and nccl: leave it out of way "
                 "%s",
                 o->loop, o->way);
        if (!takes(f, way, o->boundary_tiles))
            FAIL(
                TACIT_INVALID,
                "%d boundary tiles: they belong to ways free and free2, and -1 "
                "to tiles on several GPUs that reach each other: leave them "
                "out of way %s",
                o->boundary_tiles, o->way);
        if (o->skip && o->depth == 0 && way->about.deep)
            FAIL(TACIT_INVALID,
                 "skip: the depth of way %s would be chosen by steps that are "
                 "not whole: name a depth",
                 o->way);
        add_way(f, way, o, all);
        return TACIT_OK;
    }
    for (int i = 0; (way = tct_way_at(i)) != NULL; i++)
        if (suits(f, way) && (way->about.deep || o->depth <= 1))
            add_way(f, way, o, all);
    /* no deep way is for this grid: tiles says why */
    if (all->count == 0) add_way(f, &tct_way_tiles, o, all);
    return TACIT_OK;
}

/* The ghosts are wide enough for all before the first opens. */
static tacit_status open_all(tacit_field *f, trials *all)
{
    int most = 1;
    for (int k = 0; k < all->count; k++)
        if (all->depth[k] > most) most = all->depth[k];
    TRY(tct_field_widen(f, most));
    for (int k = 0; k < all->count; k++)
        TRY(tct_engine_open(f, all->way[k], all->depth[k], all->boundary[k],
                            &all->engine[k]));
    return tct_agree(f->queue->world, tct_field_to_device(f));
}

/* A trial of up to `share` steps, or of one visit. A visit that was cut short
 * counts for nothing. None leaves an exchange under way: the next candidate
 * begins one of its own. */
static void try_one(tct_field_run *run, const tct_engine *e, int64_t share,
                    double *seconds)
{
    const double start = tct_seconds();
    double past = 0.0;
    int64_t steps = 0;
    while (!tct_run_is_over(run) && past < LEAST &&
           (steps == 0 || steps < share)) {
        const int most = e->most < SHORT ? e->most : SHORT;
        const int made =
            tct_run_visit(run, e, e->depth > most ? e->depth : most);
        tct_engine_finish(e);
        if (made < e->depth) return;
        steps += made;
        past = tct_run_clock(run, start);
    }
    const double each = steps > 0 ? past / (double)steps : 0.0;
    if (each > 0.0 && (*seconds == 0.0 || each < *seconds)) *seconds = each;
}

static int best_of(const trials *all)
{
    int best = 0;
    for (int k = 1; k < all->count; k++)
        if (all->seconds[k] > 0.0 &&
            (all->seconds[best] == 0.0 || all->seconds[k] < all->seconds[best]))
            best = k;
    return best;
}

static void report(const trials *all, tacit_field_result *r)
{
    for (int k = 0; k < all->count; k++) {
        const tct_engine *e = &all->engine[k];
        if (all->seconds[k] == 0.0) continue;
        r->trial[r->trials++] = (tacit_field_trial){
            e->way->about.name, e->depth, all->seconds[k], e->boundary};
    }
}

/* Rounds after the first one end where another would take more than the trials'
 * part of the run's steps. */
static int measure(tct_field_run *run, trials *all)
{
    const int64_t part = run->options.steps / PART;
    const int64_t share = part / (ROUNDS * all->count);
    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0 && run->result.steps * (round + 1) > part * round) break;
        for (int k = 0; k < all->count; k++)
            try_one(run, &all->engine[k], share, &all->seconds[k]);
    }
    report(all, &run->result);
    return best_of(all);
}

/* Ranks whose devices differ may have other candidates. */
static tacit_status agree_candidates(const tacit_field *f, const trials *all)
{
    char names[TACIT_FIELD_TRIALS][TCT_ALIKE_MOST / TACIT_FIELD_TRIALS] = {""};
    for (int k = 0; k < all->count; k++)
        snprintf(names[k], sizeof names[k], "%s(%d,%d)",
                 all->way[k]->about.name, all->depth[k], all->boundary[k]);
    return tct_field_alike(f->queue->world, "ways and depths to be measured",
                           names, sizeof names);
}

tacit_status tct_run_choose(tct_field_run *run, tct_engine *out)
{
    trials all = {.count = 0};
    tacit_status status = add_candidates(run, &all);
    status = tct_agree(run->field->queue->world, status);
    if (status >= 0) status = agree_candidates(run->field, &all);
    if (status >= 0) status = open_all(run->field, &all);
    const int best = status >= 0 && all.count > 1 ? measure(run, &all) : 0;
    if (status >= 0) {
        run->result.step_seconds = all.seconds[best];
        *out = all.engine[best];
        all.engine[best] = (tct_engine){.way = NULL};
    }
    for (int k = 0; k < all.count; k++) tct_engine_close(&all.engine[k]);
    return status;
}
