/* SPDX-License-Identifier: BSD-3-Clause
 * tests/twin.h - the host as a device that runs behind the CPU, as a GPU does:
 * samples are read late, recordings are replayed, and a kernel of threads stays
 * for many iterations. Loops are so tested without a GPU, on several ranks,
 * too. */
#ifndef TESTS_TWIN_H
#define TESTS_TWIN_H
#include "comm/exchange/plan.h"
#include "device/queue.h"
#include "mpi_main.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TWIN_SAMPLES = 4096, TWIN_LAG = 3, TWIN_AHEAD = 8 };

typedef struct {
    tct_op *ops;
    size_t count;
    int looks;
} twin_recording;

/* The state of a queue that open_twin has opened. */
typedef struct {
    tct_device_ops device;
    tct_link link; /* the queue's, as a device starts it */
    tct_layer *layer;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    tct_sample box[TWIN_SAMPLES];
    int made, taken, replays;
    twin_recording *recording, *playing;
    int64_t due;
    int running;  /* threads of the kernel */
    bool end;     /* the kernel is asked to end */
    double flags; /* of this rank, for the kernel's next sum */
} twin;

/* Of the queue of this rank's test. */
static _Thread_local twin twin_here;

/* --- samples -------------------------------------------------------------- */

static inline void twin_post(twin *t, tct_sample sample)
{
    pthread_mutex_lock(&t->lock);
    if (t->made - t->taken >= TWIN_SAMPLES) abort();
    t->box[t->made++ % TWIN_SAMPLES] = sample;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* --- messages ------------------------------------------------------------- */

/* The functions of a launcher are those of a GPU: the twin has none, and makes
 * the messages of an operation by its link. */
static const tct_launcher twin_launcher = {0};

static inline void twin_exchange_begin(tacit_queue *q, const tct_op *op)
{
    tct_op pack = *op;
    pack.code = TCT_PACK;
    pack.n = (size_t)op->exchange->values;
    pack.v[0] = tct_buffers_of(q, op->exchange)->pack;
    if (pack.n > 0 && q->failed == TACIT_OK) tct_device_host.run(q, &pack);
    q->link->exchange_begin(q, op);
}

static inline void twin_exchange_end(tacit_queue *q, const tct_op *op)
{
    tct_op unpack = *op;
    unpack.code = TCT_UNPACK;
    unpack.n = (size_t)op->exchange->ghosts;
    unpack.v[0] = tct_landing(q, op->exchange, op->x.columns);
    q->link->exchange_end(q, op);
    if (unpack.v[0] != op->exchange->ghost && q->failed == TACIT_OK)
        tct_device_host.run(q, &unpack);
}

static inline void twin_message(tacit_queue *q, const tct_op *op)
{
    if (op->code == TCT_EXCHANGE_BEGIN) twin_exchange_begin(q, op);
    if (op->code == TCT_EXCHANGE_END) twin_exchange_end(q, op);
    if (op->code != TCT_SUM_END) return;
    q->link->sum_begin(q, op);
    q->link->sum_end(q, op);
}

/* --- operations -------------------------------------------------------------- */

static inline void twin_run(tacit_queue *q, const tct_op *op)
{
    const double *c = op->out;
    if (op->code == TCT_SUM_END || op->code == TCT_EXCHANGE_BEGIN ||
        op->code == TCT_EXCHANGE_END) {
        twin_message(q, op);
        return;
    }
    if (op->code != TCT_SAMPLE) {
        tct_device_host.run(q, op);
        return;
    }
    twin_post(&twin_here, (tct_sample){.rr = c[C_RR],
                                       .bad = c[C_BAD],
                                       .bad_value = c[C_BAD_VALUE],
                                       .updates = c[C_UPDATES],
                                       .alpha = c[C_ALPHA],
                                       .beta = c[C_BETA]});
}

/* Two recordings are under way, as long as some are due. */
static inline void twin_play(tacit_queue *q)
{
    twin *t = &twin_here;
    const twin_recording *r = t->playing;
    while (r && t->due >= r->looks && t->made - t->taken <= r->looks &&
           !q->peers_know) {
        for (size_t i = 0; i < r->count; i++)
            tct_below_submit(t->layer, q, &r->ops[i]);
        t->due -= r->looks;
        t->replays++;
    }
}

static inline bool twin_sampled(tacit_queue *q, tct_sample *out)
{
    twin *t = &twin_here;
    twin_play(q);
    pthread_mutex_lock(&t->lock);
    while (t->taken == t->made && t->running > 0)
        pthread_cond_wait(&t->changed, &t->lock);
    const bool found = t->taken < t->made;
    if (found) *out = t->box[t->taken++ % TWIN_SAMPLES];
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return found;
}

static inline int twin_lag(tacit_queue *q, size_t n)
{
    (void)q;
    (void)n;
    return TWIN_LAG;
}

/* --- recordings ----------------------------------------------------------- */

static inline void twin_submit(tct_layer *self, tacit_queue *q,
                               const tct_op *op)
{
    twin_recording *r = twin_here.recording;
    const bool is_record =
        op->code >= TCT_RECORD_BEGIN && op->code <= TCT_REPLAYED;
    if (!r || is_record) {
        tct_below_submit(self, q, op);
        return;
    }
    r->ops = (tct_op *)realloc(r->ops, (r->count + 1) * sizeof *r->ops);
    assert_non_null(r->ops);
    r->ops[r->count++] = *op;
}

static const tct_layer_ops twin_layer = {.about = {.name = "twin"},
                                         .submit = twin_submit};

static inline void twin_record_begin(tacit_queue *q)
{
    (void)q;
    twin_here.recording = (twin_recording *)calloc(1, sizeof(twin_recording));
    assert_non_null(twin_here.recording);
}

static inline void twin_forget(tacit_queue *q, void *made)
{
    (void)q;
    twin_recording *r = (twin_recording *)made;
    if (!r) return;
    if (twin_here.playing == r) twin_here.playing = NULL;
    free(r->ops);
    free(r);
}

/* A failed queue has no recording. */
static inline void *twin_record_end(tacit_queue *q, int looks, const double *c)
{
    twin_recording *r = twin_here.recording;
    (void)c;
    twin_here.recording = NULL;
    if (r) r->looks = looks;
    if (q->failed == TACIT_OK) return r;
    twin_forget(q, r);
    return NULL;
}

static inline void twin_replay(tacit_queue *q, void *made, int64_t looks)
{
    twin_here.playing = looks > 0 ? (twin_recording *)made : NULL;
    twin_here.due = looks;
    twin_play(q);
}

static inline void twin_about(const void *made, char *text, size_t size)
{
    snprintf(text, size, "%d looks", ((const twin_recording *)made)->looks);
}

/* --- kernels -------------------------------------------------------------- */

static inline void twin_tell(tacit_queue *q, double flags)
{
    twin *t = &twin_here;
    (void)q;
    pthread_mutex_lock(&t->lock);
    t->flags = flags;
    pthread_mutex_unlock(&t->lock);
}

static inline void twin_kernel_end(tacit_queue *q)
{
    twin *t = &twin_here;
    (void)q;
    pthread_mutex_lock(&t->lock);
    t->end = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static inline void twin_kernel_over(tacit_queue *q)
{
    (void)q;
}

static inline void twin_kernel_late(tacit_queue *q)
{
    q_fail(q, TACIT_DEVICE, "a block did not come to its barrier");
}

static const tct_persistent_ops twin_kernels = {.samples = 64,
                                                .end = twin_kernel_end,
                                                .over = twin_kernel_over,
                                                .late = twin_kernel_late};

/* By a thread of the kernel: let it be TWIN_AHEAD samples before the CPU, so
 * that a test knows when it ends. */
static inline void twin_wait_for_cpu(twin *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->made - t->taken >= TWIN_AHEAD && !t->end)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* A thread of the kernel has ended. */
static inline void twin_leave(twin *t)
{
    pthread_mutex_lock(&t->lock);
    t->running--;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Make `q`, on the host, a twin of a GPU; one queue a rank at a time. With
 * several ranks it has its operators already, whose messages are packed. */
static inline void open_twin(tacit_queue *q)
{
    twin *t = &twin_here;
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->device = tct_device_host;
    t->device.run = twin_run;
    t->device.seen = twin_sampled;
    t->device.lag = twin_lag;
    t->device.tell = twin_tell;
    t->device.record_begin = twin_record_begin;
    t->device.record_end = twin_record_end;
    t->device.replay = twin_replay;
    t->device.record_about = twin_about;
    t->device.record_free = twin_forget;
    t->device.persistent = &twin_kernels;
    q->device = &t->device;
    assert_int_equal(TCT_ALLOC(1, "a twin", &t->layer), TACIT_OK);
    *t->layer = (tct_layer){.ops = &twin_layer, .below = q->top};
    q->top = t->layer;
    if (q->ranks == 1) return;
    t->link = *q->link;
    t->link.starter = TCT_BY_KERNEL;
    q->links[q->via].launcher = &twin_launcher;
    q->link = q->links[q->via].link = &t->link;
}

#endif
