/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/comm.c - communicators, and what their waits have in common: a time
 * limit, and the search for the rank that does not answer. */
#include "triggered/gpu.h"
#include "triggered/match.h"
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* The state that ranks see of each other, in the piece of each. */
typedef struct {
    uint64_t failed; /* 1 + a rank whose `why` says why all have failed */
    char why[448];
    uint64_t words[]; /* waits of this rank for each rank [ranks]; how often
                         each rank has come to the end [ranks] */
} board;

static size_t board_bytes(int ranks)
{
    return sizeof(board) + 2 * (size_t)ranks * sizeof(uint64_t);
}

static board *board_of(const tacit_trigger_comm *c, int rank)
{
    char *piece = tct_shared_of(c->memory, rank);
    return (board *)(void *)(piece + tct_waits_bytes(c->ranks));
}

/* --- failures ------------------------------------------------------------- */

/* The first failure that this rank knows; later ones change nothing. */
static void note(tacit_trigger_comm *c, int lost, const char *why)
{
    pthread_mutex_lock(&c->failing);
    if (!c->failed) {
        c->lost = lost;
        snprintf(c->why, sizeof c->why, "%s", why);
        __atomic_store_n(&c->failed, (int)TACIT_COMM, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&c->failing);
}

/* Has this rank failed, or another one, and so all? */
bool tct_trigger_failed(tacit_trigger_comm *c)
{
    if (__atomic_load_n(&c->failed, __ATOMIC_ACQUIRE) != 0) return true;
    const uint64_t from = tct_signal_value(&board_of(c, c->rank)->failed);
    if (from == 0) return false;
    note(c, (int)from - 1, board_of(c, (int)from - 1)->why);
    return true;
}

tacit_status tct_trigger_sound(tacit_trigger_comm *c)
{
    if (!tct_trigger_failed(c)) return TACIT_OK;
    FAIL((tacit_status)c->failed, "%s", c->why);
}

/* Of several failures at once each rank keeps one. */
tacit_status tct_trigger_fail(tacit_trigger_comm *c, int lost, const char *why)
{
    if (!tct_trigger_failed(c)) {
        board *own = board_of(c, c->rank);
        note(c, lost, why);
        pthread_mutex_lock(&c->failing);
        if (!c->told) snprintf(own->why, sizeof own->why, "%s", c->why);
        c->told = true;
        pthread_mutex_unlock(&c->failing);
        for (int r = 0; r < c->ranks; r++)
            if (r != c->rank)
                tct_signal_send(&board_of(c, r)->failed, 1 + (uint64_t)c->rank);
    }
    return tct_trigger_sound(c);
}

/* --- waits ---------------------------------------------------------------- */

static void publish(const tacit_trigger_comm *c, tct_trigger_wait *w, int peer)
{
    uint64_t *waits = board_of(c, c->rank)->words;
    if (w->published == 1 + peer) return;
    if (w->published) tct_signal_add(&waits[w->published - 1], UINT64_MAX);
    if (peer >= 0) tct_signal_add(&waits[peer], 1);
    w->published = 1 + peer;
}

void tct_trigger_wait_end(tacit_trigger_comm *c, tct_trigger_wait *w)
{
    publish(c, w, -1);
}

/* The rank that `rank` waits for; -1: none. */
static int waited_for(const tacit_trigger_comm *c, int rank)
{
    const uint64_t *waits = board_of(c, rank)->words;
    for (int r = 0; r < c->ranks; r++)
        if (tct_signal_value(&waits[r]) > 0 && r != rank) return r;
    return -1;
}

/* The end of the chain of waits that begins with `peer`; `peer` if it comes
 * back. */
static int find_lost(const tacit_trigger_comm *c, int peer)
{
    int at = peer;
    for (int n = 0; n < c->ranks; n++) {
        const int next = waited_for(c, at);
        if (next < 0) return at;
        if (next == c->rank) return peer;
        at = next;
    }
    return peer;
}

static void say_late(const tacit_trigger_comm *c, tct_trigger_wait *w, int peer,
                     char *why, size_t size)
{
    char also[64] = "";
    w->lost = find_lost(c, peer);
    if (w->lost != peer)
        snprintf(also, sizeof also, ", which waits for rank %d itself",
                 w->lost);
    snprintf(why, size, "rank %d has not answered for %g s%s", peer,
             w->timeout.limit, also);
}

static double limit_of(const tacit_trigger_comm *c)
{
    double limit;
    __atomic_load(&c->limit, &limit, __ATOMIC_RELAXED);
    return limit;
}

bool tct_trigger_give_up(tacit_trigger_comm *c, tct_trigger_wait *w, int peer,
                         char *why, size_t size)
{
    enum { SPINS = 100, BETWEEN = 128 };
    const tacit_world *world = c->world;
    if (w->checks++ < SPINS) {
        tct_relax();
        return false;
    }
    sched_yield();
    w->timeout.limit = limit_of(c);
    const bool over = tct_is_over(&w->timeout);
    if (over) say_late(c, w, peer, why, size);
    if (over || w->checks % BETWEEN) return over;
    if (w->timeout.waited > w->timeout.limit / 4) publish(c, w, peer);
    w->lost = world->ops->killed ? world->ops->killed(world) : -1;
    if (w->lost >= 0) snprintf(why, size, "rank %d was killed", w->lost);
    return w->lost >= 0;
}

/* --- making --------------------------------------------------------------- */

/* A channel to each rank, and one from each. Collective. */
static tacit_status open_channels(tacit_trigger_comm *c)
{
    for (int r = 0; r < c->ranks; r++)
        for (int sends = 0; sends < 2; sends++)
            c->channel[2 * r + sends] = (tct_channel){
                .peer = r, .sends = sends != 0, .bytes = sizeof(tct_offers)};
    TRY(tct_channels_match(&c->medium, TACIT_OK, 2 * c->ranks, c->channel,
                           &c->channels));
    for (int r = 0; r < c->ranks; r++) {
        tct_trigger_peer *p = &c->peer[r];
        p->from = &c->channel[2 * r];
        p->to = &c->channel[2 * r + 1];
        p->last_offer = &p->offers;
        p->last_local = &p->local;
        p->last_remote = &p->remote;
    }
    return TACIT_OK;
}

static tacit_status take_memory(tacit_trigger_comm *c)
{
    TRY(TCT_ALLOC(2 * c->ranks, "a communicator", &c->channel));
    TRY(TCT_ALLOC(c->ranks, "a communicator", &c->peer));
    memset(c->peer, 0, (size_t)c->ranks * sizeof *c->peer);
    return tct_read_timeout(&c->limit);
}

static tacit_status open_comm(tacit_trigger_comm *c)
{
    tacit_world *w = c->world;
    TRY(tct_heap_create(w, &c->heap));
    TRY(tct_agree(w, take_memory(c)));
    TRY(tct_shared_create(w, tct_waits_bytes(c->ranks) + board_bytes(c->ranks),
                          &c->memory));
    TRY(tct_agree(w, tct_waits_open(w, c->memory, 0, &c->waits)));
    c->medium = tct_medium_host(&c->waits);
    return open_channels(c);
}

static void close_comm(tacit_trigger_comm **comm)
{
    tacit_trigger_comm *c = *comm;
    if (!c) return;
    tct_match_close(c);
    tct_trigger_gpu_close(c);
    tct_channels_free(&c->channels);
    tct_waits_close(&c->waits);
    tct_shared_destroy(&c->memory);
    tct_heap_destroy(&c->heap);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->host_lock);
    pthread_mutex_destroy(&c->failing);
    TCT_FREE(c->channel, c->peer, c);
    *comm = NULL;
}

static tacit_trigger_comm *new_comm(tacit_world *w)
{
    tacit_trigger_comm *c = tct_calloc(sizeof *c);
    if (!c) {
        tacit_error_set(TACIT_NO_MEMORY, "no memory for a communicator");
        return NULL;
    }
    c->world = w;
    c->rank = w->rank;
    c->ranks = w->size;
    c->lost = -1;
    c->host.last = &c->host.first;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->host_lock, NULL);
    pthread_mutex_init(&c->failing, NULL);
    return c;
}

tacit_status tacit_trigger_comm_create(tacit_world *world,
                                       tacit_trigger_comm **out)
{
    REQUIRE(world != NULL, out != NULL);
    tacit_trigger_comm *c = new_comm(world);
    tacit_status status = tct_agree(world, c ? TACIT_OK : TACIT_NO_MEMORY);
    if (status >= 0) status = open_comm(c);
    if (status < 0) close_comm(&c);
    else *out = c;
    return status;
}

tacit_status tacit_trigger_comm_use_gpu(tacit_trigger_comm *comm)
{
    REQUIRE(comm != NULL);
    return comm->gpu ? TACIT_OK : tct_trigger_gpu_open(comm);
}

/* --- freeing -------------------------------------------------------------- */

/* Tell all ranks that this one has come to the end, and whether it may. */
static void say_end(tacit_trigger_comm *c, bool used)
{
    c->end_calls++;
    for (int r = 0; r < c->ranks; r++)
        tct_signal_send(&board_of(c, r)->words[c->ranks + c->rank],
                        2 * c->end_calls + used);
}

/* Wait for all ranks; false: the communicator has failed. `used` is a rank that
 * may not end, or -1. */
static bool await_end(tacit_trigger_comm *c, int *used)
{
    const uint64_t *ends = &board_of(c, c->rank)->words[c->ranks];
    char why[160], all[448];
    *used = -1;
    for (int r = 0; r < c->ranks; r++) {
        tct_trigger_wait w = {.lost = -1};
        uint64_t end;
        while ((end = tct_signal_value(&ends[r])) < 2 * c->end_calls) {
            if (tct_trigger_failed(c)) return false;
            if (!tct_trigger_give_up(c, &w, r, why, sizeof why)) continue;
            snprintf(all, sizeof all,
                     "%s; rank %d waits for it in "
                     "tacit_trigger_comm_free",
                     why, c->rank);
            tct_trigger_fail(c, w.lost, all);
            return false;
        }
        tct_trigger_wait_end(c, &w);
        if (end == 2 * c->end_calls + 1) *used = r;
    }
    return true;
}

/* The world of a communicator that has failed does not wait either. */
static void note_in_world(tacit_trigger_comm *c)
{
    tct_lost_rank *d = &c->world->lost_rank;
    if (d->noted) return;
    tct_note_lost_rank(d, c->lost, limit_of(c));
    snprintf(d->why, sizeof d->why, "%.*s", (int)sizeof d->why - 1, c->why);
}

tacit_status tacit_trigger_comm_free(tacit_trigger_comm **comm)
{
    if (!comm || !*comm) return TACIT_OK;
    tacit_trigger_comm *c = *comm;
    const int mine = __atomic_load_n(&c->used, __ATOMIC_ACQUIRE);
    int used = mine > 0 ? c->rank : -1;
    if (!tct_trigger_failed(c)) {
        say_end(c, mine > 0);
        if (!await_end(c, &used)) note_in_world(c);
    } else {
        note_in_world(c);
    }
    if (used >= 0 || mine > 0)
        FAIL(TACIT_INVALID,
             "tacit_trigger_comm_free: rank %d has queues or requests of this "
             "communicator: free them first",
             mine > 0 ? c->rank : used);
    close_comm(comm);
    return TACIT_OK;
}

/* Have all ranks come to the end? Kernels of those that have not may write to
 * this GPU. */
static bool all_have_come(const tacit_trigger_comm *c)
{
    const uint64_t *ends = &board_of(c, c->rank)->words[c->ranks];
    for (int r = 0; r < c->ranks; r++)
        if (tct_signal_value(&ends[r]) < 2 * c->end_calls) return false;
    return true;
}

void tct_trigger_comm_leave(tacit_trigger_comm **comm)
{
    static const double CLOSE_SECONDS = 5.0;
    tacit_trigger_comm *c = *comm;
    if (!c) return;
    const bool failed = tct_trigger_failed(c);
    if (c->memory && !failed) say_end(c, false);
    const double start = tct_seconds();
    while (c->gpu && !failed && !all_have_come(c) &&
           tct_seconds() - start < CLOSE_SECONDS)
        sched_yield();
    if (c->gpu && (failed || !all_have_come(c))) c->gpu = NULL; /* left */
    close_comm(comm);
}

tacit_status tacit_trigger_comm_set_patience(tacit_trigger_comm *comm,
                                             double seconds)
{
    REQUIRE(comm != NULL);
    if (!isfinite(seconds) || seconds < 0.0)
        FAIL(TACIT_INVALID, "%s: seconds is %g: expected 0 or more, and finite",
             __func__, seconds);
    __atomic_store(&comm->limit, &seconds, __ATOMIC_RELAXED);
    return TACIT_OK;
}
