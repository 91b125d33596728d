/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/late.c - the host as an asynchronous stream: a thread of
 * its own runs operations and messages in order. Code that takes enqueued work
 * for finished then gives wrong numbers, or is found by ThreadSanitizer.
 * late(seed) varies the pauses.
 *
 * User functions are called by the thread that enqueued them, after all earlier
 * work, as on any device. */
#include "device/decorators.h"
#include <pthread.h>
#include <unistd.h>

enum { LINE_MOST = 256 };

typedef struct {
    tct_layer *self;
    tacit_queue *q;
    uint64_t seed;
    pthread_t thread;
    bool runs;   /* the thread exists */
    bool inside; /* in a user function: operations run at once */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ends;
    uint64_t in, out; /* operations: enqueued, done */
    tct_op line[LINE_MOST];
} late_state;

/* Wait until at most `left` operations are pending; holds the lock. */
static void wait_for(late_state *s, uint64_t left)
{
    while (s->in - s->out > left) pthread_cond_wait(&s->changed, &s->lock);
}

static void drain(late_state *s)
{
    pthread_mutex_lock(&s->lock);
    wait_for(s, 0);
    pthread_mutex_unlock(&s->lock);
}

/* One in 41 operations is delayed. */
static void delay(const late_state *s, uint64_t k)
{
    const uint64_t dice =
        tct_mix((s->seed + 1) * 1000003u + (uint64_t)s->q->rank * 7919u + k);
    if (dice % 41 == 0) usleep((useconds_t)((dice >> 32) % 80));
}

static void *run_line(void *arg)
{
    late_state *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->in == s->out && !s->ends)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->in == s->out) break;
        const tct_op op = s->line[s->out % LINE_MOST];
        pthread_mutex_unlock(&s->lock);
        delay(s, s->out);
        tct_below_submit(s->self, s->q, &op);
        pthread_mutex_lock(&s->lock);
        s->out++;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static tacit_status late_open(tct_layer *self, tacit_queue *q,
                              const char *argument)
{
    int64_t seed = 0;
    if (q->device != &tct_device_host)
        FAIL(TACIT_UNSUPPORTED, "late: only before host, not %s",
             q->device->name);
    if (q->ranks > 1 && !q->one_process)
        FAIL(TACIT_UNSUPPORTED,
             "late: for one rank, or ranks that are threads of a process: MPI "
             "would be called by two threads");
    if (*argument && (!tct_parse_int64(argument, &seed) || seed < 0))
        FAIL(TACIT_INVALID, "late(%s): expected late or late(seed)", argument);
    late_state *s = NULL;
    TRY(TCT_ALLOC(1, "late", &s));
    *s = (late_state){.self = self, .q = q, .seed = (uint64_t)seed};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    self->state = s;
    s->runs = pthread_create(&s->thread, NULL, run_line, s) == 0;
    if (!s->runs) FAIL(TACIT_NO_MEMORY, "late: there is no thread for it");
    return TACIT_OK;
}

static void late_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    late_state *s = self->state;
    if (op->code == TCT_CALL || s->inside) {
        const bool before = s->inside;
        drain(s);
        s->inside = true;
        tct_below_submit(self, q, op);
        s->inside = before;
        return;
    }
    pthread_mutex_lock(&s->lock);
    wait_for(s, LINE_MOST - 1);
    s->line[s->in++ % LINE_MOST] = *op;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void late_sync(tct_layer *self, tacit_queue *q)
{
    drain(self->state);
    tct_below_sync(self, q);
}

/* The next layer below with an allocator. */
static tct_layer *allocator(const tct_layer *self)
{
    tct_layer *at = self->below;
    while (!at->ops->alloc) at = at->below;
    return at;
}

static void *late_alloc(tct_layer *self, tacit_queue *q, size_t bytes)
{
    tct_layer *below = allocator(self);
    return below->ops->alloc(below, q, bytes);
}

static void late_free(tct_layer *self, tacit_queue *q, void *p)
{
    tct_layer *below = allocator(self);
    drain(self->state); /* it may still be used */
    below->ops->free(below, q, p);
}

static void late_close(tct_layer *self, tacit_queue *q)
{
    late_state *s = self->state;
    (void)q;
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->runs) pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    tct_free(s);
}

const tct_layer_ops tct_layer_late = {
    .about = {"late", "late[(seed)]: runs operations by a thread of its own, "
                      "as a stream does"},
    .open = late_open,
    .submit = late_submit,
    .sync = late_sync,
    .alloc = late_alloc,
    .free = late_free,
    .close = late_close,
};
