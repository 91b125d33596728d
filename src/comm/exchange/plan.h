/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange/plan.h - a persistent, matched set of messages: which values go
 * to whom, fixed at set-up, started and waited for many times.
 *
 *     x of this rank          pack (peer by peer)           landing of a peer
 *     [ . a b . . c . ]  -->  [ a c | b c ]  == channel ==>  [ a c ]  -->  ghost
 *             index ------------^
 *
 * A plan is made on a queue: lists and values are where its device and its link
 * reach them. Each link that is open keeps there what makes messages
 * persistent. */
#ifndef TCT_COMM_EXCHANGE_PLAN_H
#define TCT_COMM_EXCHANGE_PLAN_H
#include "comm/world/world.h"

/* Where values to or from one peer lie among those of a column. */
typedef struct tct_channel {
    int peer;
    int64_t first, count;
} tct_channel;

typedef struct tct_plan {
    tct_exchange base; /* what the line knows; first member */
    tacit_queue *q;
    int sends, recvs;
    tct_channel *send, *recv;    /* [sends], [recvs] */
    void *state[TCT_LINKS_MOST]; /* of each open link */
    struct tct_plan *next;       /* of the queue's    */
    bool lost; /* messages may still come into its memory: it is not freed */
} tct_plan;

/* What the link that messages go through keeps of it. */
static inline void **tct_plan_state(const tct_plan *plan)
{
    return (void **)(uintptr_t)&plan->state[plan->q->via];
}

/* Plan the exchange that brings the elements `ghost` [ghosts] (global numbers,
 * ascending, none of them this rank's own) of vectors divided by `starts`
 * [size + 1], at most `columns` vectors at once. Element i of this rank is in
 * place now[i] of its vectors (NULL: i).
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_plan_create(tacit_queue *q, const int64_t *starts,
                             const int64_t *ghost, int64_t ghosts,
                             const int32_t *now, int columns, tct_plan **out);

/* The same from lists: send[k].count elements go to send[k].peer, the numbers
 * of all of them being `index` in the order of `send`; recv[k].count arrive
 * from recv[k].peer. The k-th channel from one rank to another matches the k-th
 * of the other; a rank may have channels to itself. Of a channel `first` is set
 * here.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_plan_from_lists(tacit_queue *q, int sends,
                                 const tct_channel *send, const int32_t *index,
                                 int recvs, const tct_channel *recv,
                                 int columns, tct_plan **out);
void tct_plan_destroy(tct_plan **plan);

static inline const tct_plan *tct_plan_of(const tct_op *op)
{
    return (const tct_plan *)(const void *)op->exchange;
}

#endif
