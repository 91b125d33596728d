/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/threads.c - on the host: the best number of threads for a
 * matrix. Waking them costs some us in each operation, more than a small matrix
 * takes. The operations of an iteration are timed on all threads, on half of
 * them, and so on, in turn. */
#include "operator/assembled.h"
#include "operator/choice/min_of_n.h"
#include <stdio.h>

enum { VECTORS = 4, NUMBERS_MOST = 12, ROUNDS_LEAST = 4, ROUNDS_MOST = 24 };
static const double TIMEOUT = 4e-3; /* seconds, for threads that sleep */

/* Bytes of an iteration: below SMALL, one thread; above LARGE a thread, all. */
static const double SMALL = 1e5, LARGE = 5e5;
static const double NEARLY = 1.05;  /* more threads may take this much longer */
static const double HOPELESS = 1.5; /* not measured further                */

typedef struct {
    int threads;
    tct_min_of_n time;
    bool out;
} number;

typedef struct {
    tacit_queue *q;
    tct_block *B;
    double *v[VECTORS]; /* p, A p, r, x */
    double zero, sum;
} rig;

static double bytes_of(const tct_block *B)
{
    return B->matrix_bytes + 80.0 * (double)B->rows;
}

static bool rig_open(rig *r)
{
    const size_t n = (size_t)r->B->rows;
    for (int i = 0; i < VECTORS; i++) {
        r->v[i] = r->q->device->alloc(r->q, n * sizeof(double));
        if (!r->v[i]) return false;
        r->q->device->run(r->q, &(tct_op){.code = TCT_PASS,
                                          .pass = PASS_fill,
                                          .n = n,
                                          .v = {r->v[i]}});
    }
    return true;
}

static void rig_close(rig *r)
{
    for (int i = 0; i < VECTORS; i++) r->q->device->free(r->q, r->v[i]);
}

/* Seconds of an iteration on `threads`. Bypasses the layers of the queue, which
 * must not count it. */
static double once(rig *r, int threads)
{
    const tct_op op[] = {
        {.code = TCT_MULTIPLY_DOT, .v = {r->v[0], r->v[1]}},
        {.code = TCT_PASS, .pass = PASS_axpy_norm, .v = {r->v[1], r->v[2]}},
        {.code = TCT_PASS,
         .pass = PASS_cg_update,
         .v = {r->v[2], r->v[3], r->v[0]}}};
    const double start = tct_seconds();
    r->B->threads = threads;
    for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
        tct_op o = op[i];
        o.n = (size_t)r->B->rows;
        o.sign = 1.0;
        o.alpha = o.beta = &r->zero;
        o.out = &r->sum;
        o.block = r->B;
        r->q->device->run(r->q, &o);
    }
    return tct_seconds() - start;
}

static void tell_bytes(const tacit_queue *q, int threads, double bytes)
{
    if (q->threads == 1) return;
    tct_log(TCT_DETAIL, "threads: %d used; an iteration moves %.0f kB", threads,
            1e-3 * bytes);
}

int tct_threads_guess(const tacit_queue *q, const tct_block *B)
{
    const double bytes = bytes_of(B), most = LARGE * q->threads;
    const int threads = bytes <= SMALL  ? 1
                        : bytes >= most ? q->threads
                                        : 1 + (int)(bytes / LARGE);
    tell_bytes(q, threads, bytes);
    return threads;
}

static double best_of(const number *numbers, int count)
{
    double best = numbers[0].time.seconds;
    for (int i = 1; i < count; i++)
        if (numbers[i].time.seconds < best) best = numbers[i].time.seconds;
    return best;
}

/* One more round; is every time reliable now? */
static bool measure(rig *r, number *numbers, int count, int round)
{
    bool sure = true;
    for (int i = 0; i < count; i++) {
        number *n = &numbers[i];
        if (n->out) continue;
        once(r, n->threads); /* wakes the threads */
        tct_min_of_n_note(&n->time, once(r, n->threads));
        sure = sure && tct_min_of_n_is_sure(&n->time);
    }
    const double best = best_of(numbers, count);
    for (int i = 0; i < count && round > 1; i++)
        numbers[i].out = numbers[i].time.seconds > HOPELESS * best;
    return sure;
}

static void tell(const rig *r, const number *numbers, int count)
{
    char text[64 * NUMBERS_MOST];
    int used = 0;
    for (int i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s%.1f us on %d", i ? ", " : "",
                         1e6 * numbers[i].time.seconds, numbers[i].threads);
    tct_log(TCT_DETAIL, "threads: %d used; an iteration takes %s",
            r->B->threads, text);
}

static int by_measuring(rig *r)
{
    number numbers[NUMBERS_MOST];
    int count = 0;
    for (int t = r->q->threads; t > 0 && count < NUMBERS_MOST; t /= 2)
        numbers[count++] = (number){.threads = t};
    const double until = tct_seconds() + TIMEOUT;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        tct_team_assemble(r->q->team, until - tct_seconds());
        if (measure(r, numbers, count, round) && round + 1 >= ROUNDS_LEAST)
            break;
    }
    const double best = best_of(numbers, count);
    int chosen = 0; /* the most threads: one may have been delayed */
    while (numbers[chosen].time.seconds > NEARLY * best) chosen++;
    r->B->threads = numbers[chosen].threads;
    tell(r, numbers, count);
    return r->B->threads;
}

void tct_threads_choose(tacit_queue *q, tct_block *B)
{
    const double bytes = bytes_of(B);
    rig r = {.q = q, .B = B};
    B->threads = q->threads;
    if (q->threads == 1) return;
    if (bytes <= SMALL) B->threads = 1;
    if (bytes <= SMALL || bytes >= LARGE * q->threads)
        tell_bytes(q, B->threads, bytes);
    else if (rig_open(&r)) B->threads = by_measuring(&r);
    rig_close(&r);
}
