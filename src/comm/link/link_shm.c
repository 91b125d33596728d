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
 * An exchange: each part of a plan is a channel (comm/channel/channel.h). */
#include "comm/channel/channel.h"
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

/* State of a queue. A rank's piece of the memory has slots [2][ranks], then its
 * board of waits. */
typedef struct {
    tct_shared *memory;
    tct_waits waits;
    tct_medium medium;
    double *mine; /* [TCT_SUM_MOST + 1] of the sum under way */
    uint64_t sums;
} shm;

typedef struct { /* of a plan */
    tct_channels *set;
    tct_channel *channel; /* [sends + recvs] */
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
    const size_t slots = 2 * (size_t)q->ranks * sizeof(slot);
    TRY(tct_shared_create(q->world, slots + tct_waits_bytes(q->ranks),
                          &s->memory));
    TRY(tct_waits_open(q->world, s->memory, slots, &s->waits));
    const bool crowded = q->world->local_size * q->threads > tct_processors();
    s->waits.checks = crowded ? CHECKS_CROWDED : CHECKS;
    s->medium = tct_medium_host(&s->waits);
    return TACIT_OK;
}

static void shm_close_queue(tacit_queue *q)
{
    shm *s = shm_of(q);
    if (!s) return;
    tct_waits_close(&s->waits);
    tct_shared_destroy(&s->memory);
    TCT_FREE(s->mine, s);
}

/* A message has failed: take the world's lost rank, or the error. */
static void fail(tacit_queue *q, tacit_status status)
{
    if (q->lost_rank->noted)
        q_lose_rank(q, q->lost_rank->rank, q->peer_seconds);
    else q_fail(q, status, "%s", tacit_error_message());
}

/* The state, with the queue's time limit of now. */
static shm *shm_with_limit(tacit_queue *q)
{
    shm *s = shm_of(q);
    s->waits.limit = q->peer_seconds;
    return s;
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

static tacit_status read_slots(const tacit_queue *q, const shm *s,
                               double *total, int n)
{
    for (int r = 0; r < q->ranks; r++) {
        const slot *from = slot_of(q, s, q->rank, r, s->sums);
        TRY(tct_waits_await(&s->waits, &from->ready, s->sums, r));
        for (int j = 0; j < n; j++)
            total[j] = r == 0 ? from->value[j] : total[j] + from->value[j];
    }
    return TACIT_OK;
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
    shm *s = shm_with_limit(q);
    const int count = op->count + 1;
    int n = count < SLOT ? count : SLOT;
    for (int at = 0; at < count;) {
        const tacit_status status = read_slots(q, s, s->mine + at, n);
        if (status < 0) {
            fail(q, status);
            return;
        }
        at += n;
        if (at < count) n = write_slots(q, s, at, count);
    }
    memcpy(op->out, s->mine, (size_t)op->count * sizeof(double));
    tct_flags_agreed(q, s->mine[op->count]);
}

/* --- plans ---------------------------------------------------------------- */

static tacit_status shm_plan_open(tct_plan *plan)
{
    const int ends = plan->sends + plan->recvs;
    shm_plan *p = tct_calloc(sizeof *p);
    tacit_status status = p ? TACIT_OK : TACIT_NO_MEMORY;
    if (!p) tacit_error_set(status, "no memory for an exchange");
    *tct_plan_state(plan) = p;
    if (p) status = TCT_ALLOC(ends, "an exchange", &p->channel);
    if (status >= 0) tct_plan_channels(plan, p->channel);
    tct_channels *set = NULL;
    TRY(tct_channels_match(&shm_of(plan->q)->medium, status, ends,
                           p ? p->channel : NULL, &set));
    p->set = set;
    return TACIT_OK;
}

static void shm_plan_close(tct_plan *plan)
{
    shm_plan *p = *tct_plan_state(plan);
    if (!p) return;
    tct_channels_free(&p->set);
    TCT_FREE(p->channel, p);
}

/* --- exchanges ------------------------------------------------------------ */

/* Start and end the messages of `part` [n], which stand at `at`. */
static void carry(tacit_queue *q, const tct_plan *plan, int n,
                  const tct_plan_part *part, tct_channel *c, const double *at,
                  int columns)
{
    tacit_status status = TACIT_OK;
    (void)shm_with_limit(q);
    for (int k = 0; k < n && status >= 0; k++) {
        status = tct_channel_start(
            &c[k], tct_plan_at(plan, at, columns, &part[k]),
            (int64_t)tct_plan_bytes(plan, columns, part[k].count));
        if (status >= 0) status = tct_channel_end(&c[k]);
    }
    if (status < 0) fail(q, status);
}

static void shm_exchange_begin(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = tct_plan_of(op);
    const shm_plan *p = *tct_plan_state(plan);
    carry(q, plan, plan->sends, plan->send, p->channel, plan->base.shared.pack,
          op->x.columns);
}

static void shm_exchange_end(tacit_queue *q, const tct_op *op)
{
    const tct_plan *plan = tct_plan_of(op);
    const shm_plan *p = *tct_plan_state(plan);
    carry(q, plan, plan->recvs, plan->recv, p->channel + plan->sends,
          tct_landing(q, &plan->base, op->x.columns), op->x.columns);
}

const tct_link tct_link_shm = {
    TCT_LINK_OPS(shm),
    .summary = "shared memory of one machine, written by the CPU",
    .starter = TCT_BY_CPU,
    .elements = TCT_ALL_ELEMENTS,
    .open = shm_open_queue,
    .close = shm_close_queue,
    .plan_open = shm_plan_open,
    .plan_close = shm_plan_close,
};
