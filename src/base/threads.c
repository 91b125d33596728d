/* SPDX-License-Identifier: BSD-3-Clause
 * base/threads.c - how many threads OpenMP has for the thread that calls.
 *
 * OpenMP ends the process where the system refuses it a thread. So as many
 * threads are made first, together, and ended; then OpenMP makes its own at
 * once, and keeps them for this caller. */
#include "base/base.h"
#include "device/parallel.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST = 1024 }; /* as of a team */

/* --- how many there may be ------------------------------------------------ */

int tct_processors(void)
{
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* more than a set can hold */
}

int64_t tct_threads_wished(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    if (!text || !*text) return 0;
    char *end;
    const long n = strtol(text, &end, 10);
    const bool whole = *end == ',' || !end[strspn(end, " ")];
    return n > 0 && whole ? n : 0;
}

/* --- threads that are made to be counted ---------------------------------- */

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
} gate;

static void *wait_at(void *arg)
{
    gate *g = arg;
    pthread_mutex_lock(&g->lock);
    while (!g->open) pthread_cond_wait(&g->opened, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void open_gate(gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->opened);
    pthread_mutex_unlock(&g->lock);
}

long tct_tasks(void)
{
    struct stat all;
    return stat("/proc/self/task", &all) == 0 ? (long)all.st_nlink : 0;
}

void tct_wait_for_exits(long before)
{
    const struct timespec while_ = {.tv_nsec = 50000};
    for (int i = 0; i < 200 && tct_tasks() > before; i++)
        nanosleep(&while_, NULL);
}

size_t tct_stack_bytes(void)
{
    pthread_attr_t usual;
    size_t bytes = 0;
    pthread_attr_init(&usual);
    pthread_attr_getstacksize(&usual, &bytes);
    pthread_attr_destroy(&usual);
    return bytes;
}

int tct_threads_had(int count, size_t stack)
{
    gate g = {.open = false};
    pthread_t thread[MOST];
    pthread_attr_t how;
    sigset_t all, before;
    const long tasks_before = tct_tasks();
    int had = 0;
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.opened, NULL);
    pthread_attr_init(&how);
    if (stack > 0) pthread_attr_setstacksize(&how, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (had < count && had < MOST &&
           pthread_create(&thread[had], &how, wait_at, &g) == 0)
        had++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    open_gate(&g);
    for (int i = 0; i < had; i++) pthread_join(thread[i], NULL);
    tct_wait_for_exits(tasks_before);
    pthread_attr_destroy(&how);
    pthread_cond_destroy(&g.opened);
    pthread_mutex_destroy(&g.lock);
    return had;
}

/* --- OpenMP --------------------------------------------------------------- */

#ifdef _OPENMP
/* The value of OMP_STACKSIZE; 0: the usual one, as where it makes no sense. */
static size_t stack_of_openmp(void)
{
    static const char units[] = "bkmg";
    const char *text = getenv("OMP_STACKSIZE");
    char unit = 'k';
    unsigned long long size = 0;
    if (!text || sscanf(text, "%llu %c", &size, &unit) < 1) return 0;
    const char *at = strchr(units, unit | 0x20);
    if (!at || !*at || size >> 30) return 0;
    return (size_t)size << 10 * (at - units);
}

static void tell(int wanted, int had)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&told)) return;
    if (had == MOST)
        tct_log(TCT_WARN,
                "set-up takes %d threads of the %d that OpenMP would have", had,
                wanted);
    else
        tct_log(
            TCT_WARN,
            "set-up takes %d of %d threads: the system gives no more (limits "
            "of processes, ulimit -u, or of memory, ulimit -v)",
            had, wanted);
}

/* The threads that OpenMP keeps for one caller. They end when it has fewer for
 * a while, or is told to (omp_pause_resource), and when the caller ends. */
typedef struct {
    atomic_int alive;   /* threads, without the caller        */
    atomic_int holders; /* of this: the caller, these threads */
    int most;           /* threads, with the caller           */
} pool;

static pthread_key_t of_caller, of_thread;

static void let_go(void *arg)
{
    pool *p = arg;
    if (atomic_fetch_sub(&p->holders, 1) == 1) free(p);
}

static void end_thread(void *arg)
{
    pool *p = arg;
    atomic_fetch_sub(&p->alive, 1);
    let_go(p);
}

static void make_keys(void)
{
    pthread_key_create(&of_caller, let_go);
    pthread_key_create(&of_thread, end_thread);
}

/* The caller's; NULL: there is no memory. */
static pool *own_pool(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_keys);
    pool *p = pthread_getspecific(of_caller);
    if (p) return p;
    p = calloc(1, sizeof *p); /* it outlives the caller: none of ours */
    if (p) *p = (pool){.holders = 1, .most = MOST};
    pthread_setspecific(of_caller, p);
    return p;
}

static void join_pool(pool *p)
{
    if (!p || omp_get_thread_num() == 0 || pthread_getspecific(of_thread))
        return;
    atomic_fetch_add(&p->alive, 1);
    atomic_fetch_add(&p->holders, 1);
    pthread_setspecific(of_thread, p);
}

/* More threads for the pool, up to `wanted` with the caller. Where the system
 * refuses one, half of those it gives are left for other uses, and for memory,
 * for good. */
static void fill(pool *p, int wanted)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    const int kept = 1 + atomic_load(&p->alive);
    if (wanted <= kept) return;
    pthread_mutex_lock(&turn);
    const int given = tct_threads_had(wanted - kept, stack_of_openmp());
    if (given < wanted - kept) p->most = kept + given / 2;
    const int had = p->most < wanted ? p->most : wanted;
#pragma omp parallel num_threads(had)
    join_pool(p);
    pthread_mutex_unlock(&turn);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Of `wanted` threads, the caller among them, those that OpenMP can have. */
static int grant(int wanted)
{
    int had = least(wanted, MOST);
    if (had > 1 && !omp_in_parallel()) {
        pool *p = own_pool();
        if (p) fill(p, least(had, p->most));
        had = least(had, p ? p->most : 1);
    }
    if (had < wanted) tell(wanted, had);
    return had;
}

static _Thread_local int depth; /* blocks of TCT_THREADS_AT_MOST around */
#endif

int tct_limit_threads(int most)
{
#ifdef _OPENMP
    int now = omp_get_max_threads();
    if (now < 1) omp_set_num_threads(now = omp_get_num_procs());
    const int granted = grant(most > 0 && most < now ? most : now);
    depth++;
    if (granted == now) return 0;
    omp_set_num_threads(granted);
    return now;
#else
    (void)most;
    return 0;
#endif
}

void tct_unlimit(const int *before)
{
#ifdef _OPENMP
    depth--;
    if (*before <= 0) return;
    omp_set_num_threads(depth > 0 ? grant(*before) : *before);
#else
    (void)before;
#endif
}
