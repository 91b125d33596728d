/* SPDX-License-Identifier: BSD-3-Clause
 * device/parallel.c - loops on the team that belongs to the calling thread's
 * outermost block. */
#include "device/parallel.h"
#include "device/thread_pool.h"
#include <stdatomic.h>

/* --- how many threads ----------------------------------------------------- */

static _Thread_local tct_loop_threads mine;

static int least_of(int64_t a, int64_t b)
{
    return (int)(a < b ? a : b);
}

static int threads_by_default(void)
{
    const int64_t wished = tct_threads_wished();
    return least_of(wished > 0 ? wished : tct_processors(), TCT_TEAM_MOST);
}

tct_loop_threads tct_threads_at_most(int most)
{
    const tct_loop_threads before = mine;
    if (most <= 0) most = before.most > 0 ? before.most : threads_by_default();
    mine.most = before.most > 0 ? least_of(most, before.most) : most;
    return before;
}

tct_loop_threads tct_threads_of(tct_team *team)
{
    const tct_loop_threads before = tct_threads_at_most(tct_team_size(team));
    if (before.most == 0) mine.team = team;
    return before;
}

void tct_threads_restore(const tct_loop_threads *before)
{
    mine.most = before->most;
    if (before->most > 0) return;
    if (mine.is_taken) tct_team_give(&mine.team);
    mine = *before;
}

/* Of at most `wanted` threads, NULL: the caller alone. */
static tct_team *get_team(int64_t wanted)
{
    if (wanted < 2 || mine.most < 2) return NULL;
    if (!mine.team && !mine.is_taken) {
        mine.team = tct_team_take_any(mine.most);
        mine.is_taken = true;
    }
    return mine.team;
}

int tct_parallel_most(void)
{
    return mine.most > 0 ? mine.most : 1;
}

int tct_parallel_parts(int64_t count, int64_t least)
{
    const int64_t worth = count / (least > 0 ? least : 1);
    return worth > 1 ? least_of(worth, tct_parallel_most()) : 1;
}

/* --- loops ---------------------------------------------------------------- */

void tct_parallel(int64_t count, int64_t least, tct_stretch_fn fn, void *work)
{
    const int threads = tct_parallel_parts(count, least);
    tct_team_range(get_team(threads), threads, count, fn, work);
}

void tct_parallel_each(int parts, tct_item_fn fn, void *work)
{
    tct_team_run(get_team(parts), tct_parallel_most(), parts, NULL, fn, work);
}

void tct_parallel_shared(tct_item_fn fn, void *work)
{
    if (tct_background_begin(fn, work)) tct_background_end();
    else fn(work, 0);
}

/* --- work spaces ---------------------------------------------------------- */

typedef struct {
    int64_t count;
    int parts;
    size_t bytes;
    tct_space_fn *fn;
    void *work;
    atomic_bool starved;
} with_space;

static void run_with_space(void *work, int64_t part)
{
    with_space *w = work;
    const int p = (int)part;
    void *space = tct_alloc(w->bytes);
    if (space)
        w->fn(w->work, tct_part_first(w->count, p, w->parts),
              tct_part_first(w->count, p + 1, w->parts), space);
    else atomic_store(&w->starved, true);
    tct_free(space);
}

bool tct_parallel_with(int64_t count, int64_t least, size_t bytes,
                       tct_space_fn *fn, void *work)
{
    with_space w = {.count = count,
                    .parts = tct_parallel_parts(count, least),
                    .bytes = bytes,
                    .fn = fn,
                    .work = work};
    tct_parallel_each(w.parts, run_with_space, &w);
    return !atomic_load(&w.starved);
}

/* --- reductions ----------------------------------------------------------- */

typedef struct {
    tct_measure_fn *measure;
    tct_check_fn *check;
    const void *work;
    atomic_int_fast64_t value;
} reduction;

static void add(void *work, int64_t from, int64_t to)
{
    reduction *r = work;
    atomic_fetch_add(&r->value, r->measure(r->work, from, to));
}

static void take_less(void *work, int64_t from, int64_t to)
{
    reduction *r = work;
    tct_atomic_min(&r->value, r->measure(r->work, from, to));
}

static void take_more(void *work, int64_t from, int64_t to)
{
    reduction *r = work;
    const int64_t value = r->measure(r->work, from, to);
    int_fast64_t now = atomic_load(&r->value);
    while (value > now && !atomic_compare_exchange_weak(&r->value, &now, value))
        ;
}

static void check(void *work, int64_t from, int64_t to)
{
    reduction *r = work;
    if (atomic_load(&r->value) && !r->check(r->work, from, to))
        atomic_store(&r->value, 0);
}

static int64_t reduce(int64_t count, int64_t least, tct_stretch_fn combine,
                      reduction *r)
{
    tct_parallel(count, least, combine, r);
    return atomic_load(&r->value);
}

int64_t tct_parallel_sum(int64_t count, int64_t least, tct_measure_fn *fn,
                         const void *work)
{
    reduction r = {.measure = fn, .work = work};
    return reduce(count, least, add, &r);
}

int64_t tct_parallel_min(int64_t count, int64_t least, tct_measure_fn *fn,
                         const void *work)
{
    reduction r = {.measure = fn, .work = work, .value = INT64_MAX};
    return reduce(count, least, take_less, &r);
}

int64_t tct_parallel_max(int64_t count, int64_t least, tct_measure_fn *fn,
                         const void *work)
{
    reduction r = {.measure = fn, .work = work};
    return reduce(count, least, take_more, &r);
}

bool tct_parallel_all(int64_t count, int64_t least, tct_check_fn *fn,
                      const void *work)
{
    reduction r = {.check = fn, .work = work, .value = 1};
    return reduce(count, least, check, &r) != 0;
}

/* --- work in the background ----------------------------------------------- */

bool tct_background_begin(tct_item_fn fn, void *work)
{
    const int threads = tct_parallel_most();
    return tct_team_begin(get_team(threads), threads, fn, work);
}

void tct_background_end(void)
{
    tct_team_end(mine.team);
}
