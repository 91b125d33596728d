/* SPDX-License-Identifier: BSD-3-Clause
 * device/team_thread.c - a thread of a team: it takes the items of a round, and
 * spins, yields or sleeps until the next one. */
#include "device/team_state.h"
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

enum {
    COUNT_BITS = 16, /* of `taken`; the others are the round */
    AT_ONCE = 8      /* pieces that are taken together       */
};

/* Seconds. To call a thread that sleeps takes some 10 us; who has lost the
 * processor has it back after 3 ms and more. */
static const double MAKE_WAY = 20e-6;  /* without work: let others run   */
static const double SLEEP = 200e-6;    /* without work: sleep            */
static const double REST = 0.5e-3;     /* of a thread in the way: least, */
static const double REST_IDLE = 16e-3; /* most if it had no work,        */
static const double REST_MOST = 1.0;   /* and most                       */
static const double GRACE = 0.5;       /* of the time of an own part     */

/* --- the items ------------------------------------------------------------ */

/* Take the next items [*from, *to) of part `p`, half of what is left but not
 * many; false if none is left. */
static bool take(tct_team *t, const tct_team_job *j, int p, int64_t *from,
                 int64_t *to)
{
    const uint64_t none = j->round << COUNT_BITS;
    uint64_t now = atomic_load(&t->seat[p].taken), next;
    const int64_t first = atomic_load(&t->limit[p]);
    const int64_t last = atomic_load(&t->limit[p + 1]);
    const int64_t pieces = (last - first + j->piece - 1) / j->piece;
    int64_t n, m;
    if (atomic_load(&t->round) != j->round) return false;
    do {
        if (now > none + TCT_TEAM_TAKES) return false; /* this round is over */
        n = now > none ? (int64_t)(now - none) : 0;
        if (n >= pieces) return false;
        m = (pieces - n + 1) / 2;
        m = n + (m < AT_ONCE ? m : AT_ONCE);
        next = none + (uint64_t)m;
    } while (!atomic_compare_exchange_weak(&t->seat[p].taken, &now, next));
    *from = first + n * j->piece;
    *to = m < pieces ? first + m * j->piece : last;
    return true;
}

/* `items` more are done: if they are the last and the caller sleeps, wake it.
 * Since when has it slept? 0: it does not. */
static double report(tct_team *t, int64_t items)
{
    const double since = atomic_load(&t->since);
    if (atomic_fetch_sub(&t->left, items) != items) return since;
    if (atomic_load(&t->since) == 0.0) return 0.0;
    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->done);
    pthread_mutex_unlock(&t->lock);
    return since;
}

static bool is_over(const tct_team *t, const tct_team_job *j)
{
    return atomic_load(&t->left) == 0 || atomic_load(&t->round) != j->round;
}

/* A helper with another part takes its data out of another processor's cache,
 * which costs more than to wait for a little: for GRACE of the time since
 * `start`, that of the own part. */
static void give_time(const tct_team *t, const tct_team_job *j, double start)
{
    const double now = tct_seconds(), end = now + GRACE * (now - start);
    while (!is_over(t, j)) {
        for (int n = 0; n < TCT_TEAM_SPINS && !is_over(t, j); n++) tct_relax();
        if (tct_seconds() > end) return;
    }
}

double tct_team_take_part(tct_team *t, const tct_team_job *j, int own)
{
    const double start = tct_seconds();
    double since = 0.0;
    int64_t from, to;
    for (int i = 0; i < j->parts; i++) {
        const int p = own + i < j->parts ? own + i : own + i - j->parts;
        int64_t items = 0;
        if (i > 0 && is_over(t, j)) break;
        for (; take(t, j, p, &from, &to); items += to - from)
            j->fn(j->work, from, to);
        if (items > 0) since = report(t, items);
        if (i == 0 && j->waits) give_time(t, j, start);
    }
    return since;
}

/* --- a thread ------------------------------------------------------------- */

/* Has another program had this thread's processor since this was last asked? */
static bool was_displaced(tct_team_seat *s)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
    const bool more = usage.ru_nivcsw != s->switches;
    s->switches = usage.ru_nivcsw;
    return more;
}

/* Sleep, for nobody to call. */
static void rest(tct_team_seat *s, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double end = (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec += (time_t)end;
    until.tv_nsec = (long)((end - (double)(time_t)end) * 1e9);
    int status = 0;
    pthread_mutex_lock(&s->lock);
    while (status == 0 && !atomic_load(&s->team->quit))
        status = pthread_cond_timedwait(&s->called, &s->lock, &until);
    pthread_mutex_unlock(&s->lock);
}

/* Sleep until there is another round than `seen`. */
static void sleep_until_called(tct_team_seat *s, uint64_t seen)
{
    tct_team *t = s->team;
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->asleep, true);
    while (atomic_load(&t->round) == seen && !atomic_load(&t->quit))
        pthread_cond_wait(&s->called, &s->lock);
    atomic_store(&s->asleep, false);
    pthread_mutex_unlock(&s->lock);
}

/* The job of a round after `seen`; false if there is none yet. */
static bool read_job(tct_team *t, uint64_t seen, tct_team_job *j)
{
    j->round = atomic_load(&t->round);
    if (j->round == seen || j->round % 2 == 1) return false;
    j->parts = atomic_load(&t->parts);
    j->waits = atomic_load(&t->waits);
    j->count = atomic_load(&t->count);
    j->fn = atomic_load(&t->fn);
    j->work = atomic_load(&t->work);
    j->piece = atomic_load(&t->piece);
    return atomic_load(&t->round) == j->round;
}

/* Others want the processor of this thread. It rests from `least` to `most`
 * seconds, twice as long as the last time if that was not long ago. */
static void withdraw(tct_team_seat *s, double least, double most)
{
    const bool again = tct_seconds() - s->rested < 20.0 * s->rest;
    s->rest = again && 2.0 * s->rest > least ? 2.0 * s->rest : least;
    if (s->rest > most) s->rest = most;
    rest(s, s->rest);
    s->rested = tct_seconds();
}

/* Wait for a job that this thread is to take part in; false at the end. */
static bool await(tct_team_seat *s, tct_team_job *j)
{
    tct_team *t = s->team;
    uint64_t seen = j->round;
    double start = tct_seconds();
    bool yields = false;
    for (int64_t n = 1; !atomic_load(&t->quit); n++) {
        if (read_job(t, seen, j)) {
            atomic_store_explicit(&s->answered, j->round, memory_order_relaxed);
            if (s->number < j->parts) return true;
            seen = j->round;
        }
        tct_relax();
        if (n % TCT_TEAM_SPINS) continue;
        const double waited = tct_seconds() - start;
        if (waited > MAKE_WAY) {
            if (!yields) was_displaced(s); /* while it worked */
            yields = true;
            sched_yield();
            if (was_displaced(s)) withdraw(s, REST, REST_IDLE);
        }
        if (waited <= SLEEP) continue;
        sleep_until_called(s, seen);
        start = tct_seconds();
        yields = false;
    }
    return false;
}

/* The caller has slept since `since`, waiting for this thread, which had lost
 * its processor. If that goes on, all such waits together are to take a fifth
 * of the time. */
static void make_up(tct_team_seat *s, double since)
{
    if (since == 0.0 || !was_displaced(s)) return;
    const double lost = TCT_TEAM_TIMEOUT + tct_seconds() - since;
    const double most = 4.0 * lost * s->team->size;
    withdraw(s, lost, most < REST_MOST ? most : REST_MOST);
}

void *tct_team_serve(void *arg)
{
    tct_team_seat *s = arg;
    tct_team_job j = {.round = 0};
    was_displaced(s);
    while (await(s, &j)) make_up(s, tct_team_take_part(s->team, &j, s->number));
    return NULL;
}
