/* SPDX-License-Identifier: BSD-3-Clause
 * device/team.c - a round is one loop. The caller writes the job down, raises
 * the number of the round, takes part, and waits until no item is left.
 *
 * Items are taken by raising the count of their part, which carries the number
 * of the round: who comes late, with the job of a round that is over, finds
 * nothing to take, so nobody waits for him. While a job is written down the
 * number is odd; a job that was read meanwhile is read again. */
#include "device/team.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

enum {
    LINE = 64,         /* bytes of a cache line                       */
    COUNT_BITS = 16,   /* of `taken`; the others are the round        */
    TAKES = 1 << 15,   /* a part is taken in at most so many pieces   */
    AT_ONCE = 8,       /* pieces that are taken together              */
    STRETCH = 1 << 15, /* items of a stretch                          */
    PIECES = 128,      /* of a range that is a thread's own           */
    LOOKS = 32         /* turns of a waiting loop between two looks at
                          the clock                                   */
};

/* Seconds. To call a thread that sleeps takes some 10 us; who has lost the
 * processor has it back after 3 ms and more. */
static const double MAKE_WAY = 20e-6;  /* without work: let others run   */
static const double SLEEP = 200e-6;    /* without work: sleep            */
static const double TIMEOUT = 100e-6;  /* the caller: sleep              */
static const double REST = 0.5e-3;     /* of a thread in the way: least, */
static const double REST_IDLE = 16e-3; /* most if it had no work,        */
static const double REST_MOST = 1.0;   /* and most                       */
static const double START = 2e-3;      /* to find a processor each       */
static const double GRACE = 0.5;       /* of the time of an own part     */

typedef struct {
    uint64_t round;
    int parts;
    bool waits;           /* for who is late with a part           */
    int64_t count, piece; /* items, and how many are taken at once */
    tct_stretch_fn fn;
    void *work;
} job;

/* A job whose function takes one item at a time. */
typedef struct {
    tct_item_fn fn;
    void *work;
} item_job;

typedef struct {
    /* pieces of this part that are taken, behind the number of the round */
    _Alignas(LINE) atomic_uint_fast64_t taken;
    atomic_uint_fast64_t answered; /* the last round that it knows of */
    _Alignas(LINE) atomic_bool asleep;
    tct_team *team;
    int number;
    long switches;       /* how often others got its processor */
    double rest, rested; /* how long, until when */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t called;
} seat;

struct tct_team {
    _Alignas(LINE) atomic_uint_fast64_t round;
    atomic_int parts; /* the job */
    atomic_bool waits;
    atomic_int_fast64_t count, piece;
    _Atomic(tct_stretch_fn) fn;
    _Atomic(void *) work;
    atomic_bool quit;
    _Alignas(LINE) atomic_int_fast64_t left; /* items that are not done */
    _Atomic double since; /* when the caller fell asleep, 0 if it did not */
    _Alignas(LINE) int size;
    int wanted;
    bool running;   /* a round has begun: the caller's                  */
    int forks;      /* of this process before it was created            */
    job begun;      /* between tct_team_begin and tct_team_end          */
    item_job items; /* its function, if it takes one item at a time     */
    atomic_int_fast64_t *limit; /* [size + 1] first item of each part */
    pthread_mutex_t lock;
    pthread_cond_t done;
    seat seat[];
};

/* --- the items ------------------------------------------------------------ */

/* Take the next items [*from, *to) of part `p`, half of what is left but not
 * many; false if none is left. */
static bool take(tct_team *t, const job *j, int p, int64_t *from, int64_t *to)
{
    const uint64_t none = j->round << COUNT_BITS;
    uint64_t now = atomic_load(&t->seat[p].taken), next;
    const int64_t first = atomic_load(&t->limit[p]);
    const int64_t last = atomic_load(&t->limit[p + 1]);
    const int64_t pieces = (last - first + j->piece - 1) / j->piece;
    int64_t n, m;
    if (atomic_load(&t->round) != j->round) return false;
    do {
        if (now > none + TAKES) return false; /* this round is over */
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

static bool is_over(const tct_team *t, const job *j)
{
    return atomic_load(&t->left) == 0 || atomic_load(&t->round) != j->round;
}

/* Who helps with another part takes its data out of another processor's cache,
 * which costs more than to wait for a little: for GRACE of the time since
 * `start`, that of the own part. */
static void give_time(const tct_team *t, const job *j, double start)
{
    const double now = tct_seconds(), end = now + GRACE * (now - start);
    while (!is_over(t, j)) {
        for (int n = 0; n < LOOKS && !is_over(t, j); n++) tct_relax();
        if (tct_seconds() > end) return;
    }
}

/* Do what is left of part `own`, then of the others. Since when has the caller
 * been waiting for this thread? 0: it was not. */
static double take_part(tct_team *t, const job *j, int own)
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
static bool was_displaced(seat *s)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
    const bool more = usage.ru_nivcsw != s->switches;
    s->switches = usage.ru_nivcsw;
    return more;
}

/* Sleep, for nobody to call. */
static void rest(seat *s, double seconds)
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
static void sleep_until_called(seat *s, uint64_t seen)
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
static bool read_job(tct_team *t, uint64_t seen, job *j)
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
static void withdraw(seat *s, double least, double most)
{
    const bool again = tct_seconds() - s->rested < 20.0 * s->rest;
    s->rest = again && 2.0 * s->rest > least ? 2.0 * s->rest : least;
    if (s->rest > most) s->rest = most;
    rest(s, s->rest);
    s->rested = tct_seconds();
}

/* Wait for a job that this thread is to take part in; false at the end. */
static bool await(seat *s, job *j)
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
        if (n % LOOKS) continue;
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
static void make_up(seat *s, double since)
{
    if (since == 0.0 || !was_displaced(s)) return;
    const double lost = TIMEOUT + tct_seconds() - since;
    const double most = 4.0 * lost * s->team->size;
    withdraw(s, lost, most < REST_MOST ? most : REST_MOST);
}

static void *serve(void *arg)
{
    seat *s = arg;
    job j = {.round = 0};
    was_displaced(s);
    while (await(s, &j)) make_up(s, take_part(s->team, &j, s->number));
    return NULL;
}

/* --- the caller ----------------------------------------------------------- */

/* In the order of the text. */
#define PUT(to, value) atomic_store_explicit(to, value, memory_order_release)

static void publish(tct_team *t, const job *j, const int64_t *split)
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
        seat *s = &t->seat[p];
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
        if (n % LOOKS) continue;
        const double now = tct_seconds();
        if (end == 0.0) end = now + TIMEOUT;
        if (now < end) continue;
        pthread_mutex_lock(&t->lock);
        atomic_store(&t->since, now);
        while (atomic_load(&t->left) > 0) pthread_cond_wait(&t->done, &t->lock);
        atomic_store(&t->since, 0.0);
        pthread_mutex_unlock(&t->lock);
    }
}

static void begin(tct_team *team, job *j, const int64_t *split)
{
    team->running = true;
    j->round = atomic_load(&team->round) + 2;
    publish(team, j, split);
}

static void end(tct_team *team, const job *j)
{
    take_part(team, j, 0);
    wait_for_the_others(team);
    team->running = false;
}

static void run_items(void *work, int64_t from, int64_t to)
{
    const item_job *each = work;
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
    item_job each = {fn, work};
    if (threads <= 1) {
        run_items(&each, 0, count);
        return;
    }
    job j = {.parts = threads,
             .waits = true,
             .count = count,
             .piece = count / TAKES + 1,
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
    job j = {.parts = threads,
             .waits = true,
             .count = count,
             .piece = count / ((int64_t)threads * PIECES) + 1,
             .fn = fn,
             .work = work};
    begin(team, &j, NULL);
    end(team, &j);
}

static job one_call_each(int threads, item_job *each)
{
    return (job){.parts = threads,
                 .count = threads,
                 .piece = 1,
                 .fn = run_items,
                 .work = each};
}

void tct_team_each(tct_team *team, tct_item_fn fn, void *work)
{
    const int threads = free_threads(team);
    item_job each = {fn, work};
    job j = one_call_each(threads, &each);
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
    team->items = (item_job){fn, work};
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
        for (int n = 0; n < 100 * LOOKS && !all_answered(team); n++)
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
static bool start(seat *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int status = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status == 0;
}

static void open_seat(tct_team *t, int number)
{
    seat *s = &t->seat[number];
    pthread_condattr_t clock;
    s->team = t;
    s->number = number;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->called, &clock);
    pthread_condattr_destroy(&clock);
}

static void close_seat(seat *s)
{
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->called);
}

tacit_status tct_team_create(int threads, tct_team **out)
{
    REQUIRE(threads >= 1 && threads <= TCT_TEAM_MOST);
    tct_team *t = tct_calloc(sizeof *t + (size_t)threads * sizeof(seat));
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
        seat *s = &t->seat[p];
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
