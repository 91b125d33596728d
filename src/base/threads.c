/* SPDX-License-Identifier: BSD-3-Clause
 * base/threads.c - how many threads this process may have: by its processors,
 * by OMP_NUM_THREADS, and by trial, for libraries that end the process where
 * the system refuses them a thread. */
#include "base/base.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
