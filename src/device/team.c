/* SPDX-License-Identifier: BSD-3-Clause
 * device/team.c - a round is one loop. The caller writes the job down, raises
 * the number of the round, takes part, and waits until no item is left.
 *
 * Items are taken by raising the count of their part, which carries the number
 * of the round: who comes late, with the job of a round that is over, finds
 * nothing to take, so nobody waits for him. While a job is written down the
 * number is odd; a job that was read meanwhile is read again. */
#include "device/team_state.h"
#include <signal.h>
#include <time.h>

enum {
    STRETCH = 1 << 15, /* items of a stretch                          */
    PIECES = 128       /* of a range that is a thread's own           */
};
static const double START = 2e-3; /* seconds to find a processor each */

/* --- the caller ----------------------------------------------------------- */

/* In the order of the text. */
#define PUT(to, value) atomic_store_explicit(to, value, memory_order_release)

static void publish(tct_team *t, const tct_team_job *j, const int64_t *split)
{
    PUT(&t->round, j->round - 1);
    PUT(&t->left, j->count);
    PUT(&t->parts, j->parts);
    PUT(&t->waits, j->waits);
    PUT(&t->count, j->count);
    PUT(&t->piece, j->piece);
    PUT(&t->fn, j->fn);
    PUT(&t->work, j->work);
    for (int p = 0; p <= j->parts; p++)
        PUT(&t->limit[p], split ? split[p] : j->count * p / j->parts);
    atomic_store(&t->round, j->round);
    for (int p = 1; p < j->parts; p++) {
        tct_team_seat *s = &t->seat[p];
        if (!atomic_load(&s->asleep)) continue;
        pthread_mutex_lock(&s->lock);
        pthread_cond_signal(&s->called);
        pthread_mutex_unlock(&s->lock);
    }
}

static void wait_for_the_others(tct_team *t)
{
    double end = 0.0;
    for (int n = 1; atomic_load(&t->left) > 0; n++) {
        tct_relax();
        if (n % TCT_TEAM_SPINS) continue;
        const double now = tct_seconds();
        if (end == 0.0) end = now + TCT_TEAM_TIMEOUT;
        if (now < end) continue;
        pthread_mutex_lock(&t->lock);
        atomic_store(&t->since, now);
        while (atomic_load(&t->left) > 0) pthread_cond_wait(&t->done, &t->lock);
        atomic_store(&t->since, 0.0);
        pthread_mutex_unlock(&t->lock);
    }
}

static void begin(tct_team *team, tct_team_job *j, const int64_t *split)
{
    team->running = true;
    j->round = atomic_load(&team->round) + 2;
    publish(team, j, split);
}

static void end(tct_team *team, const tct_team_job *j)
{
    tct_team_take_part(team, j, 0);
    wait_for_the_others(team);
    team->running = false;
}

static void run_items(void *work, int64_t from, int64_t to)
{
    const tct_item_job *each = work;
    for (int64_t k = from; k < to; k++) each->fn(each->work, k);
}

/* Threads that can take part in a round that begins now. */
static int free_threads(const tct_team *team)
{
    return team && !team->running ? tct_team_size(team) : 1;
}

void tct_team_run(tct_team *team, int threads, int64_t count,
                  const int64_t *split, tct_item_fn fn, void *work)
{
    const int most = free_threads(team);
    const bool by_split = split && threads <= most;
    if (threads > most) threads = most;
    if (!by_split && threads > count) threads = (int)count;
    tct_item_job each = {fn, work};
    if (threads <= 1) {
        run_items(&each, 0, count);
        return;
    }
    tct_team_job j = {.parts = threads,
                      .waits = true,
                      .count = count,
                      .piece = count / TCT_TEAM_TAKES + 1,
                      .fn = run_items,
                      .work = &each};
    begin(team, &j, by_split ? split : NULL);
    end(team, &j);
}

void tct_team_range(tct_team *team, int threads, int64_t count,
                    tct_stretch_fn fn, void *work)
{
    const int most = free_threads(team);
    if (threads > most) threads = most;
    if (threads > count) threads = (int)count;
    if (threads <= 1) {
        if (count > 0) fn(work, 0, count);
        return;
    }
    tct_team_job j = {.parts = threads,
                      .waits = true,
                      .count = count,
                      .piece = count / ((int64_t)threads * PIECES) + 1,
                      .fn = fn,
                      .work = work};
    begin(team, &j, NULL);
    end(team, &j);
}

static tct_team_job one_call_each(int threads, tct_item_job *each)
{
    return (tct_team_job){.parts = threads,
                          .count = threads,
                          .piece = 1,
                          .fn = run_items,
                          .work = each};
}

void tct_team_each(tct_team *team, tct_item_fn fn, void *work)
{
    const int threads = free_threads(team);
    tct_item_job each = {fn, work};
    tct_team_job j = one_call_each(threads, &each);
    if (threads > 1) {
        begin(team, &j, NULL);
        end(team, &j);
    } else fn(work, 0);
}

bool tct_team_begin(tct_team *team, int threads, tct_item_fn fn, void *work)
{
    const int most = free_threads(team);
    if (threads > most) threads = most;
    if (threads <= 1) return false;
    team->items = (tct_item_job){fn, work};
    team->begun = one_call_each(threads, &team->items);
    begin(team, &team->begun, NULL);
    return true;
}

void tct_team_end(tct_team *team)
{
    end(team, &team->begun);
}

typedef struct {
    int64_t count;
    tct_stretch_fn fn;
    void *work;
} stretches;

static void run_stretch(void *work, int64_t k)
{
    const stretches *s = work;
    const int64_t from = k * STRETCH, left = s->count - from;
    s->fn(s->work, from, left < STRETCH ? s->count : from + STRETCH);
}

void tct_team_stretches(tct_team *team, int64_t count, tct_stretch_fn fn,
                        void *work)
{
    stretches s = {count, fn, work};
    tct_team_run(team, tct_team_size(team), (count + STRETCH - 1) / STRETCH,
                 NULL, run_stretch, &s);
}

static void do_nothing(void *work, int64_t k)
{
    (void)work;
    (void)k;
}

static bool all_answered(const tct_team *t)
{
    const uint64_t round = atomic_load(&t->round);
    for (int p = 1; p < t->size; p++)
        if (atomic_load(&t->seat[p].answered) != round) return false;
    return true;
}

void tct_team_assemble(tct_team *team, double seconds)
{
    if (tct_team_size(team) == 1) return;
    const double until = tct_seconds() + seconds;
    for (;;) {
        tct_team_run(team, team->size, team->size, NULL, do_nothing, NULL);
        for (int n = 0; n < 100 * TCT_TEAM_SPINS && !all_answered(team); n++)
            tct_relax();
        if (all_answered(team) || tct_seconds() > until) return;
        /* there may be some that wait for this processor */
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

/* --- creation ------------------------------------------------------------- */

/* A child that a process forks has its teams, but not their threads. */
static atomic_int forks;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

static bool has_threads(const tct_team *t)
{
    return t->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

int tct_team_size(const tct_team *team)
{
    return team && has_threads(team) ? team->size : 1;
}

bool tct_team_is_whole(const tct_team *team)
{
    const int size = tct_team_size(team);
    return size > 1 && size == team->wanted;
}

/* Signals are for the threads of the program. */
static bool start(tct_team_seat *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int status = pthread_create(&s->thread, NULL, tct_team_serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status == 0;
}

static void open_seat(tct_team *t, int number)
{
    tct_team_seat *s = &t->seat[number];
    pthread_condattr_t clock;
    s->team = t;
    s->number = number;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->called, &clock);
    pthread_condattr_destroy(&clock);
}

static void close_seat(tct_team_seat *s)
{
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->called);
}

tacit_status tct_team_create(int threads, tct_team **out)
{
    ENSURE(threads >= 1 && threads <= TCT_TEAM_MOST);
    tct_team *t =
        tct_calloc(sizeof *t + (size_t)threads * sizeof(tct_team_seat));
    if (!t) FAIL(TACIT_NO_MEMORY, "no memory for %d threads", threads);
    t->limit = tct_calloc((size_t)(threads + 1) * sizeof *t->limit);
    if (!t->limit) {
        tct_free(t);
        FAIL(TACIT_NO_MEMORY, "no memory for %d threads", threads);
    }
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_once(&watched, watch_forks);
    t->forks = atomic_load(&forks);
    t->wanted = threads;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->done, NULL);
    for (t->size = 0; t->size < threads; t->size++) {
        open_seat(t, t->size);
        if (t->size == 0 || start(&t->seat[t->size])) continue;
        close_seat(&t->seat[t->size]);
        break;
    }
    tct_team_assemble(t, START); /* each finds a processor of its own */
    *out = t;
    return TACIT_OK;
}

static void end_threads(tct_team *t)
{
    atomic_store(&t->quit, true);
    for (int p = 0; p < t->size; p++) {
        tct_team_seat *s = &t->seat[p];
        pthread_mutex_lock(&s->lock);
        pthread_cond_signal(&s->called);
        pthread_mutex_unlock(&s->lock);
        if (p > 0) pthread_join(s->thread, NULL);
        close_seat(s);
    }
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
}

void tct_team_destroy(tct_team **team)
{
    tct_team *t = *team;
    if (!t) return;
    if (has_threads(t)) end_threads(t);
    tct_free(t->limit);
    tct_free(t);
    *team = NULL;
}

void tct_team_keep(tct_team *team, bool kept)
{
    tct_memory_keep(team, kept);
    tct_memory_keep(team->limit, kept);
}

void tct_team_end_threads(tct_team **team)
{
    const long before = tct_tasks();
    const int others = tct_team_size(*team) - 1;
    tct_team_destroy(team);
    tct_wait_for_exits(before - others);
}
