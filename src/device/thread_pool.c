/* SPDX-License-Identifier: BSD-3-Clause
 * device/thread_pool.c - a list of idle teams behind a lock. A team that is
 * short of threads is not kept, so that the next call asks the system again. */
#include "device/thread_pool.h"
#include <pthread.h>
#include <stdatomic.h>

enum { IDLE_MOST = 64 }; /* teams */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tct_team *idle[IDLE_MOST];
static int count;

/* --- forks and the end of the process ------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static tct_team *remove_at(int i)
{
    tct_team *t = idle[i];
    idle[i] = idle[--count];
    tct_team_keep(t, false);
    return t;
}

/* The code that the threads sleep in may be unloaded. */
__attribute__((destructor)) static void end_idle(void)
{
    if (pthread_mutex_trylock(&lock) != 0) return;
    while (count > 0) {
        tct_team *t = remove_at(count - 1);
        tct_team_destroy(&t);
    }
    pthread_mutex_unlock(&lock);
}

/* --- the list ------------------------------------------------------------- */

/* The smallest idle team of `least` to `most` threads, or NULL. */
static tct_team *find(int least, int most)
{
    int best = -1, best_size = 0;
    for (int i = 0; i < count; i++) {
        const int size = tct_team_size(idle[i]);
        if (size < least || size > most) continue;
        if (best >= 0 && size >= best_size) continue;
        best = i;
        best_size = size;
    }
    return best < 0 ? NULL : remove_at(best);
}

/* An idle team of `least` to `most` threads, or NULL; then one of the smaller
 * teams makes room for a new one. */
static tct_team *take_idle(int least, int most)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&lock);
    tct_team *found = find(least, most);
    tct_team *smaller = found ? NULL : find(1, least - 1);
    pthread_mutex_unlock(&lock);
    tct_team_destroy(&smaller);
    return found;
}

static bool keep(tct_team *team)
{
    pthread_mutex_lock(&lock);
    const bool kept = count < IDLE_MOST;
    if (kept) {
        tct_team_keep(team, true);
        idle[count++] = team;
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

/* --- teams ---------------------------------------------------------------- */

tacit_status tct_team_take(int threads, tct_team **out)
{
    tct_team *t = threads > 1 ? take_idle(threads, threads) : NULL;
    if (!t) TRY(tct_team_create(threads, &t));
    *out = t;
    return TACIT_OK;
}

static void tell(int wanted, int had)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&told)) return;
    tct_log(TCT_WARN,
            "set-up takes %d of %d threads: the system gives no more (limits "
            "of processes, ulimit -u, or of memory, ulimit -v)",
            had, wanted);
}

/* `*team` has `had` threads beside the caller's, all that the system gives. */
static void leave_half(tct_team **team, int had, int wanted)
{
    tct_team_end_threads(team);
    if (had >= 2 && tct_team_create(1 + had / 2, team) < 0) *team = NULL;
    tell(wanted, tct_team_size(*team));
}

tct_team *tct_team_take_any(int threads)
{
    if (threads > TCT_TEAM_MOST) threads = TCT_TEAM_MOST;
    tct_team *t = take_idle(threads, TCT_TEAM_MOST);
    if (t || tct_team_create(threads, &t) < 0) return t;
    const int size = tct_team_size(t);
    if (size < threads) leave_half(&t, size - 1, threads);
    return t;
}

void tct_team_give(tct_team **team)
{
    tct_team *t = *team;
    *team = NULL;
    if (t && tct_team_is_whole(t) && keep(t)) return;
    tct_team_destroy(&t);
}
