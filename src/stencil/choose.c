/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/choose.c - the engine of a run: the one that was asked for, or the
 * fastest of some. Candidates make the first steps of the run in turn; all give
 * the same bits, so that no step is made twice. */
#include "stencil/run.h"

enum { ROUNDS = 3 };
static const double LEAST = 2e-4; /* seconds of a trial, for the clock */

typedef struct trials {
    int count;
    tct_engine engine[TACIT_FIELD_TRIALS];
    double seconds[TACIT_FIELD_TRIALS]; /* of a step, 0: unknown */
} trials;

static tacit_status add(tct_field_run *run, const tct_way *way, int depth,
                        trials *all)
{
    if (all->count == TACIT_FIELD_TRIALS) return TACIT_OK;
    TRY(tct_engine_open(run->field, way, depth, &all->engine[all->count]));
    all->count++;
    return TACIT_OK;
}

/* A way with each of its depths; `given` is one that was asked for, or 0. Of
 * several depths those count that the device can have. */
static tacit_status add_way(tct_field_run *run, const tct_way *way, int given,
                            trials *all)
{
    const int before = all->count;
    tacit_status status = TACIT_OK;
    if (!way->about.deep) return add(run, way, 1, all);
    if (given > 0) return add(run, way, given, all);
    const int *depth = tct_way_on(way, run->field)->depths(run->field);
    if (!depth) return add(run, way, 1, all); /* says why */
    for (; *depth > 0; depth++) {
        const tacit_status one = add(run, way, *depth, all);
        if (one < 0 && one != TACIT_UNSUPPORTED) return one;
        if (one < 0) status = one;
    }
    return all->count > before ? TACIT_OK : status;
}

static bool suits(const tacit_field *f, const tct_way *way)
{
    const tct_way_ops *ops = tct_way_on(way, f);
    return ops && !ops->named && (!way->about.deep || ops->depths(f));
}

static tacit_status add_candidates(tct_field_run *run, trials *all)
{
    const tacit_field_options *o = &run->options;
    const tct_way *way = NULL;
    if (o->way && strcmp(o->way, "auto") != 0) {
        TRY(tct_way_find(o->way, run->field, &way));
        if (o->depth > 1 && !way->about.deep)
            FAIL(TACIT_INVALID,
                 "depth %d: way %s makes one step at a time: leave it out, or "
                 "take way tiles",
                 o->depth, o->way);
        return add_way(run, way, o->depth, all);
    }
    for (int i = 0; (way = tct_way_at(i)) != NULL; i++)
        if (suits(run->field, way) && (way->about.deep || o->depth <= 1)) {
            const tacit_status one = add_way(run, way, o->depth, all);
            if (one < 0 && one != TACIT_UNSUPPORTED) return one;
        }
    /* no deep way is for this grid: tiles says why */
    if (all->count == 0) return add_way(run, &tct_way_tiles, o->depth, all);
    return TACIT_OK;
}

/* The time of a step of a way that stays: calls of more and more steps, until
 * one is long enough for the clock. */
static void try_staying(tct_field_run *run, const tct_engine *e,
                        double *seconds)
{
    double took = 0.0;
    for (int steps = e->depth; took < LEAST && !tct_run_is_over(run);
         steps = steps < e->most / 4 ? 4 * steps : e->most) {
        const double start = tct_seconds();
        if (tct_run_visit(run, e, steps) < steps) return;
        tct_engine_finish(e);
        took = tct_seconds() - start;
        if (*seconds == 0.0 || took < *seconds * steps) *seconds = took / steps;
    }
}

/* A visit that was cut short counts for nothing. */
static void try_one(tct_field_run *run, const tct_engine *e, double *seconds)
{
    if (e->most > e->depth) {
        try_staying(run, e, seconds);
        return;
    }
    const double start = tct_seconds();
    double now = start;
    int64_t steps = 0;
    while (!tct_run_is_over(run) && now - start < LEAST) {
        const int made = tct_run_visit(run, e, e->depth);
        if (made < e->depth) return;
        steps += made;
        tct_engine_finish(e);
        now = tct_seconds();
    }
    const double each = steps > 0 ? (now - start) / (double)steps : 0.0;
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
        r->trial[r->trials++] =
            (tacit_field_trial){e->way->about.name, e->depth, all->seconds[k]};
    }
}

static int measure(tct_field_run *run, trials *all)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < all->count; k++)
            try_one(run, &all->engine[k], &all->seconds[k]);
    report(all, &run->result);
    return best_of(all);
}

tacit_status tct_run_choose(tct_field_run *run, tct_engine *out)
{
    trials all = {.count = 0};
    const tacit_status status = add_candidates(run, &all);
    const int best = status >= 0 && all.count > 1 ? measure(run, &all) : 0;
    if (status >= 0) {
        *out = all.engine[best];
        all.engine[best] = (tct_engine){.way = NULL};
    }
    for (int k = 0; k < all.count; k++) tct_engine_close(&all.engine[k]);
    return status;
}
