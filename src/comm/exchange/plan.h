/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange/plan.h - a persistent, matched set of messages: fixed at
 * set-up, started and waited for many times.
 *
 *     x of this rank          pack (peer by peer)           landing of a peer
 *     [ . a b . . c . ]  -->  [ a c | b c ]  == channel ==>  [ a c ]  -->  ghost
 *             index ------------^
 *
 * A plan belongs to a queue; its lists and values are in memory that the device
 * and the links reach. Each open link keeps its own state for it. */
#ifndef TCT_COMM_EXCHANGE_PLAN_H
#define TCT_COMM_EXCHANGE_PLAN_H
#include "comm/world/world.h"

struct tct_channel; /* comm/channel/channel.h */

/* The values to or from one peer: a range of those of a column. Each link sends
 * them through a channel of its own. */
typedef struct tct_plan_part {
    int peer;
    int64_t first, count;
} tct_plan_part;

typedef struct tct_plan {
    tct_exchange base; /* the part that devices know; first member */
    tacit_queue *q;
    int sends, recvs;
    tct_plan_part *send, *recv;  /* [sends], [recvs] */
    void *state[TCT_LINKS_MOST]; /* of each open link */
    struct tct_plan *next;       /* of the queue */
    bool lost; /* messages may still arrive: its memory is not freed */
} tct_plan;

/* The state that the link in use keeps of the plan. */
static inline void **tct_plan_state(const tct_plan *plan)
{
    return (void **)(uintptr_t)&plan->state[plan->q->via];
}

/* Plan the exchange that fetches the elements `ghost` [ghosts] (global numbers,
 * ascending, none owned) of vectors distributed by `starts` [size + 1], for at
 * most `columns` vectors at once. Element i of this rank is stored at now[i]
 * (NULL: i).
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_plan_create(tacit_queue *q, const int64_t *starts,
                             const int64_t *ghost, int64_t ghosts,
                             const int32_t *now, int columns, tct_plan **out);

/* The same from lists: send[k].count elements go to send[k].peer; `index` has
 * their numbers, in the order of `send`; recv[k].count arrive from
 * recv[k].peer. The k-th channel from one rank to another matches the k-th of
 * the other; channels to oneself are allowed. `first` of the channels is
 * ignored, and set in the plan.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_plan_from_lists(tacit_queue *q, int sends,
                                 const tct_plan_part *send,
                                 const int32_t *index, int recvs,
                                 const tct_plan_part *recv, int columns,
                                 tct_plan **out);
/* The same for vectors of any element type.
 * Errors also INVALID: no open link carries it. */
tacit_status tct_plan_in(tacit_queue *q, tacit_element element, int sends,
                         const tct_plan_part *send, const int32_t *index,
                         int recvs, const tct_plan_part *recv, int columns,
                         tct_plan **out);
void tct_plan_destroy(tct_plan **plan);

/* Part k of those sent, then of those received. */
static inline const tct_plan_part *tct_plan_part_at(const tct_plan *plan, int k)
{
    return k < plan->sends ? &plan->send[k] : &plan->recv[k - plan->sends];
}
/* The plan's messages as ends of channels, [sends + recvs]. */
void tct_plan_channels(const tct_plan *plan, struct tct_channel *out);

/* The bytes of `columns` columns of a part's values, and of the values before
 * them in the same buffer. */
static inline size_t tct_plan_bytes(const tct_plan *plan, int columns,
                                    int64_t values)
{
    return (size_t)(columns * values) * tct_element_bytes(plan->base.element);
}

/* The values of a part in `buffer`. */
static inline void *tct_plan_at(const tct_plan *plan, const double *buffer,
                                int columns, const tct_plan_part *c)
{
    return tct_element_at(plan->base.element, buffer, columns * c->first);
}

static inline const tct_plan *tct_plan_of(const tct_op *op)
{
    return (const tct_plan *)(const void *)op->exchange;
}

#endif
