/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/link_shm.c - messages through memory shared by ranks of one
 * machine, started by the CPU: the sender writes to where the receiver reads,
 * and then to a counter of the receiver. There are no locks and barriers, and
 * counters are never reset.
 *
 * A sum: each rank writes its scalars to all, and all add them in rank order
 * and get the same bits. Slots are double-buffered: a rank that writes sum e
 * has read sum e - 1 of all ranks, so all have finished reading sum e - 2.
 *
 * An exchange: messages alternate between the two halves of a buffer in the
 * receiver's window. The receiver acknowledges each message in a counter of the
 * sender, since the two may not exchange messages in the other direction; the
 * sender waits for this before it reuses a half. */
#include "comm/channel/shared.h"
#include "comm/exchange/plan.h"
#include "comm/link/link.h"
#include "device/protocol.h"
#include <stdio.h>
#include <string.h>

enum { LINE = 64, SLOT = 31 };
/* Checks before the processor is yielded: few if there are more threads than
 * processors. */
enum { CHECKS = 3000, CHECKS_CROWDED = 100 };

typedef struct { /* on few cache lines: the first has seven scalars */
    _Alignas(LINE) tct_counter ready;
    double value[SLOT];
} slot;

/* State of a queue. A rank's piece of the memory has slots [2][ranks], then an
 * int: 1 + the rank that it waits for in a long wait, or 0. */
typedef struct {
    tct_shared *memory;
    double *mine; /* [TCT_SUM_MOST + 1] of the sum under way */
    uint64_t sums;
    int checks;
} shm;

/* A rank's piece of a plan: this, a counter on its own cache line for each end
 * of a channel (of sends: messages taken; of receives: messages arrived), the
 * ends, and the two halves of its window. */
typedef struct {
    int64_t sends, ends;
    int64_t half; /* bytes */
} head;

typedef struct { /* an end of a channel */
    tct_counter *own, *other;
    double *half[2]; /* this message's place in the receiver's window */
} shm_end;

typedef struct { /* of a plan */
    tct_shared *memory;
    shm_end *end; /* [sends + recvs] */
    uint64_t exchanges;
} shm_plan;

static shm *shm_of(tacit_queue *q)
{
    return *tct_link_state(q);
}

static bool shm_available(const tacit_queue *q, char *reason, size_t size)
{
    if (q->ranks > 1) return tct_can_share(q->world, reason, size);
    snprintf(reason, size, "for several ranks, not for one");
    return false;
}

static tacit_status shm_open_queue(tacit_queue *q)
{
    shm *s = tct_calloc(sizeof *s);
    tacit_status status = s ? TACIT_OK : TACIT_NO_MEMORY;
    if (!s) tacit_error_set(status, "no memory for a queue");
    *tct_link_state(q) = s;
    if (s) status = TCT_ALLOC(TCT_SUM_MOST + 1, "a queue", &s->mine);
    TRY(tct_agree(q->world, status));
    const bool crowded = q->world->local_size * q->threads > tct_processors();
    s->checks = crowded ? CHECKS_CROWDED : CHECKS;
    return tct_shared_create(
        q->world, 2 * (size_t)q->ranks * sizeof(slot) + LINE, &s->memory);
}

static void shm_close_queue(tacit_queue *q)
{
    shm *s = shm_of(q);
    if (!s) return;
    tct_shared_destroy(&s->memory);
    TCT_FREE(s->mine, s);
}

/* --- waiting -------------------------------------------------------------- */

static int *waits_for(const tacit_queue *q, const shm *s, int rank)
{
    slot *all = tct_shared_of(s->memory, rank);
    return (int *)(void *)(all + 2 * q->ranks);
}

static void publish_wait(const tacit_queue *q, const shm *s, int value)
{
    __atomic_store_n(waits_for(q, s, q->rank), value, __ATOMIC_RELAXED);
}

/* Follow the chain of waits from `rank` to its end. */
static int find_lost(const tacit_queue *q, const shm *s, int rank)
{
    for (int k = 0; k < q->ranks; k++) {
        const int next =
            __atomic_load_n(waits_for(q, s, rank), __ATOMIC_RELAXED) - 1;
        if (next < 0 || next == q->rank) break;
        rank = next;
    }
    return rank;
}

/* Wait for rank `peer`; false: it is lost. After a failure others still see for
 * whom this rank waited. */
static bool await_long(tacit_queue *q, const tct_counter *of, uint64_t value,
                       int peer)
{
    const shm *s = shm_of(q);
    publish_wait(q, s, peer + 1);
    if (!tct_await_for(q->world, of, value, q->peer_seconds)) {
        q_lose_rank(q, find_lost(q, s, peer), q->peer_seconds);
        return false;
    }
    publish_wait(q, s, 0);
    return true;
}

static bool await(tacit_queue *q, const tct_counter *of, uint64_t value,
                  int peer)
{
    return tct_spin(of, value, shm_of(q)->checks) ||
           await_long(q, of, value, peer);
}

/* --- sums ----------------------------------------------------------------- */

/* The slot in rank `to` that rank `from` writes for sum `number`. */
static slot *slot_of(const tacit_queue *q, const shm *s, int to, int from,
                     uint64_t number)
{
    slot *all = tct_shared_of(s->memory, to);
    return all + tct_slot_at(2, q->ranks, 1, from, number);
}

/* Write as many scalars as fit in a slot. */
static int write_slots(const tacit_queue *q, shm *s, int from, int count)
{
    const int n = count - from < SLOT ? count - from : SLOT;
    s->sums++;
    for (int k = 1; k <= q->ranks; k++) {
        slot *to = slot_of(q, s, (q->rank + k) % q->ranks, q->rank, s->sums);
        memcpy(to->value, s->mine + from, (size_t)n * sizeof(double));
        tct_signal(&to->ready, s->sums);
    }
    return n;
}

static bool read_slots(tacit_queue *q, const shm *s, double *total, int n)
{
    for (int r = 0; r < q->ranks; r++) {
        const slot *from = slot_of(q, s, q->rank, r, s->sums);
        if (!await(q, &from->ready, s->sums, r)) return false;
        for (int j = 0; j < n; j++)
            total[j] = r == 0 ? from->value[j] : total[j] + from->value[j];
    }
    return true;
}

static void shm_sum_begin(tacit_queue *q, const tct_op *op)
{
    shm *s = shm_of(q);
    memcpy(s->mine, op->out, (size_t)op->count * sizeof(double));
    s->mine[op->count] = tct_flags_mine(q);
    write_slots(q, s, 0, op->count + 1);
}

static void shm_sum_end(tacit_queue *q, const tct_op *op)
{
    shm *s = shm_of(q);
    const int count = op->count + 1;
    int n = count < SLOT ? count : SLOT;
    for (int at = 0; at < count;) {
        if (!read_slots(q, s, s->mine + at, n)) return;
        at += n;
        if (at < count) n = write_slots(q, s, at, count);
    }
    memcpy(op->out, s->mine, (size_t)op->count * sizeof(double));
    tct_flags_agreed(q, s->mine[op->count]);
}

/* --- plans ---------------------------------------------------------------- */

static int64_t lines(int64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static tct_counter *counter_of(head *h, int64_t end)
{
    return (tct_counter *)(void *)((char *)h + (1 + end) * LINE);
}

static tct_plan_part *ends_of(head *h)
{
    return (tct_plan_part *)(void *)counter_of(h, h->ends);
}

static double *half_of(head *h, int half)
{
    const int64_t list = lines(h->ends * (int64_t)sizeof(tct_plan_part));
    return (double *)(void *)((char *)ends_of(h) + list + half * h->half);
}

static head *head_of(const shm_plan *p, int rank)
{
    return tct_shared_of(p->memory, rank);
}

/* Shared memory, with a description of each rank's ends. Collective. */
static tacit_status share(tct_plan *plan, shm_plan *p)
{
    const int64_t ends = plan->sends + plan->recvs;
    const int64_t column = plan->base.columns * (int64_t)sizeof(double);
    const head own = {plan->sends, ends, lines(column * plan->base.ghosts)};
    const int64_t list = lines(ends * (int64_t)sizeof(tct_plan_part));
    tacit_world *w = plan->q->world;
    const size_t bytes = (size_t)((1 + ends) * LINE + list + 2 * own.half);
    TRY(tct_shared_create(w, bytes, &p->memory));
    head *h = head_of(p, w->rank);
    *h = own;
    for (int k = 0; k < plan->sends; k++) ends_of(h)[k] = plan->send[k];
    for (int k = 0; k < plan->recvs; k++)
        ends_of(h)[plan->sends + k] = plan->recv[k];
    return tct_agree(w, TACIT_OK); /* all descriptions are written */
}

/* The end in `to` that matches end `k` in `from`, the piece of `rank`: the n-th
 * channel to a rank matches that rank's n-th from this one. */
static int64_t other_end(head *from, int rank, int64_t k, head *to)
{
    const bool sends = k < from->sends;
    const int peer = ends_of(from)[k].peer;
    int64_t before = 0, at = sends ? to->sends : 0;
    for (int64_t i = sends ? 0 : from->sends; i < k; i++)
        before += ends_of(from)[i].peer == peer;
    while (ends_of(to)[at].peer != rank || before-- > 0) at++;
    return at;
}

static void join(tct_plan *plan, shm_plan *p)
{
    const int rank = plan->q->rank, columns = plan->base.columns;
    head *h = head_of(p, rank);
    for (int64_t k = 0; k < h->ends; k++) {
        const bool sends = k < h->sends;
        head *peer = head_of(p, ends_of(h)[k].peer);
        const int64_t other = other_end(h, rank, k, peer);
        const int64_t receive = sends ? other : k;
        head *receiver = sends ? peer : h;
        p->end[k].own = counter_of(h, k);
        p->end[k].other = counter_of(peer, other);
        for (int half = 0; half < 2; half++)
            p->end[k].half[half] = half_of(receiver, half) +
                                   columns * ends_of(receiver)[receive].first;
    }
}

static tacit_status shm_plan_open(tct_plan *plan)
{
    shm_plan *p = tct_calloc(sizeof *p);
    tacit_status status = p ? TACIT_OK : TACIT_NO_MEMORY;
    if (!p) tacit_error_set(status, "no memory for an exchange");
    *tct_plan_state(plan) = p;
    if (p)
        status = TCT_ALLOC(plan->sends + plan->recvs, "an exchange", &p->end);
    TRY(tct_agree(plan->q->world, status));
    TRY(share(plan, p));
    join(plan, p);
    return TACIT_OK;
}

static void shm_plan_close(tct_plan *plan)
{
    shm_plan *p = *tct_plan_state(plan);
    if (!p) return;
    tct_shared_destroy(&p->memory);
    TCT_FREE(p->end, p);
}

/* --- exchanges ------------------------------------------------------------ */

static size_t bytes_of(const tct_plan_part *c, int columns)
{
    return (size_t)(columns * c->count) * sizeof(double);
}

static void shm_exchange_begin(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = tct_plan_of(op);
    shm_plan *p = *tct_plan_state(plan);
    const int columns = op->x.columns;
    const uint64_t now = ++p->exchanges;
    for (int k = 0; k < plan->sends; k++) {
        const tct_plan_part *c = &plan->send[k];
        const shm_end *e = &p->end[k];
        if (!await(q, e->own, tct_taken_before(now), c->peer)) return;
        memcpy(e->half[tct_buffer_of(now)],
               plan->base.shared.pack + columns * c->first,
               bytes_of(c, columns));
        tct_signal(e->other, now);
    }
}

static void shm_exchange_end(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = tct_plan_of(op);
    const shm_plan *p = *tct_plan_state(plan);
    const int columns = op->x.columns;
    const uint64_t now = p->exchanges;
    double *landing = tct_landing(q, &plan->base, columns);
    for (int k = 0; k < plan->recvs; k++) {
        const tct_plan_part *c = &plan->recv[k];
        const shm_end *e = &p->end[plan->sends + k];
        if (!await(q, e->own, now, c->peer)) return;
        memcpy(landing + columns * c->first, e->half[tct_buffer_of(now)],
               bytes_of(c, columns));
        tct_signal(e->other, now);
    }
}

const tct_link tct_link_shm = {
    TCT_LINK_OPS(shm),
    .summary = "shared memory of one machine, written by the CPU",
    .starter = TCT_BY_CPU,
    .open = shm_open_queue,
    .close = shm_close_queue,
    .plan_open = shm_plan_open,
    .plan_close = shm_plan_close,
};
