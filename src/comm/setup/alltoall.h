/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/alltoall.h - all-to-all exchange of items of one size, in rounds
 * of bounded size, so that memory does not grow with the matrix.
 *
 *     tct_alltoall_open(&a, world, sizeof item, most);
 *     for (bool more = true; more;) {
 *         tct_alltoall_begin(&a);
 *         ... a.to[rank]++ for each item, no more than a.room
 *         tct_alltoall_address(&a);
 *         ... *(item *)tct_alltoall_slot(&a, rank) = ... in the same order
 *         tct_alltoall_send(&a);
 *         ... a.in holds a.received items, from rank 0, 1, ...
 *         tct_alltoall_answer(&a);    // optional: a.in, as changed, back
 *         ... *(item *)tct_alltoall_slot(&a, rank) in the same order again
 *         tct_any(world, left > 0, &more);
 *     }
 *     tct_alltoall_close(&a); */
#ifndef TCT_COMM_SETUP_ALLTOALL_H
#define TCT_COMM_SETUP_ALLTOALL_H
#include "comm/world/world.h"

typedef struct tct_alltoall {
    tacit_world *world;
    size_t item;        /* bytes of one item                       */
    int64_t room;       /* items that a rank may send in one round */
    int64_t *to, *from; /* [size] items to and from each rank      */
    int64_t *next;      /* [size] where the next item goes         */
    int64_t *bytes;     /* [3 size] scratch                        */
    char *out;          /* [room]                                  */
    char *in;           /* [size room], in rank order              */
    int64_t received;   /* items in `in`                           */
} tct_alltoall;

/* Prepare to send items of `item` bytes; this rank has `most` of them.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_alltoall_open(tct_alltoall *alltoall, tacit_world *world,
                               size_t item, int64_t most);
/* Free the memory, also after a failed open. */
void tct_alltoall_close(tct_alltoall *alltoall);

void tct_alltoall_begin(tct_alltoall *alltoall);
void tct_alltoall_address(tct_alltoall *alltoall);
static inline void *tct_alltoall_slot(tct_alltoall *alltoall, int rank)
{
    return alltoall->out + alltoall->item * (size_t)alltoall->next[rank]++;
}

/* Exchange one round; `answer` returns the received items, as changed, to their
 * senders, and resets the slots. Collective. */
tacit_status tct_alltoall_send(tct_alltoall *alltoall);
tacit_status tct_alltoall_answer(tct_alltoall *alltoall);

/* Is `mine` true on any rank? Collective. */
tacit_status tct_any(tacit_world *world, bool mine, bool *out);

/* Exchange one number with every rank: `from[r]` [size] is what rank r had in
 * `to` [size] for this one; `scratch` [size]. Collective. */
tacit_status tct_trade_numbers(tacit_world *world, const int64_t *to,
                               int64_t *from, int64_t *scratch);

#endif
