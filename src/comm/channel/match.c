/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/match.c - matches the ends of channels: each rank lays out a
 * window with signals and halves for its ends, tells each peer where they are,
 * and finds the other end of each of its own. */
#include "comm/channel/channel.h"
#include "comm/setup/alltoall.h"

enum { LINE = 64 };

/* An end as it is described to its peer. */
typedef struct {
    int tag, signals;
    bool sends, matched;
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

/* Signals of all ends, then the first halves of those that receive, then the
 * second ones, at one distance. Returns the bytes of the window. */
static int64_t lay_out(int count, const tct_channel *c, end *e)
{
    int64_t at = 0;
    for (int k = 0; k < count; k++) {
        e[k] = (end){.tag = c[k].tag,
                     .signals = c[k].signals,
                     .sends = c[k].sends,
                     .bytes = c[k].bytes,
                     .signal = at};
        at += lines(2 * c[k].signals * (int64_t)sizeof(tct_counter));
    }
    for (int half = 0; half < 2; half++)
        for (int k = 0; k < count; k++) {
            e[k].half[half] = at;
            if (!c[k].sends) at += lines(c[k].bytes);
        }
    return at;
}

/* --- exchange of descriptions --------------------------------------------- */

typedef struct {
    end *of;         /* sorted by rank; those of rank r begin */
    int64_t *first;  /* at first[r], [ranks + 1] */
    int64_t *number; /* [3 ranks] ends to each rank, from each rank; scratch */
} ends;

static void ends_clear(ends *e)
{
    TCT_FREE(e->of, e->first, e->number);
}

static tacit_status ends_open(ends *e, int ranks, int64_t count)
{
    TRY(TCT_ALLOC(count, "channels", &e->of));
    TRY(TCT_ALLOC(ranks + 1, "channels", &e->first));
    TRY(TCT_ALLOC(3 * ranks, "channels", &e->number));
    memset(e->first, 0, (size_t)(ranks + 1) * sizeof *e->first);
    return TACIT_OK;
}

/* Sort this rank's ends by peer, in their order. */
static void sort(int ranks, int count, const tct_channel *c, const end *mine,
                 ends *out)
{
    int64_t *next = out->first + 1; /* the end of the ranks before it */
    for (int k = 0; k < count; k++) out->first[c[k].peer + 1]++;
    for (int r = 0; r < ranks; r++) out->number[r] = next[r];
    for (int64_t r = 0, at = 0; r < ranks; r++) {
        at += next[r];
        next[r] = at - next[r];
    }
    for (int k = 0; k < count; k++) out->of[next[c[k].peer]++] = mine[k];
}

/* Receive the other ranks' ends that are of this one. Collective. */
static tacit_status trade(tacit_world *w, ends *to, ends *from)
{
    int64_t *bytes[] = {to->number, to->number + w->size}, all = 0;
    TRY(tct_trade_numbers(w, bytes[0], bytes[1], bytes[1] + w->size));
    for (int r = 0; r < w->size; r++) all += bytes[1][r];
    TRY(tct_agree(w, ends_open(from, w->size, all)));
    for (int r = 0; r < w->size; r++) {
        from->first[r + 1] = from->first[r] + bytes[1][r];
        for (int i = 0; i < 2; i++) bytes[i][r] *= (int64_t)sizeof(end);
    }
    return tct_alltoallv(w, bytes[0], to->of, bytes[1], from->of);
}

/* --- pairs ---------------------------------------------------------------- */

/* The first end of c's peer that can be the other end of it; NULL: none. */
static end *find_other(const tct_channel *c, const ends *from)
{
    for (int64_t i = from->first[c->peer]; i < from->first[c->peer + 1]; i++) {
        end *e = &from->of[i];
        if (e->matched || e->sends == c->sends || e->tag != c->tag) continue;
        e->matched = true;
        return e;
    }
    return NULL;
}

/* Number of ends of this rank, and of its peer, like `c` and its other end. */
static void count_like(const tct_channel *c, int count, const tct_channel *all,
                       const ends *from, int number[2])
{
    number[0] = number[1] = 0;
    for (int k = 0; k < count; k++)
        number[0] += all[k].peer == c->peer && all[k].tag == c->tag &&
                     all[k].sends == c->sends;
    for (int64_t i = from->first[c->peer]; i < from->first[c->peer + 1]; i++)
        number[1] += from->of[i].tag == c->tag && from->of[i].sends != c->sends;
}

static tacit_status refuse_single(int rank, int k, int count,
                                  const tct_channel *all, const ends *from)
{
    const tct_channel *c = &all[k];
    int number[2];
    count_like(c, count, all, from, number);
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
    FAIL(TACIT_INVALID,
         "channel %d with tag %d: rank %d %s %lld bytes and %d signals %s rank "
         "%d, which %s %lld bytes and %d signals: let both say the same",
         k, c->tag, rank, c->sends ? "sends" : "receives", (long long)c->bytes,
         c->signals, c->sends ? "to" : "from", c->peer,
         c->sends ? "receives" : "sends", (long long)other->bytes,
         other->signals);
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
                             const ends *from)
{
    const int rank = set->medium->world->rank;
    for (int k = 0; k < set->count; k++) {
        tct_channel *c = &set->channel[k];
        const end *other = find_other(c, from);
        if (!other)
            return refuse_single(rank, k, set->count, set->channel, from);
        if (other->bytes != c->bytes || other->signals != c->signals)
            return refuse_pair(rank, k, c, other);
        join(set, c, &own[k], other);
    }
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

/* Take the window, and match its ends. Collective. */
static tacit_status match(tct_channels *set, end *own, ends *to)
{
    const tct_medium *m = set->medium;
    tacit_world *w = m->world;
    const int64_t bytes = lay_out(set->count, set->channel, own);
    ends from = {.of = NULL};
    TRY(m->take(m->state, (size_t)bytes, &set->window, &set->handle));
    for (int k = 0; k < set->count; k++) own[k].window = set->window;
    sort(w->size, set->count, set->channel, own, to);
    tacit_status status = trade(w, to, &from);
    if (status >= 0) status = pair_all(set, own, &from);
    ends_clear(&from);
    return tct_agree(w, status);
}

tacit_status tct_channels_match(const tct_medium *medium, int count,
                                tct_channel *c, tct_channels **out)
{
    tacit_world *w = medium->world;
    end *own = NULL;
    ends to = {.of = NULL};
    tct_channels *set = tct_calloc(sizeof *set);
    tacit_status status =
        set ? TACIT_OK
            : tacit_error_set(TACIT_NO_MEMORY, "no memory for channels");
    if (status >= 0) {
        *set = (tct_channels){
            .medium = medium, .count = count, .channel = c, .window.arena = -1};
        status = check(w, count, c);
    }
    if (status >= 0) status = TCT_ALLOC(count, "channels", &own);
    if (status >= 0) status = ends_open(&to, w->size, count);
    status = tct_agree(w, status);
    if (status >= 0) status = match(set, own, &to);
    ends_clear(&to);
    tct_free(own);
    for (int k = 0; status >= 0 && k < count; k++) {
        c[k].medium = medium;
        c[k].sequence = 0;
        c[k].started = false;
    }
    if (status < 0) tct_channels_free(&set);
    else *out = set;
    return status;
}

void tct_channels_free(tct_channels **set)
{
    tct_channels *s = *set;
    if (!s) return;
    for (int k = 0; k < s->count; k++) s->channel[k].medium = NULL;
    if (s->window.arena >= 0)
        s->medium->give(s->medium->state, s->handle, &s->window);
    tct_free(s);
    *set = NULL;
}
