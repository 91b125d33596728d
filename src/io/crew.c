/* SPDX-License-Identifier: BSD-3-Clause
 * io/crew.c - threads wait on a condition variable and take pieces from a
 * counter. */
#include "io/crew.h"
#include "sparse/parallel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST = 256 };

typedef struct {
    tct_crew_work work;
    void *ctx;
    int count;
} job;

struct tct_crew {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    pthread_t thread[MOST];
    int threads;    /* without the caller */
    uint64_t round; /* number of jobs started */
    int busy;       /* threads in this round */
    bool quit;
    job later, now; /* pieces of this round: `later`, then `now` */
    job deferred;   /* until the next round; written by the caller only */
    atomic_int next;
};

static void take_pieces(tct_crew *t)
{
    for (;;) {
        const int k = atomic_fetch_add(&t->next, 1);
        const int own = k - t->later.count;
        if (own >= t->now.count) return;
        if (own < 0) t->later.work(t->later.ctx, k);
        else t->now.work(t->now.ctx, own);
    }
}

/* A late thread finds no pieces left. While it is counted in `busy`, `end` and
 * the next `begin` wait, so it reads the data of one round only. */
static void *serve(void *arg)
{
    tct_crew *t = arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->round == seen && !t->quit)
            pthread_cond_wait(&t->begun, &t->lock);
        if (t->quit) break;
        seen = t->round;
        t->busy++;
        pthread_mutex_unlock(&t->lock);
        take_pieces(t);
        pthread_mutex_lock(&t->lock);
        if (--t->busy == 0) pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static int threads_wanted(void)
{
#ifdef _OPENMP
    const int n = omp_get_max_threads();
    return n < MOST ? n : MOST;
#else
    return 1;
#endif
}

tacit_status tct_crew_create(tct_crew **out)
{
    tct_crew *t = tct_calloc(sizeof *t);
    if (!t) FAIL(TACIT_NO_MEMORY, "no memory for threads");
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begun, NULL);
    pthread_cond_init(&t->done, NULL);
    const int wanted = threads_wanted() - 1;
    int started = 0;
    while (started < wanted &&
           pthread_create(&t->thread[started], NULL, serve, t) == 0)
        started++;
    t->threads = started;
    *out = t;
    return TACIT_OK;
}

void tct_crew_destroy(tct_crew **out)
{
    tct_crew *t = *out;
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
    for (int k = 0; k < t->threads; k++) pthread_join(t->thread[k], NULL);
    pthread_cond_destroy(&t->begun);
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
    tct_free(t);
    *out = NULL;
}

void tct_crew_begin(tct_crew *t, int count, tct_crew_work work, void *ctx)
{
    pthread_mutex_lock(&t->lock);
    while (t->busy > 0) pthread_cond_wait(&t->done, &t->lock); /* stragglers */
    t->later = t->deferred;
    t->deferred.count = 0;
    t->now = (job){work, ctx, count};
    atomic_store(&t->next, 0);
    t->round++;
    if (count + t->later.count > 1) pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
}

void tct_crew_end(tct_crew *t)
{
    take_pieces(t);
    pthread_mutex_lock(&t->lock);
    while (t->busy > 0) pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void tct_crew_defer(tct_crew *t, int count, tct_crew_work work, void *ctx)
{
    t->deferred = (job){work, ctx, count};
}

void tct_crew_flush(tct_crew *t)
{
    if (t->deferred.count > 0) tct_crew_run(t, 0, NULL, NULL);
}
