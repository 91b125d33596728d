/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/numbering.c - numbers of aggregates across ranks. */
#include "precond/amg/aggregation/numbering.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"

static const char *const what = "numbers of aggregates";

/* List the numbers of other ranks, repetitions included; returns how many. */
static int64_t list_others(int64_t count, const int64_t *number, int64_t first,
                           int64_t now, int64_t *out)
{
    int64_t n = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t own = number[k] - first;
        if (number[k] < 0 || (own >= 0 && own < now)) continue;
        if (out) out[n] = number[k];
        n++;
    }
    return n;
}

static tacit_status find_others(int64_t count, const int64_t *number,
                                int64_t first, int64_t now, tct_ghosts *out)
{
    int64_t *ids = NULL;
    const int64_t n = list_others(count, number, first, now, NULL);
    *out = (tct_ghosts){0};
    TRY(TCT_ALLOC(n, what, &ids));
    list_others(count, number, first, now, ids);
    const tacit_status status = tct_ghosts_of(n, ids, NULL, out);
    tct_free(ids);
    return status;
}

/* The new place of `number`. */
static int32_t place_of(int64_t number, int64_t first, int64_t now,
                        const tct_ghosts *others)
{
    const int64_t own = number - first;
    if (number < 0) return -1;
    return (int32_t)(own >= 0 && own < now
                         ? own
                         : now + tct_ghost_place(others, number));
}

typedef struct {
    int64_t first, now;
    const tct_ghosts *others;
    const int64_t *number;
    int32_t *place, *of;
} renumbering;

static void find_places(void *work, int64_t from, int64_t to)
{
    const renumbering *r = work;
    for (int64_t k = from; k < to; k++)
        r->place[k] = place_of(r->number[k], r->first, r->now, r->others);
}

static void renumber(void *work, int64_t from, int64_t to)
{
    const renumbering *r = work;
    for (int64_t i = from; i < to; i++)
        if (r->of[i] >= 0) r->of[i] = r->place[r->of[i]];
}

tacit_status tct_numbering_renumber(int64_t rows, int32_t *of, int64_t coarse,
                                    tct_ghosts *others, const int64_t *number,
                                    int64_t first, int64_t now)
{
    const int64_t count = coarse + others->count;
    tct_ghosts fresh;
    int32_t *place = NULL;
    TRY(TCT_ALLOC(count, what, &place));
    const tacit_status status = find_others(count, number, first, now, &fresh);
    if (status >= 0) {
        renumbering r = {first, now, &fresh, number, place, of};
        tct_parallel(count, TCT_SHORT, find_places, &r);
        tct_parallel(rows, TCT_SHORT, renumber, &r);
        tct_ghosts_clear(others);
        *others = fresh;
    }
    tct_free(place);
    return status;
}

tacit_status tct_numbering_starts(tacit_world *world, int64_t count,
                                  int64_t *starts)
{
    starts[0] = 0;
    TRY(tct_allgather(world, sizeof count, &count, starts + 1));
    for (int r = 0; r < world->size; r++) starts[r + 1] += starts[r];
    return TACIT_OK;
}

/* --- closing gaps --------------------------------------------------------- */

typedef struct {
    tacit_world *world;
    int64_t *share;  /* [size + 1] ranges of possible numbers              */
    int64_t *starts; /* [size + 1] existing numbers before each rank */
    int64_t *place;  /* [share] 1: exists; then the count before */
    int64_t *one;    /* [count] */
} closing;

static tacit_status allocate(closing *c, int64_t below, int64_t count)
{
    const tacit_world *w = c->world;
    TRY(TCT_ALLOC(w->size + 1, what, &c->share));
    TRY(TCT_ALLOC(w->size + 1, what, &c->starts));
    for (int r = 0; r <= w->size; r++)
        c->share[r] = tct_share(below, w->size, r);
    const int64_t mine = c->share[w->rank + 1] - c->share[w->rank];
    TRY(TCT_ALLOC(mine, what, &c->place));
    for (int64_t k = 0; k < mine; k++) c->place[k] = 0;
    TRY(TCT_ALLOC(count, what, &c->one));
    for (int64_t k = 0; k < count; k++) c->one[k] = 1;
    return TACIT_OK;
}

static tacit_status close_all(closing *c, int64_t below, int64_t count,
                              int64_t *number)
{
    tacit_world *w = c->world;
    TRY(tct_agree(w, allocate(c, below, count)));
    TRY(tct_directory_set(w, c->share, c->place, count, number, c->one));
    const int64_t mine = c->share[w->rank + 1] - c->share[w->rank];
    int64_t has = 0;
    for (int64_t k = 0; k < mine; k++) has += c->place[k];
    TRY(tct_numbering_starts(w, has, c->starts));
    int64_t at = c->starts[w->rank];
    for (int64_t k = 0; k < mine; k++) {
        const int64_t here = c->place[k];
        c->place[k] = at;
        at += here;
    }
    return tct_directory_get(w, c->share, c->place, count, number, number);
}

tacit_status tct_numbering_close(tacit_world *world, int64_t below,
                                 int64_t count, int64_t *number)
{
    closing c = {.world = world};
    const tacit_status status = close_all(&c, below, count, number);
    TCT_FREE(c.share, c.starts, c.place, c.one);
    return status;
}
