/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/match.c - matches the ends of channels: each rank lays out a
 * window with signals and halves for its ends, tells each peer where they are,
 * and finds the other end of each of its own. */
#include "comm/channel/channel.h"

enum { LINE = 64, ENOUGH = 4 /* ends of two ranks, usually */ };

/* An end as it is described to its peer. */
typedef struct {
    int tag, signals;
    bool exists, sends, matched;
    int64_t bytes;
    int64_t signal, half[2]; /* offsets in the window; half: of a receiver */
    tct_peer_window window;
} end;

struct tct_channels {
    const tct_medium *medium;
    tct_peer_window window;
    void *handle;
    int count;
    tct_channel *channel; /* [count] the caller's */
};

/* --- layout --------------------------------------------------------------- */

static int64_t lines(int64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static tacit_status check(const tacit_world *w, int count, tct_channel *c)
{
    for (int k = 0; k < count; k++) {
        if (c[k].peer < 0 || c[k].peer >= w->size || c[k].bytes < 0 ||
            c[k].signals < 0)
            FAIL(TACIT_INVALID,
                 "channel %d of rank %d: %lld bytes and %d signals, rank %d: "
                 "expected 0 or more, and a rank from 0 to %d",
                 k, w->rank, (long long)c[k].bytes, c[k].signals, c[k].peer,
                 w->size - 1);
        if (c[k].signals == 0) c[k].signals = 1;
    }
    return TACIT_OK;
}

/* A window begins at a multiple of 16 bytes if its bytes are one, or of 8:
 * windows of doubles are as dense as the messages in the vector that they come
 * from, and copies are aligned alike. */
static int64_t align(int64_t at, int64_t bytes)
{
    const int64_t unit = bytes % 16 == 0 ? 16 : 8;
    return (at + unit - 1) / unit * unit;
}

/* Signals of all ends, then the first halves of those that receive, then the
 * second ones, at one distance; each tag begins a cache line. Returns the bytes
 * of the window. */
static int64_t lay_out(int count, const tct_channel *c, end *e)
{
    int64_t at = 0;
    for (int k = 0; k < count; k++) {
        e[k] = (end){.exists = true,
                     .tag = c[k].tag,
                     .signals = c[k].signals,
                     .sends = c[k].sends,
                     .bytes = c[k].bytes,
                     .signal = at};
        at += lines(2 * c[k].signals * (int64_t)sizeof(tct_counter));
    }
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < count; k++) {
            if (k > 0 && c[k].tag != c[k - 1].tag) at = lines(at);
            if (c[k].sends) continue;
            e[k].half[half] = align(at, c[k].bytes);
            at = e[k].half[half] + c[k].bytes;
        }
        at = lines(at);
    }
    return at;
}

/* --- exchange of descriptions --------------------------------------------- */

/* Ends that ranks share with this one: `most` places for each rank, of which
 * the first number[rank] are taken. */
typedef struct {
    tacit_world *world;
    int64_t most;
    int64_t *number; /* [ranks] of this rank's own ends */
    int64_t *bytes;  /* [ranks] */
    end *to, *from;  /* [ranks][most] */
} table;

static void table_clear(table *t)
{
    TCT_FREE(t->number, t->bytes, t->to, t->from);
}

static tacit_status make_room(table *t, int64_t most)
{
    const int64_t ends = t->world->size * most;
    TCT_FREE(t->to, t->from);
    t->to = t->from = NULL;
    t->most = most;
    TRY(TCT_ALLOC(ends, "channels", &t->to));
    TRY(TCT_ALLOC(ends, "channels", &t->from));
    memset(t->to, 0, (size_t)ends * sizeof *t->to);
    return TACIT_OK;
}

static tacit_status count_ends(table *t, int count, const tct_channel *c)
{
    TRY(TCT_ALLOC(t->world->size, "channels", &t->number));
    TRY(TCT_ALLOC(t->world->size, "channels", &t->bytes));
    memset(t->number, 0, (size_t)t->world->size * sizeof *t->number);
    for (int k = 0; k < count; k++) t->number[c[k].peer]++;
    return make_room(t, ENOUGH);
}

/* Agree on `mine`, and on room for the ends of every two ranks. Collective. */
static tacit_status agree_on_room(table *t, tacit_status mine)
{
    int64_t all[] = {0, mine < 0}; /* most ends of two ranks; a failure */
    for (int r = 0; r < t->world->size && mine >= 0; r++)
        if (t->number[r] > all[0]) all[0] = t->number[r];
    TRY(tct_reduce_i64(t->world, TCT_MAX, 2, all));
    if (all[1]) return tct_agree(t->world, mine);
    if (all[0] <= ENOUGH) return TACIT_OK;
    return tct_agree(t->world, make_room(t, all[0]));
}

/* Tell each rank the ends that it shares with this one. Collective. */
static tacit_status trade(table *t, int count, const tct_channel *c,
                          const end *own)
{
    memset(t->number, 0, (size_t)t->world->size * sizeof *t->number);
    for (int k = 0; k < count; k++) {
        const int r = c[k].peer;
        t->to[r * t->most + t->number[r]++] = own[k];
    }
    for (int r = 0; r < t->world->size; r++)
        t->bytes[r] = t->most * (int64_t)sizeof *t->to;
    return tct_alltoallv(t->world, t->bytes, t->to, t->bytes, t->from);
}

/* --- pairs ---------------------------------------------------------------- */

static bool can_match(const tct_channel *c, const end *e)
{
    return e->exists && e->sends != c->sends && e->tag == c->tag;
}

/* The first end of c's peer that can be the other end of it; NULL: none. */
static end *find_other(const tct_channel *c, const table *t)
{
    end *e = &t->from[c->peer * t->most];
    for (int64_t i = 0; i < t->most; i++) {
        if (e[i].matched || !can_match(c, &e[i])) continue;
        e[i].matched = true;
        return &e[i];
    }
    return NULL;
}

/* Number of ends of this rank, and of its peer, like `c` and its other end. */
static void count_like(const tct_channel *c, int count, const tct_channel *all,
                       const table *t, int number[2])
{
    const end *e = &t->from[c->peer * t->most];
    number[0] = number[1] = 0;
    for (int k = 0; k < count; k++)
        number[0] += all[k].peer == c->peer && all[k].tag == c->tag &&
                     all[k].sends == c->sends;
    for (int64_t i = 0; i < t->most; i++) number[1] += can_match(c, &e[i]);
}

static tacit_status refuse_single(int rank, int k, int count,
                                  const tct_channel *all, const table *t)
{
    const tct_channel *c = &all[k];
    int number[2];
    count_like(c, count, all, t, number);
    FAIL(
        TACIT_INVALID,
        "channel %d with tag %d, of %lld bytes: rank %d %s through %d channels "
        "%s rank %d, which %s through %d: let both have as many",
        k, c->tag, (long long)c->bytes, rank, c->sends ? "sends" : "receives",
        number[0], c->sends ? "to" : "from", c->peer,
        c->sends ? "receives" : "sends", number[1]);
}

static tacit_status refuse_pair(int rank, int k, const tct_channel *c,
                                const end *other)
{
    const bool bytes = other->bytes != c->bytes;
    const char *unit = bytes ? "bytes" : "signals";
    FAIL(TACIT_INVALID,
         "channel %d with tag %d: rank %d %s %lld %s %s rank %d, which %s %lld "
         "%s: let both say the same",
         k, c->tag, rank, c->sends ? "sends" : "receives",
         (long long)(bytes ? c->bytes : c->signals), unit,
         c->sends ? "to" : "from", c->peer, c->sends ? "receives" : "sends",
         (long long)(bytes ? other->bytes : other->signals), unit);
}

/* Set the addresses of end k. */
static void join(const tct_channels *set, tct_channel *c, const end *own,
                 const end *other)
{
    const tct_medium *m = set->medium;
    char *here = m->at(m->state, set->handle, m->world->rank, &set->window);
    char *remote = m->at(m->state, set->handle, c->peer, &other->window);
    c->own = (tct_counter *)(void *)(here + own->signal);
    c->other = (tct_counter *)(void *)(remote + other->signal);
    for (int half = 0; half < 2; half++)
        c->window[half] =
            c->sends ? remote + other->half[half] : here + own->half[half];
}

static tacit_status pair_all(const tct_channels *set, const end *own,
                             const table *t)
{
    const int rank = set->medium->world->rank;
    for (int k = 0; k < set->count; k++) {
        tct_channel *c = &set->channel[k];
        const end *other = find_other(c, t);
        if (!other) return refuse_single(rank, k, set->count, set->channel, t);
        if (other->bytes != c->bytes || other->signals != c->signals)
            return refuse_pair(rank, k, c, other);
        if (set->medium->take) join(set, c, &own[k], other);
    }
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

/* Take the window, and match its ends. Collective. */
static tacit_status match(tct_channels *set, end *own, table *t)
{
    const tct_medium *m = set->medium;
    const int64_t bytes = lay_out(set->count, set->channel, own);
    if (m->take)
        TRY(m->take(m->state, (size_t)bytes, &set->window, &set->handle));
    for (int k = 0; k < set->count; k++) own[k].window = set->window;
    TRY(trade(t, set->count, set->channel, own));
    return tct_agree(m->world, pair_all(set, own, t));
}

static void begin(tct_channels *set)
{
    for (int k = 0; k < set->count; k++) {
        tct_channel *c = &set->channel[k];
        c->medium = set->medium;
        c->sequence = 0;
        c->started = false;
    }
}

tacit_status tct_channels_match(const tct_medium *medium, tacit_status mine,
                                int count, tct_channel *c, tct_channels **out)
{
    end *own = NULL;
    table t = {.world = medium->world};
    tct_channels *set = tct_calloc(sizeof *set);
    tacit_status status = mine;
    if (!set)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for channels");
    else
        *set = (tct_channels){
            .medium = medium, .count = count, .channel = c, .window.arena = -1};
    if (status >= 0) status = check(medium->world, count, c);
    if (status >= 0) status = TCT_ALLOC(count, "channels", &own);
    if (status >= 0) status = count_ends(&t, count, c);
    status = agree_on_room(&t, status);
    if (status >= 0) status = match(set, own, &t);
    if (status >= 0) begin(set);
    table_clear(&t);
    tct_free(own);
    if (status < 0) tct_channels_free(&set);
    else *out = set;
    return status;
}

tacit_status tct_channels_check(tacit_world *w, tacit_status mine, int count,
                                tct_channel *c)
{
    const tct_medium none = {.world = w};
    tct_channels *set = NULL;
    TRY(tct_channels_match(&none, mine, count, c, &set));
    tct_channels_free(&set);
    return TACIT_OK;
}

void tct_channels_free(tct_channels **set)
{
    tct_channels *s = *set;
    if (!s) return;
    for (int k = 0; k < s->count && s->channel; k++)
        s->channel[k].medium = NULL;
    if (s->window.arena >= 0)
        s->medium->give(s->medium->state, s->handle, &s->window);
    tct_free(s);
    *set = NULL;
}
